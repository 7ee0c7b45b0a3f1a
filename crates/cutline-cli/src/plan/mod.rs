//! The output of `cutline plan`: a table, JSON, CSV and a page.

mod page;

pub(crate) use page::page;

use crate::args::Format;
use crate::failure::Failure;
use crate::print::{cell, csv_record, json, table};
use cutline_campaign::{BudgetAnswer, ForecastRow};
use cutline_report::PlanReport;
use std::io::Write;

/// A column of the table, in the terminal and on the page: its header and the text of a cell.
type TextColumn = (&'static str, fn(&ForecastRow) -> String);

const TEXT_COLUMNS: [TextColumn; 6] = [
    ("algorithm", |row| row.algorithm.clone()),
    ("T", |row| row.budget.to_string()),
    ("wrong calls (95 % interval)", |row| {
        format!("{:.2} ({:.2} – {:.2})", row.mean_errors, row.errors_low, row.errors_high)
    }),
    ("expected", |row| format!("{:.2}", row.expected_errors)),
    ("decided", |row| format!("{:.1} %", 100.0 * row.decided)),
    ("any wrong (95 % interval)", |row| format!("{:.3} ({:.3} – {:.3})", row.failure_rate, row.low, row.high)),
];

/// A row of CSV: a forecast with the plan and its algorithm's answer.
struct CsvRow<'a> {
    plan: &'a PlanReport,
    forecast: &'a ForecastRow,
    answer: Option<&'a BudgetAnswer>,
}

/// A column of CSV: its key and its field.
type CsvColumn = (&'static str, fn(&CsvRow<'_>) -> String);

const CSV_COLUMNS: [CsvColumn; 18] = [
    ("experiment", |row| row.plan.plan.name.clone()),
    ("algorithm", |row| row.forecast.algorithm.clone()),
    ("budget", |row| row.forecast.budget.to_string()),
    ("runs", |row| row.forecast.runs.to_string()),
    ("failures", |row| row.forecast.failures.to_string()),
    ("failure_rate", |row| row.forecast.failure_rate.to_string()),
    ("low", |row| row.forecast.low.to_string()),
    ("high", |row| row.forecast.high.to_string()),
    ("mean_errors", |row| row.forecast.mean_errors.to_string()),
    ("errors_low", |row| row.forecast.errors_low.to_string()),
    ("errors_high", |row| row.forecast.errors_high.to_string()),
    ("expected_errors", |row| row.forecast.expected_errors.to_string()),
    ("decided", |row| row.forecast.decided.to_string()),
    ("goal", |row| row.plan.forecast.goal.to_owned()),
    ("target", |row| row.plan.forecast.target.to_string()),
    ("planned", |row| or_empty(row.answer.and_then(|answer| answer.budget))),
    ("planned_low", |row| or_empty(row.answer.and_then(|answer| answer.low))),
    ("planned_high", |row| or_empty(row.answer.and_then(|answer| answer.high))),
];

fn or_empty(value: Option<impl ToString>) -> String {
    value.map_or(String::new(), |value| value.to_string())
}

/// Prints a plan in a format.
pub(crate) fn print(plan: &PlanReport, format: Format) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match format {
        Format::Table => {
            let mut table = table(&TEXT_COLUMNS.map(|(name, _)| name));
            for cells in cells(plan) {
                table.add_row(cells);
            }
            writeln!(out, "\n{}: {}\n{table}", cell(&plan.plan.name), plan.heading())?;
            for line in plan.remarks().into_iter().chain([String::new()]).chain(plan.answers()) {
                writeln!(out, "{line}")?;
            }
        }
        Format::Json => json(&mut out, plan)?,
        Format::Csv => out.write_all(&csv(plan))?,
    }
    out.flush()?;
    Ok(())
}

/// One row of cells per algorithm and budget.
fn cells(plan: &PlanReport) -> Vec<[String; 6]> {
    plan.forecast.prospects.iter().map(|row| TEXT_COLUMNS.map(|(_, cell)| cell(row))).collect()
}

/// The plan as CSV, one row per algorithm and budget.
pub(crate) fn csv(plan: &PlanReport) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |record: [String; 18]| csv_record(&mut writer, record).expect("writing to memory does not fail");
    write(CSV_COLUMNS.map(|(key, _)| key.to_owned()));
    for forecast in &plan.forecast.prospects {
        let answer = plan.forecast.answers.iter().find(|answer| answer.algorithm == forecast.algorithm);
        let row = CsvRow { plan, forecast, answer };
        write(CSV_COLUMNS.map(|(_, field)| field(&row)));
    }
    writer.into_inner().expect("writing to memory does not fail")
}
