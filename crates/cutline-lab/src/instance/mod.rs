//! A problem with its true means.

pub(crate) mod graphs;
mod julia;
mod known;
pub(crate) mod noise;
pub(crate) mod source;
pub mod tables;

use crate::instance::graphs::GraphPrior;
use cutline::{Arms, ArmsError, CovarianceError, CovarianceKind, Question, QuestionError};
use std::sync::Arc;
use thiserror::Error;

/// A problem with its true means: the arms, their means and, where the means are linear in the features, θ.
#[derive(Clone, Debug)]
pub struct Instance {
    arms: Arms,
    theta: Option<Vec<f64>>,
    means: Vec<f64>,
    question: Question,
    graph: Option<Arc<GraphPrior>>,
}

/// How the threshold τ of an instance is set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// At this value.
    Value(f64),
    /// At the mean of the true means, as in the paper's experiments on real data.
    Mean,
    /// At the median of the true means: halfway between the middle two, if their number is even.
    Median,
}

/// Why an instance was refused.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum InstanceError {
    /// The arms have no features for θ to go with.
    #[error("the arms have no features, so their means cannot follow from theta")]
    NoFeatures,
    /// θ does not have one value per feature.
    #[error("theta has {found} values, but the arms have {expected} features")]
    ThetaLength {
        /// The dimension.
        expected: usize,
        /// The length of θ.
        found: usize,
    },
    /// There is not one mean per arm.
    #[error("there are {found} means, but {expected} arms")]
    MeansLength {
        /// The number of arms.
        expected: usize,
        /// The number of means.
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
    /// The kernel or the graph was refused.
    #[error(transparent)]
    Covariance(#[from] CovarianceError),
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

    /// Arms that have these means, with features or without.
    ///
    /// # Errors
    /// If there is not one mean per arm, a mean is not finite, or the question is refused.
    pub fn with_means(
        arms: Arms,
        means: Vec<f64>,
        threshold: Threshold,
        precision: f64,
    ) -> Result<Self, InstanceError> {
        let (expected, found) = (arms.n_arms(), means.len());
        if expected != found {
            return Err(InstanceError::MeansLength { expected, found });
        }
        Self::new(arms, None, means, threshold, precision)
    }

    /// The nodes of a graph, with these means.
    ///
    /// # Errors
    /// As [`Instance::with_means`].
    pub fn on_graph(
        prior: Arc<GraphPrior>,
        means: Vec<f64>,
        threshold: Threshold,
        precision: f64,
    ) -> Result<Self, InstanceError> {
        let instance = Self::with_means(prior.arms().clone(), means, threshold, precision)?;
        Ok(Self { graph: Some(prior), ..instance })
    }

    /// The same means of arms that algorithms take to be related in this way.
    ///
    /// # Errors
    /// If the kernel or the graph does not fit the arms.
    pub fn related(self, kind: &CovarianceKind) -> Result<Self, InstanceError> {
        let (arms, graph) = match kind {
            CovarianceKind::Graph { graph, ridge } if graph.n_nodes() == self.arms.n_arms() => {
                let prior = Arc::new(GraphPrior::new(graph.clone(), *ridge)?);
                (prior.arms().clone(), Some(prior))
            }
            kind => (kind.arms(&self.arms)?, None),
        };
        Ok(Self { arms, graph, theta: None, ..self })
    }

    /// The same with `offset` added to every mean, and the threshold recomputed. The means are no longer linear in the
    /// features, unless one of them is constant, so there is no θ.
    ///
    /// # Errors
    /// If a mean is no longer finite, or the question is refused.
    pub fn raised(self, offset: f64, threshold: Threshold) -> Result<Self, InstanceError> {
        let means = self.means.iter().map(|mean| mean + offset).collect();
        let raised = Self::new(self.arms, None, means, threshold, self.question.precision())?;
        Ok(Self { graph: self.graph, ..raised })
    }

    /// The same means with [standardised](Arms::standardised) features. The means are linear in them only with an intercept, so
    /// there is no θ.
    #[must_use]
    pub fn standardised(self) -> Self {
        Self { arms: self.arms.standardised(), theta: None, ..self }
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
            Threshold::Median => median(&means),
        };
        let question = Question::new(threshold, precision)?;
        Ok(Self { arms, theta, means, question, graph: None })
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

    /// The graph of the arms and its prior, if they are on one.
    #[must_use]
    pub fn graph(&self) -> Option<&GraphPrior> {
        self.graph.as_deref()
    }

    /// The true means.
    #[must_use]
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// Threshold and precision.
    #[must_use]
    pub fn question(&self) -> Question {
        self.question
    }

    /// The number of wrong verdicts by these estimates; arms within ε of τ are never wrong.
    #[must_use]
    pub fn n_errors(&self, estimates: impl IntoIterator<Item = f64>) -> u32 {
        let wrong = |(&mean, estimate): (&f64, f64)| u32::from(self.question.is_error(mean, estimate));
        self.means.iter().zip(estimates).map(wrong).sum()
    }
}

/// The median; there is at least one arm.
fn median(means: &[f64]) -> f64 {
    let mut ascending = means.to_vec();
    ascending.sort_unstable_by(f64::total_cmp);
    let last = ascending.len() - 1;
    ascending[last / 2].midpoint(ascending[last.div_ceil(2)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        let threshold = |means: &[f64]| {
            let instance = Instance::unstructured(means.to_vec(), Threshold::Median, 0.0).unwrap();
            instance.question().threshold()
        };
        assert_eq!(threshold(&[7.0]), 7.0);
        assert_eq!(threshold(&[4.0, -1.0]), 1.5);
        assert_eq!(threshold(&[30.0, 1.0, 2.0]), 2.0);
        assert_eq!(threshold(&[5.0, 100.0, -3.0, 2.0]), 3.5);
    }

    #[test]
    fn there_is_one_mean_per_arm() {
        let arms = Arms::from_rows(&[[1.0], [2.0]]).unwrap();
        let refused = Instance::with_means(arms, vec![1.0], Threshold::Mean, 0.0).unwrap_err();
        assert_eq!(refused, InstanceError::MeansLength { expected: 2, found: 1 });
    }

    #[test]
    fn standardising_leaves_the_means() {
        let arms = Arms::from_rows(&[[1.0], [5.0]]).unwrap();
        let instance = Instance::linear(arms, vec![2.0], Threshold::Mean, 0.1).unwrap().standardised();
        assert_eq!((instance.arms().row(0), instance.arms().row(1)), (Some(vec![-1.0]), Some(vec![1.0])));
        assert_eq!((instance.means(), instance.theta()), (&[2.0, 10.0][..], None));
        assert_eq!(instance.question(), Question::new(6.0, 0.1).unwrap());
    }
}
