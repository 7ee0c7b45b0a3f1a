//! Candidates: arms with names, and features with column names. File readers, stores and callers share this type.

use cutline::{Arm, Arms, ArmsError, CostError, MeasurementCosts};
use std::collections::HashMap;
use thiserror::Error;

/// Arms as users describe them: a name per arm; if there are features, a name per column and one row of numbers per arm; and if their
/// measurements cost different amounts, a cost per arm.
///
/// Everything is checked by [`Candidates::new`]: names are distinct and printable, features are finite. [`Arms`] are the same
/// candidates without names, in the layout that learners need.
///
/// ```
/// use cutline_campaign::Candidates;
///
/// let names = vec!["ethanol".into(), "acetone".into()];
/// let candidates = Candidates::new(names, vec!["mass".into()], vec![46.07, 58.08])?;
/// assert_eq!((candidates.n_arms(), candidates.row(1)), (2, &[58.08][..]));
/// # Ok::<(), cutline_campaign::CandidatesError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Candidates {
    names: Vec<String>,
    columns: Vec<String>,
    features: Vec<f64>,
    costs: Option<Vec<f64>>,
}

/// Why candidates were refused. Arms count from 0.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum CandidatesError {
    /// The features are not valid.
    #[error(transparent)]
    Arms(#[from] ArmsError),
    /// A cost is not valid.
    #[error(transparent)]
    Cost(#[from] CostError),
    /// Only some of the candidates have costs.
    #[error("{}", if *is_needed { "the candidates of the campaign have costs, so the others need them too" } else { "the candidates of the campaign have no costs, so the others must have none" })]
    Costs {
        /// Whether the first candidates have costs.
        is_needed: bool,
    },
    /// There are more or fewer names than rows of features.
    #[error("there are {names} names, but {rows} rows of features")]
    Lengths {
        /// The number of names.
        names: usize,
        /// The number of rows.
        rows: usize,
    },
    /// A name is not allowed.
    #[error(
        "arm {arm} cannot be called {:?}: a name has 1 to {} bytes and no control characters",
        beginning(.name),
        Candidates::MAX_NAME_BYTES
    )]
    BadName {
        /// The arm.
        arm: Arm,
        /// The name; only its beginning if it is too long.
        name: String,
        /// What is wrong with it.
        problem: NameProblem,
    },
    /// Candidates with other columns cannot be added.
    #[error("the columns {} were expected, not {}", columns(.expected), columns(.found))]
    OtherColumns {
        /// The columns of the first candidates.
        expected: Vec<String>,
        /// The columns of the others.
        found: Vec<String>,
    },
    /// Two arms have the same name.
    #[error("arms {first} and {second} are both called `{name}`; names must differ")]
    Duplicate {
        /// The first arm.
        first: Arm,
        /// The second arm.
        second: Arm,
        /// The name.
        name: String,
    },
}

/// What is wrong with the name of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameProblem {
    /// It is empty.
    Empty,
    /// It has more than [`Candidates::MAX_NAME_BYTES`] bytes.
    TooLong {
        /// Its length in bytes.
        bytes: usize,
    },
    /// It contains a control character, such as a newline.
    ControlCharacter(char),
}

impl NameProblem {
    /// What is wrong with a name, if anything.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        match name.len() {
            0 => Some(Self::Empty),
            bytes if bytes > Candidates::MAX_NAME_BYTES => Some(Self::TooLong { bytes }),
            _ => name.chars().find(|character| character.is_control()).map(Self::ControlCharacter),
        }
    }
}

impl Candidates {
    /// The longest name allowed, in bytes.
    pub const MAX_NAME_BYTES: usize = 1_000;

