//! HDoC: among the open arms, arg maxᵢ μ̂ᵢ + σ√(2 ln t/Tᵢ), t = 1 + Σⱼ Tⱼ (Kano, Honda, Sakamaki, Matsuura, Nakamura & Sugiyama 2019).

use crate::estimators::Estimator;
use crate::rules::{Choice, Rule, RuleError};
use crate::{Beliefs, Range, Rng};

/// Pulls the arm that may be the best, so that arms above the threshold are found early; arms below it are dealt with last.
/// [`LucbG`](super::LucbG) has a wider bonus. Made for the stop [`GoodArms`](crate::GoodArms), which settles arms. Ties go to the first arm.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `noise` | 1 | σ: rewards are σ-sub-Gaussian | 1e-100 ≤ σ ≤ 1e100, else [`RuleError`] |
/// | `opening` | 1 | T₀: every arm is pulled so often first, all of them in turn | T₀ ≥ 1 |
#[derive(Clone, Copy, Debug)]
pub struct Hdoc {
    noise: f64,
    opening: u32,
}

impl Hdoc {
    /// The values of T₀.
    pub(crate) const OPENING: Range = Range::new(1.0, 1e9);

    /// The rule for rewards of standard deviation `noise`.
    ///
    /// # Errors
    /// If `noise` is out of range.
    pub fn new(noise: f64) -> Result<Self, RuleError> {
        Ok(Self { noise: Range::NOISE_SCALE.check("noise", noise)?, opening: 1 })
    }

    /// The same with T₀ = `opening`.
    #[must_use]
    pub fn with_opening(self, opening: u32) -> Self {
        Self { opening, ..self }
    }
}

impl<E: Estimator + ?Sized> Rule<E> for Hdoc {
    const OPENS_WITH_EVERY_ARM: bool = true;

    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Choice {
        if let Some(arm) = beliefs.first_unpulled {
            return arm.into();
        }
        let (settled, pulls) = (beliefs.settled, beliefs.pulls);
        if self.opening > 1 {
            let least_pulled = settled.arg_min_open(pulls, pulls, |pulls, _| f64::from(pulls));
            if pulls[least_pulled] < self.opening {
                return least_pulled.into();
            }
        }
        let bonus = self.noise * (2.0 * ((beliefs.total_pulls + 1) as f64).ln()).sqrt();
        let score = |mean: f64, pulls: u32| mean + bonus / f64::from(pulls).sqrt();
        settled.arg_max_open(beliefs.estimator.means(), pulls, score).into()
    }

    fn set_noise(&mut self, noise: f64) {
        self.noise = noise;
    }
}
