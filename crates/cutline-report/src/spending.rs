//! How much of a budget is used, in words: in measurements, or in units of cost.

use cutline::{Amount, MeasurementCosts};
use cutline_campaign::Progress;

/// `143 of 400`, or `812.5 of 1000 spent on 143 measurements`.
#[must_use]
pub fn used(told: u32, spent: Option<Amount>, budget: u32) -> String {
    match spent {
        None => format!("{told} of {budget}"),
        Some(spent) => format!("{spent} of {budget} spent on {}", measurements(told)),
    }
}

/// The same of a campaign that has come this far.
#[must_use]
pub fn used_so_far(progress: &Progress) -> String {
    used(progress.counted, progress.spending.map(|spending| spending.spent), progress.budget)
}

/// What measurements cost: `1 to 10 per measurement, 3.94 on average`.
#[must_use]
pub fn costs_in_words(costs: &MeasurementCosts) -> String {
    let least = costs.all().iter().copied().min().unwrap_or(Amount::ZERO);
    let mean = crate::numbers::short(costs.mean());
    format!("{least} to {} per measurement, {mean} on average", costs.most())
}

/// Whether the choices of an algorithm depend on costs, to follow what the costs are.
#[must_use]
pub fn weighing_in_words(weighs_costs: bool) -> &'static str {
    if weighs_costs {
        "choices weigh information per cost"
    } else {
        "this algorithm does not weigh costs when it chooses; they only count towards the budget"
    }
}

/// `1 measurement` or `143 measurements`.
#[must_use]
pub fn measurements(n: u32) -> String {
    if n == 1 { "1 measurement".into() } else { format!("{n} measurements") }
}
