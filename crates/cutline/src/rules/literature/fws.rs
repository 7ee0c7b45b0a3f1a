//! FWS: one step of Frank and Wolfe per round towards the proportions of pulls that separate the sides best (Wang, Tzeng & Proutiere 2021).
//!
//! With the proportions x of the rounds so far, the t − 1 rewards received and A = λI + (t − 1) Σ xᵢxᵢxᵢᵀ:
//! 1. the challenger is the arm whose side is least clear, k = arg minᵢ Δ̂ᵢ²/(xᵢᵀA⁻¹xᵢ);
//! 2. z is the arm whose share of pulls raises that value most, arg maxᵢ (xᵢᵀA⁻¹xₖ)²; but z is uniform over all arms if ⌊t/K⌋ is a square
//!    number, or the estimate of an arm lies on the threshold;
//! 3. x becomes ((t − 1)x + z)/t, and arg maxᵢ xᵢ/Tᵢ is pulled.
//!
//! It is the form with one challenger. In the paper, where several arms are within t^(−0.9)/K of the least, z is the solution of a game between
//! them, a linear programme. Here A also has λI, which vanishes in proportion.

use crate::estimators::DesignEstimator;
use crate::rules::{Choice, Rule};
use crate::{Arm, Beliefs, Rng, arg_max};

/// Moves the proportions of pulls towards the best ones, one step per reward; [`LinGame`](super::LinGame) learns them in a game, and
/// [`Pivot`](crate::rules::Pivot) looks one pull ahead instead. It is made for a [`ConfidenceStop`](crate::ConfidenceStop). A reward costs
/// O(Kd² + d³). No parameters.
///
/// Ties go to the first arm. The challenger is an open arm; the arm pulled may be a settled one.
#[derive(Clone, Debug)]
pub struct Fws {
    /// The number of rewards of each arm.
    n_rewards: Vec<u32>,
    /// The number of rewards.
    total: u64,
    /// The proportions x; the shares of the rewards until every arm has one.
    proportions: Vec<f64>,
    has_begun: bool,
    gaps: Vec<f64>,
    scratch: Vec<f64>,
}

impl Fws {
    /// The rule for `n_arms` arms.
    #[must_use]
    pub fn new(n_arms: usize) -> Self {
        let zeros = vec![0.0; n_arms];
        Self {
            n_rewards: vec![0; n_arms],
            total: 0,
            proportions: zeros.clone(),
            has_begun: false,
            gaps: zeros.clone(),
            scratch: zeros,
        }
    }

    /// The arm that z is; `None` where z is uniform.
    fn direction<E: DesignEstimator + ?Sized>(&mut self, beliefs: &mut Beliefs<'_, E>) -> Option<Arm> {
        let round = (self.total + 1) / self.gaps.len() as u64;
        if round.isqrt() * round.isqrt() == round {
            return None;
        }
        let question = beliefs.question;
        self.gaps.iter_mut().zip(beliefs.estimator.means()).for_each(|(gap, &mean)| *gap = question.gap(mean));
        if self.gaps.iter().any(|&gap| gap <= f64::EPSILON) {
            return None;
        }
        let total = self.total as f64;
        self.scratch.iter_mut().zip(&self.proportions).for_each(|(weight, x)| *weight = total * x);
        let variances = beliefs.estimator.design_variances(&self.scratch);
        let challenger = beliefs.settled.arg_min_open(&self.gaps, variances, |gap, q| gap * gap / q);
        let covariances = beliefs.estimator.design_covariances_with(challenger);
        Some(arg_max(covariances, covariances, |c, _| c * c))
    }
}

impl<E: DesignEstimator + ?Sized> Rule<E> for Fws {
    const OPENS_WITH_EVERY_ARM: bool = true;

    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Choice {
        let share = |x: f64, pulls: u32| x / f64::from(pulls);
        match beliefs.first_unpulled {
            Some(arm) => arm.into(),
            None => arg_max(&self.proportions, beliefs.pulls, share).into(),
        }
    }

    fn learns(&self) -> bool {
        true
    }

    fn learn(&mut self, beliefs: &mut Beliefs<'_, E>, arm: Arm, _: f64) {
        self.n_rewards[arm] += 1;
        self.total += 1;
        if !self.has_begun {
            self.has_begun = !self.n_rewards.contains(&0);
            let total = self.total as f64;
            self.proportions.iter_mut().zip(&self.n_rewards).for_each(|(x, &n)| *x = f64::from(n) / total);
        }
        if !self.has_begun {
            return;
        }
        let direction = self.direction(beliefs);
        let step = 1.0 / (self.total + 1) as f64;
        let uniform = if direction.is_none() { step / self.proportions.len() as f64 } else { 0.0 };
        self.proportions.iter_mut().for_each(|x| *x = x.mul_add(1.0 - step, uniform));
        if let Some(arm) = direction {
            self.proportions[arm] += step;
        }
    }
}
