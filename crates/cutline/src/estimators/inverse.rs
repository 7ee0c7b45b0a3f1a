//! V⁻¹, with V = λI + Σ xxᵀ, by rank-one updates.
//!
//! A pull of an arm with features x (Sherman & Morrison 1950): u = V⁻¹x, s = 1 + xᵀu, V⁻¹ ← V⁻¹ − w wᵀ with w = u/√s, so that V⁻¹ stays
//! symmetric to the last bit. Along x the variance falls by the factor s, so log₁₀ s of the digits of V⁻¹ are lost; later pulls restore
//! them, because errors shrink by s too. If a step leaves fewer than ten correct digits, V⁻¹ is recomputed from the pulls by Cholesky
//! factorisation.

use super::gram_basis::GramBasis;
use super::triangle::{WIDTH, factorise, substitute, substitute_down_all, substitute_up, substitute_up_all};
use crate::Arm;
use crate::features::{Features, Row};
use crate::vector::{Unit, Vectors, numbers, numbers_mut, vectorised, zeros};
use pulp::f64x4;
use std::sync::Arc;

/// V⁻¹ is recomputed after a step for which s · condition, its relative error in units of the rounding error, exceeds this: then fewer
/// than ten of sixteen digits are correct.
const MAX_ERROR: f64 = 1e6;

/// V⁻¹, d rows, each padded with zeros to whole vectors.
#[derive(Clone, Debug)]
pub(crate) struct Inverse {
    /// The diagonal of V before the first pull: λ for ridge, one precision per column in general.
    precisions: Arc<[f64]>,
    pub(super) rows: Vectors,
    /// The condition number of V when V⁻¹ was last recomputed, which is the relative error of V⁻¹ at that time in units of the rounding
    /// error. It is estimated by the mean of Vⱼⱼ(V⁻¹)ⱼⱼ, which does not depend on the scales of the features, because Cholesky
    /// factorisation does not.
    condition: f64,
    /// Set if there are no more arms than features, so that the arms are the coordinates. `rows` is then C; see [`GramBasis`].
    gram_basis: Option<Arc<GramBasis>>,
}

/// The results of one step, and buffers; reused to avoid allocation.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// u = V⁻¹x, with V before the step.
    pub(crate) u: Vectors,
    /// w = u/√s.
    w: Vectors,
    /// q = xᵀu.
    pub(crate) q: f64,
    /// s = 1 + q.
    pub(crate) s: f64,
    /// L with V = L·Lᵀ, as of the last [`Inverse::refresh`] with this `Step`.
    pub(super) factor: Vec<f64>,
    diagonal: Vec<f64>,
    row: Vec<f64>,
    /// Rows of several arms, or columns of V⁻¹.
    pub(super) many: Vectors,
}

/// How many arms are added to V at a time, so that V is read and written once for all of them.
const ARMS: usize = 4;

impl Step {
    pub(crate) fn new(dimension: usize) -> Self {
        let row = vec![0.0; dimension];
        Self {
            u: zeros(dimension),
            w: zeros(dimension),
            q: 0.0,
            s: 1.0,
            factor: vec![0.0; dimension * dimension],
            diagonal: row.clone(),
            row,
            many: zeros(dimension * 4 * WIDTH),
        }
    }

    /// L⁻ᵀε for independent standard normal ε, from the factor of the last [`Inverse::refresh`]: its covariance is V⁻¹.
    pub(super) fn deviation(&mut self, normal: &mut impl FnMut() -> f64) -> &[f64] {
        self.row.fill_with(normal);
        substitute_up(&self.factor, &mut self.row);
        &self.row
    }

    /// ln(det V/λᵈ) from the factor of the last [`Inverse::refresh`].
    pub(super) fn log_det(&self, lambda: f64) -> f64 {
        let d = self.row.len();
        self.factor.iter().step_by(d + 1).map(|pivot| (pivot * (pivot / lambda)).ln()).sum()
    }
}

