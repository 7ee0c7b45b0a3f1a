//! The marginal likelihood of the mixed model at many settings of its variances at once.
//!
//! With y = r − τ, n rewards of mean ȳ per measured arm, N rewards in all and W the sum of squares within arms, at prior variances
//! (in units of σ²) of Vₗ per linear column, Vₛ per smooth column and ρᵢ = ρ + Vₛeᵢ for the own part of an arm:
//!
//! ```text
//! wᵢ = nᵢ/(1 + ρᵢnᵢ)      A = Λ + Σ wᵢ zᵢzᵢᵀ      b = Σ wᵢȳᵢzᵢ
//! Q  = W + Σ wᵢȳᵢ² − bᵀA⁻¹b + ν s₀²               σ² = Q/(N + ν)
//! ln p = −½ [Σ ln(1 + ρᵢnᵢ) + ln det(Λ⁻¹A) + (N + ν) ln Q]
//! ```
//!
//! ν = 3 prior observations of variance s₀² = 0.3·mean(y²) keep σ² away from 0 while the first rewards are equal. Q and σ² are kept in
//! units of mean(y²), so that ln p does not depend on the units of the rewards.
//!
//! Where σ is known, ν = 0, Q is kept in units of σ², and ln p = −½ [Σ ln(1 + ρᵢnᵢ) + ln det(Λ⁻¹A) + Q].
//!
//! Arms with the same number of rewards and the same eᵢ have the same weight at every setting, so their zzᵀ are added up once
//! ([`Pooled`]); a setting then costs one p×p matrix per group and one Cholesky factorisation. Four settings are evaluated at a
//! time, one per lane.

use super::columns::Columns;
use crate::Arm;
use crate::vector::{Unit, vectorised};
use pulp::f64x4;

/// How many settings are evaluated at a time.
const LANES: usize = 4;

/// The variance of the prior observations in units of mean(y²).
const PRIOR_SCALE: f64 = 0.3;

/// Prior variances of the three parts, in units of σ².
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Variances {
    /// Of the weight of a linear column.
    pub(super) linear: f64,
    /// Of the weight of a smooth column.
    pub(super) smooth: f64,
    /// Of the own part of an arm, without what the landmarks miss.
    pub(super) own: f64,
}

impl Variances {
    /// ρᵢ of an arm whose landmarks miss the share `missed` of the smooth part.
    pub(super) fn own_of(&self, missed: f64) -> f64 {
        self.own + self.smooth * missed
    }
}

/// How well one setting explains the rewards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Evidence {
    /// ln p, up to a constant that is the same for all settings.
    pub(super) log_likelihood: f64,
    /// σ² by this setting, in units of [`Pooled::unit`].
    pub(super) noise_variance: f64,
}

/// The sufficient statistics of the rewards.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rewards<'a> {
    /// n of every arm.
    pub(super) counts: &'a [u32],
    /// ȳ of every arm; ignored where n is 0.
    pub(super) means: &'a [f64],
    /// W, the sum of (y − ȳ)² within arms.
    pub(super) within: f64,
    /// The noise variance of every arm in units of σ², where the noise is not equal; nᵢ and W are divided by it.
    pub(super) factors: Option<&'a [f64]>,
}

/// Arms with the same n and e, added up.
#[derive(Clone, Debug)]
struct Group {
    n: f64,
    missed: f64,
    n_arms: f64,
    /// Σ ȳ².
    squares: f64,
    /// Σ ȳz.
    cross: Vec<f64>,
    /// Σ zzᵀ, the lower triangle row by row.
    gram: Vec<f64>,
}

/// The rewards, added up over arms of the same weight.
#[derive(Clone, Debug)]
pub(super) struct Pooled {
    dimension: usize,
    n_linear: usize,
    groups: Vec<Group>,
    /// N.
    total: f64,
    within: f64,
    /// mean(y²).
    mean_square: f64,
    /// σ², if it is known.
    known_noise: Option<f64>,
}

impl Pooled {
    /// ν, how many observations the prior on σ² is worth.
    pub(super) const PRIOR_OBSERVATIONS: f64 = 3.0;

