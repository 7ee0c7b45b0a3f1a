//! The posterior of every arm's mean at one setting of the model, allowing for arms that are unlike the others and for arms that are
//! noisier than the others.
//!
//! Say that everything but the arm's own rewards puts its mean at N(m, V). The model may be wrong about an arm, so its mean is taken to be
//! N(m, c²V) with probability `π_c`, for c = 1, 2, 4, 8 and 16. The noise of an arm has the variance λσ²; the distribution of λ, given how
//! unequal the noise is, ν, is that of `unequal`. For n rewards with average y and sum of squares S around it, given λ:
//!
//! ```text
//! p(S | λ) ∝ λ^(−(n−1)/2) exp(−S/(2λσ²))        p(y | c, λ) = N(y; m, c²V + λσ²/n)
//! mean | y, c, λ ~ N(m + w(y − m), wλσ²/n)       w = c²V/(c²V + λσ²/n)
//! ```
//!
//! The shares `π_c` are learnt from all measured arms, each predicted from the others; for arms without rewards, once more from the arms
//! that were measured by [exploration](crate::rules::Exploring), which are a random sample of all. An average that is far from what the
//! others say makes a large c or a large λ probable: the arm is a maverick, or the reward an outlier. ν is common to all arms; its
//! probabilities by the repeated measurements are multiplied by how well each ν predicts the averages of all arms.

use super::conjugate::{Conjugate, Discrete};
use super::unequal::{Law, UnequalNoise};
use crate::interval::fast_tail;
use crate::{Arm, Question};
use std::array;

/// c, by how much the prediction of an arm may be off, in units of its standard deviation.
const SCALES: [f64; 5] = [1.0, 2.0, 4.0, 8.0, 16.0];
pub(super) const N_SCALES: usize = SCALES.len();

/// How many arms of each c are believed to have been seen before the first.
const PRIOR: [f64; N_SCALES] = [17.6, 1.2, 0.6, 0.36, 0.24];

/// How many arms the shares of all measured arms count for when those of unmeasured ones are learnt.
const OF_MEASURED: f64 = 5.0;

/// From this c on, an arm without rewards may lie on either side, whatever is predicted.
const MAVERICK: f64 = 4.0;

const ROUNDS: usize = 12;

/// The values of λ are powers of 2 from 1/8 to 128.
pub(super) const N_LEVELS: usize = 11;

/// The value of λ at a position.
pub(super) fn level(position: usize) -> f64 {
    0.125 * f64::from(1_u32 << position)
}

/// The position of λ = 1.
const EQUAL: usize = 3;

/// Weights of levels are at least this share of the largest one, so that no sum of them is 0.
const LEAST_WEIGHT: f64 = 1e-100;

/// Parts with a smaller share than this are left out.
const NEGLIGIBLE: f64 = 1e-12;
const NEGLIGIBLE_RATE: f64 = 1e-6;

/// What everything but its own rewards says about an arm's mean, from τ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prediction {
    pub(super) mean: f64,
    pub(super) variance: f64,
}

/// The posterior of an arm's mean for one c.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    /// The probability of c.
    pub(super) weight: f64,
    /// The mean if its noise is that of all arms.
    pub(super) estimate: f64,
    pub(super) mean: f64,
    pub(super) variance: f64,
    /// The probabilities of a mean below τ − ε, and of at least τ + ε.
    pub(super) below: f64,
    pub(super) above: f64,
}

/// The own rewards of all arms.
pub(super) struct OwnRewards<'a> {
    question: Question,
    counts: &'a [u32],
    averages: &'a [f64],
    /// How unequal the noise may be.
    laws: Vec<Law>,
    /// p(S | λ) of every level, in units of the largest; for arms that were measured more than once.
    of_squares: Vec<Option<Box<[f64; N_LEVELS]>>>,
    /// Those of the estimate of σ.
    degrees_of_freedom: f64,
    /// The measured arms, and the positions among them of those that are a random sample of all arms.
    measured: Vec<Arm>,
    sample: Vec<usize>,
    discrete: Option<Discrete>,
}

