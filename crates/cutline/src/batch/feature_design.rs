//! V⁻¹ of four runs in the coordinates of their features.

use super::{GroupDesign, RewardSums};
use crate::Arm;
use crate::estimators::inverse::{Inverse, Step};
use crate::features::Features;
use crate::vector::{Unit, Vectors, diagonal, numbers, numbers_mut, zeros};
use pulp::f64x4;
use std::sync::Arc;

/// V⁻¹ of four runs. `D` is the number of features, including the padding with zeros.
pub(super) struct FeatureDesign<const D: usize> {
    lambda: f64,
    /// The features of each run, for operations on a single run.
    individual: [Arc<Features>; 4],
    /// The features, arm by arm, padded with arms of zeros to a multiple of four.
    features: Vectors,
    /// V⁻¹, row by row; only the lower triangle is valid.
    inverse: Vectors,
    x: Vectors,
    u: Vectors,
}

impl<const D: usize> FeatureDesign<D> {
    pub(super) fn new(individual: [&Arc<Features>; 4], lambda: f64) -> Self {
        let (n_arms, d) = (individual[0].n_arms, individual[0].dimension);
        let mut features = zeros(4 * n_arms.next_multiple_of(4) * D);
        for (arm, to) in features.as_chunks_mut::<D>().0.iter_mut().take(n_arms).enumerate() {
            let [w, x, y, z] = [0, 1, 2, 3].map(|lane| individual[lane].row(arm).columns());
            for j in 0..d.min(D) {
                to[j] = f64x4(w.0[j][w.1], x.0[j][x.1], y.0[j][y.1], z.0[j][z.1]);
            }
        }
        let mut inverse = zeros(4 * D * D);
        inverse.iter_mut().step_by(D + 1).take(d).for_each(|entry| *entry = pulp::cast([1.0 / lambda; 4]));
        Self { lambda, individual: individual.map(Arc::clone), features, inverse, x: zeros(4 * D), u: zeros(4 * D) }
    }

    /// The features of the arms picked.
    #[inline(always)]
    fn x(&self) -> &[f64x4; D] {
        &self.x.as_chunks().0[0]
    }
}

impl<const D: usize> GroupDesign for FeatureDesign<D> {
    type Local<'a> = [f64x4; D];
    type Arms<'a> = &'a [[f64x4; D]];

    #[inline(always)]
    fn local(vector: &[f64x4]) -> [f64x4; D] {
        vector.as_chunks().0[0]
    }

    fn width(&self) -> usize {
        D
    }

    /// Also sets x to their features.
    #[inline(always)]
    fn pick<S: Unit>(&mut self, unit: S, arms: [Arm; 4]) {
        let rows: &[[f64x4; D]] = self.features.as_chunks().0;
        let rows = [&rows[arms[0]], &rows[arms[1]], &rows[arms[2]], &rows[arms[3]]];
        let x: &mut [f64x4; D] = &mut self.x.as_chunks_mut().0[0];
        for j in 0..D {
            x[j] = diagonal(unit, [rows[0][j], rows[1][j], rows[2][j], rows[3][j]]);
        }
        let rows: &[[f64x4; D]] = self.inverse.as_chunks().0;
        let (fours, rest) = self.u.as_chunks_mut::<4>();
        for (four, u) in fours.iter_mut().enumerate() {
            *u = times_symmetric(unit, rows, 4 * four, x);
        }
        match D % 4 {
            1 => rest.copy_from_slice(&times_symmetric::<S, 1, D>(unit, rows, D - 1, x)),
            2 => rest.copy_from_slice(&times_symmetric::<S, 2, D>(unit, rows, D - 2, x)),
            3 => rest.copy_from_slice(&times_symmetric::<S, 3, D>(unit, rows, D - 3, x)),
            _ => (),
        }
    }

    #[inline(always)]
    fn u(&self) -> &[f64x4] {
        &self.u
    }

    #[inline(always)]
    fn at_pick<S: Unit>(&self, unit: S, v: &[f64x4]) -> f64x4 {
        dots(unit, std::array::from_ref(self.x()), &v.as_chunks().0[0])[0]
    }

    #[inline(always)]
    fn arms(&self) -> &[[f64x4; D]] {
        self.features.as_chunks().0
    }

    #[inline(always)]
    fn products<S: Unit, const N: usize>(unit: S, arms: &[[f64x4; D]], first: Arm, v: &[f64x4; D]) -> [f64x4; N] {
        dots(unit, arms[first..].first_chunk().expect("`N` arms from `first` on"), v)
    }

    #[inline(always)]
    fn q<S: Unit>(&self, unit: S) -> f64x4 {
        dots_crosswise(unit, std::array::from_ref(self.x()), &self.u.as_chunks().0[0])[0]
    }

