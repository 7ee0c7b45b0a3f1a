//! A table of cells, before it is known what its columns mean.

use super::DatasetError;
use super::raw::RowNumbers;

/// A column: its cells are finite numbers, text, or missing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Cells {
    /// One number per row; NaN where the cell is not a finite number.
    pub(super) numbers: Vec<f64>,
    /// The text of all other cells by row, ascending; empty where the cell is. In a column of text, that of all cells.
    pub(super) texts: Vec<(usize, String)>,
}

impl Cells {
    /// Adds a number; one that is not finite is text.
    pub(super) fn push_number(&mut self, number: f64) {
        if !number.is_finite() {
            let text = if number.is_nan() { String::new() } else { number.to_string() };
            self.texts.push((self.numbers.len(), text));
        }
        self.numbers.push(if number.is_finite() { number } else { f64::NAN });
    }

    /// Adds text.
    pub(super) fn push_text(&mut self, text: String) {
        self.texts.push((self.numbers.len(), text));
        self.numbers.push(f64::NAN);
    }

    /// Adds the cells of later rows.
    pub(super) fn append(&mut self, later: Self) {
        let n = self.numbers.len();
        self.texts.extend(later.texts.into_iter().map(|(row, text)| (n + row, text)));
        self.numbers.extend_from_slice(&later.numbers);
    }
}

/// A table: its columns that are features, and its names.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Table {
    /// Empty if there is no column of names.
    pub(super) names: Vec<String>,
    pub(super) columns: Vec<(String, Cells)>,
    pub(super) rows: RowNumbers,
}

/// What is wrong with a table: the first problems and the number of all.
#[derive(Debug, Default)]
pub(super) struct Problems {
    first: Vec<(u64, DatasetError)>,
    n_problems: usize,
}

impl Problems {
    /// The number of problems that are described.
    pub(super) const MAX_SHOWN: usize = 20;

    /// Adds a problem of a row. Of the problems that one caller finds in ascending rows, the first are kept.
    pub(super) fn push(&mut self, row: u64, problem: impl FnOnce() -> DatasetError) {
        self.n_problems += 1;
        // Problems of several columns come one column after another, so that later ones may belong in front.
        if self.first.len() >= 2 * Self::MAX_SHOWN {
            self.sort();
            if self.first.last().is_some_and(|&(last, _)| row >= last) {
                return;
            }
        }
        self.first.push((row, problem()));
    }

    fn sort(&mut self) {
        self.first.sort_by_key(|&(row, _)| row);
        self.first.truncate(Self::MAX_SHOWN);
    }

    /// Adds the problems of a later part of the table.
    pub(super) fn append(&mut self, part: Self) {
        self.n_problems += part.n_problems;
        self.first.extend(part.first);
        self.sort();
    }

    /// An error, if there is a problem.
    pub(super) fn check(mut self) -> Result<(), DatasetError> {
        self.sort();
        let shown = self.first.len();
        let mut problems = self.first.into_iter().map(|(_, problem)| problem);
        match self.n_problems {
            0 => Ok(()),
            1 => Err(problems.next().expect("one was kept")),
            n => Err(DatasetError::Several { problems: problems.collect(), n_more: n - shown }),
        }
    }
}
