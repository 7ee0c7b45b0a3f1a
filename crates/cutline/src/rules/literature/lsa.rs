//! LSA: arg minᵢ α xᵢ + ln Tᵢ, xᵢ = Tᵢ(μ̂ᵢ − τ)²/(2σ²) (Tao, Blanco, Peng & Zhou 2019, in the form of Ouhamma, Degenne, Gaillard &
//! Perchet 2021).

use crate::rules::{Index, RuleError};
use crate::scan::ln;
use crate::{Arm, Question, Range};

/// As [`Apt`](crate::rules::Apt), but an arm is also pulled if it has few pulls, so that arms whose side cannot be found do not take the whole
/// budget. Made for few wrong arms on average; the precision ε does not enter.
///
/// Tao's index for rewards in [0, 1], α Tᵢ(μ̂ᵢ − τ)² + ½ ln Tᵢ, is half of this one with σ = ½ and the same α; their experiments have
/// α = 1.35.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `alpha` | 1 | α, how much the distance to the threshold counts compared with the pulls | α ≥ 0 and finite, else [`RuleError`] |
/// | `noise` | 1 | σ, the standard deviation of a reward | 1e-100 ≤ σ ≤ 1e100, else [`RuleError`] |
#[derive(Clone, Copy, Debug)]
pub struct Lsa {
    root_alpha: f64,
    /// √(α/2)/σ.
    scale: f64,
}

impl Lsa {
    /// The values of α.
    pub(crate) const ALPHA: Range = Range::at_least(0.0);

    /// The index with α = `alpha`, for rewards of standard deviation `noise`.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn new(alpha: f64, noise: f64) -> Result<Self, RuleError> {
        let root_alpha = Self::ALPHA.check("alpha", alpha)?.sqrt();
        let mut lsa = Self { root_alpha, scale: 0.0 };
        lsa.set_noise(Range::NOISE_SCALE.check("noise", noise)?);
        Ok(lsa)
    }
}

impl Index for Lsa {
    /// T and ln T.
    type Weight = (f64, f64);

    #[inline(always)]
    fn weight(&self, _: Arm, pulls: u32) -> (f64, f64) {
        let pulls = f64::from(pulls);
        (pulls, ln(pulls))
    }

    #[inline(always)]
    fn index(&self, question: &Question, mean: f64, (pulls, log): (f64, f64)) -> f64 {
        let distance = self.scale * (mean - question.threshold());
        pulls * distance * distance + log
    }

    fn set_noise(&mut self, noise: f64) {
        self.scale = self.root_alpha * std::f64::consts::FRAC_1_SQRT_2 / noise;
    }
}
