//! The rewards as a diagnosis needs them: for each arm the number of pulls, their mean and their squared deviations.

use super::{Conclusion, Diagnostics, NoiseScaleEstimate};
use crate::interval::tail;
use crate::{Arm, Arms, Question, Side, Verdict};

/// The greatest reward that can be diagnosed, in absolute value: sums of squares must not overflow. A campaign takes rewards up to
/// `cutline_campaign::MAX_REWARD` only.
pub const MAX_REWARD: f64 = 1e140;

/// The rewards received so far as sufficient statistics; [`RewardStats::diagnose`] tests the linear model with them.
///
/// ```
/// use cutline::Arms;
/// use cutline::diagnostics::{Conclusion, RewardStats};
///
/// let arms = Arms::from_rows(&[[1.0], [2.0], [3.0]])?;
/// let mut rewards = RewardStats::new(&arms);
/// for i in 0..10 {
///     let noise = if i % 2 == 0 { 0.1 } else { -0.1 };
///     rewards.tell(0, 1.0 + noise);
///     rewards.tell(1, 4.0 + noise); // not 2
///     rewards.tell(2, 3.0 + noise);
/// }
/// let diagnostics = rewards.diagnose();
/// assert_eq!(diagnostics.conclusion, Conclusion::NotBelievable);
/// assert_eq!(diagnostics.model(), Some("mixed"));
/// # Ok::<(), cutline::ArmsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RewardStats {
    pub(super) arms: Arms,
    pub(super) moments: Vec<Moments>,
}

/// Number, mean and squared deviations of some rewards.
///
/// Rewards are taken relative to the first, so that their differences keep their digits however large the rewards are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Moments {
    pub(crate) pulls: u64,
    first: f64,
    /// The mean minus `first`.
    shift: f64,
    /// Σ (r − mean)².
    pub(crate) squares: f64,
}

impl Moments {
    /// Adds a reward (Welford 1962); returns the increase of Σ (r − mean)².
    pub(crate) fn add(&mut self, reward: f64) -> f64 {
        if self.pulls == 0 {
            self.first = reward;
        }
        self.pulls += 1;
        let relative = reward - self.first;
        let step = relative - self.shift;
        self.shift += step / self.pulls as f64;
        let increase = step * (relative - self.shift);
        self.squares += increase;
        increase
    }

    pub(crate) fn mean(&self) -> f64 {
        self.first + self.shift
    }
}

impl RewardStats {
    /// The number of arms whose verdict contradicts their own rewards: decided, although the mean of the rewards lies on the other side of
    /// the threshold by more than the noise explains, tested for all arms together at half of [`LEVEL`](super::LEVEL). 0 if no arm has two
    /// different rewards, because then the noise is not known.
    #[must_use]
    pub fn n_contradicted(&self, question: Question, verdicts: &[Verdict]) -> usize {
        let Some(NoiseScaleEstimate { sigma, freedom }) = super::pure_error(self).scale().filter(|it| it.sigma > 0.0)
        else {
            return 0;
        };
        let n_decided = verdicts.iter().filter(|verdict| verdict.is_decided()).count() as f64;
        let (threshold, precision) = (question.threshold(), question.precision());
        let is_contradicted = |(verdict, moments): &(&Verdict, &Moments)| {
            let beyond = match verdict.side {
                Side::Above => threshold - precision - moments.mean(),
                Side::Below => moments.mean() - threshold - precision,
                Side::Undecided => return false,
            };
            let t = beyond * (moments.pulls as f64).sqrt() / sigma;
            moments.pulls > 0 && t > 0.0 && n_decided * tail(t, freedom as f64) <= super::LEVEL / 2.0
        };
        verdicts.iter().zip(&self.moments).filter(is_contradicted).count()
    }

    /// No rewards of these arms yet.
    #[must_use]
    pub fn new(arms: &Arms) -> Self {
        Self { arms: arms.clone(), moments: vec![Moments::default(); arms.n_arms()] }
    }

    /// The same rewards of arms with other features.
    ///
    /// # Panics
    /// If there are more or fewer arms.
    #[must_use]
    pub fn with_arms(&self, arms: &Arms) -> Self {
        assert_eq!(arms.n_arms(), self.arms.n_arms(), "the same arms");
        Self { arms: arms.clone(), moments: self.moments.clone() }
    }

    /// Takes the reward of one pull, in any order.
    ///
    /// # Panics
    /// If there is no such arm, or the reward is not a number within ±[`MAX_REWARD`].
    pub fn tell(&mut self, arm: Arm, reward: f64) {
        self.add(arm, reward);
    }

    /// Adds a reward as [`tell`](RewardStats::tell) does, and returns the increase of the arm's Σ (r − ȳ)².
    ///
    /// # Panics
    /// As [`tell`](RewardStats::tell).
    pub fn add(&mut self, arm: Arm, reward: f64) -> f64 {
        assert!(reward.abs() <= MAX_REWARD, "a reward of {reward}");
        self.moments[arm].add(reward)
    }

    /// The mean of an arm's rewards; 0 if there are none.
    ///
    /// # Panics
    /// If there is no such arm.
    #[must_use]
    pub fn mean(&self, arm: Arm) -> f64 {
        self.moments[arm].mean()
    }

    /// Whether the means of the arms differ: the test of the linear model whose only feature is a constant, which is one-way analysis of
    /// variance. `None` if differences as large as the noise would be missed too often.
    #[must_use]
    pub fn differ(&self) -> Option<bool> {
        let constant = Arms::from_rows(&vec![[1.0]; self.arms.n_arms()]).ok()?;
        match self.with_arms(&constant).diagnose().conclusion {
            Conclusion::NotBelievable => Some(true),
            Conclusion::Believable => Some(false),
            _ => None,
        }
    }

    /// Estimates the noise and tests the linear model.
    #[must_use]
    pub fn diagnose(&self) -> Diagnostics {
        Diagnostics::new(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_keep_their_digits() {
        for offset in [0.0, 1e9, -1e12] {
            let mut moments = Moments::default();
            let mut increases = 0.0;
            for reward in [4.0, 7.0, 13.0, 16.0] {
                increases += moments.add(offset + reward);
            }
            assert_eq!((moments.pulls, moments.mean(), moments.squares), (4, offset + 10.0, 90.0));
            assert_eq!(increases, 90.0);
        }
    }

    #[test]
    fn the_greatest_rewards_overflow_nothing() {
        let mut moments = Moments::default();
        for i in 0..1000 {
            moments.add(if i % 2 == 0 { MAX_REWARD } else { -MAX_REWARD });
        }
        assert!((moments.squares / 1e283 - 1.0).abs() < 1e-12, "{}", moments.squares);
    }

    #[test]
    #[should_panic(expected = "a reward of NaN")]
    fn nan_is_no_reward() {
        RewardStats::new(&Arms::without_features(1).unwrap()).tell(0, f64::NAN);
    }
}