/// `by_tiles!(unit, width, |N, start, width| work)` splits rows of `width` vectors into tiles and does `work` for each: `N` vectors, a constant,
/// beginning with number `start`. A row of up to eight vectors is a single tile, so that sums stay in registers and loops over it unroll; on
/// a unit that is not common all tiles have one vector, with the same bits, because every column has sums of its own.
macro_rules! by_tiles {
    ($unit:ty, $width:expr, |$n:ident, $start:ident, $of:ident| $work:block) => {{
        macro_rules! tile {
            ($size:literal, $from:expr, $whole:expr) => {{
                const $n: usize = $size;
                let ($start, $of) = ($from, $whole);
                $work
            }};
        }
        if <$unit as Unit>::IS_COMMON {
            match $width {
                1 => tile!(1, 0, 1),
                2 => tile!(2, 0, 2),
                3 => tile!(3, 0, 3),
                4 => tile!(4, 0, 4),
                5 => tile!(5, 0, 5),
                6 => tile!(6, 0, 6),
                7 => tile!(7, 0, 7),
                8 => tile!(8, 0, 8),
                width => {
                    let mut done = 0;
                    while done + 8 <= width {
                        tile!(8, done, width);
                        done += 8;
                    }
                    while done < width {
                        tile!(1, done, width);
                        done += 1;
                    }
                }
            }
        } else {
            let width = $width;
            for start in 0..width {
                tile!(1, start, width);
            }
        }
    }};
}

impl Inverse {
    /// V⁻¹ = I/λ.
    pub(crate) fn new(dimension: usize, lambda: f64) -> Self {
        Self::with_precisions(vec![lambda; dimension].into())
    }

    /// V⁻¹ before the first pull, where V has these numbers on its diagonal.
    pub(crate) fn with_precisions(precisions: Arc<[f64]>) -> Self {
        let width = precisions.len().div_ceil(4);
        let mut rows = zeros(precisions.len() * width * 4);
        let diagonal = numbers_mut(&mut rows).iter_mut().step_by(4 * width + 1);
        diagonal.zip(precisions.iter()).for_each(|(entry, precision)| *entry = 1.0 / precision);
        Self { precisions, rows, condition: 1.0, gram_basis: None }
    }

    /// Changes the diagonal of V; [`Inverse::refresh`] has to follow.
    pub(super) fn set_precisions(&mut self, precisions: &Arc<[f64]>) {
        self.precisions = Arc::clone(precisions);
    }

    /// The coordinates of the arms to work with, and V⁻¹ before the first pull: the features themselves or, if there are no more arms than
    /// features, unit vectors (see [`GramBasis`]).
    pub(crate) fn for_features(features: &Arc<Features>, lambda: f64) -> (Arc<Features>, Self) {
        let Some(basis) = GramBasis::new(features) else {
            return (Arc::clone(features), Self::new(features.dimension, lambda));
        };
        let n_arms = features.n_arms;
        let mut products = basis.zeros();
        let mut inverse = Self::new(n_arms, lambda);
        for (arm, row) in numbers_mut(&mut inverse.rows).chunks_exact_mut(4 * n_arms.div_ceil(4)).enumerate() {
            basis.inner_products(arm, &mut products);
            let products = &numbers(&products)[..n_arms];
            row.iter_mut().zip(products).for_each(|(entry, product)| *entry = product / lambda);
        }
        let units = basis.unit_vectors();
        inverse.gram_basis = Some(Arc::new(basis));
        (units, inverse)
    }

    /// The matrix from which V⁻¹ is recomputed: the features, or a triangular matrix with the same inner products if the arms are the
    /// coordinates.
    pub(super) fn basis<'a>(&'a self, features: &'a Features) -> &'a Features {
        self.gram_basis.as_ref().map_or(features, |basis| basis.triangle())
    }

    /// The coordinates, if they are the arms.
    pub(super) fn gram_basis(&self) -> Option<&GramBasis> {
        self.gram_basis.as_deref()
    }

