//! The figures of an experiment that was run and of a plan.

use crate::compare::Outcome;
use crate::forecast::Planned;
use cutline_figure::{Curve, FailureFigure, Forecast, PlanFigure, Point};
use cutline_lab::{Answer, Prospect};

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

/// What a plan expects, and the budgets it names.
pub(crate) fn plan_figure(planned: &Planned) -> PlanFigure {
    let Planned { experiment, forecast } = planned;
    let algorithm = |answer: &Answer| {
        let prospects = || forecast.prospects.iter().filter(|prospect| prospect.algorithm == answer.algorithm);
        let failures = |p: &Prospect| Point { budget: p.budget.into(), rate: p.failure_rate, low: p.low, high: p.high };
        let errors = |p: &Prospect| Point {
            budget: p.budget.into(),
            rate: p.mean_errors,
            low: p.errors_low,
            high: p.errors_high,
        };
        Forecast {
            label: answer.algorithm.clone(),
            failures: prospects().map(failures).collect(),
            errors: prospects().map(errors).collect(),
            planned: answer.budget.map(|budget| cutline_figure::Planned {
                budget: budget.into(),
                low: answer.low.unwrap_or(answer.tried_from).into(),
                high: answer.high.unwrap_or(answer.tried_to).into(),
            }),
        }
    };
    let budgets = forecast.answers.iter().filter_map(|answer| Some(format!("{} {}", answer.algorithm, answer.budget?)));
    let budgets: Vec<String> = budgets.collect();
    let planned_budgets = if budgets.is_empty() { "none".into() } else { budgets.join(", ") };
    PlanFigure {
        title: format!("{}: budgets for a failure probability of {}", experiment.name(), forecast.target),
        target: forecast.target,
        forecasts: forecast.answers.iter().map(algorithm).collect(),
        note: Some(format!("{}. Planned budgets: {planned_budgets}.", planned.heading())),
    }
}