impl<'a> OwnRewards<'a> {
    /// `noise_variance` is σ², with which the sums of squares are compared; `order` the order in which arms are explored.
    pub(super) fn new(
        question: Question,
        (counts, averages, squares): (&'a [u32], &'a [f64], &[f64]),
        unequal: Option<&UnequalNoise>,
        noise_variance: f64,
        degrees_of_freedom: f64,
        order: &[Arm],
        discrete: Option<Discrete>,
    ) -> Self {
        let equal = || vec![Law { probability: 1.0, levels: array::from_fn(|l| f64::from(u8::from(l == EQUAL))) }];
        let laws = unequal.map_or_else(equal, UnequalNoise::laws);
        let of_squares = |(&n, &squares): (&u32, &f64)| {
            let log = |level: f64| -0.5 * ((f64::from(n) - 1.0) * level.ln() + squares / (noise_variance * level));
            (n > 1 && laws.len() > 1).then(|| Box::new(weights(array::from_fn(|l| log(level(l))))))
        };
        let of_squares = counts.iter().zip(squares).map(of_squares).collect();
        let measured: Vec<Arm> = (0..counts.len()).filter(|&arm| counts[arm] > 0).collect();
        let explored = order.iter().take_while(|&&arm| counts[arm] > 0);
        let sample = explored.filter_map(|arm| measured.binary_search(arm).ok()).collect();
        Self { question, counts, averages, laws, of_squares, degrees_of_freedom, measured, sample, discrete }
    }

    /// The posterior of every arm at one setting.
    pub(super) fn posteriors(&self, noise_variance: f64, predictions: &[Prediction]) -> Vec<[Part; N_SCALES]> {
        if let Some(discrete) = self.discrete {
            return self.rate_posteriors(discrete, noise_variance, predictions);
        }
        let densities: Vec<_> =
            self.measured.iter().map(|&arm| self.densities(arm, noise_variance, predictions[arm])).collect();
        let mut by_law = Vec::new();
        let mut logs = Vec::new();
        for law in &self.laws {
            let tables: Vec<[f64; N_SCALES]> =
                self.measured.iter().zip(&densities).map(|(&arm, of)| self.table(law, arm, of)).collect();
            let shares = learn(&tables, PRIOR);
            let of_unmeasured = self.of_unmeasured(&tables, shares);
            let totals: Vec<f64> = tables.iter().map(|table| dot(table, &shares)).collect();
            logs.push(law.probability.ln() + totals.iter().map(|total| total.ln()).sum::<f64>());
            by_law.push((shares, of_unmeasured, totals));
        }
        let law_weights = weights_of(&logs);
        let of_unmeasured: [f64; N_SCALES] =
            array::from_fn(|c| law_weights.iter().zip(&by_law).map(|(weight, law)| weight * law.1[c]).sum());
        let prior = |prediction: &Prediction| array::from_fn(|c| self.prior_part(c, of_unmeasured[c], *prediction));
        let mut posteriors: Vec<[Part; N_SCALES]> = predictions.iter().map(prior).collect();
        for (position, &arm) in self.measured.iter().enumerate() {
            let factor = |c: usize, l: usize| -> f64 {
                let of_law = |(k, weight): (usize, &f64)| {
                    weight * by_law[k].0[c] * self.laws[k].levels[l]
                        / (by_law[k].2[position] * self.norm(&self.laws[k], arm))
                };
                law_weights.iter().enumerate().map(of_law).sum()
            };
            posteriors[arm] = self.measured_parts(arm, noise_variance, predictions[arm], &densities[position], factor);
        }
        posteriors
    }

