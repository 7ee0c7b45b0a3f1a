//! Results as rows: what tables, JSON and CSV show.

use crate::metrics::{paired_difference, wilson, z_score};
use crate::monte_carlo::{Cell, Tally};
use crate::{Experiment, Published};
use serde::Serialize;

/// One entrant at one budget.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Row {
    /// The experiment's name.
    pub experiment: String,
    /// The entrant's label.
    pub algorithm: String,
    /// The budget T.
    pub budget: u32,
    /// The number of runs.
    pub runs: u64,
    /// The runs in which some arm was called wrongly.
    pub failures: u64,
    /// `failures`/`runs`.
    pub failure_rate: f64,
    /// The lower end of its 95 % Wilson interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The mean number of arms called wrongly in a run.
    pub mean_errors: f64,
    /// The paired difference to the baseline, if there is one.
    #[serde(flatten)]
    pub comparison: Option<Comparison>,
}

/// The failure rate less that of the baseline on the same runs, with its 95 % interval.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Comparison {
    /// The baseline's label.
    pub baseline: String,
    /// The difference of the failure rates; negative where this entrant is better.
    pub difference: f64,
    /// The lower end of its interval.
    pub difference_low: f64,
    /// The upper end.
    pub difference_high: f64,
}

/// The rows of an experiment: entrants in their order, budgets ascending.
#[must_use]
pub fn rows(experiment: &Experiment, tally: &Tally) -> Vec<Row> {
    let mut rows = Vec::new();
    for (position, entrant) in experiment.entrants().iter().enumerate() {
        for (column, &budget) in experiment.budgets().iter().enumerate() {
            let cell = tally.cell(position, column);
            let (low, high) = wilson(cell.failures, cell.runs);
            rows.push(Row {
                experiment: experiment.name().into(),
                algorithm: entrant.label().into(),
                budget,
                runs: cell.runs,
                failures: cell.failures,
                failure_rate: rate(cell.failures, cell.runs),
                low,
                high,
                mean_errors: rate(cell.errors, cell.runs),
                comparison: experiment.baseline().map(|baseline| comparison(experiment, baseline, position, cell)),
            });
        }
    }
    rows
}

fn comparison(experiment: &Experiment, baseline: usize, position: usize, cell: Cell) -> Comparison {
    let (difference, difference_low, difference_high) = if position == baseline {
        (0.0, 0.0, 0.0)
    } else {
        paired_difference(cell.only_here, cell.only_baseline, cell.runs)
    };
    let baseline = experiment.entrants()[baseline].label().into();
    Comparison { baseline, difference, difference_low, difference_high }
}

/// z of our failure rate against a published one, at the budget in position `column`.
#[must_use]
pub fn z_against(published: &Published, column: usize, row: &Row) -> f64 {
    let theirs = 1.0 - published.success()[column];
    z_score(row.failure_rate, row.runs as f64, theirs, published.runs() as f64)
}

fn rate(count: u64, runs: u64) -> f64 {
    if runs == 0 { 0.0 } else { count as f64 / runs as f64 }
}
