//! Candidates as a file has them: names, features, and the row each stands in.

use super::DatasetError;
use super::error::shown;
use cutline::{Arm, Arms};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// The most bytes that a name may have.
pub const MOST_NAME: usize = 1_000;

/// Candidates from a file, which become [`Arms`]. At least one; all features are finite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Candidates {
    pub(super) names: Vec<String>,
    pub(super) columns: Vec<String>,
    pub(super) features: Vec<f64>,
    pub(super) places: Places,
}

/// Arms and what they are called.
#[derive(Clone, Debug)]
pub struct Named {
    /// The arms.
    pub arms: Arms,
    /// Their names; empty if the file has none.
    pub names: Vec<String>,
}

impl Named {
    /// The same arms, if they have features.
    ///
    /// # Errors
    /// If they have none.
    pub fn with_features(self) -> Result<Self, DatasetError> {
        if self.arms.dimension().is_none() { Err(DatasetError::NoFeatures) } else { Ok(self) }
    }
}

impl Candidates {
    /// How many there are.
    #[must_use]
    pub fn n_arms(&self) -> usize {
        self.places.n_rows
    }

    /// Their names; empty if the file has none.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The names of the features, in the order of the features; empty if there are none.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The features, row after row.
    #[must_use]
    pub fn features(&self) -> &[f64] {
        &self.features
    }

    /// The row of the file in which a candidate stands.
    ///
    /// # Panics
    /// If there is no such candidate.
    #[must_use]
    pub fn row(&self, arm: Arm) -> u64 {
        self.places.row(arm)
    }

    /// The same candidates, if their names can be kept: not empty, all different, without control characters and of at most
    /// [`MOST_NAME`] bytes. Candidates without names pass.
    ///
    /// # Errors
    /// For the first name that cannot.
    pub fn with_distinct_names(self) -> Result<Self, DatasetError> {
        let mut arms = HashMap::with_capacity(self.names.len());
        for (arm, name) in self.names.iter().enumerate() {
            let row = || self.row(arm);
            if name.is_empty() {
                return Err(DatasetError::EmptyName { row: row() });
            }
            if name.len() > MOST_NAME {
                return Err(DatasetError::LongName { row: row(), bytes: name.len(), most: MOST_NAME });
            }
            if let Some(character) = name.chars().find(|c| c.is_control()) {
                return Err(DatasetError::ControlCharacter { row: row(), name: shown(name), character });
            }
            match arms.entry(name.as_str()) {
                Entry::Vacant(entry) => entry.insert(arm),
                Entry::Occupied(first) => {
                    let (first, second) = (self.row(*first.get()), row());
                    return Err(DatasetError::SameName { name: shown(name), first, second });
                }
            };
        }
        Ok(self)
    }

    /// Names, columns and features, each as its function has it.
    #[must_use]
    pub fn into_parts(self) -> (Vec<String>, Vec<String>, Vec<f64>) {
        (self.names, self.columns, self.features)
    }

    /// The arms and their names. The features as they were read are given up.
    ///
    /// # Errors
    /// If the arms are refused, which those of a file are not.
    pub fn into_named(self) -> Result<Named, DatasetError> {
        let arms = match self.columns.len() {
            0 => Arms::without_features(self.n_arms())?,
            dimension => Arms::from_slice(&self.features, dimension)?,
        };
        Ok(Named { arms, names: self.names })
    }
}

/// The row of every candidate: most follow each other, so only where one does not is kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Places {
    pub(super) n_rows: usize,
    next: u64,
    /// Candidates that do not stand right below the one before, and their rows.
    jumps: Vec<(Arm, u64)>,
}

impl Places {
    /// One more candidate.
    pub(super) fn push(&mut self, row: u64) {
        if row != self.next {
            self.jumps.push((self.n_rows, row));
        }
        self.next = row + 1;
        self.n_rows += 1;
    }

    /// The candidates of a later part of the file.
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

    fn row(&self, arm: Arm) -> u64 {
        assert!(arm < self.n_rows, "arm {arm} of {}", self.n_rows);
        let later = self.jumps.partition_point(|&(jump, _)| jump <= arm);
        let (jump, row) = if later == 0 { (0, 0) } else { self.jumps[later - 1] };
        row + (arm - jump) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_again() {
        let rows = [2, 3, 4, 7, 8, 11, 20];
        let places = |rows: &[u64]| {
            let mut places = Places::default();
            for &row in rows {
                places.push(row);
            }
            places
        };
        for split in 0..=rows.len() {
            let mut all = places(&rows[..split]);
            all.append(&places(&rows[split..]));
            assert_eq!(all, places(&rows), "split at {split}");
            assert_eq!((0..rows.len()).map(|arm| all.row(arm)).collect::<Vec<_>>(), rows);
        }
    }
}