    /// Adds up the rewards, in the order of (n, e, arm): the result does not depend on the order in which arms were measured.
    /// `known_noise` is σ², if it is known.
    pub(super) fn new(columns: &Columns, rewards: &Rewards<'_>, known_noise: Option<f64>) -> Self {
        let dimension = columns.features.dimension;
        let factor = |arm: Arm| rewards.factors.map_or(1.0, |factors| factors[arm]);
        let key = |arm: Arm| (rewards.counts[arm], factor(arm).to_bits(), columns.missed[arm].to_bits());
        let mut arms: Vec<Arm> = (0..rewards.counts.len()).filter(|&arm| rewards.counts[arm] > 0).collect();
        arms.sort_by_key(|&arm| key(arm));
        let mut groups: Vec<Group> = Vec::new();
        for alike in arms.chunk_by(|&a, &b| key(a) == key(b)) {
            groups.push(Group::new(columns, rewards, alike, factor(alike[0])));
        }
        let total: f64 = rewards.counts.iter().map(|&n| f64::from(n)).sum();
        let squares = rewards.within + groups.iter().map(|group| group.n * group.squares).sum::<f64>();
        let mean_square = squares / total.max(1.0);
        Self { dimension, n_linear: columns.n_linear, groups, total, within: rewards.within, mean_square, known_noise }
    }

    /// The unit of the variances in [`Evidence`]: mean(y²), or σ² if it is known.
    pub(super) fn unit(&self) -> f64 {
        self.known_noise.unwrap_or(self.mean_square)
    }

    /// Whether there are rewards from which to learn: they say nothing about an unknown σ if all of them equal τ, and their squares may be
    /// out of range.
    pub(super) fn has_evidence(&self) -> bool {
        let unit = self.unit();
        self.total > 0.0 && unit.is_normal() && (self.total * self.mean_square / unit).is_finite()
    }

    /// The evidence of every setting, in their order.
    pub(super) fn evidence(&self, settings: &[Variances]) -> Vec<Evidence> {
        let mut found = Vec::with_capacity(settings.len());
        let mut room = Room::new(self.dimension);
        for chunk in settings.chunks(LANES) {
            let lanes = std::array::from_fn(|lane| chunk[lane.min(chunk.len() - 1)]);
            let four = vectorised!(|unit| self.four(unit, &lanes, &mut room));
            found.extend_from_slice(&four[..chunk.len()]);
        }
        found
    }

    /// The evidence of four settings.
    #[inline(always)]
    fn four<S: Unit>(&self, unit: S, settings: &[Variances; LANES], room: &mut Room) -> [Evidence; LANES] {
        let Room { a, b, column } = room;
        let of = |value: fn(&Variances) -> f64| lanes(settings.each_ref().map(value));
        let (linear, smooth) = (of(|v| v.linear), of(|v| v.smooth));
        let mut log_det = [0.0; LANES];
        let mut fitted = [0.0; LANES];
        let mut start = 0;
        for column in 0..self.dimension {
            let variance = if column < self.n_linear { linear } else { smooth };
            a[start..start + column].fill(unit.splat_f64s(0.0));
            a[start + column] = unit.div_f64s(unit.splat_f64s(1.0), variance);
            b[column] = unit.splat_f64s(0.0);
            start += column + 1;
        }
        for (lane, setting) in settings.iter().enumerate() {
            let n_smooth = (self.dimension - self.n_linear) as f64;
            log_det[lane] = self.n_linear as f64 * setting.linear.ln()
                + if n_smooth > 0.0 { n_smooth * setting.smooth.ln() } else { 0.0 };
        }
        for group in &self.groups {
            let mut weights = [0.0; LANES];
            for (lane, setting) in settings.iter().enumerate() {
                let shrinkage = setting.own_of(group.missed) * group.n;
                weights[lane] = group.n / (1.0 + shrinkage);
                log_det[lane] += group.n_arms * shrinkage.ln_1p();
                fitted[lane] += weights[lane] * group.squares;
            }
            let w = lanes(weights);
            for (a, &gram) in a.iter_mut().zip(&group.gram) {
                *a = unit.mul_add_f64s(unit.splat_f64s(gram), w, *a);
            }
            for (b, &cross) in b.iter_mut().zip(&group.cross) {
                *b = unit.mul_add_f64s(unit.splat_f64s(cross), w, *b);
            }
        }
        let (log_pivots, explained) = eliminate(unit, a, b, column);
        std::array::from_fn(|lane| {
            let rest = self.within + (fitted[lane] - explained[lane]).max(0.0);
            let log_det = log_det[lane] + log_pivots[lane];
            self.evidence_of(rest, log_det)
        })
    }

