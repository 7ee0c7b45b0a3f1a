//! Straddle: the arm whose interval reaches furthest across the threshold, arg maxᵢ 1.96 σ√qᵢ − |μ̂ᵢ − τ|
//! (Bryan, Schneider, Nichol, Miller, Genovese & Wasserman 2005, for level sets).

use super::{Rule, RuleError, checked_noise};
use crate::estimators::VarianceEstimator;
use crate::{Arm, Beliefs, Rng, arg_max};

/// Weighs how unsure the mean of an arm is against how far it lies from the threshold; what a pull tells of other arms it does not
/// weigh, as [`Pivot`](super::Pivot) does. It needs no opening. Ties go to the first arm.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `noise` | 1 | σ, the standard deviation of a reward | 1e-100 ≤ σ ≤ 1e100, else [`RuleError`] |
#[derive(Clone, Copy, Debug)]
pub struct Straddle {
    /// σ².
    variance: f64,
}

impl Straddle {
    /// The rule for rewards of standard deviation `noise`.
    ///
    /// # Errors
    /// If `noise` is not between 1e-100 and 1e100.
    pub fn new(noise: f64) -> Result<Self, RuleError> {
        let noise = checked_noise(noise)?;
        Ok(Self { variance: noise * noise })
    }
}

impl<E: VarianceEstimator + ?Sized> Rule<E> for Straddle {
    const OPENS_WITH_EVERY_ARM: bool = false;

    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Arm {
        let (variance, threshold) = (self.variance, beliefs.question.threshold());
        let (means, variances) = beliefs.estimator.moments();
        arg_max(means, variances, |mean, q| 1.96 * (variance * q).sqrt() - (mean - threshold).abs())
    }

    fn set_noise(&mut self, noise: f64) {
        self.variance = noise * noise;
    }
}
