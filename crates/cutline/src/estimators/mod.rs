//! Estimators: rewards in, means and variances out.

mod arm_variances;
mod boxed;
mod centred;
mod custom;
mod designed;
mod gram_basis;
pub(crate) mod inverse;
mod isotonic;
mod lazy_means;
mod linear_belief;
mod linear_estimate;
mod mean;
mod mixed;
mod phased;
mod posterior;
mod prior_free;
mod ridge;
mod triangle;

pub use centred::{CentreError, Centred};
pub use custom::{CustomEstimator, NamedEstimator};
pub use designed::DesignedRidge;
pub use isotonic::Isotonic;
pub use lazy_means::LazyMeans;
pub(crate) use linear_belief::SHRINK_LIMIT;
pub use linear_estimate::LinearEstimate;
pub use mean::SampleMean;
pub use mixed::{FitHistory, Mixed, MixedError, MixedSettings};
pub use phased::{PhasedEstimator, PhasedRidge};
pub use posterior::{Explained, Marginals, Model, Posterior};
pub use prior_free::PriorFree;
pub use ridge::{Ridge, RidgeError};
pub(crate) use triangle::invert_precision;

use crate::{Arm, Question};

/// Turns rewards into estimates of the means.
///
/// The learner calls [`expect`](Estimator::expect) when a pull is handed out, then, at any later time and in any order among the pulls,
/// either [`observe`](Estimator::observe) with its reward or [`forget`](Estimator::forget) if it is lost. An estimator that ignores
/// pending pulls need not implement `expect` and `forget`.
pub trait Estimator {
    /// The number of arms K.
    fn n_arms(&self) -> usize;

    /// A pull of `arm` was handed out; its reward is not known yet.
    fn expect(&mut self, arm: Arm) {
        let _ = arm;
    }

    /// Takes the reward of a pull of `arm` for which [`expect`](Estimator::expect) was called.
    fn observe(&mut self, arm: Arm, reward: f64);

    /// Some pending pull is lost; `pending` is the number of pending pulls per arm that remain.
    fn forget(&mut self, pending: &[u32]) {
        let _ = pending;
    }

    /// Whether counts and means of the rewards determine the estimates, so that [`restore`](Estimator::restore) works. If not, a learner is
    /// restored by telling it all rewards again in order.
    fn can_restore(&self) -> bool {
        false
    }

    /// Replaces everything received so far by a whole history, in one step instead of pull by pull; called only where the estimator
    /// [can](Estimator::can_restore).
    ///
    /// The result is the same except for rounding, and costs O(Kd² + d³) for any number of pulls.
    ///
    /// # Panics
    /// If the estimator cannot be restored, the history has another number of arms, or it lacks the [`FitHistory`] that the mixed model needs.
    fn restore(&mut self, history: &History<'_>) {
        let _ = history;
        unreachable!("an estimator that `can_restore` has its own `restore`");
    }

    /// The current estimates μ̂ of all means; 0 for an arm about which nothing is known.
    fn means(&mut self) -> &[f64];

