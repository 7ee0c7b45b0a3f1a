//! The probabilities that an arm's mean lies on either side of the threshold, when the noise of the arm itself is not known.
//!
//! The noise of an arm has the variance λσ². The distribution of λ, given how unequal the noise is, ν, is that of `unequal`. Say that everything
//! but the arm's own rewards puts its mean at N(m, Vσ²). For n rewards with average y and sum of squares S around it, given λ:
//!
//! ```text
//! p(S | λ) ∝ λ^(−(n−1)/2) exp(−S/(2λσ²))        p(y | λ) = N(y; m, (V + λ/n)σ²)
//! mean | y, λ ~ N(m + w(y − m), wλ/n σ²)         w = V/(V + λ/n)
//! ```
//!
//! So an average that is far from what the features say about the arm makes a large λ probable, where large ones are possible: it may be an
//! outlier, and the arm is not called with certainty because of it. ν is common to all arms; its probabilities by the repeated
//! measurements are multiplied by how well each ν predicts the averages of all arms, Π p(y | S, ν).

use super::unequal::{Law, UnequalNoise};
use crate::interval::fast_tail;
use crate::{Arm, Question};
use std::array;

/// The values of λ are powers of 2 from 1/8 to 128.
pub(super) const N_LEVELS: usize = 11;

/// The value of λ at a position.
pub(super) fn level(position: usize) -> f64 {
    0.125 * f64::from(1_u32 << position)
}

/// Weights of levels are at least this share of the largest one, so that no sum of them is 0.
const LEAST_WEIGHT: f64 = 1e-100;

/// Levels with a smaller share than this are left out of the probabilities of errors.
const NEGLIGIBLE: f64 = 1e-15;

/// An arm's mean, from τ, by all rewards at one setting of the model with equal noise.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArmPosterior {
    pub(super) mean: f64,
    /// In units of σ².
    pub(super) variance: f64,
    /// The average of the arm's own rewards, from τ.
    pub(super) average: f64,
    /// The precision of that average by which it went into the mean, in units of 1/σ².
    pub(super) precision: f64,
}

/// The probabilities that an arm's mean lies below τ − ε, and at or above τ + ε.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Errors {
    pub(super) below: f64,
    pub(super) above: f64,
}

impl Errors {
    fn add(&mut self, weight: f64, other: Self) {
        self.below += weight * other.below;
        self.above += weight * other.above;
    }
}

/// What the noise of every arm may be.
pub(super) struct PossibleNoise<'a> {
    question: Question,
    counts: &'a [u32],
    /// How unequal the noise may be; empty if it is equal.
    laws: Vec<Law>,
    /// The largest probability of every level by any law.
    most: [f64; N_LEVELS],
    /// p(S | λ) of every level, in units of the largest; for arms that were measured more than once.
    of_squares: Vec<Option<Box<[f64; N_LEVELS]>>>,
    /// Those of the estimate of σ.
    degrees_of_freedom: f64,
}

