//! What the rewards say about every arm, for verdicts: an average over many settings of the model.
//!
//! To choose the next arm, one setting is enough (see `grid`); but its intervals would be too narrow, because the variances of the
//! parts are themselves uncertain. A verdict therefore averages over a grid of settings g with posterior weights `p_g`:
//!
//! ```text
//! mean = Σ p_g mean_g      variance = Σ p_g σ_g²q_g + Σ p_g (mean_g − mean)²
//! ```
//!
//! At one setting, the arm's mean has a t distribution. Its degrees of freedom are N + ν, because σ is learnt, or fewer for an arm whose
//! own noise is uncertain (see `unequal`). The doubt is the average of the doubts at the settings and at all possible degrees of freedom,
//! because the tails of such a mixture are heavier than those of a t distribution with its moments; for an interval the moments are enough.
//!
//! The weights are `p_g` ∝ exp(ln p)·√ρ/(1 + ρ): unlike for choosing, the purely linear model has no share of its own in the prior,
//! because intervals that rely on it are wrong wherever it does not hold.

use super::columns::Columns;
use super::evidence::{Pooled, Rewards, Variances};
use super::grid::Grid;
use super::rewards::ArmRewards;
use super::unequal::UnequalNoise;
use crate::estimators::Marginals;
use crate::estimators::inverse::Inverse;
use crate::estimators::linear_belief::LinearBelief;
use crate::interval::tail;
use crate::vector::numbers;
use crate::{Arm, Question};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The variances of the parts, in units of σ²; those of the linear part are divided among d columns.
const LINEAR: [f64; 6] = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0];
const SMOOTH: [f64; 6] = [1e-4, 0.01, 0.1, 1.0, 10.0, 100.0];
const OWN: [f64; 10] = [1e-4, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0];

/// Settings are used from the most probable one on, until their weights add up to this, and no more than this many.
const WEIGHT_USED: f64 = 0.999;
const MAX_USED: usize = 90;

/// The posterior of every mean by these rewards; `None` if they say nothing.
pub(super) fn judge(columns: &Columns, grid: &Grid, question: Question, rewards: &ArmRewards) -> Option<Marginals> {
    let known_noise = grid.known_noise;
    let ArmRewards { counts, averages, squares, total, .. } = rewards;
    let unequal = if known_noise.is_some() { None } else { UnequalNoise::learn(counts, squares) };
    let factors = unequal.as_ref().map(|unequal| unequal.factors(counts, squares));
    let factor = |arm: Arm| factors.as_ref().map_or(1.0, |factors| factors[arm]);
    let within = (0..counts.len()).map(|arm| squares[arm] / factor(arm)).sum();
    let rewards = Rewards { counts, means: averages, within, factors: factors.as_deref() };
    let pooled = Pooled::new(columns, &rewards, known_noise);
    let settings = weighted_settings(grid, &pooled)?;
    let degrees_of_freedom = known_noise.map_or(*total as f64 + Pooled::PRIOR_OBSERVATIONS, |_| f64::INFINITY);
    let of_noise = |arm: Arm| unequal.as_ref().map_or(f64::INFINITY, |unequal| unequal.degrees_of_freedom(counts[arm]));
    let freedom: Vec<f64> = (0..counts.len()).map(|arm| of_noise(arm).min(degrees_of_freedom)).collect();
    let tails = Tails::new(counts, unequal.as_ref(), degrees_of_freedom);
    let mut average = Average::new(&freedom, &tails, question);
    let mut belief = SettingBelief::new(columns);
    for setting in &settings {
        let own = |arm: Arm| setting.variances.own_of(columns.missed[arm]);
        let n = |arm: Arm| f64::from(counts[arm]) / factor(arm);
        let shrinkage = |arm: Arm| 1.0 / (1.0 + own(arm) * n(arm));
        belief.fit(columns, &setting.variances, |arm| n(arm) * shrinkage(arm), averages);
        average.add(setting.weight, |arm| {
            let (linear, h) = belief.of(arm);
            let g = shrinkage(arm);
            let mean = g * linear + (1.0 - g) * averages[arm];
            (mean, setting.noise_variance * (own(arm) * g + g * g * h))
        });
    }
    Some(average.marginals())
}

/// One setting that is used.
pub(super) struct WeightedSetting {
    pub(super) weight: f64,
    pub(super) variances: Variances,
    pub(super) noise_variance: f64,
}

