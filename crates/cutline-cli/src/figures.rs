//! The figure of an experiment that was run.

use crate::compare::Outcome;
use cutline_figure::{Curve, FailureFigure, Point};

/// Failure probability against budget, with the published values where there are any.
pub(crate) fn figure(outcome: &Outcome) -> FailureFigure {
    let experiment = &outcome.experiment;
    let n_budgets = experiment.budgets().len();
    let budgets = || experiment.budgets().iter().map(|&budget| f64::from(budget));
    let curve = |(position, rows): (usize, &[cutline_lab::Row])| Curve {
        label: rows[0].algorithm.clone(),
        points: budgets()
            .zip(rows)
            .map(|(budget, row)| Point { budget, rate: row.failure_rate, low: row.low, high: row.high })
            .collect(),
        published: experiment
            .published()
            .iter()
            .filter(|published| published.entrant() == position)
            .flat_map(|published| budgets().zip(published.success().iter().map(|success| 1.0 - success)))
            .collect(),
    };
    FailureFigure {
        title: experiment.name().into(),
        curves: outcome.rows.chunks(n_budgets).enumerate().map(curve).collect(),
        note: Some(format!("{} runs, seed {}.", experiment.runs(), experiment.seed())),
    }
}
