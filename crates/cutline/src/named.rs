//! Names for parts that come from outside this crate: custom rules, estimators, stops and decisions.

use crate::{Arms, Question};
use std::sync::Arc;
use thiserror::Error;

/// A custom part of an algorithm and the name that experiment files and results use for it.
///
/// Four types are built on it: [`NamedRule`](crate::rules::NamedRule), [`NamedEstimator`](crate::estimators::NamedEstimator),
/// [`NamedStop`](crate::NamedStop) and [`NamedDecision`](crate::NamedDecision); each has its own `new`. Clones share the part.
pub struct Named<P: ?Sized> {
    name: Arc<str>,
    part: Arc<P>,
}

/// What a custom estimator or stop is made for: it is made afresh for every learner.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a> {
    /// The arms, with their features if they have any.
    pub arms: &'a Arms,
    /// The threshold and precision.
    pub question: Question,
    /// σ, the standard deviation of a reward as set by [`Spec::with_noise_scale`](crate::Spec::with_noise_scale), otherwise 1.
    pub noise: f64,
}

/// Why a custom part cannot have a given name.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameError {
    /// A built-in part has this name.
    #[error("`{name}` is one of Cutline's {built_in}; the name of a custom {part} must differ")]
    Taken {
        /// The kind of part, for example `rule`.
        part: &'static str,
        /// Where the name is taken, for example `algorithms`.
        built_in: &'static str,
        /// The name that was refused.
        name: String,
    },
    /// The name is empty, too long or contains control characters.
    #[error("invalid {part} name `{name}`: it must have 1 to 200 characters and no control characters")]
    Invalid {
        /// The kind of part, for example `rule`.
        part: &'static str,
        /// The name that was refused.
        name: String,
    },
}

impl<P: ?Sized> Named<P> {
    /// A part of this kind under a name that no built-in one of `built_in` has.
    pub(crate) fn checked(
        (part, built_in): (&'static str, &'static str),
        name: &str,
        is_taken: bool,
        value: Arc<P>,
    ) -> Result<Self, NameError> {
        if is_taken {
            return Err(NameError::Taken { part, built_in, name: name.into() });
        }
        if name.is_empty() || name.chars().count() > 200 || name.chars().any(char::is_control) {
            return Err(NameError::Invalid { part, name: name.into() });
        }
        Ok(Self { name: name.into(), part: value })
    }

    /// The name by which files refer to the part.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn part(&self) -> &P {
        &self.part
    }
}

impl<P: ?Sized> Clone for Named<P> {
    fn clone(&self) -> Self {
        Self { name: Arc::clone(&self.name), part: Arc::clone(&self.part) }
    }
}

impl<P: ?Sized> std::fmt::Debug for Named<P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Named").field(&self.name).finish()
    }
}

/// Equal if both part and name are the same.
impl<P: ?Sized> PartialEq for Named<P> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.part, &other.part)
    }
}