    fn evidence_of(&self, rest: f64, log_det: f64) -> Evidence {
        if let Some(noise) = self.known_noise {
            return Evidence { log_likelihood: -0.5 * (log_det + rest / noise), noise_variance: 1.0 };
        }
        let observations = self.total + Self::PRIOR_OBSERVATIONS;
        let q = (rest + Self::PRIOR_OBSERVATIONS * PRIOR_SCALE * self.mean_square) / self.mean_square;
        Evidence { log_likelihood: -0.5 * (log_det + observations * q.ln()), noise_variance: q / observations }
    }
}

impl Group {
    fn new(columns: &Columns, rewards: &Rewards<'_>, arms: &[Arm], factor: f64) -> Self {
        let p = columns.features.dimension;
        let (mut cross, mut gram) = (vec![0.0; p], vec![0.0; p * (p + 1) / 2]);
        let (mut squares, mut z) = (0.0, vec![0.0; p]);
        for &arm in arms {
            let mean = rewards.means[arm];
            squares += mean * mean;
            z.iter_mut().zip(columns.features.row(arm).iter()).for_each(|(z, feature)| *z = feature);
            let mut row = gram.as_mut_slice();
            for i in 0..p {
                let (entries, rest) = row.split_at_mut(i + 1);
                let zi = z[i];
                entries.iter_mut().zip(&z).for_each(|(entry, zj)| *entry += zi * zj);
                cross[i] += mean * zi;
                row = rest;
            }
        }
        let n = f64::from(rewards.counts[arms[0]]) / factor;
        Self { n, missed: columns.missed[arms[0]], n_arms: arms.len() as f64, squares, cross, gram }
    }
}

/// A and b of four settings, one per lane; A as a lower triangle, row by row.
struct Room {
    a: Vec<f64x4>,
    b: Vec<f64x4>,
    /// The column of A that is being eliminated.
    column: Vec<f64x4>,
}

impl Room {
    fn new(p: usize) -> Self {
        let zero = f64x4(0.0, 0.0, 0.0, 0.0);
        Self { a: vec![zero; p * (p + 1) / 2], b: vec![zero; p], column: vec![zero; p] }
    }
}

#[inline(always)]
fn lanes(values: [f64; LANES]) -> f64x4 {
    f64x4(values[0], values[1], values[2], values[3])
}

