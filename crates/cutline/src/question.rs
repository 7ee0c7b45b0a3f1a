//! The question: which means lie above τ, to within ε.

use thiserror::Error;

/// The threshold τ and the precision ε: arm `i` is *above* iff μᵢ ≥ τ; arms with |μᵢ − τ| < ε may be classified either way.
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
    #[error("the threshold must be a number between -1e150 and 1e150, not {}", short_number(*.0))]
    Threshold(f64),
    /// The precision is negative, NaN, infinite or so large that a squared gap overflows.
    #[error("the precision must be a number between 0 and 1e150, not {}", short_number(*.0))]
    Precision(f64),
}

/// A number for a message: in scientific notation where it would be long otherwise.
#[must_use]
pub fn short_number(number: f64) -> String {
    let is_short = number == 0.0 || !number.is_finite() || (1e-6..1e16).contains(&number.abs());
    if is_short { number.to_string() } else { format!("{number:e}") }
}

impl Question {
    /// The question which means lie above `threshold`, to within `precision`.
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

    /// Whether a mean counts as above: μ ≥ τ.
    #[inline]
    #[must_use]
    pub fn is_above(&self, mean: f64) -> bool {
        mean >= self.threshold
    }

    /// Whether classifying an arm by `estimate` is an error, given its true `mean`: the mean is at least τ + ε and the arm is
    /// classified as below, or it is less than τ − ε and the arm is classified as above.
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
    fn refuses_numbers_out_of_range() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e200] {
            assert!(Question::new(bad, 0.0).is_err());
            assert!(Question::new(0.0, bad).is_err());
        }
        assert_eq!(Question::new(0.0, -0.5), Err(QuestionError::Precision(-0.5)));
    }

    #[test]
    fn numbers_in_messages_are_short() {
        assert_eq!([0.0, -0.5, 1e200, 1e-13, f64::NAN].map(short_number), ["0", "-0.5", "1e200", "1e-13", "NaN"]);
    }

    #[test]
    fn errors_follow_the_loss_of_the_paper() {
        let question = Question::new(1.0, 0.25).unwrap();
        assert!(question.is_error(1.25, 0.9), "at τ + ε and classified as below");
        assert!(!question.is_error(1.2, 0.9), "within ε");
        assert!(question.is_error(0.7, 1.0), "less than τ − ε and classified as above");
        assert!(!question.is_error(0.75, 1.0), "exactly τ − ε is within ε");
        assert!(!question.is_error(2.0, 1.0) && !question.is_error(0.0, 0.9));
    }
}
