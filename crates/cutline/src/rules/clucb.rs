//! CLUCB for thresholds: among the arms that are undecided, Δ̂ᵢ < radᵢ, the one with the largest radᵢ = σ√(2 ln(4Kt³/δ)/Tᵢ)
//! (Chen, Lin, King, Lyu & Chen 2014, whose decision class is here every set of arms).

use super::{Rule, RuleError, checked_noise};
use crate::estimators::Estimator;
use crate::{Arm, Beliefs, Rng, arg_min};

/// Spends nothing on arms whose interval lies on one side, and pulls the others in turn; [`LinGame`](super::LinGame) also
/// counts what the pulls of one arm tell of the others. The radius is that of an arm's own pulls, so it belongs with the sample
/// mean.
///
/// It is made for a stop that ends when all are decided, such as [`ConfidenceStop`](crate::ConfidenceStop). Without one it goes on: once no arm is
/// undecided it pulls the arm that was pulled least. Ties go to the first arm.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `noise` | 1 | σ: rewards are σ-sub-Gaussian | 1e-100 ≤ σ ≤ 1e100, else [`RuleError`] |
/// | `delta` | 0.05 | δ: all intervals hold at all times with probability 1 − δ | 1e-100 ≤ δ ≤ 0.5, else [`RuleError`] |
#[derive(Clone, Copy, Debug)]
pub struct Clucb {
    noise: f64,
    delta: f64,
}

impl Clucb {
    /// The rule for rewards of standard deviation `noise` and a probability of error `delta`.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn new(noise: f64, delta: f64) -> Result<Self, RuleError> {
        let noise = checked_noise(noise)?;
        if !(1e-100..=0.5).contains(&delta) {
            return Err(RuleError { parameter: "delta", allowed: "a number between 1e-100 and 0.5", value: delta });
        }
        Ok(Self { noise, delta })
    }
}

impl<E: Estimator + ?Sized> Rule<E> for Clucb {
    const OPENS_WITH_EVERY_ARM: bool = true;

    /// The radius falls with Tᵢ, so the largest is that of the arm pulled least; undecided is Tᵢ Δ̂ᵢ² < 2σ² ln(4Kt³/δ).
    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Arm {
        if let Some(arm) = beliefs.first_unpulled {
            return arm;
        }
        let (k, t) = (beliefs.pulls.len() as f64, beliefs.total_pulls as f64);
        let level = 2.0 * ((4.0 * k).ln() + 3.0 * t.ln() - self.delta.ln());
        let (question, noise, pulls) = (beliefs.question, self.noise, beliefs.pulls);
        arg_min(beliefs.estimator.means(), pulls, |mean, pulls| {
            let (pulls, distance) = (f64::from(pulls), question.gap(mean) / noise);
            // Arms that are decided come after all that are not.
            if pulls * distance * distance < level { pulls } else { pulls + 4_294_967_296.0 }
        })
    }

    fn set_noise(&mut self, noise: f64) {
        self.noise = noise;
    }
}
