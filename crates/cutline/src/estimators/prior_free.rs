//! Estimates that use no prior, for bounds that hold whatever the means are: sample means, and least squares.
//!
//! Least squares is θ̂ = V⁻¹b with V = Σ xxᵀ and b = Σ r x over the rewards received. Where x = Vz for some z, the rewards determine the mean
//! xᵀθ, xᵀ(θ̂ − θ) = zᵀΣ xη for the noise η of the rewards, and
//! |xᵀ(θ̂ − θ)| ≤ ‖z‖_(λI + V) ‖Σ xη‖_(λI + V)⁻¹. The last factor has a bound at all times that does not involve θ
//! (Abbasi-Yadkori, Pál & Szepesvári 2011, Theorem 1), so that no bound on ‖θ‖ is needed. The square of the first is qₓ + λ‖z‖² with
//! qₓ = xᵀz = xᵀV⁻¹x. Where x is not in the range of V, the mean may be any number.

use super::Model;
use crate::Arm;
use crate::features::{Features, Row};

/// Estimates of the means that use no prior.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum PriorFree<'a> {
    /// The mean of each arm's own rewards.
    SampleMeans {
        /// The means; any number for an arm without a reward.
        means: &'a [f64],
        /// The number of rewards of each arm.
        n_rewards: &'a [u32],
    },
    /// Least squares of the rewards on the features.
    LeastSquares {
        /// The means; any number where the rewards do not determine the mean.
        means: &'a [f64],
        /// ‖z‖² in the norm of λI + V, where xᵢ = Vz: xᵢᵀV⁻¹xᵢ + λ‖z‖², in units of σ²; ∞ where the rewards do not determine the mean.
        variances: &'a [f64],
        /// ln(det(λI + V)/λᵈ).
        log_det: f64,
    },
}

/// A column of V whose length orthogonal to the columns before it is below this part of its length counts as dependent on them, squared.
/// Rounding errors of V leave about 1e-16.
const DEPENDENT: f64 = 1e-11;

/// The part of an arm's feature that may differ from what the other features say, where the feature depends on them in all rewards.
const DIFFERENT: f64 = 1e-6;

/// Least squares by Cholesky factorisation with pivoting: O(md² + d³) for m measured arms, and O(d²) per mean. Its memory is allocated at
/// the first use.
///
/// Columns that depend on others in all rewards are left out. Coordinates are divided by the length of their column.
#[derive(Clone, Debug, Default)]
pub(super) struct LeastSquares {
    /// V with all diagonal elements 1; its lower triangle becomes L, row and column k being those of `order[k]`.
    factor: Vec<f64>,
    order: Vec<usize>,
    rank: usize,
    /// By what a coordinate is multiplied.
    scales: Vec<f64>,
    /// L⁻¹b.
    solved: Vec<f64>,
    /// x, and what becomes of it.
    row: Vec<f64>,
    lambda: f64,
    means: Vec<f64>,
    variances: Vec<f64>,
}

