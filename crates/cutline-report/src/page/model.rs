//! The section on the model: what it found, and the test of the linear model in the words of `cutline diagnose`.

use crate::diagnosis_facts;
use cutline::diagnostics::Conclusion;
use cutline::grouped;
use cutline_campaign::{CampaignModel, MAX_TEST_COST, View};

/// How many of the disagreeing arms are named.
const NAMED: usize = 10;

/// What is known about the model.
pub(super) struct Model {
    pub(super) sentences: Vec<String>,
    /// A warning about the verdicts, if they rest on a model that the rewards contradict.
    pub(super) warning: Option<String>,
    pub(super) facts: Vec<(&'static str, String)>,
}

impl Model {
    pub(super) fn new(view: &View) -> Self {
        let Some(dimension) = view.state.arms().dimension() else {
            let separate = match view.model() {
                CampaignModel::Mixed => "The candidates have no features: their means are shrunk towards each other.",
                _ => "The candidates have no features: each verdict rests on that candidate's own measurements.",
            };
            return Self { sentences: vec![separate.into()], warning: None, facts: Vec::new() };
        };
        if view.linear_cost() > MAX_TEST_COST {
            let n_arms = grouped(view.names.len() as u64);
            let skipped = format!(
                "The linear model was not checked: {n_arms} arms with {dimension} features would take too long. \
                 `cutline diagnose` checks it on the features and rewards."
            );
            return Self { sentences: vec![skipped], warning: None, facts: Vec::new() };
        }
        let diagnostics = view.state.diagnose();
        let mut sentences = vec![diagnostics.to_string()];
        let disagreeing: Vec<&str> = diagnostics.disagreeing().map(|arm| view.names[arm.arm].as_str()).collect();
        if !disagreeing.is_empty() {
            let more = disagreeing.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {} more", grouped(more as u64)) } else { String::new() };
            let named = disagreeing.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
            sentences.push(format!("The rewards disagree with the model for {named}{more}."));
        }
        let algorithm = view.state.terms().spec.name();
        match view.model() {
            CampaignModel::Linear => (),
            CampaignModel::Mixed => sentences.push(
                "The verdicts do not rest on the linear model alone: the mixed model weighs its linear part by the rewards."
                    .into(),
            ),
            CampaignModel::Independent => sentences.push(format!("The verdicts do not rest on it: `{algorithm}` treats every arm separately.")),
        }
        let is_wrong = view.model() == CampaignModel::Linear && diagnostics.conclusion == Conclusion::NotBelievable;
        let warning = "Check the model: the verdicts rest on a linear model that these rewards contradict.";
        Self { sentences, warning: is_wrong.then(|| warning.into()), facts: diagnosis_facts(&diagnostics).into() }
    }
}
