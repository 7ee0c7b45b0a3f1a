//! The values that a parameter may take.

use crate::question::short_number;
use crate::rules::RuleError;

/// Finite numbers from `least` to `most`, both included.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Range {
    /// The least value allowed.
    pub least: f64,
    /// The greatest value allowed.
    pub most: f64,
}

impl Range {
    /// σ, the standard deviation of a reward: its square must neither overflow nor vanish.
    pub const NOISE_SCALE: Self = Self::new(1e-100, 1e100);

    /// The numbers from `least` to `most`.
    #[must_use]
    pub const fn new(least: f64, most: f64) -> Self {
        Self { least, most }
    }

    /// The finite numbers of at least `least`.
    #[must_use]
    pub const fn at_least(least: f64) -> Self {
        Self::new(least, f64::MAX)
    }

    /// Whether `value` is allowed; NaN never is.
    #[must_use]
    pub fn contains(self, value: f64) -> bool {
        (self.least..=self.most).contains(&value)
    }

    /// `value`, if a rule may have it as `parameter`.
    ///
    /// # Errors
    /// If it is out of range.
    pub fn check(self, parameter: &'static str, value: f64) -> Result<f64, RuleError> {
        if self.contains(value) { Ok(value) } else { Err(RuleError { parameter, range: self, value }) }
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.most == f64::MAX {
            write!(f, "of at least {}", short_number(self.least))
        } else {
            write!(f, "between {} and {}", short_number(self.least), short_number(self.most))
        }
    }
}