    /// The means as products of the features with θ̂, if the estimator keeps θ̂, so that a rule can compute only those it needs.
    fn lazy_means(&mut self) -> Option<LazyMeans<'_>> {
        None
    }

    /// θ̂ and V⁻¹ from the rewards received, if the means are linear in the features. O(d²), or O(Kd²) with no more arms than features.
    fn linear_estimate(&mut self) -> Option<LinearEstimate> {
        None
    }

    /// Means and variances from the rewards received, pending pulls ignored. Computed on demand, which may cost more than many pulls.
    fn posterior(&mut self) -> Posterior<'_>;

    /// The posterior, and the estimates without a prior on which bounds that hold at all times are based; `None` if there are none.
    fn posterior_and_prior_free(&mut self) -> (Posterior<'_>, Option<PriorFree<'_>>) {
        (self.posterior(), None)
    }

    /// σ, the standard deviation of a reward, where the estimator learns it from the rewards; it must be between 1e-100 and 1e100. The
    /// variances are in units of its square, and rule, stop and verdicts use it instead of their own σ.
    fn noise_scale(&self) -> Option<f64> {
        None
    }

    /// The least σ that the rewards allow to be believed, where [`noise_scale`](Estimator::noise_scale) may be smaller: they may come in steps.
    fn least_noise(&self) -> f64 {
        0.0
    }

    /// How much of the differences between the arms the features explain, where the estimator learns it from the rewards.
    fn explained(&self) -> Option<Explained> {
        None
    }

    /// The standard deviation of the differences between the arms, where the estimator learns it from the rewards.
    fn spread(&self) -> Option<f64> {
        None
    }

    /// The posterior of every mean for verdicts, where it differs from N(μ̂, σ²q) of [`posterior`](Estimator::posterior); `None` also
    /// while there is nothing to learn from. Computed on demand, which may cost more than many pulls.
    fn marginals(&mut self, question: Question) -> Option<Marginals> {
        let _ = question;
        None
    }

    /// `n` deviations of all means from μ̂, one number per arm, drawn from the posterior by the rewards received, for rewards of standard deviation
    /// `noise` unless the estimator has learnt it. `normal` returns independent standard normal numbers. An arm about which nothing is known does
    /// not deviate.
    fn deviations(&mut self, noise: f64, n: usize, normal: &mut dyn FnMut() -> f64) -> Vec<Vec<f64>> {
        let variances = self.posterior().variances.to_vec();
        let mut deviation = |q: f64| if q.is_finite() { noise * q.sqrt() * normal() } else { 0.0 };
        (0..n).map(|_| variances.iter().map(|&q| deviation(q)).collect()).collect()
    }

    /// The mean and the variance of one arm from the rewards received; cheaper than [`posterior`](Estimator::posterior)
    /// where possible.
    fn moments_of(&mut self, arm: Arm) -> (f64, f64) {
        let posterior = self.posterior();
        (posterior.means[arm], posterior.variances[arm])
    }

    /// The estimate of one arm's mean without a prior, and its variance: 1/n for a sample mean, otherwise as in
    /// [`PriorFree::LeastSquares`]. Cheaper than [`posterior_and_prior_free`](Estimator::posterior_and_prior_free) where possible.
    fn prior_free_moments_of(&mut self, arm: Arm) -> (f64, f64) {
        match self.posterior_and_prior_free().1 {
            Some(PriorFree::SampleMeans { means, n_rewards }) => (means[arm], 1.0 / f64::from(n_rewards[arm])),
            Some(PriorFree::LeastSquares { means, variances, .. }) => (means[arm], variances[arm]),
            None => (0.0, f64::INFINITY),
        }
    }
}

/// The history of a learner, with one number per arm in each field.
#[derive(Clone, Copy, Debug)]
pub struct History<'a> {
    /// The number of rewards received.
    pub n_rewards: &'a [u32],
    /// The mean of the rewards received; ignored for arms without rewards.
    pub means: &'a [f64],
    /// The number of pending pulls.
    pub pending: &'a [u32],
    /// The same rewards for the [mixed model](Mixed), which cannot be restored without them; other estimators ignore it.
    pub fit_history: Option<&'a FitHistory>,
}

impl History<'_> {
    /// Writes the sum of each arm's rewards.
    fn sums(&self, sums: &mut [f64]) {
        for ((sum, &n), mean) in sums.iter_mut().zip(self.n_rewards).zip(self.means) {
            *sum = if n == 0 { 0.0 } else { f64::from(n) * mean };
        }
    }
}

/// An estimator with a design matrix V, which gives the variance of every mean and the covariances between arms.
///
/// A pull counts in V as soon as it is handed out, but in the means only when its reward arrives.
pub trait VarianceEstimator: Estimator {
    /// The means and the variances qᵢ = xᵢᵀV⁻¹xᵢ, in units of the noise variance.
    fn moments(&mut self) -> (&[f64], &[f64]);

    /// The covariances xᵢᵀV⁻¹xₐ of every arm with `arm`, and the variances.
    fn covariances_with(&mut self, arm: Arm) -> (&[f64], &[f64]);

    /// As [`moments`](VarianceEstimator::moments), with only the rewards received in V. More expensive while pulls are pending.
    fn observed_moments(&mut self) -> (&[f64], &[f64]);

    /// The covariances of every arm with `arm`, with only the rewards received in V.
    fn observed_covariances_with(&mut self, arm: Arm) -> &[f64];
}

/// An estimator that can evaluate a hypothetical design.
pub trait DesignEstimator: VarianceEstimator {
    /// The variances xᵢᵀA⁻¹xᵢ of every arm in units of the noise variance, with A = λI + Σ wᵢxᵢxᵢᵀ for these weights. O(Kd² + d³).
    fn design_variances(&mut self, weights: &[f64]) -> &[f64];

    /// The covariances xᵢᵀA⁻¹xₐ of every arm with `arm`, for A of the last call of
    /// [`design_variances`](DesignEstimator::design_variances). No other method may have been called since.
    fn design_covariances_with(&mut self, arm: Arm) -> &[f64];
}
