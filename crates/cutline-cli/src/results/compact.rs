//! One small table per experiment: algorithms × budgets, ours and the published number side by side.

use super::Outcome;
use super::columns::means;
use crate::failure::Failure;
use crate::print;
use crate::print::{left, table};
use comfy_table::Table;
use cutline_lab::{ComparedLine, Metric, PublishedCell};
use cutline_report::short;
use std::io::Write;

pub(super) fn print(out: &mut impl Write, outcomes: &[Outcome], summary: &[String]) -> Result<(), Failure> {
    for outcome in outcomes {
        writeln!(out, "\n{}; {}\n{}", print::cell(&outcome.heading()), legend(&outcome.lines), lines(outcome))?;
    }
    for line in summary {
        writeln!(out, "\n{line}")?;
    }
    Ok(())
}

/// What a cell of the table means.
fn legend(lines: &[ComparedLine]) -> String {
    let what = if has_one_metric(lines) { lines[0].metric.to_string() } else { "means".into() };
    let is_published = lines.iter().any(|line| line.published.is_some());
    format!("{what}{}", if is_published { ", ours (published)" } else { "" })
}

fn has_one_metric(lines: &[ComparedLine]) -> bool {
    lines.iter().all(|line| line.metric == lines[0].metric)
}

fn lines(outcome: &Outcome) -> Table {
    let lines = &outcome.lines;
    let curve = |line: &ComparedLine| line.published.as_ref().map(|cells| cells[0].curve.clone());
    let has_curves = lines.iter().any(|line| curve(line).is_some_and(|curve| curve != line.algorithm));
    let has_metrics = !has_one_metric(lines);
    let budgets = outcome.experiment.budgets().iter().map(|budget| format!("T = {budget}"));
    let texts = [("published as", has_curves), ("metric", has_metrics)];
    let texts = texts.into_iter().filter(|(_, is_shown)| *is_shown).map(|(name, _)| name.to_owned());
    let header: Vec<String> = ["algorithm".to_owned()].into_iter().chain(texts).chain(budgets).collect();
    let n_texts = usize::from(has_curves) + usize::from(has_metrics);
    let mut table = left(table(&header), &(1..=n_texts).collect::<Vec<_>>());
    for line in lines {
        let mut row = vec![print::cell(&line.algorithm)];
        if has_curves {
            row.push(curve(line).unwrap_or_default());
        }
        if has_metrics {
            row.push(line.metric.to_string());
        }
        row.extend(line.ours.iter().enumerate().map(|(column, &ours)| {
            let published = line.published.as_ref().map(|cells| &cells[column]);
            cell(line.metric, ours, published)
        }));
        table.add_row(row);
    }
    table
}

fn cell(metric: Metric, ours: f64, published: Option<&PublishedCell>) -> String {
    let rate = |value: f64| format!("{value:.4}");
    let is_rate = metric == Metric::FailureRate;
    let Some(cell) = published else { return if is_rate { rate(ours) } else { short(ours) } };
    let (ours, published) = if is_rate { (rate(ours), rate(cell.published)) } else { means(cell) };
    let mark = if cell.is_within() { String::new() } else { format!(" z = {:+.1}", cell.z) };
    format!("{ours} ({published}){mark}")
}