impl LeastSquares {
    /// The estimates of all arms, for the model of ridge with the same rewards.
    pub(super) fn all(
        &mut self,
        features: &Features,
        n_rewards: &[u32],
        sums: &[f64],
        model: Model,
    ) -> Option<PriorFree<'_>> {
        let Model::Linear { lambda, log_det, .. } = model else { return None };
        self.fit(features, n_rewards, sums, lambda);
        self.means.resize(n_rewards.len(), 0.0);
        self.variances.resize(n_rewards.len(), 0.0);
        for (arm, &n) in n_rewards.iter().enumerate() {
            (self.means[arm], self.variances[arm]) = self.of(features.row(arm), n > 0);
        }
        Some(PriorFree::LeastSquares { means: &self.means, variances: &self.variances, log_det })
    }

    /// The mean and the variance of one arm.
    pub(super) fn one(
        &mut self,
        features: &Features,
        n_rewards: &[u32],
        sums: &[f64],
        lambda: f64,
        arm: Arm,
    ) -> (f64, f64) {
        self.fit(features, n_rewards, sums, lambda);
        self.of(features.row(arm), n_rewards[arm] > 0)
    }

    /// Factorises V and solves for b.
    fn fit(&mut self, features: &Features, n_rewards: &[u32], sums: &[f64], lambda: f64) {
        let d = features.dimension;
        self.lambda = lambda;
        for buffer in [&mut self.scales, &mut self.solved, &mut self.row] {
            buffer.clear();
            buffer.resize(d, 0.0);
        }
        self.factor.clear();
        self.factor.resize(d * d, 0.0);
        let Self { factor: v, row: x, solved: b, .. } = self;
        let measured = || (0..n_rewards.len()).filter(|&arm| n_rewards[arm] > 0);
        for arm in measured() {
            x.iter_mut().zip(features.row(arm).iter()).for_each(|(x, feature)| *x = feature);
            let weight = f64::from(n_rewards[arm]);
            for i in 0..d {
                b[i] += sums[arm] * x[i];
                for j in 0..=i {
                    v[i * d + j] += weight * x[i] * x[j];
                }
            }
        }
        self.scale(features);
        self.factorise();
        self.solve();
    }

    /// Divides V and b by the lengths of the columns.
    fn scale(&mut self, features: &Features) {
        let d = self.scales.len();
        for j in 0..d {
            let length = self.factor[j * d + j].sqrt();
            // A column of zeros in all rewards takes no part; its scale is that of the feature over all arms.
            let most = || (0..features.n_arms).map(|arm| value(features.row(arm), j).abs()).fold(0.0, f64::max);
            let length = if length > 0.0 { length } else { most() };
            self.scales[j] = if length > 0.0 && length < f64::INFINITY { 1.0 / length } else { 1.0 };
        }
        for i in 0..d {
            self.solved[i] *= self.scales[i];
            for j in 0..=i {
                self.factor[i * d + j] *= self.scales[i] * self.scales[j];
            }
        }
    }

    /// L with V = L·Lᵀ for the columns in `order`, the longest remaining column first.
    fn factorise(&mut self) {
        let Self { factor: l, order, rank, .. } = self;
        let d = self.scales.len();
        order.clear();
        order.extend(0..d);
        *rank = 0;
        for k in 0..d {
            let remaining = |i: usize| l[i * d + i] - (0..k).map(|j| l[i * d + j] * l[i * d + j]).sum::<f64>();
            let (pivot, length) =
                (k..d).map(|i| (i, remaining(i))).max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((k, 0.0));
            if !(length > DEPENDENT) {
                return;
            }
            swap(l, d, k, pivot);
            order.swap(k, pivot);
            let length = length.sqrt();
            l[k * d + k] = length;
            for i in k + 1..d {
                let below: f64 = (0..k).map(|j| l[i * d + j] * l[k * d + j]).sum();
                l[i * d + k] = (l[i * d + k] - below) / length;
            }
            *rank = k + 1;
        }
    }

    /// b ← L⁻¹b.
    fn solve(&mut self) {
        self.row.copy_from_slice(&self.solved);
        for k in 0..self.rank {
            self.solved[k] = self.row[self.order[k]];
        }
        down(&self.factor, self.scales.len(), &mut self.solved[..self.rank]);
    }

    /// The mean of an arm with these features, and ‖z‖²; ∞ if it is not in the range of V. An arm with a reward always is.
    fn of(&mut self, features: Row<'_>, is_measured: bool) -> (f64, f64) {
        let Self { factor: l, order, rank, scales, solved, row: x, lambda, .. } = self;
        let (d, rank) = (scales.len(), *rank);
        for (to, &column) in x.iter_mut().zip(&*order) {
            *to = value(features, column) * scales[column];
        }
        let (x, others) = x.split_at_mut(rank);
        down(l, d, x);
        let is_same = |(other, &feature): (usize, &f64)| {
            let row = &l[(rank + other) * d..][..rank];
            let terms = || row.iter().zip(&*x).map(|(l, x)| l * x);
            let size = feature.abs() + terms().map(f64::abs).sum::<f64>();
            (feature - terms().sum::<f64>()).abs() <= DIFFERENT * size
        };
        if !is_measured && !others.iter().enumerate().all(is_same) {
            return (0.0, f64::INFINITY);
        }
        let mean = x.iter().zip(&*solved).map(|(x, b)| x * b).sum();
        let variance: f64 = x.iter().map(|x| x * x).sum();
        up(l, d, x);
        let length: f64 = x.iter().zip(&*order).map(|(z, &column)| (z * scales[column]).powi(2)).sum();
        (mean, variance + *lambda * length)
    }
}

fn value(row: Row<'_>, column: usize) -> f64 {
    let (columns, lane) = row.columns();
    columns[column][lane]
}

/// Exchanges rows and columns `k` < `pivot` of a symmetric matrix, of which the lower triangle from column `k` on and the rows of L before
/// it are kept.
fn swap(l: &mut [f64], d: usize, k: usize, pivot: usize) {
    if k == pivot {
        return;
    }
    for j in 0..k {
        l.swap(k * d + j, pivot * d + j);
    }
    l.swap(k * d + k, pivot * d + pivot);
    for i in k + 1..pivot {
        l.swap(i * d + k, pivot * d + i);
    }
    for i in pivot + 1..d {
        l.swap(i * d + k, i * d + pivot);
    }
}

/// Solves L·x = b, in place, for as many rows as `x` has; rows of L are `d` apart.
fn down(l: &[f64], d: usize, x: &mut [f64]) {
    for i in 0..x.len() {
        let below: f64 = (0..i).map(|k| l[i * d + k] * x[k]).sum();
        x[i] = (x[i] - below) / l[i * d + i];
    }
}

/// Solves Lᵀ·x = b, in place, for as many rows as `x` has; rows of L are `d` apart.
fn up(l: &[f64], d: usize, x: &mut [f64]) {
    for i in (0..x.len()).rev() {
        let above: f64 = (i + 1..x.len()).map(|k| l[k * d + i] * x[k]).sum();
        x[i] = (x[i] - above) / l[i * d + i];
    }
}
