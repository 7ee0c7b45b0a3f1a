//! What is asked: which means lie above τ, to within ε.

use thiserror::Error;

/// The threshold τ and the precision ε: arm `i` is *above* iff μᵢ ≥ τ; arms with |μᵢ − τ| < ε may be called either way.
///
/// ```
/// use cutline::Question;
///
/// let question = Question::new(0.5, 0.1)?;
/// assert_eq!(question.gap(0.8), 0.4); // |0.8 − 0.5| + 0.1
/// assert!(question.is_above(0.5));
/// # Ok::<(), cutline::QuestionError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    threshold: f64,
    precision: f64,
}

/// Why a question was refused.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum QuestionError {
    /// The threshold is NaN, infinite or so large that a squared gap overflows.
    #[error("the threshold must be a number between -1e150 and 1e150, not {}", shown(*.0))]
    Threshold(f64),
    /// The precision is negative, NaN, infinite or so large that a squared gap overflows.
    #[error("the precision must be a number between 0 and 1e150, not {}", shown(*.0))]
    Precision(f64),
}

/// A number as a message shows it: in powers of ten where it would be long otherwise.
pub(crate) fn shown(number: f64) -> String {
    let is_short = number == 0.0 || !number.is_finite() || (1e-6..1e16).contains(&number.abs());
    if is_short { number.to_string() } else { format!("{number:e}") }
}

impl Question {
    /// Asks which means lie above `threshold`, to within `precision`.
    ///
    /// # Errors
    /// If the threshold is not finite, or the precision is negative or not finite.
    pub fn new(threshold: f64, precision: f64) -> Result<Self, QuestionError> {
        if !(threshold.abs() <= 1e150) {
            return Err(QuestionError::Threshold(threshold));
        }
        if !(0.0..=1e150).contains(&precision) {
            return Err(QuestionError::Precision(precision));
        }
        Ok(Self { threshold, precision })
    }

    /// The threshold τ.
    #[must_use]
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// The precision ε.
    #[must_use]
    pub fn precision(&self) -> f64 {
        self.precision
    }

    /// Δ = |μ − τ| + ε.
    #[inline(always)]
    #[must_use]
    pub fn gap(&self, mean: f64) -> f64 {
        (mean - self.threshold).abs() + self.precision
    }

    /// Whether a mean is called above: μ ≥ τ.
    #[inline]
    #[must_use]
    pub fn is_above(&self, mean: f64) -> bool {
        mean >= self.threshold
    }

    /// Whether calling an arm by `estimate` is an error, given its true `mean`: it lies at or above τ + ε and is
    /// called below, or below τ − ε and is called above.
    #[inline]
    #[must_use]
    pub fn is_error(&self, mean: f64, estimate: f64) -> bool {
        if self.is_above(estimate) {
            mean < self.threshold - self.precision
        } else {
            mean >= self.threshold + self.precision
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_is_not_a_number() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e200] {
            assert!(Question::new(bad, 0.0).is_err());
            assert!(Question::new(0.0, bad).is_err());
        }
        assert_eq!(Question::new(0.0, -0.5), Err(QuestionError::Precision(-0.5)));
    }

    #[test]
    fn numbers_in_messages_are_short() {
        assert_eq!([0.0, -0.5, 1e200, 1e-13, f64::NAN].map(shown), ["0", "-0.5", "1e200", "1e-13", "NaN"]);
    }

    #[test]
    fn errors_are_as_the_paper_defines_the_loss() {
        let question = Question::new(1.0, 0.25).unwrap();
        assert!(question.is_error(1.25, 0.9), "at τ + ε and called below");
        assert!(!question.is_error(1.2, 0.9), "within ε");
        assert!(question.is_error(0.7, 1.0), "below τ − ε and called above");
        assert!(!question.is_error(0.75, 1.0), "at τ − ε exactly is within");
        assert!(!question.is_error(2.0, 1.0) && !question.is_error(0.0, 0.9));
    }
}
