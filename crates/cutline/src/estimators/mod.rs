//! Estimators: rewards in, means and variances out.

mod centred;
mod designed;
mod gram_basis;
pub(crate) mod inverse;
mod lazy_means;
mod mean;
mod posterior;
mod ridge;

pub use centred::{CentreError, Centred};
pub use designed::DesignedRidge;
pub(crate) use designed::SHRINK_LIMIT;
pub use lazy_means::LazyMeans;
pub use mean::SampleMean;
pub use posterior::{Model, Posterior};
pub use ridge::{Ridge, RidgeError};

use crate::Arm;

/// Turns rewards into estimates of the means.
///
/// The learner calls [`expect`](Estimator::expect) when a pull is handed out, then, at any later time and in any order
/// among the pulls, either [`observe`](Estimator::observe) with its reward or [`forget`](Estimator::forget) if it is
/// lost. An estimator that does not use pending pulls need not implement the first and the last.
pub trait Estimator {
    /// The number of arms K.
    fn n_arms(&self) -> usize;

    /// A pull of `arm` was handed out; its reward is not known yet.
    fn expect(&mut self, arm: Arm) {
        let _ = arm;
    }

    /// The reward of a pull of `arm` that was expected.
    fn observe(&mut self, arm: Arm, reward: f64);

    /// A pull that was expected is lost; `pending` counts the pending pulls of each arm that remain.
    fn forget(&mut self, pending: &[u32]) {
        let _ = pending;
    }

    /// Restores a past at once, instead of pull by pull; called only before anything was expected or observed.
    ///
    /// The result is the same except for rounding, and costs O(Kd² + d³) for any number of pulls.
    fn restore(&mut self, past: &History<'_>);

    /// The estimates μ̂ of all means, brought up to date. 0 for an arm without information.
    fn means(&mut self) -> &[f64];

    /// The means as products of features with θ̂, if the estimator keeps θ̂: a rule then need not compute all of them.
    fn lazy_means(&mut self) -> Option<LazyMeans<'_>> {
        None
    }

    /// Means and variances from the rewards received, pending pulls ignored. Computed on demand: it may cost more than many pulls.
    fn posterior(&mut self) -> Posterior<'_>;

    /// The mean and the variance of one arm from the rewards received; cheaper than [`posterior`](Estimator::posterior)
    /// where possible.
    fn moments_of(&mut self, arm: Arm) -> (f64, f64) {
        let posterior = self.posterior();
        (posterior.means[arm], posterior.variances[arm])
    }
}

/// The past of a learner, one number per arm in each field.
#[derive(Clone, Copy, Debug)]
pub struct History<'a> {
    /// The number of rewards received.
    pub n_rewards: &'a [u32],
    /// Their mean; ignored where there is no reward.
    pub means: &'a [f64],
    /// The pending pulls.
    pub pending: &'a [u32],
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
/// Pending pulls count in V at once, and in the means only when their rewards come.
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
