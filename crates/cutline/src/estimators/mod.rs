//! What is believed of the means.

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
/// lost. An estimator that has no use for pulls without a reward ignores the first and the last.
pub trait Estimator {
    /// The number of arms K.
    fn n_arms(&self) -> usize;

    /// A pull of `arm` was handed out; its reward is not known yet.
    fn expect(&mut self, arm: Arm) {
        let _ = arm;
    }

    /// The reward of a pull of `arm` that was expected.
    fn observe(&mut self, arm: Arm, reward: f64);

    /// A pull that was expected is lost; `pending` counts, for each arm, the pulls that are still out.
    fn forget(&mut self, pending: &[u32]) {
        let _ = pending;
    }

    /// Takes up a past at once, instead of pull by pull; called only when nothing was expected or observed yet.
    ///
    /// What it comes to is the same but for rounding, and costs O(Kd² + d³) however many pulls there were.
    fn recall(&mut self, past: &History<'_>);

    /// The estimates μ̂ of all means, brought up to date first if rewards came since. 0 where nothing is known.
    fn means(&mut self) -> &[f64];

    /// The means as they move with θ̂, if that is what they do: so that a rule need not look at all of them.
    fn lazy_means(&mut self) -> Option<LazyMeans<'_>> {
        None
    }

    /// How sure the estimates are, from the rewards told alone. Computed when asked for: it may cost more than many pulls.
    fn posterior(&mut self) -> Posterior<'_>;

    /// The mean and the variance of one arm, from the rewards told alone; cheaper than [`posterior`](Estimator::posterior)
    /// where it can be.
    fn moments_of(&mut self, arm: Arm) -> (f64, f64) {
        let posterior = self.posterior();
        (posterior.means[arm], posterior.variances[arm])
    }
}

/// The pulls of a learner before it was built, as far as an estimator needs them: a number for each arm.
#[derive(Clone, Copy, Debug)]
pub struct History<'a> {
    /// The rewards told.
    pub told: &'a [u32],
    /// Their mean; of no account where none was told.
    pub means: &'a [f64],
    /// The pulls that are out.
    pub pending: &'a [u32],
}

impl History<'_> {
    /// Writes the sum of each arm's rewards.
    fn sums(&self, sums: &mut [f64]) {
        for ((sum, &told), mean) in sums.iter_mut().zip(self.told).zip(self.means) {
            *sum = if told == 0 { 0.0 } else { f64::from(told) * mean };
        }
    }
}

/// An estimator with a design matrix V, so that it knows how sure it is of every arm and how arms relate.
///
/// Pulls that are out for measurement count in V at once, and in the means only when their rewards come.
pub trait VarianceEstimator: Estimator {
    /// The means and the variances qᵢ = xᵢᵀV⁻¹xᵢ, in units of the noise variance.
    fn moments(&mut self) -> (&[f64], &[f64]);

    /// The covariances xᵢᵀV⁻¹xₐ of every arm with `arm`, and the variances.
    fn covariances_with(&mut self, arm: Arm) -> (&[f64], &[f64]);

    /// As [`moments`](VarianceEstimator::moments), with the pulls told alone in V. Dearer while pulls are out.
    fn told_moments(&mut self) -> (&[f64], &[f64]);

    /// The covariances of every arm with `arm`, with the pulls told alone in V.
    fn told_covariances_with(&mut self, arm: Arm) -> &[f64];
}
