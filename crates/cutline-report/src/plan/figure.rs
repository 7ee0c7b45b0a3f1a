//! The figure of a plan, as data.

use super::PlanReport;
use cutline_campaign::{BudgetAnswer, ForecastRow, Goal};
use cutline_figure::{BudgetRange, PlanCurve, PlanFigure, PlanTarget, Point};

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
