//! What the rewards say about every arm, for verdicts: an average over many settings of the model.
//!
//! To choose the next arm, one setting is enough (see `grid`); but its intervals would be too narrow, because the variances of the
//! parts are themselves uncertain. A verdict therefore averages over a grid of settings g with posterior weights `p_g`:
//!
//! ```text
//! mean = Σ p_g mean_g      variance = Σ p_g σ_g²q_g + Σ p_g (mean_g − mean)²
//! ```
//!
//! The interval takes this for the moments of a t distribution, with N + 3 degrees of freedom because σ is learnt, or fewer for an arm whose
//! own noise is uncertain (see `unequal`). The doubt is the average of the doubts at the settings, and at all noise variances that the arm
//! may have (see `outliers`): the tails of such a mixture are heavier than those of a t distribution with its moments.
//!
//! The weights are `p_g` ∝ exp(ln p)·√ρ/(1 + ρ): unlike for choosing, the purely linear model has no share of its own in the prior,
//! because intervals that rely on it are wrong wherever it does not hold.

use super::columns::Columns;
use super::evidence::{Pooled, Variances};
use super::grid::Grid;
use super::surprises::{N_SCALES, OwnRewards, Part, Prediction};
use super::rewards::ArmRewards;
use super::unequal::UnequalNoise;
use crate::estimators::posterior::{Marginals, MixturePart};
use crate::estimators::inverse::Inverse;
use crate::estimators::linear_belief::LinearBelief;
use crate::vector::numbers;
use crate::{Arm, Question};
use std::sync::Arc;

/// The variances of the parts, in units of σ²; those of the linear part are divided among d columns.
const LINEAR: [f64; 6] = [0.001, 0.01, 0.1, 1.0, 10.0, 100.0];
const SMOOTH: [f64; 6] = [1e-4, 0.01, 0.1, 1.0, 10.0, 100.0];
const PRODUCTS: [f64; 4] = [0.1, 1.0, 10.0, 100.0];
const OWN: [f64; 10] = [1e-4, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0];

/// The prior of ρ falls with this power of 1 + ρ, so that differences which the features do not explain count as noise until repeated
/// measurements show otherwise.
const OWN_PENALTY: f64 = 4.0;

/// Settings are used from the most probable one on, until their weights add up to this, and no more than this many.
const WEIGHT_USED: f64 = 0.999;
const MAX_USED: usize = 40;

