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
//! ([`Pooled`]); a setting then costs one p×p matrix per group and one elimination. While few arms are measured it is cheaper to
//! eliminate in the m×m covariance of their ȳ, in units of σ²:
//!
//! ```text
//! C = diag(1/nᵢ + ρᵢ) + Vₗ ZₗZₗᵀ + Vₛ ZₛZₛᵀ       Σ wᵢȳᵢ² − bᵀA⁻¹b = ȳᵀC⁻¹ȳ       Π(1 + ρᵢnᵢ) det(Λ⁻¹A) = det C·Π nᵢ
//! ```
//!
//! Eight settings are weighed at a time, and matrices are eliminated four at a time, one per lane.

use super::columns::Columns;
use super::elimination::{LANES, eliminate};
use super::matrices::{AT_ONCE, Matrices, Room, TILE, weigh};
use crate::Arm;
use crate::scan::quotient_minus_ln;
use crate::vector::{Unit, vectorised};
use pulp::f64x4;

/// The variance of the prior observations in units of mean(y²).
const PRIOR_SCALE: f64 = 0.3;

/// Prior variances of the three parts, in units of σ².
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Variances {
    /// Of the weight of a linear column.
    pub(super) linear: f64,
    /// Of the weight of a smooth column.
    pub(super) smooth: f64,
    /// Of the weight of a product.
    pub(super) products: f64,
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
    /// The least σ² that is believed.
    pub(super) least_noise: f64,
}

/// Arms with the same n and e, added up.
#[derive(Clone, Copy, Debug)]
struct Group {
    n: f64,
    missed: f64,
    n_arms: f64,
    /// Σ ȳ².
    squares: f64,
}

/// The rewards, added up over arms of the same weight.
#[derive(Clone, Debug)]
pub(super) struct Pooled {
    dimension: usize,
    n_linear: usize,
    n_products: usize,
    groups: Vec<Group>,
    matrices: Matrices,
    /// N.
    total: f64,
    within: f64,
    /// mean(y²).
    mean_square: f64,
    /// σ², if it is known.
    known_noise: Option<f64>,
    /// The least σ² that is believed.
    least_noise: f64,
}

impl Pooled {
    /// ν, how many observations the prior on σ² is worth.
    pub(super) const PRIOR_OBSERVATIONS: f64 = 3.0;

    /// Adds up the rewards, in the order of (n, e, arm): the result does not depend on the order in which arms were measured.
    /// `known_noise` is σ², if it is known.
    pub(super) fn new(columns: &Columns, rewards: &Rewards<'_>, known_noise: Option<f64>) -> Self {
        Self::in_form(columns, rewards, known_noise, is_cheaper_by_arm)
    }

    /// `by_arm` says whether to eliminate in m×m matrices, given m, p and the number of groups.
    fn in_form(
        columns: &Columns,
        rewards: &Rewards<'_>,
        known_noise: Option<f64>,
        by_arm: fn(usize, usize, usize) -> bool,
    ) -> Self {
        let dimension = columns.features.dimension;
        let key = |arm: Arm| (rewards.counts[arm], columns.missed[arm].to_bits());
        let mut arms: Vec<Arm> = (0..rewards.counts.len()).filter(|&arm| rewards.counts[arm] > 0).collect();
        arms.sort_by_key(|&arm| key(arm));
        let mut alike: Vec<&[Arm]> = arms.chunk_by(|&a, &b| key(a) == key(b)).collect();
        let by_arm = by_arm(arms.len(), dimension, alike.len());
        if by_arm {
            alike = arms.chunks(1).collect();
        }
        let groups: Vec<Group> = alike.iter().map(|arms| Group::new(columns, rewards, arms)).collect();
        let matrices = if by_arm {
            Matrices::by_arm(columns, rewards, &arms)
        } else {
            Matrices::by_group(columns, rewards, &alike)
        };
        let total: f64 = rewards.counts.iter().map(|&n| f64::from(n)).sum();
        let squares = rewards.within + groups.iter().map(|group| group.n * group.squares).sum::<f64>();
        let mean_square = squares / total.max(1.0);
        let (n_linear, n_products, within) = (columns.n_linear, columns.n_products, rewards.within);
        Self {
            dimension,
            n_linear,
            n_products,
            groups,
            matrices,
            total,
            within,
            mean_square,
            known_noise,
            least_noise: rewards.least_noise,
        }
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
        let size = if matches!(self.matrices, Matrices::Arms { .. }) { self.groups.len() } else { self.dimension };
        let mut room = Room::new(size, self.groups.len());
        let mut found = Vec::with_capacity(settings.len());
        for chunk in settings.chunks(AT_ONCE * LANES) {
            let lanes = std::array::from_fn(|vector| {
                std::array::from_fn(|lane| chunk[(vector * LANES + lane).min(chunk.len() - 1)])
            });
            let terms = vectorised!(|unit| self.terms(unit, &lanes, size, &mut room));
            let evidence = terms.as_flattened().iter().map(|&(rest, log_det)| self.evidence_of(rest, log_det));
            found.extend(evidence.take(chunk.len()));
        }
        found
    }