    /// The posteriors of rates.
    fn rate_posteriors(
        &self,
        discrete: Discrete,
        noise_variance: f64,
        predictions: &[Prediction],
    ) -> Vec<[Part; N_SCALES]> {
        let (threshold, precision) = (self.question.threshold(), self.question.precision());
        let n: f64 = self.counts.iter().map(|&n| f64::from(n)).sum();
        let priors = |arm: Arm| {
            let Prediction { mean, variance } = predictions[arm];
            SCALES.map(|c| discrete.prior(n, noise_variance, threshold + mean, c * c * variance))
        };
        let after = |arm: Arm, prior: Conjugate| {
            let n = f64::from(self.counts[arm]);
            prior.after(n, (n * (self.averages[arm] + threshold)).max(0.0))
        };
        let table = |&arm: &Arm| {
            let logs = priors(arm).map(|prior| prior.log_likelihood(after(arm, prior)));
            let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            logs.map(|log| (log - most).exp())
        };
        let tables: Vec<[f64; N_SCALES]> = self.measured.iter().map(table).collect();
        let shares = learn(&tables, PRIOR);
        let mut weights = vec![self.of_unmeasured(&tables, shares); predictions.len()];
        for (&arm, table) in self.measured.iter().zip(&tables) {
            let total = dot(table, &shares);
            weights[arm] = array::from_fn(|c| shares[c] * table[c] / total);
        }
        let part = |arm: Arm, c: usize, prior: Conjugate| {
            let weight = weights[arm][c];
            if weight < NEGLIGIBLE_RATE {
                return Part::default();
            }
            let posterior = after(arm, prior);
            let (mean, variance) = (posterior.mean() - threshold, posterior.variance());
            let (below, above) = (posterior.below(threshold - precision), 1.0 - posterior.below(threshold + precision));
            Part { weight, estimate: mean, mean, variance, below, above }
        };
        let parts = |arm: Arm| {
            let priors = priors(arm);
            array::from_fn(|c| part(arm, c, priors[c]))
        };
        (0..predictions.len()).map(parts).collect()
    }

    /// The shares of the scales for arms without rewards.
    fn of_unmeasured(&self, tables: &[[f64; N_SCALES]], shares: [f64; N_SCALES]) -> [f64; N_SCALES] {
        let sample: Vec<_> = self.sample.iter().map(|&position| tables[position]).collect();
        learn(&sample, shares.map(|share| OF_MEASURED * share))
    }

    fn squares_of(&self, arm: Arm) -> &[f64; N_LEVELS] {
        self.of_squares[arm].as_deref().unwrap_or(&[1.0; N_LEVELS])
    }

    fn norm(&self, law: &Law, arm: Arm) -> f64 {
        dot(&law.levels, self.squares_of(arm))
    }

    /// p(y | c, λ), in units of the largest.
    fn densities(&self, arm: Arm, noise_variance: f64, prediction: Prediction) -> [[f64; N_LEVELS]; N_SCALES] {
        let residual2 = (self.averages[arm] - prediction.mean).powi(2);
        let log = |c: f64, l: usize| {
            let variance = c * c * prediction.variance + level(l) * noise_variance / f64::from(self.counts[arm]);
            -0.5 * ((variance / noise_variance).ln() + residual2 / variance)
        };
        let logs = SCALES.map(|c| array::from_fn::<f64, N_LEVELS, _>(|l| log(c, l)));
        let most = logs.iter().flatten().copied().fold(f64::NEG_INFINITY, f64::max);
        logs.map(|logs| logs.map(|log| (log - most).exp().max(LEAST_WEIGHT)))
    }

    /// p(y | S, c, ν).
    fn table(&self, law: &Law, arm: Arm, densities: &[[f64; N_LEVELS]; N_SCALES]) -> [f64; N_SCALES] {
        let of_squares = self.squares_of(arm);
        let norm = self.norm(law, arm);
        array::from_fn(|c| (0..N_LEVELS).map(|l| law.levels[l] * of_squares[l] * densities[c][l]).sum::<f64>() / norm)
    }

    fn prior_part(&self, c: usize, weight: f64, Prediction { mean, variance }: Prediction) -> Part {
        let variance = SCALES[c] * SCALES[c] * variance;
        let is_maverick = SCALES[c] >= MAVERICK;
        let (below, above) = if is_maverick { (0.5, 0.5) } else { self.errors(mean, variance.sqrt()) };
        Part { weight, estimate: mean, mean, variance, below, above }
    }

