//! The lower triangle L of V = L·Lᵀ, d rows of d numbers: factorisation, and substitution for one vector or for many at a time.
//!
//! Every sum is added in the order of its terms and nothing is fused, so that one vector and many give the same bits.

use crate::vector::Unit;
use pulp::f64x4;

/// How many vectors of four numbers make up a row of [`substitute_down_all`]: so many sums do not wait for each other.
pub(super) const WIDTH: usize = 4;

/// How many rows are factorised at a time, so that an addition need not wait for the one before.
const ROWS: usize = 8;

/// L, in place of V. Every pivot is at least its precision; a smaller one is a rounding error.
pub(super) fn factorise(v: &mut [f64], d: usize, precisions: &[f64]) {
    for j in 0..d {
        let (row, lower) = v[j * d..].split_at_mut(d);
        let pivot = (row[j] - dot(&row[..j], &row[..j])).max(precisions[j]).sqrt();
        row[j] = pivot;
        let row = &row[..j];
        let mut groups = lower.chunks_exact_mut(ROWS * d);
        for rows in &mut groups {
            let parts: [&[f64]; ROWS] = std::array::from_fn(|i| &rows[i * d..i * d + j]);
            let mut sums = [0.0; ROWS];
            for k in 0..j {
                for i in 0..ROWS {
                    sums[i] += parts[i][k] * row[k];
                }
            }
            for i in 0..ROWS {
                rows[i * d + j] = (rows[i * d + j] - sums[i]) / pivot;
            }
        }
        for other in groups.into_remainder().chunks_exact_mut(d) {
            other[j] = (other[j] - dot(&other[..j], row)) / pivot;
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Solves L·x = b, in place.
pub(super) fn substitute_down(l: &[f64], x: &mut [f64]) {
    let d = x.len();
    for i in 0..d {
        x[i] = (x[i] - dot(&l[i * d..i * d + i], &x[..i])) / l[i * d + i];
    }
}

/// Solves L·Lᵀ·x = b, in place.
pub(super) fn substitute(l: &[f64], x: &mut [f64]) {
    substitute_down(l, x);
    substitute_up(l, x);
}

/// Solves Lᵀ·x = b, in place.
pub(super) fn substitute_up(l: &[f64], x: &mut [f64]) {
    let d = x.len();
    for i in (0..d).rev() {
        let above: f64 = (i + 1..d).map(|k| l[k * d + i] * x[k]).sum();
        x[i] = (x[i] - above) / l[i * d + i];
    }
}

/// As [`substitute_down`], one vector per lane. All that comes before `from` is 0 and stays so.
#[inline(always)]
pub(super) fn substitute_down_all<S: Unit>(unit: S, l: &[f64], x: &mut [[f64x4; WIDTH]], from: usize) {
    let d = x.len();
    for i in from..d {
        let (done, rest) = x.split_at_mut(i);
        let terms = l[i * d + from..i * d + i].iter().copied().zip(&done[from..]);
        divide_rest(unit, &mut rest[0], terms, l[i * d + i]);
    }
}

/// Solves Lᵀ·x = b, in place, one vector per lane, from the last number up to `from`.
#[inline(always)]
pub(super) fn substitute_up_all<S: Unit>(unit: S, l: &[f64], x: &mut [[f64x4; WIDTH]], from: usize) {
    let d = x.len();
    for i in (from..d).rev() {
        let (rest, done) = x.split_at_mut(i + 1);
        let terms = (i + 1..d).map(|k| l[k * d + i]).zip(&*done);
        divide_rest(unit, &mut rest[i], terms, l[i * d + i]);
    }
}

/// x ← (x − Σ factor·value)/pivot.
#[inline(always)]
fn divide_rest<'a, S: Unit>(
    unit: S,
    x: &mut [f64x4; WIDTH],
    terms: impl Iterator<Item = (f64, &'a [f64x4; WIDTH])>,
    pivot: f64,
) {
    let mut sums = [unit.splat_f64s(0.0); WIDTH];
    for (factor, values) in terms {
        let factor = unit.splat_f64s(factor);
        for vector in 0..WIDTH {
            sums[vector] = unit.add_f64s(sums[vector], unit.mul_f64s(factor, values[vector]));
        }
    }
    let pivot = unit.splat_f64s(pivot);
    for vector in 0..WIDTH {
        x[vector] = unit.div_f64s(unit.sub_f64s(x[vector], sums[vector]), pivot);
    }
}

/// U and V⁻¹ = U·Uᵀ for a positive definite V, whose pivots are at least `least`. For V of a graph every term of a product is positive,
/// so that no digits are lost.
pub(crate) fn invert_precision(mut v: Vec<f64>, d: usize, least: f64) -> (Vec<f64>, Vec<f64>) {
    factorise(&mut v, d, &vec![least; d]);
    // L⁻¹ column by column; it is a triangle too, and U is its transpose.
    let mut u = vec![0.0; d * d];
    for (column, row) in u.chunks_exact_mut(d).enumerate() {
        row[column] = 1.0;
        let below = &mut row[column..];
        for i in 0..below.len() {
            let l = &v[(column + i) * d + column..][..=i];
            below[i] = (below[i] - dot(&l[..i], &below[..i])) / l[i];
        }
    }
    let mut inverse = v;
    for i in 0..d {
        for j in 0..=i {
            let value = dot(&u[i * d + i..(i + 1) * d], &u[j * d + i..(j + 1) * d]);
            inverse[i * d + j] = value;
            inverse[j * d + i] = value;
        }
    }
    (u, inverse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{numbers, numbers_mut, vectorised, zeros};
    use crate::{Purpose, stream};
    use rand_core::Rng as _;

    /// L·Lᵀ is V, and sixteen vectors at a time have the bits of one at a time.
    #[test]
    fn many_vectors_are_as_one() {
        let mut rng = stream(2, Purpose::Instance, 0);
        let mut uniform = || f64::from(rng.next_u32()) / f64::from(u32::MAX) - 0.5;
        for d in [1, 2, 7, 8, 9, 17, 30] {
            let root: Vec<f64> = (0..d * d).map(|_| uniform()).collect();
            let product = |i: usize, j: usize| dot(&root[i * d..(i + 1) * d], &root[j * d..(j + 1) * d]);
            let v = |i: usize, j: usize| product(i, j) + if i == j { 0.3 } else { 0.0 };
            let mut l: Vec<f64> = (0..d * d).map(|entry| v(entry / d, entry % d)).collect();
            factorise(&mut l, d, &vec![0.3; d]);
            for i in 0..d {
                for j in 0..=i {
                    let found = dot(&l[i * d..=i * d + j], &l[j * d..=j * d + j]);
                    assert!((found - v(i, j)).abs() < 1e-13 * d as f64);
                }
            }
            let mut all = zeros(d * 4 * WIDTH);
            for x in numbers_mut(&mut all) {
                *x = uniform();
            }
            let mut single: Vec<Vec<f64>> = (0..4 * WIDTH)
                .map(|lane| numbers(&all).iter().skip(lane).step_by(4 * WIDTH).copied().collect())
                .collect();
            vectorised!(|unit| {
                substitute_down_all(unit, &l, all.as_chunks_mut().0, 0);
                substitute_up_all(unit, &l, all.as_chunks_mut().0, 0);
            });
            for (lane, x) in single.iter_mut().enumerate() {
                substitute(&l, x);
                let found: Vec<f64> = numbers(&all).iter().skip(lane).step_by(4 * WIDTH).copied().collect();
                assert_eq!(found, *x, "d = {d}");
            }
        }
    }
}
