//! Results beside the published numbers.

use cutline_lab::metrics::Z_BAND;
use cutline_lab::theory::{Theorem1, complexity};
use cutline_lab::{Entrant, Experiment, Row, Tally, rows, z_against};
use serde::Serialize;

/// An experiment that was run.
pub(crate) struct Outcome {
    pub(crate) experiment: Experiment,
    pub(crate) rows: Vec<Row>,
}

/// A row beside a published cell, or alone where nothing was published.
#[derive(Clone, Serialize)]
pub(crate) struct Compared {
    #[serde(flatten)]
    pub(crate) row: Row,
    #[serde(flatten)]
    pub(crate) published: Option<Cell>,
}

/// A published cell.
#[derive(Clone, Serialize)]
pub(crate) struct Cell {
    /// What the curve is called where it was published.
    pub(crate) curve: String,
    /// The published failure rate.
    pub(crate) published: f64,
    /// z of the difference.
    pub(crate) z: f64,
}

impl Cell {
    pub(crate) fn is_within(&self) -> bool {
        self.z.abs() <= Z_BAND
    }
}

impl Outcome {
    pub(crate) fn new(experiment: Experiment, tally: &Tally) -> Self {
        let rows = rows(&experiment, tally);
        Self { experiment, rows }
    }

    /// Every row, once for each published curve it is compared with, or once alone.
    pub(crate) fn compared(&self) -> Vec<Compared> {
        let mut compared = Vec::new();
        for (position, row) in self.rows.iter().enumerate() {
            let n_budgets = self.experiment.budgets().len();
            let (entrant, column) = (position / n_budgets, position % n_budgets);
            let curves = self.experiment.published().iter().filter(|published| published.entrant() == entrant);
            let before = compared.len();
            compared.extend(curves.map(|published| {
                let cell = Cell {
                    curve: published.curve().into(),
                    published: 1.0 - published.success()[column],
                    z: z_against(published, column, row),
                };
                Compared { row: row.clone(), published: Some(cell) }
            }));
            if compared.len() == before {
                compared.push(Compared { row: row.clone(), published: None });
            }
        }
        compared
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
    spec.algorithm().name == "linear-apt" && is_ridge_plain && spec.sure().is_none()
}

/// How many published cells lie within their 99.9 % band, and how many there are.
pub(crate) fn within_band(outcomes: &[Outcome]) -> (usize, usize) {
    let cells = outcomes.iter().flat_map(Outcome::compared).filter_map(|compared| compared.published);
    cells.fold((0, 0), |(within, all), cell| (within + usize::from(cell.is_within()), all + 1))
}