    fn measured_parts(
        &self,
        arm: Arm,
        noise_variance: f64,
        Prediction { mean, variance }: Prediction,
        densities: &[[f64; N_LEVELS]; N_SCALES],
        factor: impl Fn(usize, usize) -> f64,
    ) -> [Part; N_SCALES] {
        let of_squares = self.squares_of(arm);
        let residual = self.averages[arm] - mean;
        array::from_fn(|c| {
            let prior = SCALES[c] * SCALES[c] * variance;
            let mut part = Part::default();
            let mut squares = 0.0;
            for l in 0..N_LEVELS {
                let share = factor(c, l) * of_squares[l] * densities[c][l];
                if share <= NEGLIGIBLE {
                    continue;
                }
                let noise = level(l) * noise_variance / f64::from(self.counts[arm]);
                let w = prior / (prior + noise);
                let (mean, variance) = (mean + w * residual, w * noise);
                let (below, above) = self.errors(mean, variance.sqrt());
                part.weight += share;
                part.mean += share * mean;
                squares += share * (variance + mean * mean);
                part.below += share * below;
                part.above += share * above;
            }
            let w = prior / (prior + noise_variance / f64::from(self.counts[arm]));
            part.estimate = mean + w * residual;
            if part.weight > 0.0 {
                part.mean /= part.weight;
                part.variance = (squares / part.weight - part.mean * part.mean).max(0.0);
                part.below /= part.weight;
                part.above /= part.weight;
            }
            part
        })
    }

    /// The probabilities of errors of a mean with this estimate, from τ, and deviation.
    fn errors(&self, mean: f64, deviation: f64) -> (f64, f64) {
        let precision = self.question.precision();
        let at_least = |x: f64| {
            let tail = fast_tail(x.abs() / deviation, self.degrees_of_freedom);
            if x < 0.0 { 1.0 - tail } else { tail }
        };
        let below = at_least(mean + precision);
        (below, if precision == 0.0 { 1.0 - below } else { at_least(precision - mean) })
    }
}

/// The shares of the scales by expectation maximisation, from the likelihood of every arm at every scale and a prior in numbers of arms.
fn learn(tables: &[[f64; N_SCALES]], prior: [f64; N_SCALES]) -> [f64; N_SCALES] {
    let total = prior.iter().sum::<f64>() + tables.len() as f64;
    let mut shares = prior.map(|n| n / prior.iter().sum::<f64>());
    for _ in 0..ROUNDS {
        let mut sums = prior;
        for table in tables {
            let factor = 1.0 / dot(table, &shares);
            for c in 0..N_SCALES {
                sums[c] += factor * shares[c] * table[c];
            }
        }
        shares = sums.map(|sum| sum / total);
    }
    shares
}

