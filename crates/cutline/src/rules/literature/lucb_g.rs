//! LUCB-G: among the open arms, arg maxᵢ μ̂ᵢ + U(Tᵢ), U(n) = σ√(2 ln(4Kn²/δ)/n) (Kano, Honda, Sakamaki, Matsuura, Nakamura & Sugiyama 2019).

use crate::rules::{Index, RuleError};
use crate::stop::Width;
use crate::{Arm, Question, Range};

/// Pulls the arm whose interval reaches highest, with the intervals of the stop [`GoodArms`](crate::GoodArms), for which it is made.
/// [`Hdoc`](super::Hdoc) finds the first arms above the threshold earlier.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `noise` | 1 | σ: rewards are σ-sub-Gaussian | 1e-100 ≤ σ ≤ 1e100, else [`RuleError`] |
/// | `delta` | 0.05 | δ: all intervals hold at all times with probability 1 − δ | 1e-100 ≤ δ ≤ 0.5, else [`RuleError`] |
#[derive(Clone, Copy, Debug)]
pub struct LucbG {
    noise: f64,
    width: Width,
}

impl LucbG {
    /// The index for `n_arms` arms.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn new(n_arms: usize, noise: f64, delta: f64) -> Result<Self, RuleError> {
        let noise = Range::NOISE_SCALE.check("noise", noise)?;
        Ok(Self { noise, width: Width::union(n_arms, delta)? })
    }
}

impl Index for LucbG {
    /// U(T)/σ.
    type Weight = f64;

    fn weight(&self, _: Arm, pulls: u32) -> f64 {
        self.width.at(f64::from(pulls))
    }

    #[inline(always)]
    fn index(&self, _: &Question, mean: f64, weight: f64) -> f64 {
        -(mean + self.noise * weight)
    }

    fn set_noise(&mut self, noise: f64) {
        self.noise = noise;
    }
}
