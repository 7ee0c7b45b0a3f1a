//! Custom estimators: [`Estimator`]s from outside this crate, by name.

use super::{Estimator, VarianceEstimator};
use crate::{EstimatorKind, NameError, Named, Problem};
use std::error::Error;
use std::sync::Arc;

/// A custom estimator and its name, for [`Spec::with_custom_estimator`](crate::Spec::with_custom_estimator). If the estimator is known at
/// compile time and needs no name, give it to [`Learner::new`](crate::Learner::new) instead.
///
/// ```
/// use cutline::estimators::{CustomEstimator, Estimator, Model, NamedEstimator, Posterior};
/// use cutline::{Arm, Arms, Problem, Question, Spec};
///
/// /// The mean of the last two rewards of each arm.
/// struct LastTwo {
///     rewards: Vec<Vec<f64>>,
///     means: Vec<f64>,
///     variances: Vec<f64>,
///     n_rewards: Vec<u32>,
/// }
///
/// impl LastTwo {
///     fn new(problem: &Problem<'_>) -> Self {
///         let n = problem.arms.n_arms();
///         Self { rewards: vec![Vec::new(); n], means: vec![0.0; n], variances: vec![f64::INFINITY; n], n_rewards: vec![0; n] }
///     }
/// }
///
/// impl Estimator for LastTwo {
///     fn n_arms(&self) -> usize {
///         self.means.len()
///     }
///
///     fn observe(&mut self, arm: Arm, reward: f64) {
///         self.rewards[arm].push(reward);
///         let last: Vec<f64> = self.rewards[arm].iter().rev().take(2).copied().collect();
///         self.means[arm] = last.iter().sum::<f64>() / last.len() as f64;
///         self.variances[arm] = 1.0 / last.len() as f64;
///         self.n_rewards[arm] += 1;
///     }
///
///     fn means(&mut self) -> &[f64] {
///         &self.means
///     }
///
///     fn posterior(&mut self) -> Posterior<'_> {
///         Posterior::new(&self.means, &self.variances, &self.n_rewards, Model::Unrelated)
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let last_two = NamedEstimator::new("last-two", CustomEstimator::new(|problem| Ok(Box::new(LastTwo::new(problem)))))?;
/// let spec = Spec::named("apt")?.with_custom_estimator(last_two)?;
/// let mut learner = spec.learner(&Arms::without_features(1)?, Question::new(0.0, 0.1)?, 3, 0)?;
/// for reward in [-9.0, 1.0, 2.0] {
///     learner.tell(0, reward)?;
/// }
/// assert_eq!(learner.beliefs().means(), [1.5]);
/// # Ok(())
/// # }
/// ```
pub type NamedEstimator = Named<CustomEstimator>;

/// How a custom [`Estimator`] is made, and what rules may expect of it.
pub struct CustomEstimator {
    make: Factory,
    learns_noise: bool,
}

enum Factory {
    Means(Make<dyn Estimator + Send>),
    Variances(Make<dyn VarianceEstimator + Send>),
}

type Made<E> = Result<Box<E>, Box<dyn Error + Send + Sync>>;
type Make<E> = Box<dyn Fn(&Problem<'_>) -> Made<E> + Send + Sync>;

impl CustomEstimator {
    /// An estimator for rules that use only means and pulls; `make` makes it afresh for every learner, or says why it does not fit the problem.
    /// Rules that need variances refuse it: use [`with_variances`](CustomEstimator::with_variances) where the estimator has them.
    pub fn new(make: impl Fn(&Problem<'_>) -> Made<dyn Estimator + Send> + Send + Sync + 'static) -> Self {
        Self { make: Factory::Means(Box::new(make)), learns_noise: false }
    }

    /// An estimator that also has variances and covariances. Every rule accepts it, except those that are tied to sample means or to ridge.
    pub fn with_variances(
        make: impl Fn(&Problem<'_>) -> Made<dyn VarianceEstimator + Send> + Send + Sync + 'static,
    ) -> Self {
        Self { make: Factory::Variances(Box::new(make)), learns_noise: false }
    }

    /// States that the estimator learns σ from the rewards: its [`noise_scale`](Estimator::noise_scale) returns it. Rules that need a σ that does
    /// not change then refuse the estimator.
    #[must_use]
    pub fn learning_noise(self) -> Self {
        Self { learns_noise: true, ..self }
    }
}

impl NamedEstimator {
    /// An estimator with a name, by which an experiment file can refer to it.
    ///
    /// # Errors
    /// If a built-in estimator has this name, or the name is not valid.
    pub fn new(name: &str, estimator: CustomEstimator) -> Result<Self, NameError> {
        let is_taken = EstimatorKind::ALL.iter().any(|kind| kind.name() == name);
        Self::checked(("estimator", "estimators"), name, is_taken, Arc::new(estimator))
    }

    pub(crate) fn kind(&self) -> EstimatorKind {
        let CustomEstimator { make, learns_noise } = self.part();
        EstimatorKind::Custom { has_variances: matches!(make, Factory::Variances(_)), learns_noise: *learns_noise }
    }

    /// The estimator of one learner.
    pub(crate) fn make(&self, problem: &Problem<'_>) -> Made<dyn Estimator + Send> {
        match &self.part().make {
            Factory::Means(make) => make(problem),
            Factory::Variances(make) => Ok(make(problem)?),
        }
    }

    /// The estimator of one learner, if it has variances.
    pub(crate) fn make_with_variances(&self, problem: &Problem<'_>) -> Option<Made<dyn VarianceEstimator + Send>> {
        match &self.part().make {
            Factory::Means(_) => None,
            Factory::Variances(make) => Some(make(problem)),
        }
    }
}
