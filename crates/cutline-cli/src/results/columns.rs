//! The columns of an experiment's results: one list for tables (terminal and report page), one for CSV.

use super::{Outcome, stopping};
use crate::print::{cell, csv_record};
use cutline_lab::{Comparison, Metric, PublishedCell, PublishedResult, Row};
use cutline_report::short;

/// A column of a table: its header and the text of a cell.
type TextColumn = (String, fn(&PublishedResult) -> String);

/// A column of CSV: its key and its field.
pub(super) type CsvColumn = (&'static str, fn(&PublishedResult) -> String);

const CSV_COLUMNS: [CsvColumn; 13] = [
    ("experiment", |r| r.row.experiment.clone()),
    ("algorithm", |r| r.row.algorithm.clone()),
    ("budget", |r| r.row.budget.to_string()),
    ("runs", |r| r.row.runs.to_string()),
    ("failures", |r| r.row.failures.to_string()),
    ("failure_rate", |r| r.row.failure_rate.to_string()),
    ("low", |r| r.row.low.to_string()),
    ("high", |r| r.row.high.to_string()),
    ("mean_errors", |r| r.row.mean_errors.to_string()),
    ("baseline", |r| compared(r, |c| c.baseline.clone())),
    ("difference", |r| compared(r, |c| c.difference.to_string())),
    ("difference_low", |r| compared(r, |c| c.difference_low.to_string())),
    ("difference_high", |r| compared(r, |c| c.difference_high.to_string())),
];

const CSV_PUBLISHED: [CsvColumn; 5] = [
    ("curve", |r| published(r, |cell| cell.curve.clone())),
    ("published", |r| published(r, |cell| cell.published.to_string())),
    ("z", |r| published(r, |cell| cell.z.to_string())),
    ("metric", |r| published(r, |cell| cell.metric.clone())),
    ("ours", |r| published(r, |cell| cell.ours.to_string())),
];

/// The results as rows of text.
pub(crate) struct TextTable {
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<TextRow>,
}

/// A row of a [`TextTable`].
pub(crate) struct TextRow {
    pub(crate) cells: Vec<String>,
    /// Whether the published number lies outside the band around ours.
    pub(crate) is_out_of_band: bool,
}

impl TextTable {
    pub(crate) fn new(outcome: &Outcome) -> Self {
        let columns = text_columns(outcome);
        let row = |result: &PublishedResult| TextRow {
            cells: columns.iter().map(|(_, text)| cell(&text(result))).collect(),
            is_out_of_band: result.published.as_ref().is_some_and(|cell| !cell.is_within()),
        };
        Self {
            header: columns.iter().map(|(name, _)| cell(name)).collect(),
            rows: outcome.compared.iter().map(row).collect(),
        }
    }
}

fn text_columns(outcome: &Outcome) -> Vec<TextColumn> {
    let mut columns: Vec<TextColumn> = vec![
        ("algorithm".into(), |r| r.row.algorithm.clone()),
        ("T".into(), |r| r.row.budget.to_string()),
        ("failure rate".into(), |r| format!("{:.4}", r.row.failure_rate)),
        ("95 % interval".into(), |r| format!("{:.4} – {:.4}", r.row.low, r.row.high)),
        ("wrong arms".into(), |r| format!("{:.3}", r.row.mean_errors)),
    ];
    if let Some(baseline) = outcome.baseline() {
        columns.push((format!("Δ vs {baseline}"), |r| difference(&r.row)));
    }
    if !outcome.experiment.published_means().is_empty() {
        let of_means: [TextColumn; 4] = [
            ("metric".into(), |r| published(r, |cell| cell.metric.clone())),
            ("ours".into(), |r| published(r, |cell| means(cell).0)),
            ("published".into(), |r| published(r, |cell| means(cell).1)),
            ("z".into(), |r| published(r, z)),
        ];
        columns.extend(of_means);
    } else if !outcome.experiment.published().is_empty() {
        let of_published: [TextColumn; 3] = [
            ("published as".into(), |r| published(r, |cell| cell.curve.clone())),
            ("published".into(), |r| published(r, |cell| format!("{:.4}", cell.published))),
            ("z".into(), |r| published(r, z)),
        ];
        columns.extend(of_published);
    }
    columns
}

/// Our mean and the published one; with all digits that were published if the metric is exact.
pub(super) fn means(cell: &PublishedCell) -> (String, String) {
    match Metric::named(&cell.metric) {
        Some(metric) if metric.is_exact() => {
            let published = cell.published.to_string();
            let decimals = published.split_once('.').map_or(0, |(_, decimals)| decimals.len());
            (format!("{:.decimals$}", cell.ours), published)
        }
        _ => (short(cell.ours), short(cell.published)),
    }
}

/// The difference from the baseline, with its interval.
fn difference(row: &Row) -> String {
    match &row.comparison {
        Some(c) if c.baseline == row.algorithm => "baseline".into(),
        Some(c) => format!("{:+.4} ({:+.4} – {:+.4})", c.difference, c.difference_low, c.difference_high),
        None => String::new(),
    }
}

fn z(cell: &PublishedCell) -> String {
    let mark = if cell.is_within() { "" } else { " out of band" };
    format!("{:+.2}{mark}", cell.z)
}

/// A field about the comparison with the baseline, empty without one.
fn compared(result: &PublishedResult, field: fn(&Comparison) -> String) -> String {
    result.row.comparison.as_ref().map_or(String::new(), field)
}

/// A field about the published number, empty without one.
fn published(result: &PublishedResult, field: fn(&PublishedCell) -> String) -> String {
    result.published.as_ref().map_or(String::new(), field)
}

/// The results as CSV, with the published numbers if `with_published`.
pub(crate) fn csv(outcomes: &[Outcome], with_published: bool) -> Vec<u8> {
    let mut columns: Vec<CsvColumn> = CSV_COLUMNS.into();
    if outcomes.iter().any(stopping::is_in) {
        columns.extend(stopping::CSV_COLUMNS);
    }
    if with_published {
        columns.extend(CSV_PUBLISHED);
    }
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |record: Vec<String>| csv_record(&mut writer, record).expect("writing to memory does not fail");
    write(columns.iter().map(|(key, _)| String::from(*key)).collect());
    for result in outcomes.iter().flat_map(|outcome| &outcome.compared) {
        write(columns.iter().map(|(_, field)| field(result)).collect());
    }
    writer.into_inner().expect("writing to memory does not fail")
}
