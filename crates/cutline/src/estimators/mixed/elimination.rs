//! Elimination in four symmetric matrices at once, one per lane.
//!
//! A matrix A is bordered by a vector b: its lower triangle is stored row by row, and one more row holds b and a number c. Elimination
//! leaves c − bᵀA⁻¹b in the last place, and the product of the pivots is det A.

use crate::scan::quotient_minus_ln;
use crate::vector::{Unit, Vectors, zeros};
use pulp::f64x4;

/// How many matrices there are.
pub(super) const LANES: usize = 4;

/// How many columns are eliminated before the rest of the matrix is updated, so that it is read and written once for all of them.
const PANEL: usize = 4;

/// A smaller pivot is a rounding error.
const LEAST_PIVOT: f64 = 1e-30;

/// The columns that are being eliminated, row by row; reused to avoid allocation.
#[derive(Clone, Debug)]
pub(super) struct Panel(Vectors);

impl Panel {
    /// For A of up to `p` columns.
    pub(super) fn new(p: usize) -> Self {
        Self(zeros(LANES * PANEL * (p + 1)))
    }
}

/// The number of entries of a bordered matrix of p columns.
pub(super) const fn n_entries(p: usize) -> usize {
    (p + 1) * (p + 2) / 2
}

/// Where a row begins.
#[inline(always)]
const fn start(row: usize) -> usize {
    row * (row + 1) / 2
}

/// Eliminates the p columns of A; returns ln det A and c − bᵀA⁻¹b of each lane.
#[inline(always)]
pub(super) fn eliminate<S: Unit>(
    unit: S,
    a: &mut [f64x4],
    p: usize,
    panel: &mut Panel,
) -> ([f64; LANES], [f64; LANES]) {
    let a = &mut a[..n_entries(p)];
    let panel = panel.0.as_chunks_mut::<PANEL>().0;
    let mut log_det = [0.0; LANES];
    for first in (0..p).step_by(PANEL) {
        let width = PANEL.min(p - first);
        let mut inverses = [unit.splat_f64s(0.0); PANEL];
        for k in 0..width {
            let column = first + k;
            let pivot = unit.max_f64s(a[start(column) + column], unit.splat_f64s(LEAST_PIVOT));
            let pivots: [f64; LANES] = pulp::cast(pivot);
            for lane in 0..LANES {
                log_det[lane] -= quotient_minus_ln(0.0, pivots[lane]);
            }
            inverses[k] = unit.div_f64s(unit.splat_f64s(1.0), pivot);
            for row in column + 1..=p {
                let entries = &mut a[start(row) + column..=start(row) + row.min(first + width - 1)];
                let factor = unit.neg_f64s(unit.mul_f64s(entries[0], inverses[k]));
                panel[row][k] = entries[0];
                for (entry, other) in entries[1..].iter_mut().zip(&panel[column + 1..]) {
                    *entry = unit.mul_add_f64s(factor, other[k], *entry);
                }
            }
        }
        for row in &mut panel[first..=p] {
            row[width..].fill(unit.splat_f64s(0.0));
        }
        update(unit, a, p, first + width, panel, &inverses);
    }
    (log_det, pulp::cast(a[n_entries(p) - 1]))
}

/// Subtracts the eliminated columns from the entries to the right of them, two rows at a time.
#[inline(always)]
fn update<S: Unit>(
    unit: S,
    a: &mut [f64x4],
    p: usize,
    from: usize,
    panel: &[[f64x4; PANEL]],
    inverses: &[f64x4; PANEL],
) {
    let mut row = from;
    while row <= p {
        let (upper, lower) = a[start(row)..].split_at_mut(row + 1);
        let factors = factors(unit, &panel[row], inverses);
        let upper = &mut upper[from..];
        if row == p {
            for (entry, values) in upper.iter_mut().zip(&panel[from..]) {
                *entry = minus(unit, *entry, &factors, values);
            }
            return;
        }
        let lower_factors = self::factors(unit, &panel[row + 1], inverses);
        let (lower, last) = lower[from..row + 2].split_at_mut(row + 1 - from);
        for ((entry, below), values) in upper.iter_mut().zip(lower).zip(&panel[from..]) {
            *entry = minus(unit, *entry, &factors, values);
            *below = minus(unit, *below, &lower_factors, values);
        }
        last[0] = minus(unit, last[0], &lower_factors, &panel[row + 1]);
        row += 2;
    }
}

/// −(row of the panel)/(pivots).
#[inline(always)]
fn factors<S: Unit>(unit: S, row: &[f64x4; PANEL], inverses: &[f64x4; PANEL]) -> [f64x4; PANEL] {
    let mut factors = *row;
    for k in 0..PANEL {
        factors[k] = unit.neg_f64s(unit.mul_f64s(row[k], inverses[k]));
    }
    factors
}

#[inline(always)]
fn minus<S: Unit>(unit: S, entry: f64x4, factors: &[f64x4; PANEL], values: &[f64x4; PANEL]) -> f64x4 {
    let mut entry = entry;
    for k in 0..PANEL {
        entry = unit.mul_add_f64s(factors[k], values[k], entry);
    }
    entry
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{numbers_mut, vectorised};
    use crate::{Purpose, stream};
    use nalgebra::{DMatrix, DVector};
    use rand_core::Rng as _;

    /// Four different matrices of every size that the panels and the pairs of rows treat differently.
    #[test]
    fn is_the_determinant_and_the_quadratic_form() {
        let mut rng = stream(8, Purpose::Instance, 0);
        let mut uniform = || f64::from(rng.next_u32()) / f64::from(u32::MAX) - 0.5;
        for p in 1..=14 {
            let square = |_: usize| DMatrix::from_fn(p, p, |_, _| uniform());
            let roots: Vec<DMatrix<f64>> = (0..LANES).map(square).collect();
            let matrices: Vec<DMatrix<f64>> =
                roots.iter().map(|root| root * root.transpose() + DMatrix::identity(p, p) * 0.1).collect();
            let b = DMatrix::from_fn(p, LANES, |_, _| uniform());
            let mut a = zeros(LANES * n_entries(p));
            let entries = numbers_mut(&mut a).as_chunks_mut::<LANES>().0;
            for lane in 0..LANES {
                for i in 0..p {
                    for j in 0..=i {
                        entries[start(i) + j][lane] = matrices[lane][(i, j)];
                    }
                    entries[start(p) + i][lane] = b[(i, lane)];
                }
                entries[start(p) + p][lane] = 3.0;
            }
            let mut panel = Panel::new(p);
            let (log_det, rest) = vectorised!(|unit| eliminate(unit, &mut a, p, &mut panel));
            for (lane, matrix) in matrices.iter().enumerate() {
                let b = DVector::from_column_slice(b.column(lane).as_slice());
                let factor = matrix.clone().cholesky().unwrap();
                let expected = 3.0 - b.dot(&factor.solve(&b));
                assert!((rest[lane] - expected).abs() < 1e-12 * expected.abs().max(1.0), "p = {p}");
                let expected = 2.0 * factor.l().diagonal().map(f64::ln).sum();
                assert!((log_det[lane] - expected).abs() < 1e-12 * expected.abs().max(1.0), "p = {p}");
            }
        }
    }
}