/// The posterior of every mean by these rewards; `None` if they say nothing.
pub(super) fn judge(columns: &Columns, grid: &Grid, question: Question, rewards: &ArmRewards) -> Option<Marginals> {
    let known_noise = grid.known_noise.or(rewards.known_noise());
    let ArmRewards { counts, averages, squares, total, .. } = rewards;
    let unequal = if known_noise.is_some() { None } else { UnequalNoise::learn(counts, squares) };
    let pooled = Pooled::new(columns, &rewards.statistics(), known_noise);
    let settings = weighted_settings(grid, &pooled)?;
    let degrees_of_freedom = known_noise.map_or(*total as f64 + Pooled::PRIOR_OBSERVATIONS, |_| f64::INFINITY);
    let noise_variance = settings.iter().map(|setting| setting.weight * setting.noise_variance).sum();
    let order = columns.exploration_order();
    let own_rewards = OwnRewards::new(
        question,
        (counts, averages, squares),
        unequal.as_ref(),
        noise_variance,
        degrees_of_freedom,
        &order,
        rewards.discrete(),
    );
    let mut average = Average::new(counts.len());
    let mut belief = SettingBelief::new(columns);
    let mut predictions = Vec::with_capacity(counts.len());
    for setting in &settings {
        let own = |arm: Arm| setting.variances.own_of(columns.missed[arm]);
        let shrinkage = |arm: Arm| 1.0 / (1.0 + own(arm) * f64::from(counts[arm]));
        belief.fit(columns, &setting.variances, |arm| f64::from(counts[arm]) * shrinkage(arm), averages);
        let prediction = |arm: Arm| {
            let (linear, h) = belief.of(arm);
            let (g, n) = (shrinkage(arm), f64::from(counts[arm]));
            let (mean, variance) = (g * linear + (1.0 - g) * averages[arm], own(arm) * g + g * g * h);
            // Without the arm's own rewards.
            let others = 1.0 / (1.0 / variance - n).max(f64::EPSILON / variance);
            let mean = if n > 0.0 { others * (mean / variance - n * averages[arm]) } else { mean };
            Prediction { mean, variance: setting.noise_variance * others }
        };
        predictions.clear();
        predictions.extend((0..counts.len()).map(prediction));
        average.add(setting.weight, &own_rewards.posteriors(setting.noise_variance, &predictions));
    }
    Some(average.marginals(question, degrees_of_freedom))
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
        let log_prior = if grid.parts.own { 0.5 * own.ln() - OWN_PENALTY * own.ln_1p() } else { 0.0 };
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
    let least = SMOOTH[0];
    let mut curves: Vec<(f64, f64)> = vec![(0.0, 0.0)];
    if grid.parts.smooth {
        let of_products = if grid.parts.products { least } else { 0.0 };
        curves = SMOOTH.iter().map(|&smooth| (smooth, of_products)).collect();
        if grid.parts.products {
            curves.extend(PRODUCTS.iter().map(|&products| (least, products)));
        }
    }
    let own: &[f64] = if grid.parts.own { &OWN } else { &[0.0] };
    let mut settings = Vec::with_capacity(LINEAR.len() * curves.len() * own.len());
    for linear in LINEAR.map(|linear| linear / grid.dimension) {
        for &(smooth, products) in &curves {
            settings.extend(own.iter().map(|&own| Variances { linear, smooth, products, own }));
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

/// The average of every arm's posterior over settings.
struct Average(Vec<[Sum; N_SCALES]>);

/// Weighted sums over settings.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    weight: f64,
    estimate: f64,
    /// The weighted mean and sum of squares (West 1979).
    mean: f64,
    squares: f64,
    below: f64,
    above: f64,
}

impl Average {
    fn new(n_arms: usize) -> Self {
        Self(vec![[Sum::default(); N_SCALES]; n_arms])
    }

    fn add(&mut self, weight: f64, posteriors: &[[Part; N_SCALES]]) {
        for (sum, part) in self.0.as_flattened_mut().iter_mut().zip(posteriors.as_flattened()) {
            let weight = weight * part.weight;
            if weight <= 0.0 {
                continue;
            }
            sum.weight += weight;
            sum.estimate += weight * part.estimate;
            let change = part.mean - sum.mean;
            sum.mean += change * weight / sum.weight;
            sum.squares += weight * (part.variance + change * (part.mean - sum.mean));
            sum.below += weight * part.below;
            sum.above += weight * part.above;
        }
    }

    fn marginals(self, question: Question, degrees_of_freedom: f64) -> Marginals {
        let threshold = question.threshold();
        let total = |sums: &[Sum; N_SCALES], of: fn(&Sum) -> f64| -> f64 {
            sums.iter().map(of).sum::<f64>() / sums.iter().map(|sum| sum.weight).sum::<f64>()
        };
        let means: Vec<f64> = self.0.iter().map(|sums| threshold + total(sums, |sum| sum.estimate)).collect();
        let doubt = |(sums, &mean): (&[Sum; N_SCALES], &f64)| {
            if question.is_above(mean) { total(sums, |sum| sum.below) } else { total(sums, |sum| sum.above) }
        };
        let doubts = self.0.iter().zip(&means).map(doubt).collect();
        let mixture = |sums: &[Sum; N_SCALES]| {
            let all: f64 = sums.iter().map(|sum| sum.weight).sum();
            let parts = sums.map(|sum| MixturePart {
                weight: sum.weight / all,
                mean: threshold + sum.mean,
                deviation: (sum.squares / sum.weight.max(f64::MIN_POSITIVE)).sqrt(),
            });
            parts.into_iter().filter(|part| part.weight > 0.0).collect()
        };
        let mixtures = self.0.iter().map(mixture).collect();
        Marginals::mixtures(means, doubts, mixtures, degrees_of_freedom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimators::mixed::outliers::level;
    use crate::estimators::{FitHistory, MixedSettings};
    use crate::{Arms, Purpose, stream};
    use nalgebra::{DMatrix, DVector};
    use rand_core::Rng as _;
    use statrs::distribution::{Continuous, ContinuousCDF, Normal, StudentsT};

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

    /// P(mean < x) of every arm at one setting, means from τ. What the other arms say about a measured arm is the posterior without its rewards.
    fn dense_below(
        columns: &Columns,
        variances: &Variances,
        rewards: &ArmRewards,
        dense_of_all: &Dense,
        known_noise: Option<f64>,
        typical_noise: f64,
        x: f64,
    ) -> Vec<f64> {
        let n_arms = rewards.counts.len();
        let deviation = dense_of_all.noise_variance.sqrt();
        let below = |mean: f64, variance: f64| match known_noise {
            Some(_) => Normal::new(mean, deviation * variance.sqrt()).unwrap().cdf(x),
            None => StudentsT::new(mean, deviation * variance.sqrt(), 12.0).unwrap().cdf(x),
        };
        let plain: Vec<f64> =
            (0..n_arms).map(|arm| below(dense_of_all.means[arm], dense_of_all.variances[arm])).collect();
        if known_noise.is_some() {
            return plain;
        }
        let laws = UnequalNoise::learn(&rewards.counts, &rewards.squares).unwrap().laws();
        let mut of_laws: Vec<f64> = laws.iter().map(|law| law.probability).collect();
        let mut given_law = vec![plain.clone(); laws.len()];
        for arm in (0..n_arms).filter(|&arm| rewards.counts[arm] > 0) {
            let mut without = rewards.clone();
            (without.counts[arm], without.averages[arm], without.squares[arm]) = (0, 0.0, 0.0);
            let others = dense(columns, variances, &without, None);
            let (mean, variance) = (others.means[arm], others.variances[arm]);
            let (n, y, squares) = (f64::from(rewards.counts[arm]), rewards.averages[arm], rewards.squares[arm]);
            for (l, law) in laws.iter().enumerate() {
                let (mut before, mut after, mut total) = (0.0, 0.0, 0.0);
                for (position, probability) in law.levels.iter().enumerate() {
                    let noise = level(position);
                    let of_squares = noise.powf(-0.5 * (n - 1.0)) * (-0.5 * squares / (noise * typical_noise)).exp();
                    let predictive = Normal::new(mean, deviation * (variance + noise / n).sqrt()).unwrap().pdf(y);
                    let precision = 1.0 / variance + n / noise;
                    let posterior = (mean / variance + n * y / noise) / precision;
                    before += probability * of_squares;
                    after += probability * of_squares * predictive;
                    total += probability * of_squares * predictive * below(posterior, 1.0 / precision);
                }
                of_laws[l] *= after / before;
                given_law[l][arm] = total / after;
            }
        }
        let sum: f64 = of_laws.iter().sum();
        (0..n_arms).map(|arm| of_laws.iter().zip(&given_law).map(|(p, given)| p / sum * given[arm]).sum()).collect()
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
            let noise_variance: f64 = order.iter().map(|&i| weight(i) * dense[i].noise_variance).sum();
            let below = |x: f64| -> Vec<Vec<f64>> {
                let below =
                    |&i: &usize| dense_below(&columns, &all[i], rewards, &dense[i], known_noise, noise_variance, x);
                order.iter().map(below).collect()
            };
            let (below_both, below_one) = (below(-0.1), below(0.1));
            for arm in 0..9 {
                let mean: f64 = order.iter().map(|&i| weight(i) * dense[i].means[arm]).sum();
                let variance_of = |i: usize| dense[i].noise_variance * dense[i].variances[arm];
                let between = |i: usize| (dense[i].means[arm] - mean).powi(2);
                let variance: f64 = order.iter().map(|&i| weight(i) * (variance_of(i) + between(i))).sum();
                assert!((marginals.means[arm] - 0.25 - mean).abs() < 1e-9, "{arm}: {marginals:?}, {mean}");
                assert!((marginals.deviations[arm] / variance.sqrt() - 1.0).abs() < 1e-9, "{arm}: {variance}");
                let freedom = marginals.degrees_of_freedom[arm];
                assert_eq!(freedom.is_infinite(), known_noise.is_some());
                let average = |below: &[Vec<f64>]| -> f64 {
                    order.iter().zip(below).map(|(&i, below)| weight(i) * below[arm]).sum()
                };
                let is_above = marginals.means[arm] >= 0.25;
                let doubt = if is_above { average(&below_both) } else { 1.0 - average(&below_one) };
                assert!((marginals.doubts[arm] - doubt).abs() < 1e-8, "{arm}: {}, {doubt}", marginals.doubts[arm]);
                assert!(freedom > 10.0, "nine rewards, or the prior of unequal noise");
            }
        }
    }

    /// A sum of squares beyond anything that equal noise allows leaves no doubt undefined.
    #[test]
    fn rewards_far_apart_are_survived() {
        let rows: Vec<[f64; 2]> = (0..20).map(|i| [f64::from(i), f64::from(i * i % 7)]).collect();
        let arms = Arms::from_rows(&rows).unwrap();
        for distance in [1e1, 1e3, 1e6, 1e12] {
            let mut rewards = FitHistory::new(20, 0.0);
            for arm in 0..20 {
                let far = if arm == 3 { distance } else { 0.0 };
                for reward in [0.1, -0.1, 0.3] {
                    rewards.add(arm, rows[arm][0] - 10.0 + reward * (1.0 + far));
                }
            }
            let settings = MixedSettings { landmarks: 4, ..MixedSettings::default() };
            let parts = settings.parts(&arms).unwrap();
            let columns = Columns::new(&arms, parts, &settings, 1);
            let grid = Grid::new(columns.dimension, parts, &settings);
            let marginals = judge(&columns, &grid, Question::new(0.0, 0.0).unwrap(), &rewards.now).unwrap();
            assert!(marginals.doubts.iter().all(|doubt| (0.0..=1.0).contains(doubt)), "{distance}: {marginals:?}");
        }
    }
}
