//! Anytime parameter-free thresholding: arg minᵢ √Tᵢ Δ̂ᵢ, Δ̂ᵢ = |μ̂ᵢ − τ| + ε (Locatelli, Gutzeit & Carpentier 2016).

use super::{Beliefs, Rule};
use crate::estimators::Estimator;
use crate::{Arm, Rng, arg_min};

/// Pulls the arm whose side is least certain by its own pulls; with the sample mean it is APT, with ridge it is
/// LinearAPT. [`Pivot`](super::Pivot) also counts what the pulls of one arm tell of the others.
///
/// Arms not pulled yet come first, in their order; ties go to the first arm. No parameters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Apt;

impl<E: Estimator + ?Sized> Rule<E> for Apt {
    const OPENS_WITH_EVERY_ARM: bool = true;

    #[inline]
    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Arm {
        if let Some(arm) = beliefs.first_unpulled {
            return arm;
        }
        let question = beliefs.question;
        // Tᵢ Δ̂ᵢ² is least where √Tᵢ Δ̂ᵢ is.
        arg_min(beliefs.estimator.means(), beliefs.pulls, |mean, pulls| {
            let gap = question.gap(mean);
            f64::from(pulls) * gap * gap
        })
    }
}
