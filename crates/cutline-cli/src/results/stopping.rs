//! The columns about runs that could stop before the budget was used up: one list for tables, one for CSV.

use super::Outcome;
use super::columns::CsvColumn;
use crate::print;
use cutline_lab::{PublishedResult, Row, StoppingRow};

/// The heading of the table.
pub(crate) const HEADING: &str = "Pulls until a run was sure, or had used up its budget:";

/// A column of the table: its header and the text of a cell.
type TextColumn = (&'static str, fn(&Row, &StoppingRow) -> String);

const TEXT_COLUMNS: [TextColumn; 10] = [
    ("algorithm", |row, _| row.algorithm.clone()),
    ("T", |row, _| row.budget.to_string()),
    ("sure by", |_, s| s.by.clone()),
    ("δ", |_, s| s.delta.map_or(String::new(), |delta| delta.to_string())),
    ("ended sure", |row, s| format!("{:.4}", s.sure as f64 / row.runs.max(1) as f64)),
    ("sure and wrong", |_, s| format!("{:.4}", s.error_rate)),
    ("mean pulls", |_, s| format!("{:.1}", s.mean_pulls)),
    ("10 % – 50 % – 90 %", |_, s| format!("{} – {} – {}", s.pulls_10, s.pulls_50, s.pulls_90)),
    ("lower bound", |_, s| s.fewest_pulls.map_or(String::new(), |bound| format!("{bound:.1}"))),
    ("mean/bound", |_, s| {
        let bound = s.fewest_pulls.filter(|bound| *bound > 0.0);
        bound.map_or(String::new(), |bound| format!("{:.2}", s.mean_pulls / bound))
    }),
];

/// The CSV columns: key and field, which is empty for a row without such a stop.
pub(super) const CSV_COLUMNS: [CsvColumn; 10] = [
    ("by", |r| field(r, |s| s.by.clone())),
    ("delta", |r| field(r, |s| s.delta.map_or(String::new(), |delta| delta.to_string()))),
    ("sure", |r| field(r, |s| s.sure.to_string())),
    ("sure_and_wrong", |r| field(r, |s| s.sure_and_wrong.to_string())),
    ("error_rate", |r| field(r, |s| s.error_rate.to_string())),
    ("mean_pulls", |r| field(r, |s| s.mean_pulls.to_string())),
    ("pulls_10", |r| field(r, |s| s.pulls_10.to_string())),
    ("pulls_50", |r| field(r, |s| s.pulls_50.to_string())),
    ("pulls_90", |r| field(r, |s| s.pulls_90.to_string())),
    ("fewest_pulls", |r| field(r, |s| s.fewest_pulls.map_or(String::new(), |bound| bound.to_string()))),
];

fn field(result: &PublishedResult, field: fn(&StoppingRow) -> String) -> String {
    result.row.stopping.as_ref().map_or(String::new(), field)
}

/// Whether any run could stop before the budget was used up.
pub(crate) fn is_in(outcome: &Outcome) -> bool {
    outcome.rows.iter().any(|row| row.stopping.is_some())
}

/// The headers of the columns.
pub(crate) fn header() -> [&'static str; 10] {
    TEXT_COLUMNS.map(|(name, _)| name)
}

/// One row of cells per algorithm and budget that could stop early.
pub(crate) fn cells(outcome: &Outcome) -> Vec<[String; 10]> {
    let cells = |row: &Row| {
        let stopping = row.stopping.as_ref()?;
        Some(TEXT_COLUMNS.map(|(_, cell)| cell(row, stopping)))
    };
    outcome.rows.iter().filter_map(cells).collect()
}

pub(super) fn table(outcome: &Outcome) -> comfy_table::Table {
    let mut table = print::table(&header());
    for cells in cells(outcome) {
        table.add_row(cells);
    }
    table
}
