//! Why a spec is refused.

use super::{ALGORITHMS, EstimatorKind, Parameter};
use crate::estimators::{CentreError, RidgeError};
use crate::question::shown;
use crate::rules::RuleError;
use crate::{ArmsError, BudgetError, LearnerError};
use thiserror::Error;

/// Why a spec was refused.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SpecError {
    /// There is no algorithm of that name.
    #[error("there is no algorithm `{0}`; there are {names}", names = listed(ALGORITHMS.iter().map(|a| a.name)))]
    Unknown(String),
    /// There is no estimator of that name.
    #[error("there is no estimator `{0}`; there are {names}", names = listed(EstimatorKind::ALL.iter().map(|e| e.name())))]
    UnknownEstimator(String),
    /// The algorithm does not take that parameter.
    #[error("`{algorithm}` takes no parameter `{parameter}`; it takes {takes}")]
    UnknownParameter {
        /// The algorithm.
        algorithm: &'static str,
        /// What was given.
        parameter: String,
        /// What it takes.
        takes: String,
    },
    /// A parameter's value is out of range.
    #[error("`{}` must be a finite number {}, not {}", parameter.name, parameter.range, shown(*value))]
    OutOfRange {
        /// The parameter.
        parameter: Parameter,
        /// What was given.
        value: f64,
    },
    /// A parameter without a default was not given.
    #[error("`{algorithm}` needs the parameter `{}` ({})", parameter.name, parameter.about)]
    Missing {
        /// The algorithm.
        algorithm: &'static str,
        /// The parameter.
        parameter: Parameter,
    },
    /// The rule looks at variances, and the estimator has none.
    #[error("the rule `{rule}` needs variances, which the estimator `{}` does not have; use `ridge`", estimator.name())]
    NeedsVariances {
        /// The rule.
        rule: &'static str,
        /// The estimator.
        estimator: EstimatorKind,
    },
    /// The arms have no features and the estimator needs them.
    #[error("`{algorithm}` needs arms with features, and these have none")]
    NeedsFeatures {
        /// The algorithm.
        algorithm: &'static str,
    },
    /// The estimator was refused.
    #[error(transparent)]
    Ridge(#[from] RidgeError),
    /// The centre was refused.
    #[error(transparent)]
    Centre(#[from] CentreError),
    /// The arms with an intercept were refused.
    #[error(transparent)]
    Arms(#[from] ArmsError),
    /// The rule was refused.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The budget was refused.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// The learner was refused.
    #[error(transparent)]
    Learner(#[from] LearnerError),
}

/// Names as a list in a sentence.
pub(super) fn listed<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}
