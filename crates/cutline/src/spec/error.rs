//! Why a spec is refused.

use super::{ALGORITHMS, EstimatorKind, Parameter};
use crate::estimators::{CentreError, MixedError, RidgeError};
use crate::question::short_number;
use crate::rules::RuleError;
use crate::{ArmsError, BudgetError, LearnerError};
use thiserror::Error;

/// Why a spec was refused.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SpecError {
    /// There is no algorithm of that name.
    #[error("unknown algorithm `{0}`; known: {names}", names = quoted(ALGORITHMS.iter().map(|a| a.name)))]
    Unknown(String),
    /// There is no estimator of that name.
    #[error("unknown estimator `{0}`; known: {names}", names = quoted(EstimatorKind::ALL.iter().map(|e| e.name())))]
    UnknownEstimator(String),
    /// The algorithm does not take that parameter.
    #[error("`{algorithm}` takes no parameter `{parameter}`; it takes {takes}")]
    UnknownParameter {
        /// The algorithm.
        algorithm: &'static str,
        /// The unknown parameter.
        parameter: String,
        /// The parameters it takes, as a list.
        takes: String,
    },
    /// A parameter's value is out of range.
    #[error("`{}` must be a finite number {}, not {}", parameter.name, parameter.range, short_number(*value))]
    OutOfRange {
        /// The parameter.
        parameter: Parameter,
        /// The value that was refused.
        value: f64,
    },
    /// A parameter without a default was not set.
    #[error("`{algorithm}` needs the parameter `{}` ({})", parameter.name, parameter.about)]
    Missing {
        /// The algorithm.
        algorithm: &'static str,
        /// The parameter.
        parameter: Parameter,
    },
    /// The rule needs variances, and the estimator has none.
    #[error("the rule `{rule}` needs variances, which the estimator `{estimator}` does not have")]
    NeedsVariances {
        /// The rule.
        rule: &'static str,
        /// The name of the estimator.
        estimator: String,
    },
    /// The rule cannot follow a σ that changes, and the estimator learns σ.
    #[error(
        "the rule `{rule}` needs a σ that does not change, and the estimator `{estimator}` learns σ from the rewards"
    )]
    NeedsFixedNoise {
        /// The rule.
        rule: &'static str,
        /// The name of the estimator.
        estimator: String,
    },
    /// The rule may pull a few arms for ever, so that a confidence stop might never be met.
    #[error(
        "`{algorithm}` may pull a few arms near the threshold for ever and never decide the others, so it takes no confidence stop"
    )]
    Starves {
        /// The algorithm.
        algorithm: &'static str,
    },
    /// The rule works with sample means only.
    #[error("the rule `{rule}` works with the estimator `sample-mean` only, not with `{estimator}`")]
    NeedsSampleMeans {
        /// The rule.
        rule: &'static str,
        /// The name of the estimator.
        estimator: String,
    },
    /// The rule works with ridge only.
    #[error("the rule `{rule}` works with the estimator `ridge` only, not with `{estimator}`")]
    NeedsRidge {
        /// The rule.
        rule: &'static str,
        /// The name of the estimator.
        estimator: String,
    },
    /// A custom estimator or stop refused the arms, the question or the noise.
    #[error("`{name}` refused: {reason}")]
    Custom {
        /// The name of the estimator or stop.
        name: String,
        /// The error of the custom code, in words.
        reason: String,
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
    /// The settings of the mixed model were refused.
    #[error(transparent)]
    Mixed(#[from] MixedError),
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

/// Names in backticks, separated by commas; `none` if there are none.
pub(super) fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}
