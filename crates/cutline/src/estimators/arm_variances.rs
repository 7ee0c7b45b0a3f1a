//! xᵢᵀV⁻¹xᵢ of all arms, several arms at a time: from V⁻¹, or from its factor, which is slower but never gives a negative number.

use super::inverse::{Inverse, Step};
use super::triangle::{WIDTH, substitute_down_all};
use crate::Arm;
use crate::features::Features;
use crate::vector::{LANES, Unit, numbers, vectorised};
use pulp::f64x4;

impl Step {
    /// Calls `each` with every arm and xᵀV⁻¹x = ‖L⁻¹x‖², from the factor of the last [`Inverse::refresh`]; never negative.
    pub(super) fn variances(&mut self, features: &Features, mut each: impl FnMut(Arm, f64)) {
        let many = self.many.as_chunks_mut::<WIDTH>().0;
        for first in (0..features.n_arms).step_by(4 * WIDTH) {
            let blocks: [&[[f64x4; 2]]; WIDTH / 2] = std::array::from_fn(|block| features.block(first / LANES + block));
            for (column, to) in many.iter_mut().enumerate() {
                for (block, to) in blocks.iter().zip(to.as_chunks_mut().0) {
                    *to = block.get(column).copied().unwrap_or([f64x4(0.0, 0.0, 0.0, 0.0); 2]);
                }
            }
            let sums = vectorised!(|unit| squared_norms(unit, &self.factor, many));
            for (arm, &sum) in (first..features.n_arms).zip(numbers(&sums)) {
                each(arm, sum);
            }
        }
    }
}

impl Inverse {
    /// Writes xᵢᵀV⁻¹xᵢ of every arm to `variances`, with the bits of [`Inverse::solve`].
    pub(super) fn variances(&self, features: &Features, variances: &mut [f64x4]) {
        vectorised!(|unit| {
            for (block, variances) in variances.as_chunks_mut::<2>().0.iter_mut().enumerate() {
                *variances = self.variances_of(unit, features.block(block));
            }
        });
    }

    /// xᵀV⁻¹x of the arms of one block.
    #[inline(always)]
    fn variances_of<S: Unit>(&self, unit: S, block: &[[f64x4; 2]]) -> [f64x4; 2] {
        const TILE: usize = 3;
        let mut sums = [[unit.splat_f64s(0.0); 2]; 2];
        let mut column = 0;
        while column + TILE <= block.len() {
            let tile = self.solve_block::<S, TILE>(unit, block, column);
            add_products(unit, block, column, &tile, &mut sums);
            column += TILE;
        }
        while column < block.len() {
            let last = self.solve_block::<S, 1>(unit, block, column);
            add_products(unit, block, column, &last, &mut sums);
            column += 1;
        }
        [unit.add_f64s(sums[0][0], sums[1][0]), unit.add_f64s(sums[0][1], sums[1][1])]
    }

    /// `N` numbers of u = V⁻¹x for the arms of one block; even and odd rows have separate sums.
    #[inline(always)]
    fn solve_block<S: Unit, const N: usize>(&self, unit: S, block: &[[f64x4; 2]], start: usize) -> [[f64x4; 2]; N] {
        let stride = 4 * block.len().div_ceil(4);
        let mut sums = [[[unit.splat_f64s(0.0); 2]; N]; 2];
        let (pairs, last) = block.as_chunks::<2>();
        let mut rows = numbers(&self.rows).chunks_exact(2 * stride);
        for (x, rows) in pairs.iter().zip(&mut rows) {
            for odd in 0..2 {
                let row = &rows[odd * stride + start..odd * stride + start + N];
                for column in 0..N {
                    let factor = unit.splat_f64s(row[column]);
                    for half in 0..2 {
                        sums[odd][column][half] = unit.mul_add_f64s(factor, x[odd][half], sums[odd][column][half]);
                    }
                }
            }
        }
        let [mut sums, odd] = sums;
        if let (Some(x), Some(row)) = (last.first(), rows.remainder().get(start..start + N)) {
            for column in 0..N {
                let factor = unit.splat_f64s(row[column]);
                for half in 0..2 {
                    sums[column][half] = unit.mul_add_f64s(factor, x[half], sums[column][half]);
                }
            }
        }
        for column in 0..N {
            for half in 0..2 {
                sums[column][half] = unit.add_f64s(sums[column][half], odd[column][half]);
            }
        }
        sums
    }
}

/// ‖L⁻¹x‖² of every lane; `x` becomes L⁻¹x.
#[inline(always)]
fn squared_norms<S: Unit>(unit: S, l: &[f64], x: &mut [[f64x4; WIDTH]]) -> [f64x4; WIDTH] {
    substitute_down_all(unit, l, x, 0);
    let mut sums = [unit.splat_f64s(0.0); WIDTH];
    for y in x {
        for vector in 0..WIDTH {
            sums[vector] = unit.add_f64s(sums[vector], unit.mul_f64s(y[vector], y[vector]));
        }
    }
    sums
}

/// Adds x·u, from column `start` on, to the sums of even and odd columns.
#[inline(always)]
fn add_products<S: Unit>(unit: S, x: &[[f64x4; 2]], start: usize, u: &[[f64x4; 2]], sums: &mut [[f64x4; 2]; 2]) {
    for (column, (x, u)) in x[start..].iter().zip(u).enumerate() {
        let sums = &mut sums[(start + column) % 2];
        for half in 0..2 {
            sums[half] = unit.mul_add_f64s(x[half], u[half], sums[half]);
        }
    }
}