/// The settings that are used, the most probable one first. Their weights add up to 1.
pub(super) fn weighted_settings(grid: &Grid, rewards: &Pooled) -> Option<Vec<WeightedSetting>> {
    if !rewards.has_evidence() {
        return None;
    }
    let settings = settings(grid);
    let evidence = rewards.evidence(&settings);
    let log_weight = |position: usize| {
        let own = settings[position].own;
        let log_prior = if grid.parts.own { 0.5 * own.ln() - own.ln_1p() } else { 0.0 };
        evidence[position].log_likelihood + log_prior
    };
    let log_weights: Vec<f64> = (0..settings.len()).map(log_weight).collect();
    let most = log_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = log_weights.iter().map(|log| (log - most).exp()).collect();
    let all: f64 = weights.iter().sum();
    let mut order: Vec<usize> = (0..settings.len()).collect();
    order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
    let (mut used, mut sum) = (Vec::new(), 0.0);
    for position in order {
        if sum >= WEIGHT_USED * all || used.len() == MAX_USED {
            break;
        }
        sum += weights[position];
        used.push(position);
    }
    let setting = |position: usize| WeightedSetting {
        weight: weights[position] / sum,
        variances: settings[position],
        noise_variance: rewards.unit() * evidence[position].noise_variance,
    };
    Some(used.into_iter().map(setting).collect())
}

/// All settings for the parts that the model has. Without a linear part, the only linear column is the level.
fn settings(grid: &Grid) -> Vec<Variances> {
    let smooth: &[f64] = if grid.parts.smooth { &SMOOTH } else { &[0.0] };
    let own: &[f64] = if grid.parts.own { &OWN } else { &[0.0] };
    let mut settings = Vec::with_capacity(LINEAR.len() * smooth.len() * own.len());
    for linear in LINEAR.map(|linear| linear / grid.dimension) {
        for &smooth in smooth {
            settings.extend(own.iter().map(|&own| Variances { linear, smooth, own }));
        }
    }
    settings
}

/// zᵢᵀA⁻¹b and zᵢᵀA⁻¹zᵢ of every arm at one setting.
struct SettingBelief {
    belief: LinearBelief,
    targets: Vec<f64>,
}

impl SettingBelief {
    fn new(columns: &Columns) -> Self {
        let inverse = Inverse::with_precisions(vec![1.0; columns.features.dimension].into());
        let belief = LinearBelief::new(Arc::clone(&columns.features), inverse);
        Self { belief, targets: vec![0.0; columns.missed.len()] }
    }

    fn fit(&mut self, columns: &Columns, variances: &Variances, weight: impl Fn(Arm) -> f64, averages: &[f64]) {
        for (arm, target) in self.targets.iter_mut().enumerate() {
            *target = weight(arm) * averages[arm];
        }
        self.belief.set_precisions(&columns.precisions(variances));
        self.belief.restore(weight, &self.targets);
        self.belief.finish_plan();
    }

    fn of(&self, arm: Arm) -> (f64, f64) {
        (numbers(&self.belief.means)[arm], numbers(&self.belief.variances)[arm].max(0.0))
    }
}

/// The weighted mean and variance (West 1979) and the probabilities of errors of every arm over settings.
struct Average<'a> {
    question: Question,
    degrees_of_freedom: &'a [f64],
    tails: &'a Tails<'a>,
    weight: f64,
    means: Vec<f64>,
    /// Σ weight·variance, within settings and between them.
    squares: Vec<f64>,
    /// Σ weight·P(below τ − ε), and of at least τ + ε.
    below: Vec<f64>,
    above: Vec<f64>,
}

impl<'a> Average<'a> {
    fn new(degrees_of_freedom: &'a [f64], tails: &'a Tails<'a>, question: Question) -> Self {
        let zeros = vec![0.0; degrees_of_freedom.len()];
        let (means, squares, below, above) = (zeros.clone(), zeros.clone(), zeros.clone(), zeros);
        Self { question, degrees_of_freedom, tails, weight: 0.0, means, squares, below, above }
    }

    /// Adds a setting by the mean, from τ, and the variance of every arm.
    fn add(&mut self, weight: f64, mean_and_variance: impl Fn(Arm) -> (f64, f64)) {
        self.weight += weight;
        let precision = self.question.precision();
        for arm in 0..self.means.len() {
            let (mean, variance) = mean_and_variance(arm);
            let change = mean - self.means[arm];
            self.means[arm] += change * weight / self.weight;
            self.squares[arm] += weight * (variance + change * (mean - self.means[arm]));
            let probability_above = |x: f64| self.tails.above(arm, x / variance.sqrt());
            let below = probability_above(mean + precision);
            let above = if precision == 0.0 { 1.0 - below } else { probability_above(precision - mean) };
            self.below[arm] += weight * below;
            self.above[arm] += weight * above;
        }
    }

