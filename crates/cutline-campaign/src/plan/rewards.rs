//! The random numbers of a plan: rewards, and what truths are drawn from.

use super::{Plan, PlanError};
use cutline::{Range, RewardKind, Rng};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// Checks a noise scale σ.
///
/// # Errors
/// If it is not a number between 1e-100 and 1e100.
pub fn check_noise(sigma: f64) -> Result<f64, PlanError> {
    if Range::NOISE_SCALE.contains(sigma) { Ok(sigma) } else { Err(PlanError::Noise(sigma)) }
}

/// Uniform on [−1, 1).
pub(super) fn uniform(rng: &mut Rng) -> f64 {
    2.0 * rng.random::<f64>() - 1.0
}

/// Standard normal.
pub(super) fn normal(rng: &mut Rng) -> f64 {
    StandardNormal.sample(rng)
}

impl Plan {
    fn is_bernoulli(&self) -> bool {
        self.campaigns.iter().any(|campaign| campaign.terms.rewards == Some(RewardKind::Bernoulli))
    }

    /// Draws the random numbers of [`Plan::reward`], one per measurement; they do not depend on the arms.
    pub(super) fn draw(&self, rng: &mut Rng, variates: &mut [f64]) {
        if self.is_bernoulli() {
            variates.fill_with(|| rng.random());
        } else {
            variates.fill_with(|| self.noise * normal(rng));
        }
    }

    /// The reward of an arm with this mean.
    pub(super) fn reward(&self, mean: f64, variate: f64) -> f64 {
        if self.is_bernoulli() { f64::from(u8::from(variate < mean)) } else { mean + variate }
    }
}