    /// With w = u/√s it is V⁻¹ −= w wᵀ. Overwrites x too.
    #[inline(always)]
    fn shrink<S: Unit>(&mut self, unit: S, s: f64x4) {
        let scale = unit.div_f64s(unit.splat_f64s(1.0), unit.sqrt_f64s(s));
        let w: &mut [f64x4; D] = &mut self.u.as_chunks_mut().0[0];
        let down: &mut [f64x4; D] = &mut self.x.as_chunks_mut().0[0];
        for j in 0..D {
            w[j] = unit.mul_f64s(w[j], scale);
            down[j] = unit.neg_f64s(w[j]);
        }
        // In blocks of 4×4 up to the diagonal: a few entries above it are changed too, and never read.
        let (fours, rest) = self.inverse.as_chunks_mut::<D>().0.as_chunks_mut::<4>();
        let (w_fours, w_rest) = w.as_chunks::<4>();
        for (four, (rows, &w)) in fours.iter_mut().zip(w_fours).enumerate() {
            for (square, &down) in down.as_chunks::<4>().0[..=four].iter().enumerate() {
                for n in 0..4 {
                    for m in 0..4 {
                        let entry = &mut rows[n][4 * square + m];
                        *entry = unit.mul_add_f64s(w[n], down[m], *entry);
                    }
                }
            }
        }
        for (row, &w) in rest.iter_mut().zip(w_rest) {
            for j in 0..D {
                row[j] = unit.mul_add_f64s(w, down[j], row[j]);
            }
        }
    }

    fn refresh(&mut self, lane: usize, sums: &RewardSums) -> (Inverse, Vec<f64>) {
        let features = &self.individual[lane];
        let d = features.dimension;
        let (mut inverse, mut step, mut theta) = (Inverse::new(d, self.lambda), Step::new(d), vec![0.0; d]);
        let pulls = sums.pulls(lane);
        inverse.refresh(features, |arm| f64::from(pulls[arm]), &mut step);
        inverse.regress(features, &sums.sums(lane), &mut step, &mut theta);
        for (row, to) in numbers_mut(&mut self.inverse).chunks_exact_mut(4 * D).take(d).enumerate() {
            for (column, to) in to.iter_mut().skip(lane).step_by(4).take(d).enumerate() {
                *to = inverse.entry(d, row, column);
            }
        }
        (inverse, theta)
    }

    fn inverse_of(&self, lane: usize) -> Inverse {
        let inverse = numbers(&self.inverse);
        Inverse::from_entries(self.individual[lane].dimension, |row, column| {
            inverse[4 * (D * row.max(column) + row.min(column)) + lane]
        })
    }

    fn features_of(&self, lane: usize) -> &Features {
        &self.individual[lane]
    }
}

/// aᵀb for `N` vectors a, products added in their order.
#[inline(always)]
fn dots<S: Unit, const N: usize, const D: usize>(unit: S, a: &[[f64x4; D]; N], b: &[f64x4; D]) -> [f64x4; N] {
    let mut sums = [unit.splat_f64s(0.0); N];
    for j in 0..D {
        for n in 0..N {
            sums[n] = unit.mul_add_f64s(a[n][j], b[j], sums[n]);
        }
    }
    sums
}

/// As [`dots`], with separate sums of even and odd products.
#[inline(always)]
fn dots_crosswise<S: Unit, const N: usize, const D: usize>(unit: S, a: &[[f64x4; D]; N], b: &[f64x4; D]) -> [f64x4; N] {
    let mut even = [unit.splat_f64s(0.0); N];
    let mut odd = even;
    for pair in 0..D / 2 {
        for n in 0..N {
            even[n] = unit.mul_add_f64s(a[n][2 * pair], b[2 * pair], even[n]);
            odd[n] = unit.mul_add_f64s(a[n][2 * pair + 1], b[2 * pair + 1], odd[n]);
        }
    }
    for n in 0..N {
        if D % 2 == 1 {
            even[n] = unit.mul_add_f64s(a[n][D - 1], b[D - 1], even[n]);
        }
        even[n] = unit.add_f64s(even[n], odd[n]);
    }
    even
}

/// `N` entries of Vx from an even entry `first` on, with separate sums of even and odd products, from the lower triangle
/// of a symmetric V. Unless these are the last entries, `N` is even.
#[inline(always)]
fn times_symmetric<S: Unit, const N: usize, const D: usize>(
    unit: S,
    rows: &[[f64x4; D]],
    first: usize,
    x: &[f64x4; D],
) -> [f64x4; N] {
    let rows = &rows[..D];
    let mut sums = [[unit.splat_f64s(0.0); N]; 2];
    for j in (0..first).step_by(2) {
        for n in 0..N {
            sums[0][n] = unit.mul_add_f64s(rows[first + n][j], x[j], sums[0][n]);
            sums[1][n] = unit.mul_add_f64s(rows[first + n][j + 1], x[j + 1], sums[1][n]);
        }
    }
    for m in 0..N {
        for n in 0..N {
            let entry = rows[first + n.max(m)][first + n.min(m)];
            sums[m % 2][n] = unit.mul_add_f64s(entry, x[first + m], sums[m % 2][n]);
        }
    }
    let (row_pairs, last_row) = rows[first + N..].as_chunks::<2>();
    let (x_pairs, last_x) = x[first + N..].as_chunks::<2>();
    for (row, x) in row_pairs.iter().zip(x_pairs) {
        for n in 0..N {
            sums[0][n] = unit.mul_add_f64s(row[0][first + n], x[0], sums[0][n]);
            sums[1][n] = unit.mul_add_f64s(row[1][first + n], x[1], sums[1][n]);
        }
    }
    for (row, &x) in last_row.iter().zip(last_x) {
        for n in 0..N {
            sums[0][n] = unit.mul_add_f64s(row[first + n], x, sums[0][n]);
        }
    }
    let [mut even, odd] = sums;
    for n in 0..N {
        even[n] = unit.add_f64s(even[n], odd[n]);
    }
    even
}
