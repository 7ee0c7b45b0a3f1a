//! V⁻¹, with V = λI + Σ xxᵀ, kept up by rank-one updates.
//!
//! For one more x (Sherman & Morrison 1950): u = V⁻¹x, s = 1 + xᵀu, V⁻¹ ← V⁻¹ − u uᵀ/s. Along x the variance falls by the factor
//! s, so log₁₀ s digits of it are lost; a later pull gives them back, because errors shrink by s too. Where one step
//! costs more than [`DIGITS`] allows, V⁻¹ is computed afresh from the pulls by Cholesky's method.

use crate::arms::Features;
use crate::vector::{Unit, add_scaled, dot, numbers, numbers_mut, zeros};
use pulp::f64x4;

/// The greatest s that a rank-one update is trusted with: it costs four of sixteen digits.
const DIGITS: f64 = 1e4;

/// V⁻¹, d rows, each filled up with zeros to whole vectors.
#[derive(Clone, Debug)]
pub(crate) struct Inverse {
    lambda: f64,
    rows: Vec<f64x4>,
}

/// What one step computes on the way; kept to save its allocation.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// x, the arm's features.
    pub(crate) x: Vec<f64x4>,
    /// u = V⁻¹x, with V before the step.
    pub(crate) u: Vec<f64x4>,
    /// −u/s.
    down: Vec<f64x4>,
    /// s = 1 + xᵀu.
    pub(crate) s: f64,
    /// V and one row of it, for [`Inverse::refresh`].
    gram: Vec<f64>,
    row: Vec<f64>,
}

impl Step {
    pub(crate) fn new(dimension: usize) -> Self {
        let zeros = zeros(dimension);
        let (gram, row) = (vec![0.0; dimension * dimension], vec![0.0; dimension]);
        Self { x: zeros.clone(), u: zeros.clone(), down: zeros, s: 1.0, gram, row }
    }

    /// Whether the step just taken cost so many digits that [`Inverse::refresh`] is due.
    pub(crate) fn is_coarse(&self) -> bool {
        self.s > DIGITS
    }
}

impl Inverse {
    /// V⁻¹ = I/λ.
    pub(crate) fn new(dimension: usize, lambda: f64) -> Self {
        let width = dimension.div_ceil(4);
        let mut rows = zeros(dimension * width * 4);
        numbers_mut(&mut rows).iter_mut().step_by(4 * width + 1).for_each(|diagonal| *diagonal = 1.0 / lambda);
        Self { lambda, rows }
    }

    /// u = V⁻¹x for the x in `step`: Σ xⱼ (row j), four vectors of u at a time.
    #[inline(always)]
    pub(crate) fn solve<S: Unit>(&self, unit: S, step: &mut Step) {
        let (x, width) = (numbers(&step.x), step.u.len());
        let mut start = 0;
        while start < width {
            match width - start {
                1 => self.solve_columns::<S, 1>(unit, x, width, &mut start, &mut step.u),
                2 => self.solve_columns::<S, 2>(unit, x, width, &mut start, &mut step.u),
                3 => self.solve_columns::<S, 3>(unit, x, width, &mut start, &mut step.u),
                _ => self.solve_columns::<S, 4>(unit, x, width, &mut start, &mut step.u),
            }
        }
    }

    #[inline(always)]
    fn solve_columns<S: Unit, const N: usize>(
        &self,
        unit: S,
        x: &[f64],
        width: usize,
        start: &mut usize,
        u: &mut [f64x4],
    ) {
        let mut sums = [unit.splat_f64s(0.0); N];
        for (row, &x) in self.rows.chunks_exact(width).zip(x) {
            let factor = unit.splat_f64s(x);
            for (sum, &value) in sums.iter_mut().zip(&row[*start..*start + N]) {
                *sum = unit.mul_add_f64s(value, factor, *sum);
            }
        }
        u[*start..*start + N].copy_from_slice(&sums);
        *start += N;
    }

    /// Counts one more pull with the features x in `step`: writes the new V⁻¹ to `next`, u and s to `step`.
    #[inline(always)]
    pub(crate) fn advance<S: Unit>(&self, unit: S, step: &mut Step, next: &mut Self) {
        self.solve(unit, step);
        let s = 1.0 + dot(unit, &step.x, &step.u);
        step.s = s;
        step.down.fill(unit.splat_f64s(0.0));
        add_scaled(unit, &mut step.down, -1.0 / s, &step.u);
        let width = step.u.len();
        let rows = self.rows.chunks_exact(width).zip(next.rows.chunks_exact_mut(width));
        for ((row, next), &down) in rows.zip(numbers(&step.down)) {
            let factor = unit.splat_f64s(down);
            for ((next, &value), &u) in next.iter_mut().zip(row).zip(&step.u) {
                *next = unit.mul_add_f64s(u, factor, value);
            }
        }
    }

    /// V⁻¹ afresh from the pulls of every arm, by Cholesky's method. For once, not for every pull: O(Kd² + d³).
    pub(crate) fn refresh(&mut self, features: &Features, pulls: &[u32], step: &mut Step) {
        let d = features.dimension;
        let Step { gram: v, row: x, .. } = step;
        v.fill(0.0);
        v.iter_mut().step_by(d + 1).for_each(|diagonal| *diagonal = self.lambda);
        for (arm, &pulls) in pulls.iter().enumerate().filter(|(_, pulls)| **pulls > 0) {
            features.copy_row(arm, x);
            for i in 0..d {
                for j in 0..=i {
                    v[i * d + j] += f64::from(pulls) * x[i] * x[j];
                }
            }
        }
        factorise(v, d);
        let stride = 4 * d.div_ceil(4);
        let inverse = numbers_mut(&mut self.rows);
        for column in 0..d {
            x.fill(0.0);
            x[column] = 1.0;
            substitute(v, x);
            for (row, &value) in x.iter().enumerate() {
                inverse[row * stride + column] = value;
            }
        }
    }
}

/// The lower triangle L of V = L·Lᵀ, in place. Every pivot is at least λ > 0 but for rounding, which is cut off.
fn factorise(v: &mut [f64], d: usize) {
    for j in 0..d {
        for i in j..d {
            let below: f64 = (0..j).map(|k| v[i * d + k] * v[j * d + k]).sum();
            v[i * d + j] -= below;
        }
        let pivot = v[j * d + j].max(f64::MIN_POSITIVE).sqrt();
        for i in j..d {
            v[i * d + j] /= pivot;
        }
        v[j * d + j] = pivot;
    }
}

/// Solves L·Lᵀ·x = b, in place.
fn substitute(l: &[f64], x: &mut [f64]) {
    let d = x.len();
    for i in 0..d {
        let below: f64 = (0..i).map(|k| l[i * d + k] * x[k]).sum();
        x[i] = (x[i] - below) / l[i * d + i];
    }
    for i in (0..d).rev() {
        let above: f64 = (i + 1..d).map(|k| l[k * d + i] * x[k]).sum();
        x[i] = (x[i] - above) / l[i * d + i];
    }
}
