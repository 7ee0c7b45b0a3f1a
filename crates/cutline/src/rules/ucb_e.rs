//! UCB-E for thresholds: arg minᵢ Δ̂ᵢ − √(a/Tᵢ) (Audibert, Bubeck & Munos 2010, as used by Locatelli et al. 2016).

use super::{Beliefs, Rule};
use crate::estimators::Estimator;
use crate::{Arm, Rng, arg_min};
use thiserror::Error;

/// Pulls where gap less exploration bonus is least. Its a should be of the order (T − K)/H, which only somebody who knows
/// the truth can tell; [`Apt`](super::Apt) needs no such number.
///
/// Arms not pulled yet come first, in their order; ties go to the first arm.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `exploration` | none | a, how much to explore | a ≥ 0 and finite, else [`UcbEError`] |
#[derive(Clone, Debug)]
pub struct UcbE {
    root_a: f64,
    /// √(a/Tᵢ), and the Tᵢ it was computed for: square roots are slow, and few Tᵢ change between two choices.
    widths: Vec<f64>,
    known: Vec<u32>,
}

/// The exploration is negative, NaN or infinite.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("exploration must be a finite number of at least 0, not {0}")]
pub struct UcbEError(pub f64);

impl UcbE {
    /// The rule with a = `exploration` for `n_arms` arms.
    ///
    /// # Errors
    /// If `exploration` is negative or not finite.
    pub fn new(exploration: f64, n_arms: usize) -> Result<Self, UcbEError> {
        if !(0.0..f64::INFINITY).contains(&exploration) {
            return Err(UcbEError(exploration));
        }
        Ok(Self { root_a: exploration.sqrt(), widths: vec![0.0; n_arms], known: vec![0; n_arms] })
    }
}

impl<E: Estimator + ?Sized> Rule<E> for UcbE {
    const OPENS_WITH_EVERY_ARM: bool = true;

    #[inline]
    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Arm {
        if let Some(arm) = beliefs.first_unpulled {
            return arm;
        }
        for ((known, widths), pulls) in
            self.known.chunks_mut(8).zip(self.widths.chunks_mut(8)).zip(beliefs.pulls.chunks(8))
        {
            if known != pulls {
                known.copy_from_slice(pulls);
                for (width, &pulls) in widths.iter_mut().zip(pulls) {
                    *width = self.root_a / f64::from(pulls).sqrt();
                }
            }
        }
        let question = beliefs.question;
        arg_min(beliefs.estimator.means(), &self.widths, |mean, width| question.gap(mean) - width)
    }
}