    fn marginals(self) -> Marginals {
        let Self { question, weight, means, squares, below, above, .. } = self;
        let is_above = |mean: f64| question.is_above(question.threshold() + mean);
        let doubt = |arm: Arm| if is_above(means[arm]) { below[arm] } else { above[arm] } / weight;
        Marginals {
            doubts: (0..means.len()).map(doubt).collect(),
            deviations: squares.iter().map(|squares| (squares / weight).sqrt()).collect(),
            degrees_of_freedom: self.degrees_of_freedom.to_vec(),
            means: means.iter().map(|mean| question.threshold() + mean).collect(),
        }
    }
}

/// The distribution of (mean − its estimate)/deviation of every arm at one setting: Student's t, averaged over how unequal the noise may be.
/// With one number of degrees of freedom, however chosen, outliers among arms that were measured once or twice would look certain.
struct Tails<'a> {
    counts: &'a [u32],
    /// By the number of rewards of an arm: the possible degrees of freedom and their probabilities.
    laws: BTreeMap<u32, Vec<(f64, f64)>>,
}

impl<'a> Tails<'a> {
    fn new(counts: &'a [u32], unequal: Option<&UnequalNoise>, most_freedom: f64) -> Self {
        let law = |n: u32| match unequal {
            Some(unequal) if n > 0 => {
                let possible = unequal.possible_degrees_of_freedom(n).filter(|possible| possible.1 > 1e-9);
                possible.map(|(freedom, probability)| (freedom.min(most_freedom), probability)).collect()
            }
            // Without rewards of its own, the noise of an arm does not matter.
            _ => vec![(most_freedom, 1.0)],
        };
        Self {
            counts,
            laws: counts.iter().copied().collect::<BTreeSet<_>>().into_iter().map(|n| (n, law(n))).collect(),
        }
    }

