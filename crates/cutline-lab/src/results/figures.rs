//! The figures of experiments, as data; only with the feature `figure`.

use crate::{Experiment, Row};
use cutline_figure::{Curve, FailureFigure, Point};

/// Failure probability against budget, with the published values where there are any; `rows` are the rows of this experiment.
#[must_use]
pub fn failure_figure(experiment: &Experiment, rows: &[Row]) -> FailureFigure {
    let budgets = || experiment.budgets().iter().map(|&budget| f64::from(budget));
    let point = |row: &Row| Point { budget: row.budget.into(), rate: row.failure_rate, low: row.low, high: row.high };
    let curve = |(position, rows): (usize, &[Row])| Curve {
        label: rows[0].algorithm.clone(),
        points: rows.iter().map(point).collect(),
        published: experiment
            .published()
            .iter()
            .filter(|published| published.entrant() == position)
            .flat_map(|published| budgets().zip(published.success().iter().map(|success| 1.0 - success)))
            .collect(),
    };
    let runs = rows.first().map_or(0, |row| row.runs);
    FailureFigure {
        title: experiment.name().into(),
        curves: rows.chunks(experiment.budgets().len()).enumerate().map(curve).collect(),
        note: Some(format!("{runs} runs, seed {}.", experiment.seed())),
    }
}
