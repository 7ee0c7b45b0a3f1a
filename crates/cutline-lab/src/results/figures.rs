//! The figures of experiments and plans, as data; only with the feature `figure`.

use crate::{BudgetAnswer, Experiment, ForecastRow, Goal, PlanReport, Row};
use cutline_figure::{BudgetRange, Curve, FailureFigure, PlanCurve, PlanFigure, PlanTarget, Point};

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

/// The forecast of a plan, and the budgets that it proposes.
#[must_use]
pub fn plan_figure(report: &PlanReport) -> PlanFigure {
    let PlanReport { plan, forecast, .. } = report;
    let curve = |answer: &BudgetAnswer| {
        let rows = || forecast.prospects.iter().filter(|row| row.algorithm == answer.algorithm);
        let failures =
            |p: &ForecastRow| Point { budget: p.budget.into(), rate: p.failure_rate, low: p.low, high: p.high };
        let errors = |p: &ForecastRow| Point {
            budget: p.budget.into(),
            rate: p.mean_errors,
            low: p.errors_low,
            high: p.errors_high,
        };
        PlanCurve {
            label: answer.algorithm.clone(),
            failures: rows().map(failures).collect(),
            errors: rows().map(errors).collect(),
            planned: answer.budget.map(|budget| BudgetRange {
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
        title: format!("{}: budgets for {}", plan.name, plan.goal),
        target: match plan.goal {
            Goal::WrongShare(share) => PlanTarget::Errors(share * plan.arms.n_arms() as f64),
            Goal::FailureProbability(probability) => PlanTarget::Failures(probability),
        },
        forecasts: forecast.answers.iter().map(curve).collect(),
        note: Some(format!("{}. Planned budgets: {planned_budgets}.", report.heading())),
    }
}