    /// P(X > x) for an arm.
    fn above(&self, arm: Arm, x: f64) -> f64 {
        let law = &self.laws[&self.counts[arm]];
        let tail: f64 = law.iter().map(|&(freedom, probability)| probability * tail(x.abs(), freedom)).sum();
        if x < 0.0 { 1.0 - tail } else { tail }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimators::{FitHistory, MixedSettings};
    use crate::{Arms, Purpose, stream};
    use nalgebra::{DMatrix, DVector};
    use rand_core::Rng as _;
    use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

    /// The moments of every arm at one setting, and ln p, from the covariance matrix of the arms' means.
    struct Dense {
        means: DVector<f64>,
        variances: DVector<f64>,
        noise_variance: f64,
        log_likelihood: f64,
    }

    fn dense(columns: &Columns, variances: &Variances, rewards: &ArmRewards, known_noise: Option<f64>) -> Dense {
        let z: Vec<Vec<f64>> =
            (0..rewards.counts.len()).map(|arm| columns.features.row(arm).iter().collect()).collect();
        let prior = DMatrix::from_fn(z.len(), z.len(), |i, j| {
            let product = |range: std::ops::Range<usize>| range.map(|c| z[i][c] * z[j][c]).sum::<f64>();
            let (linear, smooth) = (product(0..columns.n_linear), product(columns.n_linear..z[i].len()));
            let own = if i == j { variances.own_of(columns.missed[i]) } else { 0.0 };
            variances.linear * linear + variances.smooth * smooth + own
        });
        let measured: Vec<Arm> = (0..z.len()).filter(|&arm| rewards.counts[arm] > 0).collect();
        let n = |arm: Arm| f64::from(rewards.counts[arm]);
        let covariance = DMatrix::from_fn(measured.len(), measured.len(), |i, j| {
            prior[(measured[i], measured[j])] + if i == j { 1.0 / n(measured[i]) } else { 0.0 }
        });
        let factor = covariance.cholesky().unwrap();
        let cross = DMatrix::from_fn(z.len(), measured.len(), |i, j| prior[(i, measured[j])]);
        let y = DVector::from_iterator(measured.len(), measured.iter().map(|&arm| rewards.averages[arm]));
        let solved = factor.solve(&y);
        let total: f64 = measured.iter().map(|&arm| n(arm)).sum();
        let squares: f64 = rewards.squares.iter().sum();
        let rest = squares + y.dot(&solved);
        let log_det =
            2.0 * factor.l().diagonal().map(f64::ln).sum() + measured.iter().map(|&arm| n(arm).ln()).sum::<f64>();
        let mean_square =
            (squares + measured.iter().map(|&arm| n(arm) * rewards.averages[arm].powi(2)).sum::<f64>()) / total;
        let q = rest + 0.9 * mean_square;
        Dense {
            means: &cross * solved,
            variances: (&prior - &cross * factor.solve(&cross.transpose())).diagonal(),
            noise_variance: known_noise.unwrap_or(q / (total + 3.0)),
            log_likelihood: known_noise
                .map_or(-0.5 * (log_det + (total + 3.0) * q.ln()), |noise| -0.5 * (log_det + rest / noise)),
        }
    }

    /// By the K×K covariance of the means at all 360 settings, most of whose weight is used.
    #[test]
    fn is_the_average_of_dense_posteriors() {
        let mut rng = stream(5, Purpose::Noise, 0);
        let mut uniform = || f64::from(rng.next_u32()) / f64::from(u32::MAX) - 0.5;
        let rows: Vec<[f64; 2]> = (0..9).map(|_| [uniform(), uniform()]).collect();
        let arms = Arms::from_rows(&rows).unwrap();
        let mut rewards = FitHistory::new(9, 0.25);
        for arm in [0, 3, 3, 1, 0, 7, 7, 8, 2] {
            rewards.add(arm, 3.0 * rows[arm][0] + uniform());
        }
        let rewards = &rewards.now;
        for known_noise in [None, Some(0.4)] {
            let settings = MixedSettings { landmarks: 4, known_noise, ..MixedSettings::default() };
            let parts = settings.parts(&arms).unwrap();
            let columns = Columns::new(&arms, parts, &settings, 1);
            let grid = Grid::new(columns.dimension, parts, &settings);
            let all = super::settings(&grid);
            assert_eq!(all.len(), 360);
            let dense: Vec<Dense> = all.iter().map(|v| dense(&columns, v, rewards, grid.known_noise)).collect();
            let log = |i: usize| dense[i].log_likelihood + 0.5 * all[i].own.ln() - all[i].own.ln_1p();
            let mut order: Vec<usize> = (0..360).collect();
            order.sort_by(|&a, &b| log(b).total_cmp(&log(a)));
            let all_weights: f64 = (0..360).map(|i| log(i).exp()).sum();
            let mut used = 0.0;
            order.retain(|&i| {
                let is_used = used < WEIGHT_USED * all_weights;
                used += log(i).exp();
                is_used
            });
            order.truncate(MAX_USED);
            let sum: f64 = order.iter().map(|&i| log(i).exp()).sum();
            let weight = |i: usize| log(i).exp() / sum;
            let question = Question::new(0.25, 0.1).unwrap();
            let marginals = judge(&columns, &grid, question, rewards).unwrap();
            let unequal = UnequalNoise::learn(&rewards.counts, &rewards.squares).unwrap();
            for arm in 0..9 {
                let mean: f64 = order.iter().map(|&i| weight(i) * dense[i].means[arm]).sum();
                let variance_of = |i: usize| dense[i].noise_variance * dense[i].variances[arm];
                let between = |i: usize| (dense[i].means[arm] - mean).powi(2);
                let variance: f64 = order.iter().map(|&i| weight(i) * (variance_of(i) + between(i))).sum();
                assert!((marginals.means[arm] - 0.25 - mean).abs() < 1e-9, "{arm}: {marginals:?}, {mean}");
                assert!((marginals.deviations[arm] / variance.sqrt() - 1.0).abs() < 1e-9, "{arm}: {variance}");
                let freedom = marginals.degrees_of_freedom[arm];
                assert_eq!(freedom.is_infinite(), known_noise.is_some());
                let doubt = |i: usize| {
                    let (mean, deviation) = (dense[i].means[arm], variance_of(i).sqrt());
                    let is_above = marginals.means[arm] >= 0.25;
                    let error = |law: &dyn ContinuousCDF<f64, f64>| if is_above { law.cdf(-0.1) } else { law.sf(0.1) };
                    if known_noise.is_some() {
                        return error(&Normal::new(mean, deviation).unwrap());
                    }
                    let student = |freedom: f64| error(&StudentsT::new(mean, deviation, freedom).unwrap());
                    match rewards.counts[arm] {
                        0 => student(12.0),
                        n => unequal.possible_degrees_of_freedom(n).map(|(f, p)| p * student(f.min(12.0))).sum(),
                    }
                };
                let doubt: f64 = order.iter().map(|&i| weight(i) * doubt(i)).sum();
                assert!((marginals.doubts[arm] - doubt).abs() < 1e-8, "{arm}: {}, {doubt}", marginals.doubts[arm]);
                assert!(freedom > 10.0, "nine rewards, or the prior of unequal noise");
            }
        }
    }
}
