//! Whether the linear model is believable, in the words of `cutline diagnose`.

use super::{View, grouped};
use crate::diagnosis::facts;
use cutline::diagnostics::Conclusion;

/// The largest K·d² that is diagnosed: a few seconds.
const MOST_COST: f64 = 1e9;

/// How many arms that disagree are named.
const NAMED: usize = 10;

/// What is said of the linear model.
pub(super) struct Model {
    pub(super) sentences: Vec<String>,
    /// What to know before a verdict is believed.
    pub(super) warning: Option<String>,
    pub(super) facts: Vec<(&'static str, String)>,
}

impl Model {
    pub(super) fn new(view: &View) -> Self {
        let Some(dimension) = view.state.arms().dimension() else {
            let alone = "The candidates have no features: what is said of one rests on its own measurements alone.";
            return Self { sentences: vec![alone.into()], warning: None, facts: Vec::new() };
        };
        if view.cost() > MOST_COST {
            let n_arms = grouped(view.names.len() as u64);
            let skipped = format!(
                "Whether the linear model is believable was not looked into: {n_arms} arms with {dimension} features \
                 would take long. `cutline diagnose` does it on the features and rewards."
            );
            return Self { sentences: vec![skipped], warning: None, facts: Vec::new() };
        }
        let diagnostics = view.state.reward_stats().diagnose();
        let mut sentences = vec![diagnostics.to_string()];
        let disagreeing: Vec<&str> = diagnostics.disagreeing().map(|arm| view.names[arm.arm].as_str()).collect();
        if !disagreeing.is_empty() {
            let more = disagreeing.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {} more", grouped(more as u64)) } else { String::new() };
            let named = disagreeing.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
            sentences.push(format!("The rewards disagree with it for {named}{more}."));
        }
        let algorithm = view.state.terms().spec.name();
        if !view.is_linear() {
            sentences.push(format!("The verdicts do not rest on it: `{algorithm}` takes every arm by itself."));
        }
        let is_wrong = view.is_linear() && diagnostics.conclusion == Conclusion::NotBelievable;
        let warning = "Mind the model: the verdicts rest on one that these rewards speak against.";
        Self { sentences, warning: is_wrong.then(|| warning.into()), facts: facts(&diagnostics).into() }
    }
}
