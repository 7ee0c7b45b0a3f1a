//! The joint decision: the sides of all arms that are all right with the largest probability.
//!
//! Deciding each arm by its own mean makes the expected number of errors least. Where a single error makes the whole answer wrong, and means are
//! correlated, another answer may be right more often: the one that holds in most draws of the means from their posterior.
//!
//! M = 400 means of all arms are drawn, in antithetic pairs μ̂ ± δ. The candidates are the sides of μ̂ and those of every draw. The one that is right,
//! up to ε, in most draws is kept, the first of several; then the sides of single arms are changed, in order, while that number rises.

use crate::estimators::Estimator;
use crate::{Arm, Beliefs, Purpose, Question, Rng, stream};
use rand_core::Rng as _;
use statrs::function::erf::erfc_inv;

/// M/2.
const PAIRS: usize = 200;

impl<E: Estimator + ?Sized> Beliefs<'_, E> {
    /// Whether each arm is above, decided for all arms together, so that all are right with the largest probability: the answer to choose where
    /// one error is as bad as many. [`is_above`](Beliefs::is_above) decides each arm by itself, which makes the number of errors least.
    ///
    /// Rewards have standard deviation `noise`, unless the estimator has learnt it. Settled arms keep their side. The draws are determined by
    /// `seed`. O(Kd² + d³ + M(Kd + MK/64 + K²/64)), M = 400.
    ///
    /// ```
    /// use cutline::{Arms, Question, Spec};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let arms = Arms::from_rows(&[[1.0, 0.0], [0.0, 1.0]])?;
    /// let mut learner = Spec::named("pivot")?.learner(&arms, Question::new(0.0, 0.0)?, 10, 0)?;
    /// while let Some(arm) = learner.ask() {
    ///     learner.tell(arm, [1.0, -1.0][arm])?;
    /// }
    /// assert_eq!(learner.beliefs().joint_sides(0.1, 0), [true, false]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn joint_sides(&mut self, noise: f64, seed: u64) -> Vec<bool> {
        let (question, settled) = (self.question, self.settled);
        let mut rng = stream(seed, Purpose::Decision, 0);
        let deviations = self.estimator.deviations(noise, PAIRS, &mut || standard_normal(&mut rng));
        let means = self.estimator.means();
        let mut draws = Draws::new(means.len());
        let fixed = |arm: Arm, mean: f64| settled.side(arm).unwrap_or_else(|| question.is_above(mean));
        let mut candidates = vec![sides(means, fixed)];
        for deviations in &deviations {
            for sign in [1.0_f64, -1.0] {
                let possible: Vec<f64> =
                    means.iter().zip(deviations).map(|(mean, d)| sign.mul_add(*d, *mean)).collect();
                draws.add(&question, &possible);
                candidates.push(sides(&possible, fixed));
            }
        }
        let mut best = (0, Vec::new());
        for candidate in candidates {
            let n_right = draws.n_right(&candidate);
            if best.1.is_empty() || n_right > best.0 {
                best = (n_right, candidate);
            }
        }
        let (mut n_right, mut chosen) = best;
        loop {
            let before = n_right;
            for arm in settled.open() {
                chosen[arm / 64] ^= 1 << (arm % 64);
                let changed = draws.n_right(&chosen);
                if changed > n_right {
                    n_right = changed;
                } else {
                    chosen[arm / 64] ^= 1 << (arm % 64);
                }
            }
            if n_right == before {
                return (0..means.len()).map(|arm| chosen[arm / 64] >> (arm % 64) & 1 == 1).collect();
            }
        }
    }
}

/// The sides of all arms, one bit each.
fn sides(means: &[f64], is_above: impl Fn(Arm, f64) -> bool) -> Vec<u64> {
    let mut bits = vec![0; means.len().div_ceil(64)];
    for (arm, &mean) in means.iter().enumerate() {
        bits[arm / 64] |= u64::from(is_above(arm, mean)) << (arm % 64);
    }
    bits
}

/// For every draw, the arms for which *above* would be an error and those for which *below* would be, one bit per arm.
struct Draws {
    n_words: usize,
    errors: Vec<(u64, u64)>,
}

impl Draws {
    fn new(n_arms: usize) -> Self {
        let n_words = n_arms.div_ceil(64);
        Self { n_words, errors: Vec::with_capacity(2 * PAIRS * n_words) }
    }

