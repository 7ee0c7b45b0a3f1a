//! What the rewards say about every arm, for verdicts: an average over many settings of the model.
//!
//! To choose the next arm, one setting is enough (see `grid`); but its intervals would be too narrow, because the variances of the parts are
//! themselves uncertain, and the model may be wrong about some arms. A verdict therefore averages over a grid of settings g with posterior
//! weights `p_g`. At each setting every arm is predicted from the rewards of the others; `surprises` says how far such predictions can be trusted and
//! combines them with the arm's own rewards, into a mixture with one part per scale of the error. Parts of the same scale are averaged over the settings.
//!
//! The interval has the quantiles of the mixture, taken for one of t distributions with N + 3 degrees of freedom because σ is learnt. The doubt is
//! the average of the doubts of all parts.
//!
//! The weights are `p_g` ∝ exp(ln p)·√ρ/(1 + ρ)⁴: what the features do not explain counts as noise until repeats show otherwise, and unlike
//! for choosing the purely linear model has no share of its own in the prior, because intervals that rely on it are wrong wherever it
//! does not hold.

use super::columns::Columns;
use super::evidence::{Pooled, Variances};
use super::grid::Grid;
use super::rewards::ArmRewards;
use super::surprises::{N_SCALES, OwnRewards, Part, Prediction};
use super::unequal::UnequalNoise;
use crate::estimators::inverse::Inverse;
use crate::estimators::linear_belief::LinearBelief;
use crate::estimators::posterior::{Marginals, MixturePart};
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
        belief.predict(columns, setting, rewards, &mut predictions);
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

    /// What the rewards of the other arms say about every arm at one setting.
    fn predict(
        &mut self,
        columns: &Columns,
        setting: &WeightedSetting,
        rewards: &ArmRewards,
        predictions: &mut Vec<Prediction>,
    ) {
        let ArmRewards { counts, averages, .. } = rewards;
        let own = |arm: Arm| setting.variances.own_of(columns.missed[arm]);
        let shrinkage = |arm: Arm| 1.0 / (1.0 + own(arm) * f64::from(counts[arm]));
        self.fit(columns, &setting.variances, |arm| f64::from(counts[arm]) * shrinkage(arm), averages);
        let prediction = |arm: Arm| {
            let (linear, h) = self.of(arm);
            let (g, n) = (shrinkage(arm), f64::from(counts[arm]));
            let (mean, variance) = (g * linear + (1.0 - g) * averages[arm], own(arm) * g + g * g * h);
            // Without the arm's own rewards, of precision n.
            let others = 1.0 / (1.0 / variance - n).max(f64::EPSILON / variance);
            let mean = if n > 0.0 { others * (mean / variance - n * averages[arm]) } else { mean };
            Prediction { mean, variance: setting.noise_variance * others }
        };
        predictions.clear();
        predictions.extend((0..counts.len()).map(prediction));
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
    use crate::estimators::{FitHistory, MixedSettings};
    use crate::{Arms, Purpose, stream};
    use nalgebra::{DMatrix, DVector};
    use rand_core::Rng as _;

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
            let (n_linear, n_fixed) = (columns.n_linear, columns.n_linear + columns.n_products);
            let own = if i == j { variances.own_of(columns.missed[i]) } else { 0.0 };
            variances.linear * product(0..n_linear)
                + variances.products * product(n_linear..n_fixed)
                + variances.smooth * product(n_fixed..z[i].len())
                + own
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

    fn some_rewards() -> (Arms, FitHistory) {
        let mut rng = stream(5, Purpose::Noise, 0);
        let mut uniform = || f64::from(rng.next_u32()) / f64::from(u32::MAX) - 0.5;
        let rows: Vec<[f64; 2]> = (0..9).map(|_| [uniform(), uniform()]).collect();
        let mut rewards = FitHistory::new(9, 0.25);
        for arm in [0, 3, 3, 1, 0, 7, 7, 8, 2] {
            rewards.add(arm, 3.0 * rows[arm][0] + uniform());
        }
        (Arms::from_rows(&rows).unwrap(), rewards)
    }

    /// By the K×K covariance of the means at all 600 settings: the weights, σ², and what the other arms say about each arm, which is the
    /// posterior without its own rewards.
    #[test]
    fn predictions_are_those_of_dense_posteriors() {
        let (arms, rewards) = some_rewards();
        let rewards = &rewards.now;
        for known_noise in [None, Some(0.4)] {
            let settings = MixedSettings { landmarks: 4, known_noise, ..MixedSettings::default() };
            let parts = settings.parts(&arms).unwrap();
            let columns = Columns::new(&arms, parts, &settings, 1);
            let grid = Grid::new(columns.dimension, parts, &settings);
            let all = super::settings(&grid);
            assert_eq!(all.len(), 600);
            let dense_of = |v: &Variances, rewards: &ArmRewards| dense(&columns, v, rewards, grid.known_noise);
            let log =
                |v: &Variances| dense_of(v, rewards).log_likelihood + 0.5 * v.own.ln() - OWN_PENALTY * v.own.ln_1p();
            let mut logs: Vec<f64> = all.iter().map(log).collect();
            let pooled = Pooled::new(&columns, &rewards.statistics(), grid.known_noise);
            let used = weighted_settings(&grid, &pooled).unwrap();
            assert!(used.len() <= MAX_USED && (used.iter().map(|it| it.weight).sum::<f64>() - 1.0).abs() < 1e-12);
            let of_used: Vec<f64> = used.iter().map(|it| log(&it.variances)).collect();
            logs.sort_by(|a, b| b.total_cmp(a));
            for (i, (log, most_probable)) in of_used.iter().zip(&logs).enumerate() {
                assert!((log - most_probable).abs() < 1e-9, "{i}: {log}, {most_probable}");
            }
            let sum: f64 = of_used.iter().map(|log| log.exp()).sum();
            let (mut belief, mut predictions) = (SettingBelief::new(&columns), Vec::new());
            for (setting, log) in used.iter().zip(&of_used).take(8) {
                assert!((setting.weight - log.exp() / sum).abs() < 1e-9);
                let noise = dense_of(&setting.variances, rewards).noise_variance;
                assert!((setting.noise_variance / noise - 1.0).abs() < 1e-10);
                belief.predict(&columns, setting, rewards, &mut predictions);
                for (arm, prediction) in predictions.iter().enumerate() {
                    let mut without = rewards.clone();
                    (without.counts[arm], without.averages[arm], without.squares[arm]) = (0, 0.0, 0.0);
                    let others = dense_of(&setting.variances, &without);
                    assert!((prediction.mean - others.means[arm]).abs() < 1e-8, "{arm}: {prediction:?}");
                    assert!((prediction.variance / (noise * others.variances[arm]) - 1.0).abs() < 1e-8, "{arm}");
                }
            }
        }
    }

    /// Averages over settings by hand: two settings of weights ¼ and ¾, one part each.
    #[test]
    fn an_average_has_the_moments_of_the_mixture() {
        let part = |mean: f64, variance: f64, below: f64| {
            let part = Part { weight: 1.0, estimate: mean, mean, variance, below, above: 1.0 - below };
            let mut parts = [Part::default(); N_SCALES];
            parts[0] = part;
            parts
        };
        let mut average = Average::new(1);
        average.add(0.25, &[part(1.0, 4.0, 0.4)]);
        average.add(0.75, &[part(3.0, 1.0, 0.2)]);
        let marginals = average.marginals(Question::new(10.0, 0.0).unwrap(), f64::INFINITY);
        assert!((marginals.means[0] - 12.5).abs() < 1e-12);
        assert!((marginals.deviations[0].powi(2) - (1.75 + 0.75)).abs() < 1e-12, "within 1.75, between 0.75");
        assert!((marginals.doubts[0] - 0.25).abs() < 1e-12);
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
