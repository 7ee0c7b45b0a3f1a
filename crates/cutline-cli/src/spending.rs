//! How much of a budget is used, in words: in measurements, or in units of cost.

use cutline::{Amount, MeasurementCosts};
use cutline_campaign::Progress;

/// `143 of 400`, or `812.5 of 1000 spent on 143 measurements`.
pub(crate) fn used(progress: &Progress) -> String {
    let Progress { counted, budget, .. } = progress;
    match progress.spending {
        None => format!("{counted} of {budget}"),
        Some(spending) => format!("{} of {budget} spent on {}", spending.spent, measurements(*counted)),
    }
}

/// What is spent, as a number; `None` without costs.
pub(crate) fn spent(progress: &Progress) -> Option<f64> {
    progress.spending.map(|spending| spending.spent.value())
}

/// What measurements cost: `1 to 10 per measurement, 3.94 on average`.
pub(crate) fn costs_in_words(costs: &MeasurementCosts) -> String {
    let least = costs.all().iter().copied().min().unwrap_or(Amount::ZERO);
    let mean = crate::print::short(costs.mean());
    format!("{least} to {} per measurement, {mean} on average", costs.most())
}

/// Whether the choices of an algorithm depend on costs, to follow what the costs are.
pub(crate) fn weighing_in_words(weighs_costs: bool) -> &'static str {
    if weighs_costs {
        "choices weigh information per cost"
    } else {
        "this algorithm does not weigh costs when it chooses; they only count towards the budget"
    }
}

pub(crate) fn measurements(n: u32) -> String {
    if n == 1 { "1 measurement".into() } else { format!("{n} measurements") }
}