    /// The number of features d, also if the arms are the coordinates.
    pub(super) fn dimension(&self, features: &Features) -> usize {
        self.gram_basis.as_ref().map_or(features.dimension, |basis| basis.dimension())
    }

    /// V⁻¹ from its entries by row and column. Only [`Inverse::solve`] works with it: λ and the condition number are not set.
    pub(crate) fn from_entries(dimension: usize, entry: impl Fn(usize, usize) -> f64) -> Self {
        let mut inverse = Self::new(dimension, 1.0);
        let stride = 4 * dimension.div_ceil(4);
        for (row, values) in numbers_mut(&mut inverse.rows).chunks_exact_mut(stride).enumerate() {
            values.iter_mut().take(dimension).enumerate().for_each(|(column, value)| *value = entry(row, column));
        }
        inverse
    }

    /// Writes u = V⁻¹x, q = xᵀu and s = 1 + q to `step`.
    #[inline(always)]
    pub(crate) fn solve<S: Unit>(&self, unit: S, x: Row<'_>, step: &mut Step) {
        by_tiles!(S, step.u.len(), |N, start, width| {
            self.solve_tile::<S, N>(unit, x, start, width, &mut step.u);
        });
        step.q = x.times_crosswise(numbers(&step.u));
        step.s = 1.0 + step.q;
    }

    /// Adds `weight`·xxᵀ to V, where [`Inverse::solve`] has written u and q to `step`: writes the new V⁻¹ to `next`, and w and
    /// s = 1 + `weight`·q to `step`. A pull has weight 1.
    #[inline(always)]
    pub(crate) fn advance_solved<S: Unit>(&self, unit: S, weight: f64, step: &mut Step, next: &mut Self) {
        step.s = 1.0 + weight * step.q;
        next.condition = self.condition;
        let scale = unit.splat_f64s(weight.sqrt() / step.s.sqrt());
        for (w, &u) in step.w.iter_mut().zip(step.u.iter()) {
            *w = unit.mul_f64s(u, scale);
        }
        by_tiles!(S, step.w.len(), |N, start, width| {
            self.shrink_tile::<S, N>(unit, &step.w, start, width, next);
        });
    }

    /// [`Inverse::solve`] on the best unit of this machine. This and the next one are not inlined: the tiles are compiled once.
    #[inline(never)]
    pub(crate) fn solve_vectorised(&self, x: Row<'_>, step: &mut Step) {
        vectorised!(|unit| self.solve(unit, x, step));
    }

    /// [`Inverse::advance_solved`] on the best unit of this machine.
    #[inline(never)]
    pub(super) fn advance_solved_vectorised(&self, weight: f64, step: &mut Step, next: &mut Self) {
        vectorised!(|unit| self.advance_solved(unit, weight, step, next));
    }

    /// Both: adds `weight`·xxᵀ to V.
    pub(super) fn advance_vectorised(&self, x: Row<'_>, weight: f64, step: &mut Step, next: &mut Self) {
        self.solve_vectorised(x, step);
        self.advance_solved_vectorised(weight, step, next);
    }

    /// One tile of u = Σ xⱼ (row j), because V⁻¹ is symmetric.
    #[inline(always)]
    fn solve_tile<S: Unit, const N: usize>(&self, unit: S, x: Row<'_>, start: usize, width: usize, u: &mut [f64x4]) {
        // Even and odd rows have separate sums, so that an addition need not wait for the one before.
        let mut sums = [[unit.splat_f64s(0.0); N]; 2];
        let (columns, lane) = x.columns();
        let (pairs, last) = columns.as_chunks::<2>();
        let mut rows = self.rows.chunks_exact(2 * width);
        for (lanes, rows) in pairs.iter().zip(&mut rows) {
            for odd in 0..2 {
                let factor = unit.splat_f64s(lanes[odd][lane]);
                let row = &rows[odd * width + start..odd * width + start + N];
                for column in 0..N {
                    sums[odd][column] = unit.mul_add_f64s(row[column], factor, sums[odd][column]);
                }
            }
        }
        let [mut sums, odd] = sums;
        if let (Some(lanes), Some(row)) = (last.first(), rows.remainder().get(start..start + N)) {
            let factor = unit.splat_f64s(lanes[lane]);
            for column in 0..N {
                sums[column] = unit.mul_add_f64s(row[column], factor, sums[column]);
            }
        }
        for column in 0..N {
            sums[column] = unit.add_f64s(sums[column], odd[column]);
        }
        u[start..start + N].copy_from_slice(&sums);
    }

