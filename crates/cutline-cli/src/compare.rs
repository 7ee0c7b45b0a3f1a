//! Results beside the published numbers.

use cutline_lab::theory::{Theorem1, complexity};
use cutline_lab::{Entrant, Experiment, PublishedResult, Row, Tally, compared, rows};

/// An experiment that was run.
pub(crate) struct Outcome {
    pub(crate) experiment: Experiment,
    pub(crate) rows: Vec<Row>,
}

impl Outcome {
    pub(crate) fn new(experiment: Experiment, tally: &Tally) -> Self {
        let rows = rows(&experiment, tally);
        Self { experiment, rows }
    }

    /// Its rows beside what was published.
    pub(crate) fn compared(&self) -> Vec<PublishedResult> {
        compared(&self.experiment, &self.rows)
    }

    /// What the theory says, line by line.
    pub(crate) fn theory(&self) -> Vec<String> {
        let Some(instance) = self.experiment.source().fixed() else {
            return vec!["Instances are redrawn in every run, so there is no one H.".into()];
        };
        let complexity = complexity(instance);
        let complexity = if complexity < 0.01 { format!("{complexity:.3e}") } else { format!("{complexity:.2}") };
        let sigma = self.experiment.noise().scale();
        let Some(theorem) = Theorem1::new(instance, sigma) else {
            return vec![format!("H = {complexity}. Theorem 1 is about means linear in features; these are not.")];
        };
        let (largest, norm) = (theorem.largest(), theorem.norm() * sigma);
        let units = if sigma == 1.0 { "" } else { "; the theorem is about rewards in units of σ" };
        let mut lines = vec![format!("H = {complexity}, L = {largest:.4}, ‖θ‖ = {norm:.4}{units}")];
        if !self.experiment.entrants().iter().any(is_of_theorem) {
            lines.push(
                "Theorem 1 is about `linear-apt` with lambda = 1, no centre or intercept and the budget alone, which does not take part."
                    .into(),
            );
            return lines;
        }
        let budgets = self.experiment.budgets();
        if budgets.iter().all(|&budget| theorem.bound(budget).is_none()) {
            lines.push("Theorem 1: not applicable (needs ‖θ‖ < √(T/16H)) at any of these budgets".into());
        } else {
            lines.extend(budgets.iter().map(|&budget| match theorem.bound(budget) {
                None => format!("Theorem 1 at T = {budget}: not applicable (needs ‖θ‖ < √(T/16H))"),
                Some(bound) if bound >= 1.0 => {
                    format!("Theorem 1 at T = {budget}: says nothing (the bound is {bound:.3e})")
                }
                Some(bound) => {
                    // Nothing is certain: a bound too small for a number is not 0.
                    let bound = bound.max(f64::MIN_POSITIVE);
                    format!("Theorem 1 at T = {budget}: failure probability at most {bound:.3e}")
                }
            }));
        }
        lines
    }
}

/// Whether Theorem 1 speaks of an entrant: LinearAPT with ridge and the stop as the paper has them, λ = 1 included.
fn is_of_theorem(entrant: &Entrant) -> bool {
    let spec = entrant.spec();
    let is_ridge_plain = spec.values().eq([("lambda", 1.0), ("centre", 0.0), ("intercept", 0.0)]);
    spec.algorithm().name == "linear-apt" && is_ridge_plain && spec.confidence_stop().is_none()
}