/// Overwrites A = L·Lᵀ and b by elimination; ln det A and bᵀA⁻¹b of each lane.
///
/// Column by column: what is left of A to the right of a column is updated row by row, so that no addition waits for another.
#[inline(always)]
fn eliminate<S: Unit>(unit: S, a: &mut [f64x4], b: &mut [f64x4], column: &mut [f64x4]) -> ([f64; LANES], [f64; LANES]) {
    let p = b.len();
    let mut log_det = [0.0; LANES];
    let mut explained = unit.splat_f64s(0.0);
    for k in 0..p {
        let pivot = a[k * (k + 1) / 2 + k];
        let pivots: [f64; LANES] = pulp::cast(pivot);
        for lane in 0..LANES {
            log_det[lane] += pivots[lane].max(f64::MIN_POSITIVE).ln();
        }
        let inverse = unit.div_f64s(unit.splat_f64s(1.0), unit.max_f64s(pivot, unit.splat_f64s(f64::MIN_POSITIVE)));
        let rest = b[k];
        explained = unit.mul_add_f64s(unit.mul_f64s(rest, rest), inverse, explained);
        for i in k + 1..p {
            column[i] = a[i * (i + 1) / 2 + k];
        }
        for i in k + 1..p {
            let factor = unit.neg_f64s(unit.mul_f64s(column[i], inverse));
            b[i] = unit.mul_add_f64s(factor, rest, b[i]);
            let row = &mut a[i * (i + 1) / 2 + k + 1..=i * (i + 1) / 2 + i];
            for (entry, &other) in row.iter_mut().zip(&column[k + 1..=i]) {
                *entry = unit.mul_add_f64s(factor, other, *entry);
            }
        }
    }
    (log_det, pulp::cast(explained))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arms, Purpose, stream};
    use nalgebra::{DMatrix, DVector};
    use rand_core::Rng as _;

    /// By the K×K covariance of the rewards themselves: y ~ N(0, σ²(I + E(Z Λ⁻¹ Zᵀ + diag ρᵢ)Eᵀ)), E the arm of each reward.
    #[test]
    fn is_the_marginal_likelihood_of_the_rewards() {
        let mut rng = stream(3, Purpose::Noise, 0);
        let mut uniform = || f64::from(rng.next_u32()) / f64::from(u32::MAX) - 0.5;
        let (n_arms, n_linear, p) = (9, 3, 5);
        let rows: Vec<[f64; 5]> = (0..n_arms).map(|_| std::array::from_fn(|_| 2.0 * uniform())).collect();
        let missed: Vec<f64> = (0..n_arms).map(|arm| [0.0, 0.25, 0.5][arm % 3]).collect();
        let pulled = [0_usize, 3, 3, 1, 0, 7, 7, 7, 8, 2, 2, 5, 6];
        let y: Vec<f64> = pulled.iter().map(|&arm| arm as f64 / 4.0 - 1.0 + uniform()).collect();
        let (mut counts, mut means) = (vec![0_u32; n_arms], vec![0.0; n_arms]);
        for (&arm, y) in pulled.iter().zip(&y) {
            counts[arm] += 1;
            means[arm] += y;
        }
        means.iter_mut().zip(&counts).filter(|(_, n)| **n > 0).for_each(|(mean, &n)| *mean /= f64::from(n));
        let within: f64 = pulled.iter().zip(&y).map(|(&arm, y)| (y - means[arm]).powi(2)).sum();
        let arms = Arms::from_rows(&rows).unwrap();
        let features = arms.features().unwrap().clone();
        let columns = Columns { features, n_linear, dimension: n_linear, missed: missed.clone() };
        let settings: Vec<Variances> =
            [(1.0, 0.5, 0.3), (0.1, 2.0, 1e-4), (10.0, 1e-4, 4.0), (3.0, 0.2, 0.0), (0.4, 0.4, 0.4)]
                .map(|(linear, smooth, own)| Variances { linear, smooth, own })
                .to_vec();
        let n = y.len();
        let mean_square = y.iter().map(|y| y * y).sum::<f64>() / n as f64;
        let rewards = Rewards { counts: &counts, means: &means, within, factors: None };
        let pooled = Pooled::new(&columns, &rewards, None);
        assert!((pooled.unit() / mean_square - 1.0).abs() < 1e-14);
        let known = Pooled::new(&columns, &rewards, Some(0.7));
        let known = known.evidence(&settings);
        for ((setting, evidence), known) in settings.iter().zip(pooled.evidence(&settings)).zip(known) {
            let covariance = DMatrix::from_fn(n, n, |s, t| {
                let (a, b) = (pulled[s], pulled[t]);
                let product = |range: std::ops::Range<usize>| range.map(|j| rows[a][j] * rows[b][j]).sum::<f64>();
                let related = setting.linear * product(0..n_linear) + setting.smooth * product(n_linear..p);
                let own = if a == b { setting.own_of(missed[a]) } else { 0.0 };
                related + own + f64::from(u8::from(s == t))
            });
            let factor = covariance.cholesky().unwrap();
            let rest = DVector::from_column_slice(&y).dot(&factor.solve(&DVector::from_column_slice(&y)));
            let log_det = 2.0 * factor.l().diagonal().map(f64::ln).sum();
            let q = rest / mean_square + 0.9;
            let log_likelihood = -0.5 * (log_det + (n as f64 + 3.0) * q.ln());
            assert!((evidence.log_likelihood - log_likelihood).abs() < 1e-10, "{evidence:?}, {log_likelihood}");
            assert!((evidence.noise_variance * (n as f64 + 3.0) / q - 1.0).abs() < 1e-12);
            let log_likelihood = -0.5 * (log_det + rest / 0.7);
            assert!((known.log_likelihood - log_likelihood).abs() < 1e-10, "{known:?}, {log_likelihood}");
            assert_eq!(known.noise_variance, 1.0);
        }
    }
}
