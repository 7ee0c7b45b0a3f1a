//! CLUCB for thresholds: among the undecided arms, Δ̂ᵢ < radᵢ, the one with the largest radᵢ = σ√(2 ln(4Kt³/δ)/Tᵢ)
//! (Chen, Lin, King, Lyu & Chen 2014; the decision class is the set of all subsets of arms).

use crate::estimators::Estimator;
use crate::rules::{Choice, Rule, RuleError};
use crate::{Beliefs, Range, Rng};

/// Does not pull arms whose interval lies on one side of the threshold, and pulls the others in turn;
/// [`LinGame`](super::LinGame) also uses the information that a pull has about other arms. The radius counts only the pulls of the
/// arm itself, so use it with the sample mean.
///
/// It is made for a stop that ends when all arms are decided, such as [`ConfidenceStop`](crate::ConfidenceStop). Without one, it pulls
/// the least-pulled arm once no arm is undecided. Ties go to the first arm.
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
    /// The values of δ.
    pub(crate) const DELTA: Range = Range::new(1e-100, 0.5);

    /// The rule for rewards of standard deviation `noise` and a probability of error `delta`.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn new(noise: f64, delta: f64) -> Result<Self, RuleError> {
        let noise = Range::NOISE_SCALE.check("noise", noise)?;
        Ok(Self { noise, delta: Self::DELTA.check("delta", delta)? })
    }
}

impl<E: Estimator + ?Sized> Rule<E> for Clucb {
    const OPENS_WITH_EVERY_ARM: bool = true;

    /// The radius falls with Tᵢ, so the largest is that of the arm pulled least; an arm is undecided if Tᵢ Δ̂ᵢ² < 2σ² ln(4Kt³/δ).
    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Choice {
        if let Some(arm) = beliefs.first_unpulled {
            return arm.into();
        }
        let (k, t) = (beliefs.pulls.len() as f64, beliefs.total_pulls as f64);
        let level = 2.0 * ((4.0 * k).ln() + 3.0 * t.ln() - self.delta.ln());
        let (question, noise, pulls) = (beliefs.question, self.noise, beliefs.pulls);
        let index = |mean, pulls| {
            let (pulls, distance) = (f64::from(pulls), question.gap(mean) / noise);
            // Decided arms come after all undecided ones.
            if pulls * distance * distance < level { pulls } else { pulls + 4_294_967_296.0 }
        };
        beliefs.settled.arg_min_open(beliefs.estimator.means(), pulls, index).into()
    }

    fn set_noise(&mut self, noise: f64) {
        self.noise = noise;
    }
}