fn dot<const N: usize>(a: &[f64; N], b: &[f64; N]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
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

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{Continuous, Normal};

    fn normal(x: f64, mean: f64, variance: f64) -> f64 {
        Normal::new(mean, variance.sqrt()).unwrap().pdf(x)
    }

    /// The shares are a fixed point of expectation maximisation, and one arm in ten that is far off shows.
    #[test]
    fn shares_are_learnt() {
        let like = [1.0, 0.6, 0.3, 0.15, 0.08];
        let far = [1e-12, 1e-4, 0.2, 1.0, 0.8];
        let tables: Vec<_> = (0..200).map(|arm| if arm % 10 == 0 { far } else { like }).collect();
        let shares = learn(&tables, PRIOR);
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let mavericks: f64 = shares[2..].iter().sum();
        assert!((0.05..0.2).contains(&mavericks), "{shares:?}");
        assert!(learn(&[], PRIOR)[2..].iter().sum::<f64>() < 0.07);
        assert!(learn(&vec![like; 200], PRIOR)[2..].iter().sum::<f64>() < 0.02);
    }

    /// By adding up prior times likelihood over a grid of means and noise variances: three arms, of which the last has no rewards.
    #[test]
    fn posteriors_agree_with_numerical_integration() {
        let (counts, averages, squares) = ([3_u32, 2, 0], [0.8, -0.1, 0.0], [1.5, 0.2, 0.0]);
        let question = Question::new(5.0, 0.1).unwrap();
        let unequal = UnequalNoise::learn(&counts, &squares).unwrap();
        let noise = 0.5;
        let own = OwnRewards::new(
            question,
            (&counts, &averages, &squares),
            Some(&unequal),
            noise,
            f64::INFINITY,
            &[1, 2, 0],
            None,
        );
        assert_eq!(own.sample, [1], "the arms measured up to the first that is not");
        let predictions = [(0.1, 0.2), (-0.4, 0.1), (0.3, 0.05)].map(|(mean, variance)| Prediction { mean, variance });
        let posteriors = own.posteriors(noise, &predictions);
        // The densities of y given the law and c, from which shares and laws follow.
        let laws = unequal.laws();
        let density = |arm: usize, law: &Law, c: f64| -> f64 {
            let n = f64::from(counts[arm]);
            let of = |l: usize| {
                let lambda = level(l);
                law.levels[l] * lambda.powf(-0.5 * (n - 1.0)) * (-0.5 * squares[arm] / (lambda * noise)).exp()
            };
            let norm: f64 = (0..N_LEVELS).map(of).sum();
            let Prediction { mean, variance } = predictions[arm];
            let y = |l: usize| normal(averages[arm], mean, c * c * variance + level(l) * noise / n);
            (0..N_LEVELS).map(|l| of(l) * y(l)).sum::<f64>() / norm
        };
        let tables: Vec<Vec<[f64; N_SCALES]>> =
            laws.iter().map(|law| (0..2).map(|arm| SCALES.map(|c| density(arm, law, c))).collect()).collect();
        let shares: Vec<_> = tables.iter().map(|tables| learn(tables, PRIOR)).collect();
        let weight =
            |k: usize| laws[k].probability * tables[k].iter().map(|table| dot(table, &shares[k])).product::<f64>();
        let total: f64 = (0..laws.len()).map(weight).sum();
        for arm in 0..2 {
            let n = f64::from(counts[arm]);
            let (mut below, mut mean) = (0.0, 0.0);
            for (k, law) in laws.iter().enumerate() {
                let (mut all, mut of_below, mut of_mean) = (0.0, 0.0, 0.0);
                for (c, share) in SCALES.iter().zip(shares[k]) {
                    for l in (0..N_LEVELS).filter(|&l| law.levels[l] > 0.0) {
                        let lambda = level(l);
                        let of_level = law.levels[l]
                            * lambda.powf(-0.5 * (n - 1.0))
                            * (-0.5 * squares[arm] / (lambda * noise)).exp();
                        for mu in (-40_000..40_000).map(|i| (f64::from(i) + 0.5) * 2e-4) {
                            let Prediction { mean, variance } = predictions[arm];
                            let density = share
                                * of_level
                                * normal(mu, mean, c * c * variance)
                                * normal(averages[arm], mu, lambda * noise / n);
                            all += density;
                            of_mean += density * mu;
                            of_below += if mu < -0.1 { density } else { 0.0 };
                        }
                    }
                }
                below += weight(k) / total * of_below / all;
                mean += weight(k) / total * of_mean / all;
            }
            let found =
                |of: fn(&Part) -> f64| -> f64 { posteriors[arm].iter().map(|part| part.weight * of(part)).sum() };
            assert!((found(|_| 1.0) - 1.0).abs() < 1e-9);
            assert!((found(|part| part.below) - below).abs() < 2e-4, "{arm}: {}, {below}", found(|part| part.below));
            assert!((found(|part| part.mean) - mean).abs() < 2e-4, "{arm}: {}, {mean}", found(|part| part.mean));
        }
        let [plain, ..] = posteriors[2];
        assert_eq!((plain.mean, plain.variance), (0.3, 0.05));
    }
}
