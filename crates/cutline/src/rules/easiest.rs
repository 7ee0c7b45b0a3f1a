//! Easiest first: every arm once, then arg minᵢ max(Nᵢ − Tᵢ, 4(Tᵢ − Nᵢ)), where Nᵢ = σ²(2 ln(K/δ) + ln(1 + Tᵢ))/Δ̂ᵢ² is about the number of pulls that
//! prove the side of arm i.
//!
//! To prove every side takes about the same number of pulls in any order, because an arm is proved by its own rewards. In this order most arms are
//! proved at any time before. An arm that is not proved by about Nᵢ pulls is left for a while: its mean may be wrong, or its proof may wait for more
//! rewards of other arms. This rule was made for Cutline.

use super::{Index, RuleError};
use crate::scan::ln;
use crate::{Arm, Question, Range};

/// How much sooner an arm is left that has had more pulls than it should need.
const IMPATIENCE: f64 = 4.0;

/// Pulls the open arm that takes the fewest more pulls to be [proved](crate::proof); for a stop that settles arms. [`Apt`](super::Apt) does the
/// opposite: it pulls the arm that is least certain.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `noise` | 1 | σ, the standard deviation of a reward | 1e-100 ≤ σ ≤ 1e100, else [`RuleError`] |
/// | `delta` | 0.05 | δ, the probability of an error | 0 < δ < 1, else [`RuleError`] |
#[derive(Clone, Copy, Debug)]
pub struct Easiest {
    /// σ².
    variance: f64,
    /// 2 ln(K/δ).
    level: f64,
}

impl Easiest {
    /// The rule for `n_arms` arms and rewards of standard deviation `noise`.
    ///
    /// # Errors
    /// If `noise` or `delta` is out of range.
    pub fn new(n_arms: usize, noise: f64, delta: f64) -> Result<Self, RuleError> {
        let noise = Range::NOISE_SCALE.check("noise", noise)?;
        let delta = super::LinGapE::DELTA.check("delta", delta)?;
        Ok(Self { variance: noise * noise, level: 2.0 * ln(n_arms as f64 / delta) })
    }
}

impl Index for Easiest {
    /// T and 2 ln(K/δ) + ln(1 + T).
    type Weight = (f64, f64);

    fn weight(&self, _: Arm, pulls: u32) -> (f64, f64) {
        let pulls = f64::from(pulls);
        (pulls, self.level + ln(1.0 + pulls))
    }

    #[inline(always)]
    fn index(&self, question: &Question, mean: f64, (pulls, level): (f64, f64)) -> f64 {
        let gap = question.gap(mean);
        let missing = self.variance * level / (gap * gap) - pulls;
        missing.max(-IMPATIENCE * missing)
    }

    fn set_noise(&mut self, noise: f64) {
        self.variance = noise * noise;
    }
}