    /// One tile of (row j) − wⱼw for every row j, written to `next`.
    #[inline(always)]
    fn shrink_tile<S: Unit, const N: usize>(&self, unit: S, w: &[f64x4], start: usize, width: usize, next: &mut Self) {
        let mut tile = [unit.splat_f64s(0.0); N];
        tile.copy_from_slice(&w[start..start + N]);
        let w = numbers(w);
        for (j, (row, next)) in self.rows.chunks_exact(width).zip(next.rows.chunks_exact_mut(width)).enumerate() {
            let factor = unit.splat_f64s(-w[j]);
            let (row, next) = (&row[start..start + N], &mut next[start..start + N]);
            for column in 0..N {
                next[column] = unit.mul_add_f64s(tile[column], factor, row[column]);
            }
        }
    }

    /// Whether V⁻¹ has lost so many digits in its last step, which had this s, that [`Inverse::refresh`] is needed.
    pub(crate) fn is_coarse(&self, s: f64) -> bool {
        Self::is_coarse_at(s, self.condition)
    }

    /// As [`Inverse::is_coarse`], for callers that keep the condition number themselves.
    #[inline(always)]
    pub(crate) fn is_coarse_at(s: f64, condition: f64) -> bool {
        s * condition > MAX_ERROR
    }

    /// λ, where all precisions are the same.
    pub(super) fn lambda(&self) -> f64 {
        self.precisions[0]
    }

    /// The condition number of V when V⁻¹ was last recomputed.
    pub(crate) fn condition(&self) -> f64 {
        self.condition
    }

    /// One entry of the d×d matrix V⁻¹.
    pub(crate) fn entry(&self, d: usize, row: usize, column: usize) -> f64 {
        numbers(&self.rows)[row * 4 * d.div_ceil(4) + column]
    }

    /// Recomputes V⁻¹ from the weight of every arm by Cholesky factorisation: O(Kd² + d³), too expensive for every pull.
    pub(crate) fn refresh(&mut self, features: &Features, weight: impl Fn(Arm) -> f64, step: &mut Step) {
        self.refresh_by(features, &weight, step);
    }

    /// [`Inverse::refresh`], compiled once.
    fn refresh_by(&mut self, features: &Features, weight: &dyn Fn(Arm) -> f64, step: &mut Step) {
        let gram_basis = self.gram_basis.clone();
        let basis = gram_basis.as_ref().map_or(features, |basis| basis.triangle());
        let d = basis.dimension;
        let Step { factor: v, diagonal, many, .. } = step;
        v.fill(0.0);
        v.iter_mut()
            .step_by(d + 1)
            .zip(self.precisions.iter())
            .for_each(|(diagonal, precision)| *diagonal = *precision);
        let rows = &mut numbers_mut(many)[..ARMS * d];
        let mut weights = [0.0; ARMS];
        let mut n = 0;
        for (arm, weight) in (0..features.n_arms).map(|arm| (arm, weight(arm))).filter(|(_, weight)| *weight > 0.0) {
            weights[n] = weight;
            rows[n * d..(n + 1) * d].iter_mut().zip(basis.row(arm).iter()).for_each(|(x, feature)| *x = feature);
            n += 1;
            if n == ARMS {
                vectorised!(|unit| add_outer_products(unit, v, d, rows, weights));
                n = 0;
            }
        }
        rows[n * d..].fill(0.0);
        vectorised!(|unit| add_outer_products(unit, v, d, rows, weights));
        diagonal.iter_mut().zip(v.iter().step_by(d + 1)).for_each(|(to, &value)| *to = value);
        factorise(v, d, &self.precisions);
        if let Some(gram_basis) = gram_basis {
            self.invert_in_basis(gram_basis.triangle(), step);
        } else {
            self.invert(step);
        }
    }

