//! Straddle: the arm whose interval reaches furthest across the threshold, arg maxᵢ 1.96 σ√qᵢ − |μ̂ᵢ − τ|
//! (Bryan, Schneider, Nichol, Miller, Genovese & Wasserman 2005, for level sets).

use super::{Choice, Rule, RuleError};
use crate::estimators::VarianceEstimator;
use crate::{Beliefs, Range, Rng};

/// Weighs the uncertainty of an arm's mean against its distance from the threshold. [`Pivot`](super::Pivot) also uses the information
/// that a pull has about other arms. It does not have to pull every arm once first. Ties go to the first arm.
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
        let noise = Range::NOISE_SCALE.check("noise", noise)?;
        Ok(Self { variance: noise * noise })
    }
}

impl<E: VarianceEstimator + ?Sized> Rule<E> for Straddle {
    const OPENS_WITH_EVERY_ARM: bool = false;

    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Choice {
        let (variance, threshold) = (self.variance, beliefs.question.threshold());
        let (means, variances) = beliefs.estimator.moments();
        let score = |mean: f64, q: f64| 1.96 * (variance * q).sqrt() - (mean - threshold).abs();
        beliefs.settled.arg_max_open(means, variances, score).into()
    }

    fn set_noise(&mut self, noise: f64) {
        self.variance = noise * noise;
    }
}
