//! When and how runs ended that could be sure before the budget was used up.

use crate::compare::Outcome;
use crate::print;
use cutline_lab::{Row, StoppingRow};

/// What the table is about.
pub(crate) const HEADING: &str = "Pulls until a run was sure, or had used up its budget:";

/// The columns of [`cells`].
pub(crate) const HEADER: [&str; 10] = [
    "algorithm",
    "T",
    "sure by",
    "δ",
    "ended sure",
    "sure and wrong",
    "mean pulls",
    "10 % – 50 % – 90 %",
    "lower bound",
    "mean/bound",
];

/// The columns of [`fields`].
pub(crate) const COLUMNS: [&str; 10] = [
    "by",
    "delta",
    "sure",
    "sure_and_wrong",
    "error_rate",
    "mean_pulls",
    "pulls_10",
    "pulls_50",
    "pulls_90",
    "fewest_pulls",
];

/// Whether any run could be sure before the budget was used up.
pub(crate) fn is_in(outcome: &Outcome) -> bool {
    outcome.rows.iter().any(|row| row.stopping.is_some())
}

/// The rows of such runs, for people.
pub(crate) fn cells(outcome: &Outcome) -> Vec<[String; 10]> {
    outcome.rows.iter().filter_map(|row| Some(cells_of(row, row.stopping.as_ref()?))).collect()
}

fn cells_of(row: &Row, stopping: &StoppingRow) -> [String; 10] {
    let of_bound = |bound: f64| if bound > 0.0 { format!("{:.2}", stopping.mean_pulls / bound) } else { String::new() };
    [
        row.algorithm.clone(),
        row.budget.to_string(),
        stopping.by.into(),
        stopping.delta.to_string(),
        format!("{:.4}", stopping.sure as f64 / row.runs.max(1) as f64),
        format!("{:.4}", stopping.error_rate),
        format!("{:.1}", stopping.mean_pulls),
        format!("{} – {} – {}", stopping.pulls_10, stopping.pulls_50, stopping.pulls_90),
        stopping.fewest_pulls.map_or(String::new(), |bound| format!("{bound:.1}")),
        stopping.fewest_pulls.map_or(String::new(), of_bound),
    ]
}

pub(crate) fn table(outcome: &Outcome) -> comfy_table::Table {
    let mut table = print::table(&HEADER);
    for cells in cells(outcome) {
        table.add_row(cells);
    }
    table
}

/// A row's fields for CSV, empty where there is nothing to say.
pub(crate) fn fields(row: &Row) -> [String; 10] {
    let Some(stopping) = &row.stopping else { return [const { String::new() }; 10] };
    [
        stopping.by.into(),
        stopping.delta.to_string(),
        stopping.sure.to_string(),
        stopping.sure_and_wrong.to_string(),
        stopping.error_rate.to_string(),
        stopping.mean_pulls.to_string(),
        stopping.pulls_10.to_string(),
        stopping.pulls_50.to_string(),
        stopping.pulls_90.to_string(),
        stopping.fewest_pulls.map_or(String::new(), |bound| bound.to_string()),
    ]
}
