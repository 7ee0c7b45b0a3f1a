//! Randomised straddle: arg maxᵢ max(√β σ√qᵢ − |μ̂ᵢ − τ|, 0), with β drawn anew from χ² with two degrees of freedom at every choice
//! (Inatsu, Takeno, Kutsukake & Takeuchi 2024, for level sets). Arms for which this is 0 are tied; the one with the largest value before the
//! maximum with 0 is chosen among them.

use super::{Choice, Rule, RuleError};
use crate::estimators::VarianceEstimator;
use crate::{Beliefs, Range, Rng};
use rand_core::Rng as _;

/// [`Straddle`](super::Straddle) with a random width: mostly it pulls arms near the threshold, and sometimes the least certain one.
/// All arms get the same β. Ties go to the first arm.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `noise` | 1 | σ, the standard deviation of a reward | 1e-100 ≤ σ ≤ 1e100, else [`RuleError`] |
#[derive(Clone, Copy, Debug)]
pub struct RandomStraddle {
    /// σ².
    variance: f64,
}

impl RandomStraddle {
    /// The rule for rewards of standard deviation `noise`.
    ///
    /// # Errors
    /// If `noise` is not between 1e-100 and 1e100.
    pub fn new(noise: f64) -> Result<Self, RuleError> {
        let noise = Range::NOISE_SCALE.check("noise", noise)?;
        Ok(Self { variance: noise * noise })
    }
}

impl<E: VarianceEstimator + ?Sized> Rule<E> for RandomStraddle {
    const OPENS_WITH_EVERY_ARM: bool = false;

    /// −2 ln U has the χ² distribution with two degrees of freedom, for U uniform on (0, 1].
    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, rng: &mut Rng) -> Choice {
        let uniform = ((rng.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        let (variance, threshold) = (-2.0 * uniform.ln() * self.variance, beliefs.question.threshold());
        let (means, variances) = beliefs.estimator.moments();
        let score = |mean: f64, q: f64| (variance * q).sqrt() - (mean - threshold).abs();
        beliefs.settled.arg_max_open(means, variances, score).into()
    }

    fn set_noise(&mut self, noise: f64) {
        self.variance = noise * noise;
    }
}
