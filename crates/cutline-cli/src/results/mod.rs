//! The results of experiments: rows, comparison with the published numbers, and theory; as tables, JSON and CSV.

mod columns;
mod compact;
pub(crate) mod stopping;

pub(crate) use columns::{TextTable, csv};

use crate::args::Format;
use crate::failure::Failure;
use crate::print::{cell, json, table};
use cutline_lab::theory::{Theorem1, complexity};
use cutline_lab::{ComparedLine, Entrant, Experiment, PublishedResult, Row, Tally, compared, compared_lines, rows};
use std::io::Write;

/// An experiment with its results.
pub(crate) struct Outcome {
    pub(crate) experiment: Experiment,
    pub(crate) rows: Vec<Row>,
    /// The rows with the published numbers, where there are any.
    pub(crate) compared: Vec<PublishedResult>,
    /// The metrics with the published numbers, at all budgets.
    lines: Vec<ComparedLine>,
}

impl Outcome {
    pub(crate) fn new(experiment: Experiment, tally: &Tally) -> Self {
        let (rows, compared) = (rows(&experiment, tally), compared(&experiment, tally));
        let lines = compared_lines(&experiment, tally);
        Self { experiment, rows, compared, lines }
    }

    /// The label of the baseline, if there is one.
    pub(crate) fn baseline(&self) -> Option<&str> {
        self.experiment.baseline().map(|position| self.experiment.entrants()[position].label())
    }

    /// A description of the experiment in one line.
    pub(crate) fn heading(&self) -> String {
        let experiment = &self.experiment;
        let instance = match experiment.source().fixed() {
            None => "instances redrawn in every run",
            Some(_) if experiment.source().published_stream().is_some() => "the published instance",
            Some(_) => "one instance",
        };
        format!("{}: {} runs, seed {}, {instance}", experiment.name(), experiment.runs(), experiment.seed())
    }

    /// What the theory says about the experiment, line by line.
    pub(crate) fn theory(&self) -> Vec<String> {
        let Some(instance) = self.experiment.source().fixed() else {
            return vec!["Instances are redrawn in every run, so there is no single H.".into()];
        };
        let complexity = complexity(instance);
        let complexity = if complexity < 0.01 { format!("{complexity:.3e}") } else { format!("{complexity:.2}") };
        let sigma = self.experiment.noise().scale();
        let Some(theorem) = Theorem1::new(instance, sigma) else {
            return vec![format!(
                "H = {complexity}. Theorem 1 assumes means that are linear in features; these are not."
            )];
        };
        let (largest, norm) = (theorem.largest(), theorem.norm() * sigma);
        let units = if sigma == 1.0 { "" } else { "; the theorem measures rewards in units of σ" };
        let mut lines = vec![format!("H = {complexity}, L = {largest:.4}, ‖θ‖ = {norm:.4}{units}")];
        if !self.experiment.entrants().iter().any(is_in_theorem) {
            lines.push(
                "Theorem 1 is about `linear-apt` with lambda = 1, without centre and intercept, and stopping at the budget; no \
                 algorithm here is that."
                    .into(),
            );
            return lines;
        }
        let budgets = self.experiment.budgets();
        if budgets.iter().all(|&budget| theorem.bound_as_printed(budget).is_none()) {
            lines.push("Theorem 1: not applicable (needs ‖θ‖ < √(T/16H)) at any of these budgets".into());
            return lines;
        }
        lines.extend(budgets.iter().map(|&budget| {
            let printed = statement(theorem.bound_as_printed(budget), "√(T/16H)");
            let corrected = statement(theorem.bound(budget), "√((T − K)/16H)");
            format!("Theorem 1 at T = {budget}: {corrected}; as the paper prints it: {printed}")
        }));
        lines.push(
            "The paper's statement is false, with a counterexample in docs/errata.md; the first one is corrected."
                .into(),
        );
        lines
    }
}

/// What a bound says about the failure probability, if ‖θ‖ is below the `limit` that it needs.
fn statement(bound: Option<f64>, limit: &str) -> String {
    match bound {
        None => format!("not applicable (needs ‖θ‖ < {limit})"),
        Some(bound) if bound >= 1.0 => format!("no guarantee (the bound is {bound:.3e})"),
        // A bound that underflows is not 0: nothing is certain.
        Some(bound) => format!("failure probability at most {:.3e}", bound.max(f64::MIN_POSITIVE)),
    }
}

/// Whether Theorem 1 applies to an entrant: LinearAPT with the ridge (λ = 1) and the stop of the paper.
fn is_in_theorem(entrant: &Entrant) -> bool {
    let spec = entrant.spec();
    let is_plain_ridge = spec.values().eq([("lambda", 1.0), ("centre", 0.0), ("intercept", 0.0)]);
    spec.algorithm().name == "linear-apt" && is_plain_ridge && spec.confidence_stop().is_none()
}

/// How much a table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// One row per algorithm: what is compared with published numbers.
    Compact,
    /// One row per algorithm and budget, with intervals, and what the theory says.
    Full,
}

/// Prints results in a format: tables with the published numbers and the `summary` below them, or JSON or CSV, with the
/// published numbers if `with_published`.
pub(crate) fn print(
    outcomes: &[Outcome],
    format: Format,
    with_published: bool,
    detail: Detail,
    summary: &[String],
) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match format {
        Format::Table if detail == Detail::Compact => compact::print(&mut out, outcomes, summary)?,
        Format::Table => print_tables(&mut out, outcomes, summary)?,
        Format::Json if with_published => {
            json(&mut out, &outcomes.iter().flat_map(|outcome| &outcome.compared).collect::<Vec<_>>())?;
        }
        Format::Json => json(&mut out, &outcomes.iter().flat_map(|outcome| &outcome.rows).collect::<Vec<_>>())?,
        Format::Csv => out.write_all(&csv(outcomes, with_published))?,
    }
    out.flush()?;
    Ok(())
}

fn print_tables(out: &mut impl Write, outcomes: &[Outcome], summary: &[String]) -> Result<(), Failure> {
    for outcome in outcomes {
        let TextTable { header, rows } = TextTable::new(outcome);
        let mut table = table(&header);
        for row in rows {
            table.add_row(row.cells);
        }
        writeln!(out, "\n{}\n{table}", cell(&outcome.heading()))?;
        if stopping::is_in(outcome) {
            writeln!(out, "{}\n{}", stopping::HEADING, stopping::table(outcome))?;
        }
        for line in outcome.theory() {
            writeln!(out, "{line}")?;
        }
    }
    for line in summary {
        writeln!(out, "\n{line}")?;
    }
    Ok(())
}