    /// V⁻¹ and the condition number from the factor of V, several columns at a time.
    fn invert(&mut self, step: &mut Step) {
        let Step { factor, diagonal, many, .. } = step;
        let d = diagonal.len();
        let stride = 4 * d.div_ceil(4);
        let inverse = numbers_mut(&mut self.rows);
        self.condition = 0.0;
        for first in (0..d).step_by(4 * WIDTH) {
            numbers_mut(many).fill(0.0);
            let columns = first..d.min(first + 4 * WIDTH);
            for column in columns.clone() {
                numbers_mut(many)[column * 4 * WIDTH + column - first] = 1.0;
            }
            vectorised!(|unit| {
                let many = many.as_chunks_mut().0;
                substitute_down_all(unit, factor, many, first);
                substitute_up_all(unit, factor, many, first);
            });
            let rows = numbers(many).as_chunks::<{ 4 * WIDTH }>().0;
            for column in columns {
                self.condition += diagonal[column] * rows[column][column - first] / d as f64;
                for row in column..d {
                    let value = rows[row][column - first];
                    inverse[row * stride + column] = value;
                    inverse[column * stride + row] = value;
                }
            }
        }
        self.condition = self.condition.max(1.0);
    }

    /// As [`Inverse::invert`] where the arms are the coordinates.
    fn invert_in_basis(&mut self, basis: &Features, step: &mut Step) {
        let Step { factor, diagonal, row: x, .. } = step;
        let d = diagonal.len();
        let stride = 4 * d.div_ceil(4);
        let inverse = numbers_mut(&mut self.rows);
        self.condition = 0.0;
        for column in 0..d {
            x.fill(0.0);
            x[column] = 1.0;
            substitute(factor, x);
            self.condition += diagonal[column] * x[column] / d as f64;
            x.iter_mut().zip(basis.row(column).iter()).for_each(|(x, feature)| *x = feature);
            substitute(factor, x);
            for row in column..d {
                let value = basis.row(row).times(x);
                inverse[row * stride + column] = value;
                inverse[column * stride + row] = value;
            }
        }
        self.condition = self.condition.max(1.0);
    }

    /// Writes θ̂ = V⁻¹b to `theta`, from the factor of the last [`Inverse::refresh`], with b = Σ (sum of the rewards of arm i) xᵢ. If the
    /// arms are the coordinates, it writes the means instead.
    pub(crate) fn regress(&self, features: &Features, sums: &[f64], step: &mut Step, theta: &mut [f64]) {
        let basis = self.basis(features);
        let b = &mut step.row;
        b.fill(0.0);
        for (arm, &sum) in sums.iter().enumerate().filter(|(_, sum)| **sum != 0.0) {
            b.iter_mut().zip(basis.row(arm).iter()).for_each(|(b, x)| *b += sum * x);
        }
        substitute(&step.factor, b);
        for (i, theta) in theta.iter_mut().enumerate().take(b.len()) {
            *theta = if self.gram_basis.is_some() { basis.row(i).times(b) } else { b[i] };
        }
    }
}

/// Adds weight·xxᵀ of [`ARMS`] rows x to the lower triangle of V.
#[inline(always)]
fn add_outer_products<S: Unit>(_: S, v: &mut [f64], d: usize, rows: &[f64], weights: [f64; ARMS]) {
    for i in 0..d {
        let entries = &mut v[i * d..=i * d + i];
        let rows: [&[f64]; ARMS] = std::array::from_fn(|arm| &rows[arm * d..=arm * d + i]);
        let factors: [f64; ARMS] = std::array::from_fn(|arm| weights[arm] * rows[arm][i]);
        for j in 0..=i {
            let mut sum = entries[j];
            for arm in 0..ARMS {
                sum += factors[arm] * rows[arm][j];
            }
            entries[j] = sum;
        }
    }
}