    /// Candidates with these names and columns; `features` holds one row per candidate, row after row.
    ///
    /// If `names` is empty, the names are the row numbers, from 0. If `columns` is empty, the candidates have no features.
    ///
    /// # Errors
    /// If there is no candidate, a name is missing, empty, too long, contains control characters or occurs twice, or the features
    /// are not whole rows of finite numbers.
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
        if names.is_empty() {
            let names = (0..rows).map(|row| row.to_string()).collect();
            return Ok(Self { names, columns, features, costs: None });
        }
        if names.len() != rows {
            return Err(CandidatesError::Lengths { names: names.len(), rows });
        }
        check_names(&names)?;
        Ok(Self { names, columns, features, costs: None })
    }

    /// The same candidates, of which measurements cost these amounts, one per candidate.
    ///
    /// # Errors
    /// If there is not one cost per candidate, or a cost is not between 1e-6 and 1e9.
    pub fn with_costs(self, costs: Vec<f64>) -> Result<Self, CandidatesError> {
        let (expected, found) = (self.n_arms(), costs.len());
        if expected != found {
            return Err(ArmsError::CostsLength { expected, found }.into());
        }
        MeasurementCosts::new(&costs)?;
        Ok(Self { costs: Some(costs), ..self })
    }

    /// The same candidates without their costs.
    #[must_use]
    pub fn without_costs(self) -> Self {
        Self { costs: None, ..self }
    }

    /// What a measurement of each candidate costs; `None` if all cost the same.
    #[must_use]
    pub fn costs(&self) -> Option<&[f64]> {
        self.costs.as_deref()
    }

    /// The same as arms take them.
    ///
    /// # Panics
    /// Never: everything was checked by [`Candidates::with_costs`].
    #[must_use]
    pub fn measurement_costs(&self) -> Option<MeasurementCosts> {
        self.costs.as_ref().map(|costs| MeasurementCosts::new(costs).expect("checked by `Candidates::with_costs`"))
    }

    /// The number of candidates.
    #[must_use]
    pub fn n_arms(&self) -> usize {
        self.names.len()
    }

    /// Their names.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The names of the features; empty if there are none.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Whether the candidates have features.
    #[must_use]
    pub fn has_features(&self) -> bool {
        !self.columns.is_empty()
    }

    /// The features of one candidate; empty if there are none.
    ///
    /// # Panics
    /// If there is no such candidate.
    #[must_use]
    pub fn row(&self, arm: Arm) -> &[f64] {
        let dimension = self.columns.len();
        &self.features[arm * dimension..(arm + 1) * dimension]
    }

    /// The features of all candidates, row after row.
    #[must_use]
    pub fn features(&self) -> &[f64] {
        &self.features
    }

    /// The same candidates as arms. This copies the features into the layout that learners need.
    ///
    /// # Panics
    /// Never: everything that arms refuse was refused by [`Candidates::new`].
    #[must_use]
    pub fn arms(&self) -> Arms {
        let arms = match self.columns.len() {
            0 => Arms::without_features(self.names.len()),
            dimension => Arms::from_slice(&self.features, dimension),
        };
        arms.expect("checked by `Candidates::new`")
    }

    /// The same candidates, followed by others with the same columns.
    ///
    /// # Errors
    /// If the columns differ, a name occurs twice, or only some have costs.
    pub fn with(&self, more: &Self) -> Result<Self, CandidatesError> {
        if self.columns != more.columns {
            return Err(CandidatesError::OtherColumns { expected: self.columns.clone(), found: more.columns.clone() });
        }
        if self.costs.is_some() != more.costs.is_some() {
            return Err(CandidatesError::Costs { is_needed: self.costs.is_some() });
        }
        let names = self.names.iter().chain(&more.names).cloned().collect();
        let features = self.features.iter().chain(&more.features).copied().collect();
        let costs = self.costs.iter().zip(&more.costs).map(|(costs, more)| [&costs[..], more].concat()).next();
        Ok(Self { costs, ..Self::new(names, self.columns.clone(), features)? })
    }

    /// Some of the candidates, in this order.
    ///
    /// # Errors
    /// If there are none.
    ///
    /// # Panics
    /// If there is no such candidate.
    pub fn select(&self, arms: &[Arm]) -> Result<Self, CandidatesError> {
        let names = arms.iter().map(|&arm| self.names[arm].clone()).collect();
        let features = arms.iter().flat_map(|&arm| self.row(arm)).copied().collect();
        let costs = self.costs.as_ref().map(|costs| arms.iter().map(|&arm| costs[arm]).collect());
        Ok(Self { costs, ..Self::new(names, self.columns.clone(), features)? })
    }

    /// The same candidates with other names.
    ///
    /// # Errors
    /// As [`Candidates::new`].
    pub fn renamed(self, names: Vec<String>) -> Result<Self, CandidatesError> {
        let Self { columns, features, costs, .. } = self;
        Ok(Self { costs, ..Self::new(names, columns, features)? })
    }

    /// The names and the columns; the features are dropped.
    #[must_use]
    pub fn into_names_and_columns(self) -> (Vec<String>, Vec<String>) {
        (self.names, self.columns)
    }
}

