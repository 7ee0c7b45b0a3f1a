//! Candidates as they were read, before their names are checked, and the row of the file that each came from.

use super::DatasetError;
use super::error::shortened;
use super::table::Problems;
use cutline::Arm;
use cutline_campaign::{Candidates, NameProblem};
use std::collections::HashMap;

/// Candidates as they were read. The features are finite, in whole rows; the names may be anything.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RawCandidates {
    /// Empty if the file has no column of names.
    pub(super) names: Vec<String>,
    pub(super) columns: Vec<String>,
    pub(super) features: Vec<f64>,
    pub(super) rows: RowNumbers,
}

impl RawCandidates {
    /// The same candidates without one of their features.
    pub(super) fn without_column(mut self, position: usize) -> Self {
        let dimension = self.columns.len();
        self.columns.remove(position);
        let rows = self.features.chunks_exact(dimension);
        self.features = rows.flat_map(|row| row[..position].iter().chain(&row[position + 1..])).copied().collect();
        self
    }

    /// Candidates with the names of the file, which must be distinct and printable.
    pub(super) fn named(self) -> Result<Candidates, DatasetError> {
        let Self { names, columns, features, rows } = self;
        if let Err(error) = check_names(&names, &rows) {
            let error = Box::new(error);
            return Err(match columns.iter().find(|column| column.eq_ignore_ascii_case("id")) {
                Some(column) => DatasetError::NamesBesideId { error, column: column.clone() },
                None => *error,
            });
        }
        let names = if names.is_empty() && columns.is_empty() { rows.numbers() } else { names };
        Ok(Candidates::new(names, columns, features)?)
    }

    /// Candidates called by their number from 0, and the names of the file, which may be anything.
    pub(super) fn numbered(self) -> Result<(Candidates, Vec<String>), DatasetError> {
        let Self { names, columns, features, rows } = self;
        let numbers = if columns.is_empty() { rows.numbers() } else { Vec::new() };
        Ok((Candidates::new(numbers, columns, features)?, names))
    }
}

/// Checks all names, so that all that is wrong with them is reported.
fn check_names(names: &[String], rows: &RowNumbers) -> Result<(), DatasetError> {
    let mut problems = Problems::default();
    let mut arms = HashMap::with_capacity(names.len());
    for (arm, name) in names.iter().enumerate() {
        let row = rows.row(arm);
        match NameProblem::of(name) {
            Some(problem) => problems.push(row, || bad_name(row, name, problem)),
            None => {
                if let Some(first) = arms.insert(name.as_str(), arm) {
                    let first = rows.row(first);
                    problems.push(row, || DatasetError::SameName { name: shortened(name), first, second: row });
                }
            }
        }
    }
    problems.check()
}

fn bad_name(row: u64, name: &str, problem: NameProblem) -> DatasetError {
    match problem {
        NameProblem::TooLong { bytes } => DatasetError::LongName { row, bytes, most: Candidates::MAX_NAME_BYTES },
        NameProblem::ControlCharacter(character) => {
            DatasetError::ControlCharacter { row, name: shortened(name), character }
        }
        _ => DatasetError::EmptyName { row },
    }
}

/// The row of the file that each candidate came from. Most rows follow each other, so only the exceptions are kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RowNumbers {
    pub(super) n_rows: usize,
    next: u64,
    /// Candidates that do not stand right below the one before, and their rows.
    jumps: Vec<(Arm, u64)>,
}

impl RowNumbers {
    /// Adds one candidate.
    pub(super) fn push(&mut self, row: u64) {
        if row != self.next {
            self.jumps.push((self.n_rows, row));
        }
        self.next = row + 1;
        self.n_rows += 1;
    }

    /// Adds the candidates of a later part of the file.
    pub(super) fn append(&mut self, part: &Self) {
        for &(arm, row) in &part.jumps {
            if arm != 0 || row != self.next {
                self.jumps.push((self.n_rows + arm, row));
            }
        }
        if part.n_rows > 0 {
            self.next = part.next;
            self.n_rows += part.n_rows;
        }
    }

    /// The row of a candidate.
    pub(super) fn row(&self, arm: Arm) -> u64 {
        assert!(arm < self.n_rows, "arm {arm} of {}", self.n_rows);
        let later = self.jumps.partition_point(|&(jump, _)| jump <= arm);
        let (jump, row) = if later == 0 { (0, 0) } else { self.jumps[later - 1] };
        row + (arm - jump) as u64
    }

    /// The numbers of the candidates from 0, as names for those that have neither names nor features.
    fn numbers(&self) -> Vec<String> {
        (0..self.n_rows).map(|arm| arm.to_string()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_numbers_survive_appending() {
        let rows = [2, 3, 4, 7, 8, 11, 20];
        let numbers = |rows: &[u64]| {
            let mut numbers = RowNumbers::default();
            for &row in rows {
                numbers.push(row);
            }
            numbers
        };
        for split in 0..=rows.len() {
            let mut all = numbers(&rows[..split]);
            all.append(&numbers(&rows[split..]));
            assert_eq!(all, numbers(&rows), "split at {split}");
            assert_eq!((0..rows.len()).map(|arm| all.row(arm)).collect::<Vec<_>>(), rows);
        }
    }
}
