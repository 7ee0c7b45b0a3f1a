//! All settings of a campaign, in words.

use super::figures::intervals;
use crate::describe;
use crate::spending::{costs_in_words, weighing_in_words};
use crate::words::{self, LOOKS_LIKE_PASS_OR_FAIL, early_stop, guarantee, noise};
use cutline::{Guarantee, grouped};
use cutline_campaign::View;

/// How many features are named.
const NAMED: usize = 12;

/// Every setting of a campaign, by name, in words.
#[must_use]
pub fn settings(view: &View) -> Vec<(&'static str, String)> {
    let settings = &view.settings;
    let terms = view.state.terms();
    let (algorithm, estimator) = (terms.spec.algorithm(), terms.spec.estimator());
    let stop = match terms.until_sure {
        Some(stop) => format!("{}, δ = {}; or when the budget is used up", early_stop(stop), terms.delta),
        None => "when the budget is used up".into(),
    };
    let costs = view.state.arms().measurement_costs().zip(settings.cost.as_ref()).map(|(costs, column)| {
        let weighing = weighing_in_words(algorithm.weighs_costs);
        ("costs", format!("the column `{column}`: {}; {weighing}", costs_in_words(costs)))
    });
    let unit = if costs.is_some() { " in units of cost" } else { "" };
    let mut all = vec![
        ("arms", grouped(view.names.len() as u64)),
        ("features", features(&view.columns)),
        ("threshold τ", settings.threshold.to_string()),
        ("precision ε", settings.precision.to_string()),
        ("budget", format!("{}{unit}", grouped(settings.budget.into()))),
        ("algorithm", format!("{}: {}", algorithm.name, algorithm.about)),
        ("rule, estimator", format!("{}, {}", algorithm.rule, estimator.name())),
        ("parameters", parameters(view)),
        ("model", describe(estimator, settings)),
        ("rewards", rewards(view)),
        ("noise σ", noise(view.standing.noise, view.standing.noise_from)),
        ("intervals", format!("{}: {}", settings.interval.name(), intervals(view).trim_end_matches('.'))),
        ("guarantee", proved(view)),
        ("ends", stop),
        ("seed", settings.seed.to_string()),
        ("Cutline", env!("CARGO_PKG_VERSION").into()),
    ];
    let after_budget = all.iter().position(|(name, _)| *name == "budget").map_or(0, |position| position + 1);
    all.splice(after_budget..after_budget, costs);
    all
}

fn features(columns: &[String]) -> String {
    let more = if columns.len() > NAMED { ", …" } else { "" };
    match columns.len() {
        0 => "none".into(),
        number => format!("{number}: {}{more}", columns[..number.min(NAMED)].join(", ")),
    }
}

/// The parameters of the algorithm, except for those listed as settings of their own.
fn parameters(view: &View) -> String {
    let listed = ["noise", "known_noise", "centre", "intercept"];
    let values = view.state.terms().spec.values().filter(|(name, _)| !listed.contains(name));
    let values: Vec<String> = values.map(|(name, value)| format!("{name} = {value}")).collect();
    if values.is_empty() { "none".into() } else { values.join("; ") }
}

fn rewards(view: &View) -> String {
    let numbers = || "numbers with noise".into();
    let rewards = words::rewards(&view.settings).unwrap_or_else(numbers);
    if view.state.looks_like_pass_or_fail() { format!("{rewards}; {LOOKS_LIKE_PASS_OR_FAIL}") } else { rewards }
}

/// What proved verdicts promise.
fn proved(view: &View) -> String {
    let kind = view.settings.guarantee.unwrap_or(Guarantee::Each);
    format!("{}: {}", kind.name(), guarantee(kind, view.settings.delta))
}
