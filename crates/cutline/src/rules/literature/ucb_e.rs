//! UCB-E for thresholds: arg minᵢ Δ̂ᵢ − √(a/Tᵢ) (Audibert, Bubeck & Munos 2010, as used by Locatelli et al. 2016).

use crate::rules::{Index, RuleError};
use crate::{Arm, Question, Range};

/// Pulls the arm with the least gap minus exploration bonus. Its a should be of the order (T − K)/H, which depends on the true means;
/// [`Apt`](crate::rules::Apt) needs no such number.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `exploration` | none | a, how much to explore | a ≥ 0 and finite, else [`RuleError`] |
#[derive(Clone, Copy, Debug)]
pub struct UcbE {
    root_a: f64,
}

impl UcbE {
    /// The index with a = `exploration`.
    ///
    /// # Errors
    /// If `exploration` is negative or not finite.
    pub fn new(exploration: f64) -> Result<Self, RuleError> {
        Ok(Self { root_a: Range::at_least(0.0).check("exploration", exploration)?.sqrt() })
    }
}

impl Index for UcbE {
    type Weight = f64;

    fn weight(&self, _: Arm, pulls: u32) -> f64 {
        self.root_a / f64::from(pulls).sqrt()
    }

    #[inline(always)]
    fn index(&self, question: &Question, mean: f64, weight: f64) -> f64 {
        question.gap(mean) - weight
    }

    fn gap_for(&self, value: f64, weight: f64) -> Option<f64> {
        Some(value + weight)
    }
}