fn check_names(names: &[String]) -> Result<(), CandidatesError> {
    let mut arms = HashMap::with_capacity(names.len());
    for (arm, name) in names.iter().enumerate() {
        if let Some(problem) = NameProblem::of(name) {
            let name = if matches!(problem, NameProblem::TooLong { .. }) { beginning(name) } else { name.clone() };
            return Err(CandidatesError::BadName { arm, name, problem });
        }
        if let Some(first) = arms.insert(name.as_str(), arm) {
            return Err(CandidatesError::Duplicate { first, second: arm, name: name.clone() });
        }
    }
    Ok(())
}

/// The first ten names of columns, in backticks.
fn columns(names: &[String]) -> String {
    const MOST: usize = 10;
    let quoted: Vec<String> = names.iter().take(MOST).map(|name| format!("`{}`", beginning(name))).collect();
    match names.len() {
        0 => "(none)".into(),
        n if n > MOST => format!("{} and {} more", quoted.join(", "), n - MOST),
        _ => quoted.join(", "),
    }
}

/// The first 60 characters of a name, to quote in a message.
fn beginning(name: &str) -> String {
    name.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn candidates_without_names_are_called_by_their_row_number() {
        let both = Candidates::new(strings(&["a", "b"]), strings(&["x"]), vec![1.0, 2.0]).unwrap();
        assert_eq!((both.n_arms(), both.row(1), both.has_features()), (2, &[2.0][..], true));
        let numbered = Candidates::new(vec![], strings(&["x", "y"]), vec![1.0; 6]).unwrap();
        assert_eq!(numbered.names(), ["0", "1", "2"]);
        let bare = Candidates::new(strings(&["a", "b"]), vec![], vec![]).unwrap();
        assert_eq!((bare.n_arms(), bare.row(1), bare.has_features()), (2, &[][..], false));
        assert_eq!(bare.arms().dimension(), None);
    }

    #[test]
    fn bad_candidates_are_refused() {
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
            let expected = format!(
                "arm 1 cannot be called {:?}: a name has 1 to 1000 bytes and no control characters",
                &bad[..bad.len().min(60)]
            );
            assert_eq!(message(&["a", bad], &[], &[]), expected);
        }
        assert_eq!(Candidates::new(strings(&[&"x".repeat(1000)]), vec![], vec![]).unwrap().n_arms(), 1);
    }

    #[test]
    fn errors_say_what_is_wrong_with_a_name() {
        let problem = |name: &str| match Candidates::new(strings(&[name]), vec![], vec![]).unwrap_err() {
            CandidatesError::BadName { arm: 0, problem, .. } => problem,
            other => panic!("{other}"),
        };
        assert_eq!(problem(""), NameProblem::Empty);
        assert_eq!(problem("a\tb"), NameProblem::ControlCharacter('\t'));
        assert_eq!(problem(&"é".repeat(501)), NameProblem::TooLong { bytes: 1002 });
    }
}
