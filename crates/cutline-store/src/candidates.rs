//! The arms of a campaign as they were given: names and features.

use cutline::{Arm, Arms, ArmsError};
use std::collections::HashMap;
use thiserror::Error;

/// The arms of a campaign as they were given: what they are called, and their features, if they have any.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidates {
    names: Vec<String>,
    columns: Vec<String>,
    features: Vec<f64>,
}

/// Why candidates were refused. Arms count from 0.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum CandidatesError {
    /// The features are no arms.
    #[error(transparent)]
    Arms(#[from] ArmsError),
    /// There are not as many names as rows.
    #[error("there are {names} names, but {rows} rows of features")]
    Lengths {
        /// The names.
        names: usize,
        /// The rows.
        rows: usize,
    },
    /// A name cannot be one.
    #[error("arm {arm} cannot be called {name:?}: a name has 1 to 1000 bytes and no control characters")]
    BadName {
        /// The arm.
        arm: Arm,
        /// The name.
        name: String,
    },
    /// Two arms have one name.
    #[error("arms {first} and {second} are both called `{name}`; names must differ")]
    Duplicate {
        /// The first arm.
        first: Arm,
        /// The second.
        second: Arm,
        /// The name.
        name: String,
    },
}

impl Candidates {
    /// Arms with these names, whose features have these columns and stand row after row. Without names, arms are called by their
    /// row number from 0; without columns they have no features.
    ///
    /// # Errors
    /// If names are missing, empty, too long, not in one line or not all different, or the features are not whole rows of finite
    /// numbers.
    pub fn new(names: Vec<String>, columns: Vec<String>, features: Vec<f64>) -> Result<Self, CandidatesError> {
        let (rows, rest) = match columns.len() {
            0 => (names.len(), features.len()),
            columns => (features.len() / columns, features.len() % columns),
        };
        if rest != 0 {
            return Err(ArmsError::Ragged { row: rows, expected: columns.len(), found: rest }.into());
        }
        if rows == 0 {
            return Err(ArmsError::Empty.into());
        }
        if let Some(position) = features.iter().position(|value| !value.is_finite()) {
            let (row, column) = (position / columns.len(), position % columns.len());
            return Err(ArmsError::NotFinite { row, column, value: features[position] }.into());
        }
        let names = if names.is_empty() { (0..rows).map(|row| row.to_string()).collect() } else { names };
        if names.len() != rows {
            return Err(CandidatesError::Lengths { names: names.len(), rows });
        }
        check_names(&names)?;
        Ok(Self { names, columns, features })
    }

    /// The number of arms.
    #[must_use]
    pub fn n_arms(&self) -> usize {
        self.names.len()
    }

    /// What the arms are called.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What the features are called.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The features of an arm; none if the arms have none.
    ///
    /// # Panics
    /// If there is no such arm.
    #[must_use]
    pub fn row(&self, arm: Arm) -> &[f64] {
        let d = self.columns.len();
        &self.features[arm * d..(arm + 1) * d]
    }

    /// The features of all arms, row after row.
    #[must_use]
    pub fn features(&self) -> &[f64] {
        &self.features
    }

    /// What arms and features are called, without the features.
    pub(crate) fn into_names(self) -> (Vec<String>, Vec<String>) {
        (self.names, self.columns)
    }

    /// As the engine has them.
    pub(crate) fn arms(&self) -> Arms {
        let arms = match self.columns.len() {
            0 => Arms::without_features(self.names.len()),
            dimension => Arms::from_slice(&self.features, dimension),
        };
        arms.expect("candidates were checked when they were made")
    }
}

fn check_names(names: &[String]) -> Result<(), CandidatesError> {
    let mut arms = HashMap::with_capacity(names.len());
    for (arm, name) in names.iter().enumerate() {
        if name.is_empty() || name.len() > 1000 || name.chars().any(char::is_control) {
            return Err(CandidatesError::BadName { arm, name: name.chars().take(60).collect() });
        }
        if let Some(first) = arms.insert(name.as_str(), arm) {
            return Err(CandidatesError::Duplicate { first, second: arm, name: name.clone() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn names_are_given_or_numbers() {
        let both = Candidates::new(strings(&["a", "b"]), strings(&["x"]), vec![1.0, 2.0]).unwrap();
        assert_eq!((both.n_arms(), both.row(1)), (2, &[2.0][..]));
        let numbered = Candidates::new(vec![], strings(&["x", "y"]), vec![1.0; 6]).unwrap();
        assert_eq!(numbered.names(), ["0", "1", "2"]);
        let bare = Candidates::new(strings(&["a", "b"]), vec![], vec![]).unwrap();
        assert_eq!((bare.n_arms(), bare.row(1)), (2, &[][..]));
        assert_eq!(bare.arms().dimension(), None);
    }

    #[test]
    fn what_cannot_be_candidates_is_refused() {
        let message = |names: &[&str], columns: &[&str], features: &[f64]| {
            Candidates::new(strings(names), strings(columns), features.into()).unwrap_err().to_string()
        };
        assert!(message(&[], &[], &[]).contains("no arms"));
        assert!(message(&["a"], &["x"], &[]).contains("no arms"));
        assert!(message(&["a"], &[], &[1.0]).contains("1 features"));
        assert!(message(&["a", "b"], &["x", "y"], &[1.0; 3]).contains("arm 1 has 1 features"));
        assert!(message(&["a", "b"], &["x"], &[1.0; 3]).contains("2 names, but 3 rows"));
        assert!(message(&["a", "b"], &["x"], &[1.0, f64::NAN]).contains("feature 0 of arm 1 is NaN"));
        assert!(message(&["a", "b", "a"], &[], &[]).contains("arms 0 and 2 are both called `a`"));
        for bad in ["", "a\nb", "\u{7f}", &"x".repeat(1001)] {
            assert!(message(&["a", bad], &[], &[]).starts_with("arm 1 cannot be called"), "{bad}");
        }
    }
}
