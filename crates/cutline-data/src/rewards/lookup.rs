//! Arms by what a file calls them.

use super::RewardsError;
use crate::spreadsheet;
use cutline::Arm;
use std::collections::HashMap;

/// Arms by name and by number.
pub(crate) struct Lookup<'a> {
    n_arms: usize,
    /// The first arm of each name, and how many have it.
    names: HashMap<&'a str, (Arm, usize)>,
    has_numbers: bool,
}

impl<'a> Lookup<'a> {
    pub(crate) fn new(n_arms: usize, names: &'a [String]) -> Self {
        let mut by_name = HashMap::new();
        for (arm, name) in names.iter().enumerate() {
            by_name.entry(name.as_str()).or_insert((arm, 0)).1 += 1;
        }
        let has_numbers = !names.iter().any(|name| name.parse::<usize>().is_ok());
        Self { n_arms, names: by_name, has_numbers }
    }

    /// The arm that a field of this row and column names.
    pub(crate) fn find(&self, field: &str, row: u64, column: &str) -> Result<Arm, RewardsError> {
        // An exported name may have an apostrophe in front of it.
        let unquoted = self.names.get(spreadsheet::unquoted(field)).filter(|_| spreadsheet::unquoted(field) != field);
        match (self.names.get(field), unquoted) {
            (Some(_), Some(_)) => {
                Err(RewardsError::Ambiguous { row, column: column.into(), arm: field.into(), found: 2 })
            }
            (Some(&(arm, 1)), None) | (None, Some(&(arm, 1))) => Ok(arm),
            (Some(&(_, found)), None) | (None, Some(&(_, found))) => {
                Err(RewardsError::Ambiguous { row, column: column.into(), arm: field.into(), found })
            }
            (None, None) => {
                let number = field.parse::<usize>().ok().filter(|&arm| self.has_numbers && arm < self.n_arms);
                let (n_arms, has_numbers) = (self.n_arms, self.has_numbers);
                let has_names = !self.names.is_empty();
                let (column, arm) = (column.into(), field.into());
                number.ok_or(RewardsError::NoArm { row, column, arm, n_arms, has_names, has_numbers })
            }
        }
    }
}
