//! Candidates as they were read, before their names are checked, and the row of the file that each came from.

use super::DatasetError;
use super::error::shortened;
use cutline::{Arm, Candidates, CandidatesError, NameProblem};

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
    /// The same candidates without their first feature.
    pub(super) fn without_first_column(mut self) -> Self {
        let dimension = self.columns.len();
        self.columns.remove(0);
        let rows = self.features.chunks_exact(dimension);
        self.features = rows.flat_map(|row| &row[1..]).copied().collect();
        self
    }

    /// Candidates with the names of the file, which must be distinct and printable.
    pub(super) fn named(self) -> Result<Candidates, DatasetError> {
        let Self { names, columns, features, rows } = self;
        let names = if names.is_empty() && columns.is_empty() { rows.numbers() } else { names };
        Candidates::new(names, columns, features).map_err(|error| in_the_file(error, &rows))
    }

    /// Candidates called by their number from 0, and the names of the file, which may be anything.
    pub(super) fn numbered(self) -> Result<(Candidates, Vec<String>), DatasetError> {
        let Self { names, columns, features, rows } = self;
        let numbers = if columns.is_empty() { rows.numbers() } else { Vec::new() };
        let candidates = Candidates::new(numbers, columns, features).map_err(|error| in_the_file(error, &rows))?;
        Ok((candidates, names))
    }
}

/// The same error, with the row of the file in place of the number of the arm.
fn in_the_file(error: CandidatesError, rows: &RowNumbers) -> DatasetError {
    match error {
        CandidatesError::BadName { arm, problem: NameProblem::Empty, .. } => {
            DatasetError::EmptyName { row: rows.row(arm) }
        }
        CandidatesError::BadName { arm, problem: NameProblem::TooLong { bytes }, .. } => {
            DatasetError::LongName { row: rows.row(arm), bytes, most: Candidates::MAX_NAME_BYTES }
        }
        CandidatesError::BadName { arm, name, problem: NameProblem::ControlCharacter(character) } => {
            DatasetError::ControlCharacter { row: rows.row(arm), name: shortened(&name), character }
        }
        CandidatesError::Duplicate { first, second, name } => {
            DatasetError::SameName { name: shortened(&name), first: rows.row(first), second: rows.row(second) }
        }
        other => DatasetError::Candidates(other),
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