    /// Q without its prior, and the sum of the logarithms, of each setting; by matrices of `size` columns.
    #[inline(always)]
    fn terms<S: Unit>(
        &self,
        unit: S,
        settings: &[[Variances; LANES]; AT_ONCE],
        size: usize,
        room: &mut Room,
    ) -> [[(f64, f64); LANES]; AT_ONCE] {
        let log_dets = match &self.matrices {
            Matrices::Columns(tiles) => self.fill_by_group(unit, settings, tiles, room),
            Matrices::Arms { parts, means } => self.fill_by_arm(unit, settings, parts, means, room),
        };
        // A quadratic form in A is subtracted from Σ wȳ², one in C from 0.
        let sign = if matches!(self.matrices, Matrices::Columns(_)) { 1.0 } else { -1.0 };
        let mut terms = [[(0.0, 0.0); LANES]; AT_ONCE];
        for vector in 0..AT_ONCE {
            let (log_pivots, last) = eliminate(unit, &mut room.matrices[vector], size, &mut room.panel);
            for lane in 0..LANES {
                let rest = self.within + (sign * last[lane]).max(0.0);
                terms[vector][lane] = (rest, log_dets[vector][lane] + log_pivots[lane]);
            }
        }
        terms
    }

    /// Fills in A, b and Σ wȳ²; returns Σ ln(1 + ρn) − ln det Λ.
    #[inline(always)]
    fn fill_by_group<S: Unit>(
        &self,
        unit: S,
        settings: &[[Variances; LANES]; AT_ONCE],
        tiles: &[[f64; TILE]],
        room: &mut Room,
    ) -> [[f64; LANES]; AT_ONCE] {
        let n_fixed = self.n_linear + self.n_products;
        let n_smooth = self.dimension - n_fixed;
        let log = |n: usize, variance: f64| if n > 0 { n as f64 * variance.ln() } else { 0.0 };
        let mut log_dets = [[0.0; LANES]; AT_ONCE];
        for vector in 0..AT_ONCE {
            let settings = &settings[vector];
            for (lane, setting) in settings.iter().enumerate() {
                log_dets[vector][lane] = log(self.n_linear, setting.linear)
                    + log(self.n_products, setting.products)
                    + log(n_smooth, setting.smooth);
            }
            for (group, weights) in self.groups.iter().zip(&mut room.weights) {
                let mut w = [0.0; LANES];
                for lane in 0..LANES {
                    let shrinkage = 1.0 + settings[lane].own_of(group.missed) * group.n;
                    w[lane] = group.n / shrinkage;
                    log_dets[vector][lane] -= group.n_arms * quotient_minus_ln(0.0, shrinkage);
                }
                weights[vector] = pulp::cast(w);
            }
        }
        weigh(unit, tiles, &room.weights, &mut room.matrices);
        for vector in 0..AT_ONCE {
            let of = |value: fn(&Variances) -> f64| pulp::cast(settings[vector].each_ref().map(value));
            let (linear, smooth): (f64x4, f64x4) = (of(|v| 1.0 / v.linear), of(|v| 1.0 / v.smooth));
            let products: f64x4 = of(|v| 1.0 / v.products);
            let mut diagonal = 0;
            for column in 0..self.dimension {
                let precision = match column {
                    _ if column < self.n_linear => linear,
                    _ if column < n_fixed => products,
                    _ => smooth,
                };
                let entry = &mut room.matrices[vector][diagonal];
                *entry = unit.add_f64s(*entry, precision);
                diagonal += column + 2;
            }
        }
        log_dets
    }

    /// Fills in C and ȳ; returns Σ ln n.
    #[inline(always)]
    fn fill_by_arm<S: Unit>(
        &self,
        unit: S,
        settings: &[[Variances; LANES]; AT_ONCE],
        parts: &[[f64; 3]],
        means: &[f64],
        room: &mut Room,
    ) -> [[f64; LANES]; AT_ONCE] {
        for vector in 0..AT_ONCE {
            let settings = &settings[vector];
            let of = |value: fn(&Variances) -> f64| pulp::cast(settings.each_ref().map(value));
            let (vl, vp, vs): (f64x4, f64x4, f64x4) = (of(|v| v.linear), of(|v| v.products), of(|v| v.smooth));
            let entries = &mut room.matrices[vector];
            for (entry, &[linear, products, smooth]) in entries.iter_mut().zip(parts) {
                let linear = unit.mul_f64s(unit.splat_f64s(linear), vl);
                let products = unit.mul_add_f64s(unit.splat_f64s(products), vp, linear);
                *entry = unit.mul_add_f64s(unit.splat_f64s(smooth), vs, products);
            }
            let mut diagonal = 0;
            for (arm, group) in self.groups.iter().enumerate() {
                let own: f64x4 = pulp::cast(settings.each_ref().map(|v| 1.0 / group.n + v.own_of(group.missed)));
                entries[diagonal] = unit.add_f64s(entries[diagonal], own);
                diagonal += arm + 2;
            }
            let border = &mut entries[parts.len()..=parts.len() + means.len()];
            border[means.len()] = unit.splat_f64s(0.0);
            border.iter_mut().zip(means).for_each(|(entry, &mean)| *entry = unit.splat_f64s(mean));
        }
        [[self.groups.iter().map(|group| group.n.ln()).sum(); LANES]; AT_ONCE]
    }