impl<'a> PossibleNoise<'a> {
    /// `noise_variance` is σ², with which the sums of squares are compared.
    pub(super) fn new(
        question: Question,
        (counts, squares): (&'a [u32], &[f64]),
        unequal: Option<&UnequalNoise>,
        noise_variance: f64,
        degrees_of_freedom: f64,
    ) -> Self {
        let laws = unequal.map_or_else(Vec::new, UnequalNoise::laws);
        let of_squares = |(&n, &squares): (&u32, &f64)| {
            let log = |level: f64| -0.5 * ((f64::from(n) - 1.0) * level.ln() + squares / (noise_variance * level));
            (n > 1 && !laws.is_empty()).then(|| Box::new(weights(array::from_fn(|l| log(level(l))))))
        };
        let of_squares = counts.iter().zip(squares).map(of_squares).collect();
        let most = array::from_fn(|l| laws.iter().map(|law| law.levels[l]).fold(0.0, f64::max));
        Self { question, counts, laws, most, of_squares, degrees_of_freedom }
    }

    /// The probabilities of errors of every arm at one setting.
    pub(super) fn errors(&self, noise_variance: f64, posterior: impl Fn(Arm) -> ArmPosterior) -> Vec<Errors> {
        let (n_arms, n_laws) = (self.counts.len(), self.laws.len());
        let deviation = noise_variance.sqrt();
        let mut errors = vec![Errors::default(); n_arms];
        let mut by_law = vec![Errors::default(); n_arms * n_laws];
        let mut log_weights: Vec<f64> = self.laws.iter().map(|law| law.probability.ln()).collect();
        for (arm, errors) in errors.iter_mut().enumerate() {
            let posterior = posterior(arm);
            if self.counts[arm] == 0 || n_laws == 0 {
                *errors = self.errors_of(posterior.mean, posterior.variance.sqrt() * deviation);
            } else {
                self.add_arm(arm, &posterior, deviation, &mut log_weights, &mut by_law[arm * n_laws..][..n_laws]);
            }
        }
        let weights = weights_of(&log_weights);
        for (errors, by_law) in errors.iter_mut().zip(by_law.chunks_exact(n_laws.max(1))) {
            weights.iter().zip(by_law).for_each(|(&weight, &of_law)| errors.add(weight, of_law));
        }
        errors
    }

    /// Adds ln p(y | S, ν) of a measured arm for every ν, and sets the probabilities of errors given ν.
    fn add_arm(
        &self,
        arm: Arm,
        posterior: &ArmPosterior,
        deviation: f64,
        log_weights: &mut [f64],
        by_law: &mut [Errors],
    ) {
        let ArmPosterior { mean, variance, average, precision } = *posterior;
        // Without the arm's own rewards.
        let others_variance = 1.0 / (1.0 / variance - precision).max(f64::EPSILON / variance);
        let others_mean = others_variance * (mean / variance - precision * average);
        let residual = average - others_mean;
        let noise = |l: usize| level(l) / f64::from(self.counts[arm]);
        let squared_residual = (residual / deviation).powi(2);
        let log_predictive = |l: usize| {
            let variance = others_variance + noise(l);
            -0.5 * (variance.ln() + squared_residual / variance)
        };
        let of_average = weights(array::from_fn(log_predictive));
        let of_squares = self.of_squares[arm].as_deref().unwrap_or(&[1.0; N_LEVELS]);
        let share = |l: usize| self.most[l] * of_squares[l] * of_average[l];
        let least = NEGLIGIBLE * (0..N_LEVELS).map(share).fold(0.0, f64::max);
        let of_levels: [Errors; N_LEVELS] = array::from_fn(|l| {
            if share(l) <= least {
                return Errors::default();
            }
            let weight = others_variance / (others_variance + noise(l));
            self.errors_of(others_mean + weight * residual, (weight * noise(l)).sqrt() * deviation)
        });
        for ((law, log_weight), errors) in self.laws.iter().zip(log_weights).zip(by_law) {
            let (mut before, mut after) = (0.0, 0.0);
            for l in 0..N_LEVELS {
                let weight = law.levels[l] * of_squares[l];
                before += weight;
                after += weight * of_average[l];
                errors.add(weight * of_average[l], of_levels[l]);
            }
            *log_weight += (after / before).ln();
            *errors = Errors { below: errors.below / after, above: errors.above / after };
        }
    }

    /// The probabilities of errors of a mean with this estimate, from τ, and deviation.
    fn errors_of(&self, mean: f64, deviation: f64) -> Errors {
        let precision = self.question.precision();
        let at_least = |x: f64| {
            let tail = fast_tail(x.abs() / deviation, self.degrees_of_freedom);
            if x < 0.0 { 1.0 - tail } else { tail }
        };
        let below = at_least(mean + precision);
        Errors { below, above: if precision == 0.0 { 1.0 - below } else { at_least(precision - mean) } }
    }
}

/// Weights by their logarithms, in units of the largest.
fn weights(logs: [f64; N_LEVELS]) -> [f64; N_LEVELS] {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logs.map(|log| (log - most).exp().max(LEAST_WEIGHT))
}

/// Weights by their logarithms, with sum 1.
fn weights_of(logs: &[f64]) -> Vec<f64> {
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = logs.iter().map(|log| (log - most).exp()).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}
