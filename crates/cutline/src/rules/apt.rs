//! Anytime parameter-free thresholding: arg minᵢ √Tᵢ Δ̂ᵢ, Δ̂ᵢ = |μ̂ᵢ − τ| + ε (Locatelli, Gutzeit & Carpentier 2016).

use super::Index;
use crate::{Arm, Question};

/// Pulls the arm whose side is least certain, judged by the number of its own pulls. With the sample mean this is APT, with ridge
/// LinearAPT. [`Pivot`](super::Pivot) also uses the information that a pull has about other arms. No parameters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Apt;

/// The arm with the least Tᵢ Δ̂ᵢ² is the one with the least √Tᵢ Δ̂ᵢ.
impl Index for Apt {
    type Weight = f64;

    fn weight(&self, _: Arm, pulls: u32) -> f64 {
        f64::from(pulls)
    }

    #[inline(always)]
    fn index(&self, question: &Question, mean: f64, weight: f64) -> f64 {
        let gap = question.gap(mean);
        weight * gap * gap
    }

    fn gap_for(&self, value: f64, weight: f64) -> Option<f64> {
        Some((value / weight).sqrt())
    }
}