    fn add(&mut self, question: &Question, means: &[f64]) {
        let above = sides(means, |_, mean| question.is_error(mean, f64::INFINITY));
        let below = sides(means, |_, mean| question.is_error(mean, f64::NEG_INFINITY));
        self.errors.extend(above.into_iter().zip(below));
    }

    /// The number of draws in which these sides have no error.
    fn n_right(&self, sides: &[u64]) -> usize {
        let is_right = |errors: &&[(u64, u64)]| {
            errors.iter().zip(sides).all(|(&(above, below), &side)| (side & above) | (!side & below) == 0)
        };
        self.errors.chunks_exact(self.n_words).filter(is_right).count()
    }
}

/// A standard normal number, by the inverse of its distribution function.
fn standard_normal(rng: &mut Rng) -> f64 {
    let uniform = ((rng.next_u64() >> 11) as f64 + 0.5) * 2.0_f64.powi(-53);
    std::f64::consts::SQRT_2 * erfc_inv(2.0 * uniform)
}

#[cfg(test)]
mod tests {
    use crate::estimators::{Estimator, Ridge};
    use crate::{Arms, Question, Spec};

    /// Twelve arms with means xᵀθ̂ ± a common part much larger than their own: each arm by itself is just above the threshold, but those on the
    /// side of the common part err together. With one feature all means have one sign, so that the answers of a joint decision are equal on all
    /// arms of one direction whatever ε is.
    #[test]
    fn signs_of_one_factor_agree() {
        let arms = Arms::from_rows(&[[1.0], [0.5], [2.0], [-1.0]]).unwrap();
        let spec = Spec::named("pivot").unwrap();
        let mut learner = spec.learner(&arms, Question::new(0.0, 0.0).unwrap(), 5, 0).unwrap();
        learner.tell(2, 0.01).unwrap();
        assert_eq!(learner.beliefs().joint_sides(1.0, 3), [true, true, true, false]);
    }

    /// Two arms with strongly negatively correlated means just above the threshold: both above is right in few draws, so one is decided as below,
    /// the one that is less certain.
    #[test]
    fn correlated_arms_are_decided_together() {
        let arms = Arms::from_rows(&[[10.0, 0.1], [-10.0, 0.1], [0.0, 1.0]]).unwrap();
        let mut learner =
            Spec::named("linear-apt").unwrap().learner(&arms, Question::new(0.0, 0.0).unwrap(), 100, 0).unwrap();
        for _ in 0..30 {
            learner.tell(2, 1.0).unwrap();
        }
        learner.tell(0, 0.12).unwrap();
        learner.tell(1, 0.08).unwrap();
        let mut beliefs = learner.beliefs();
        assert!(beliefs.means()[0] > 0.0 && beliefs.means()[1] > 0.0);
        assert_eq!(beliefs.joint_sides(1.0, 0), [true, false, true]);
    }

    /// σ²XV⁻¹Xᵀ from 20,000 draws: an entry has a standard error of at most 0.01 × √2, and 0.07 is five of them.
    #[test]
    fn deviations_have_the_covariance_of_ridge() {
        let arms = Arms::from_rows(&[[1.0, 0.0], [0.6, 0.8], [-0.5, 1.0]]).unwrap();
        let mut ridge = Ridge::new(&arms, 1.0).unwrap();
        for arm in [0, 1, 1] {
            ridge.observe(arm, 0.4);
        }
        let mut rng = crate::stream(5, crate::Purpose::Decision, 0);
        let draws = ridge.deviations(2.0_f64.sqrt(), 20_000, &mut || super::standard_normal(&mut rng));
        // V = [[2.72, 0.96], [0.96, 2.28]], det V = 5.28.
        let inverse = [[2.28 / 5.28, -0.96 / 5.28], [-0.96 / 5.28, 2.72 / 5.28]];
        let rows = [[1.0, 0.0], [0.6, 0.8], [-0.5, 1.0]];
        for i in 0..3 {
            for j in 0..3 {
                let exact: f64 = (0..2)
                    .flat_map(|a| (0..2).map(move |b| (a, b)))
                    .map(|(a, b)| rows[i][a] * inverse[a][b] * rows[j][b])
                    .sum();
                let found = draws.iter().map(|draw| draw[i] * draw[j]).sum::<f64>() / 20_000.0;
                assert!((found - 2.0 * exact).abs() < 0.07, "{i}, {j}: {found} instead of {}", 2.0 * exact);
            }
        }
    }
}