    fn evidence_of(&self, rest: f64, log_det: f64) -> Evidence {
        if let Some(noise) = self.known_noise {
            return Evidence { log_likelihood: -0.5 * (log_det + rest / noise), noise_variance: 1.0 };
        }
        let observations = self.total + Self::PRIOR_OBSERVATIONS;
        let q = (rest + Self::PRIOR_OBSERVATIONS * PRIOR_SCALE * self.mean_square) / self.mean_square;
        let (likeliest, least) = (q / observations, self.least_noise / self.mean_square);
        if likeliest >= least {
            return Evidence { log_likelihood: -0.5 * (log_det + observations * q.ln()), noise_variance: likeliest };
        }
        // The same at σ² = `least`: at the likeliest σ², Q/σ² = N + ν.
        let excess = observations * (least / likeliest).ln() + q / least - observations;
        Evidence { log_likelihood: -0.5 * (log_det + observations * q.ln() + excess), noise_variance: least }
    }
}

/// Whether eliminating in m×m matrices takes less work than adding up the groups and eliminating in p×p matrices.
fn is_cheaper_by_arm(m: usize, p: usize, n_groups: usize) -> bool {
    m * m * (m + 6) <= p * p * (p + 3 * n_groups)
}

impl Group {
    fn new(columns: &Columns, rewards: &Rewards<'_>, arms: &[Arm]) -> Self {
        Self {
            n: f64::from(rewards.counts[arms[0]]),
            missed: columns.missed[arms[0]],
            n_arms: arms.len() as f64,
            squares: arms.iter().map(|&arm| rewards.means[arm] * rewards.means[arm]).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::columns::Key;
    use super::*;
    use crate::{Arms, Purpose, stream};
    use nalgebra::{DMatrix, DVector};
    use rand_core::Rng as _;

    /// In both forms, by the covariance of the rewards themselves: y ~ N(0, σ²(I + E(Z Λ⁻¹ Zᵀ + diag ρᵢ)Eᵀ)), E the arm of each reward.
    #[test]
    fn is_the_marginal_likelihood_of_the_rewards() {
        let mut rng = stream(3, Purpose::Noise, 0);
        let mut uniform = || f64::from(rng.next_u32()) / f64::from(u32::MAX) - 0.5;
        let (n_arms, n_linear, p) = (9, 2, 5);
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
        let key = Key::default();
        let columns = Columns {
            features,
            n_linear,
            n_products: 1,
            dimension: n_linear,
            differ: true,
            missed: missed.clone(),
            key,
        };
        let settings: Vec<Variances> =
            [(1.0, 0.5, 0.3), (0.1, 2.0, 1e-4), (10.0, 1e-4, 4.0), (3.0, 0.2, 0.0), (0.4, 0.4, 0.4)]
                .map(|(linear, smooth, own)| Variances { linear, smooth, products: 0.7 * smooth, own })
                .to_vec();
        let n = y.len();
        let mean_square = y.iter().map(|y| y * y).sum::<f64>() / n as f64;
        let rewards = Rewards { counts: &counts, means: &means, within, least_noise: 0.0 };
        let evidence = |known, by_arm| {
            let pooled =
                Pooled::in_form(&columns, &rewards, known, if by_arm { |_, _, _| true } else { |_, _, _| false });
            (pooled.unit(), pooled.evidence(&settings))
        };
        for by_arm in [false, true] {
            let (unit, found) = evidence(None, by_arm);
            assert!((unit / mean_square - 1.0).abs() < 1e-14);
            let (_, known) = evidence(Some(0.7), by_arm);
            for ((setting, evidence), known) in settings.iter().zip(found).zip(known) {
                let covariance = DMatrix::from_fn(n, n, |s, t| {
                    let (a, b) = (pulled[s], pulled[t]);
                    let product = |range: std::ops::Range<usize>| range.map(|j| rows[a][j] * rows[b][j]).sum::<f64>();
                    let related = setting.linear * product(0..n_linear)
                        + setting.products * product(n_linear..n_linear + 1)
                        + setting.smooth * product(n_linear + 1..p);
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
}
