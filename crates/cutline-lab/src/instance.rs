//! A problem with its truth.

use cutline::{Arms, ArmsError, Question, QuestionError};
use thiserror::Error;

/// A problem with its truth: the arms, the means and, where the means are linear in the features, θ.
#[derive(Clone, Debug)]
pub struct Instance {
    arms: Arms,
    theta: Option<Vec<f64>>,
    means: Vec<f64>,
    question: Question,
}

/// Where the bar lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// At this value.
    Value(f64),
    /// At the mean of the true means, as in the paper's experiments on real data.
    Mean,
}

/// Why an instance was refused.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum InstanceError {
    /// The arms have no features for θ to go with.
    #[error("the arms have no features, so theta says nothing of their means")]
    NoFeatures,
    /// θ does not have one value a feature.
    #[error("theta has {found} values, but the arms have {expected} features")]
    ThetaLength {
        /// The dimension.
        expected: usize,
        /// The length of θ.
        found: usize,
    },
    /// A true mean is not finite.
    #[error("the mean of arm {arm} is {mean}; means must be finite")]
    Mean {
        /// The arm.
        arm: usize,
        /// Its mean.
        mean: f64,
    },
    /// There are no arms.
    #[error(transparent)]
    Arms(#[from] ArmsError),
    /// The question was refused.
    #[error(transparent)]
    Question(#[from] QuestionError),
}

impl Instance {
    /// Arms whose means are μᵢ = xᵢᵀθ.
    ///
    /// # Errors
    /// If θ does not fit the features, a mean is not finite, or the question is refused.
    pub fn linear(arms: Arms, theta: Vec<f64>, threshold: Threshold, precision: f64) -> Result<Self, InstanceError> {
        let expected = arms.dimension().ok_or(InstanceError::NoFeatures)?;
        if theta.len() != expected {
            return Err(InstanceError::ThetaLength { expected, found: theta.len() });
        }
        let means = arms.times(&theta).unwrap_or_default();
        Self::new(arms, Some(theta), means, threshold, precision)
    }

    /// Arms without features that have these means.
    ///
    /// # Errors
    /// If a mean is not finite, there is none, or the question is refused.
    pub fn unstructured(means: Vec<f64>, threshold: Threshold, precision: f64) -> Result<Self, InstanceError> {
        let arms = Arms::without_features(means.len())?;
        Self::new(arms, None, means, threshold, precision)
    }

    /// The same with every mean higher by `offset`, and the threshold where it lies then. The means are no longer linear in the
    /// features, unless the features hold a constant one, so there is no θ.
    ///
    /// # Errors
    /// If a mean is no longer finite, or the question is refused.
    pub fn raised(self, offset: f64, threshold: Threshold) -> Result<Self, InstanceError> {
        let means = self.means.iter().map(|mean| mean + offset).collect();
        Self::new(self.arms, None, means, threshold, self.question.precision())
    }

    fn new(
        arms: Arms,
        theta: Option<Vec<f64>>,
        means: Vec<f64>,
        threshold: Threshold,
        precision: f64,
    ) -> Result<Self, InstanceError> {
        if let Some((arm, &mean)) = means.iter().enumerate().find(|(_, mean)| !mean.is_finite()) {
            return Err(InstanceError::Mean { arm, mean });
        }
        let threshold = match threshold {
            Threshold::Value(value) => value,
            Threshold::Mean => means.iter().sum::<f64>() / means.len() as f64,
        };
        let question = Question::new(threshold, precision)?;
        Ok(Self { arms, theta, means, question })
    }

    /// The arms.
    #[must_use]
    pub fn arms(&self) -> &Arms {
        &self.arms
    }

    /// θ, where the means are linear in the features.
    #[must_use]
    pub fn theta(&self) -> Option<&[f64]> {
        self.theta.as_deref()
    }

    /// The true means.
    #[must_use]
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// What is asked of it.
    #[must_use]
    pub fn question(&self) -> Question {
        self.question
    }

    /// How many arms are called wrongly by these estimates; arms within ε of τ never are.
    #[must_use]
    pub fn n_errors(&self, estimates: impl IntoIterator<Item = f64>) -> u32 {
        let wrong = |(&mean, estimate): (&f64, f64)| u32::from(self.question.is_error(mean, estimate));
        self.means.iter().zip(estimates).map(wrong).sum()
    }
}
