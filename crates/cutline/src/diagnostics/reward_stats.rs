//! What was told, as far as a diagnosis needs it: of each arm its pulls, their mean and their squared deviations.

use super::{Diagnostics, Scale, pure_error, residuals};
use crate::{Arm, Arms};

/// The greatest reward that can be diagnosed, in absolute value: sums of squares must not overflow.
pub const MOST_REWARD: f64 = 1e140;

/// The rewards told so far, folded into sufficient statistics; [`RewardStats::diagnose`] says what they say of the linear model.
///
/// ```
/// use cutline::Arms;
/// use cutline::diagnostics::{Conclusion, RewardStats};
///
/// let arms = Arms::from_rows(&[[1.0], [2.0], [3.0]])?;
/// let mut told = RewardStats::new(&arms);
/// for i in 0..10 {
///     let noise = if i % 2 == 0 { 0.1 } else { -0.1 };
///     told.tell(0, 1.0 + noise);
///     told.tell(1, 4.0 + noise); // not 2
///     told.tell(2, 3.0 + noise);
/// }
/// let diagnostics = told.diagnose();
/// assert_eq!(diagnostics.conclusion, Conclusion::NotBelievable);
/// assert_eq!(diagnostics.conclusion.algorithm(), Some("apt"));
/// # Ok::<(), cutline::ArmsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RewardStats {
    pub(super) arms: Arms,
    pub(super) moments: Vec<Moments>,
}

/// The pulls of one arm.
///
/// Rewards are taken relative to the first, so that what they differ by keeps its digits however large they are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moments {
    pub(super) pulls: u64,
    first: f64,
    /// The mean less `first`.
    shift: f64,
    /// Σ (r − mean)².
    pub(super) squares: f64,
}

impl Moments {
    /// One more reward (Welford 1962).
    fn add(&mut self, reward: f64) {
        if self.pulls == 0 {
            self.first = reward;
        }
        self.pulls += 1;
        let relative = reward - self.first;
        let step = relative - self.shift;
        self.shift += step / self.pulls as f64;
        self.squares += step * (relative - self.shift);
    }

    pub(super) fn mean(&self) -> f64 {
        self.first + self.shift
    }
}

impl RewardStats {
    /// Nothing was told of these arms yet.
    #[must_use]
    pub fn new(arms: &Arms) -> Self {
        Self { arms: arms.clone(), moments: vec![Moments::default(); arms.n_arms()] }
    }

    /// Takes the reward of one pull, in any order.
    ///
    /// # Panics
    /// If there is no such arm, or the reward is not a number within ±[`MOST_REWARD`].
    pub fn tell(&mut self, arm: Arm, reward: f64) {
        assert!(reward.abs() <= MOST_REWARD, "a reward of {reward}");
        self.moments[arm].add(reward);
    }

    /// The mean of an arm's rewards; 0 if there are none.
    ///
    /// # Panics
    /// If there is no such arm.
    #[must_use]
    pub fn mean(&self, arm: Arm) -> f64 {
        self.moments[arm].mean()
    }

    /// √(Σ (r − `level`)²/n), or `None` if nothing was told.
    #[must_use]
    pub fn root_mean_square_from(&self, level: f64) -> Option<f64> {
        let pulls: u64 = self.moments.iter().map(|moments| moments.pulls).sum();
        let squares = |moments: &Moments| moments.pulls as f64 * (moments.mean() - level).powi(2) + moments.squares;
        let squares: f64 = self.moments.iter().filter(|moments| moments.pulls > 0).map(squares).sum();
        (pulls > 0).then(|| (squares / pulls as f64).sqrt())
    }

    /// The noise scale from replicates, as in [`Diagnostics::replicates`]; O(K).
    #[must_use]
    pub fn replicates(&self) -> Option<Scale> {
        pure_error(self).scale()
    }

    /// The noise scale from residuals, as in [`Diagnostics::residuals`].
    #[must_use]
    pub fn residuals(&self) -> Option<Scale> {
        residuals(self)
    }

    /// What the rewards say of the noise and of the linear model.
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
            for reward in [4.0, 7.0, 13.0, 16.0] {
                moments.add(offset + reward);
            }
            assert_eq!((moments.pulls, moments.mean(), moments.squares), (4, offset + 10.0, 90.0));
        }
    }

    #[test]
    fn the_greatest_rewards_overflow_nothing() {
        let mut moments = Moments::default();
        (0..1000).for_each(|i| moments.add(if i % 2 == 0 { MOST_REWARD } else { -MOST_REWARD }));
        assert!((moments.squares / 1e283 - 1.0).abs() < 1e-12, "{}", moments.squares);
    }

    #[test]
    #[should_panic(expected = "a reward of NaN")]
    fn nan_is_no_reward() {
        RewardStats::new(&Arms::without_features(1).unwrap()).tell(0, f64::NAN);
    }
}
