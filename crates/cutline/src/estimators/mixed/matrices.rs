//! The matrices of the rewards from which those of any setting follow, and room for the latter.

use super::columns::Columns;
use super::elimination::{LANES, Panel, n_entries};
use super::evidence::Rewards;
use crate::Arm;
use crate::vector::{Unit, Vectors, vectorised, zeros};
use pulp::f64x4;

/// How many vectors of [`LANES`] settings are weighed at a time, and how many entries of a matrix: so many sums stay in registers.
pub(super) const AT_ONCE: usize = 2;
pub(super) const TILE: usize = 6;

/// How many arms are added to a group at a time.
const ARMS: usize = 4;

/// The matrices from which those of a setting are computed. Triangles are bordered: see [`elimination`](super::elimination).
#[derive(Clone, Debug)]
pub(super) enum Matrices {
    /// Of each group Σ zzᵀ, bordered by Σ ȳz and Σ ȳ²: tile by tile of a triangle, and for each tile group by group.
    Columns(Vec<[f64; TILE]>),
    /// The measured arms are their own groups: the triangle of the inner products of their linear columns, of their products and of
    /// their smooth columns, and ȳ.
    Arms { parts: Vec<[f64; 3]>, means: Vec<f64> },
}

impl Matrices {
    pub(super) fn by_group(columns: &Columns, rewards: &Rewards<'_>, groups: &[&[Arm]]) -> Self {
        let p = columns.features.dimension;
        let n_tiles = n_entries(p).div_ceil(TILE);
        let mut tiles = vec![[0.0; TILE]; n_tiles * groups.len()];
        let (mut triangle, mut rows) = (vec![0.0; n_tiles * TILE], vec![0.0; ARMS * (p + 1)]);
        for (number, arms) in groups.iter().enumerate() {
            triangle.fill(0.0);
            for arms in arms.chunks(ARMS) {
                rows.fill(0.0);
                for (row, &arm) in rows.chunks_exact_mut(p + 1).zip(arms) {
                    row.iter_mut().zip(columns.features.row(arm).iter()).for_each(|(to, z)| *to = z);
                    row[p] = rewards.means[arm];
                }
                vectorised!(|unit| add_outer_products(unit, &rows, &mut triangle));
            }
            let of_group = tiles.iter_mut().skip(number).step_by(groups.len());
            of_group.zip(triangle.as_chunks().0).for_each(|(to, tile)| *to = *tile);
        }
        Self::Columns(tiles)
    }

    pub(super) fn by_arm(columns: &Columns, rewards: &Rewards<'_>, arms: &[Arm]) -> Self {
        let p = columns.features.dimension;
        let mut rows = vec![0.0; arms.len() * p];
        for (row, &arm) in rows.chunks_exact_mut(p).zip(arms) {
            row.iter_mut().zip(columns.features.row(arm).iter()).for_each(|(to, z)| *to = z);
        }
        let (n_linear, n_fixed) = (columns.n_linear, columns.n_linear + columns.n_products);
        let mut parts = Vec::new();
        for (i, row) in rows.chunks_exact(p).enumerate() {
            for other in rows.chunks_exact(p).take(i + 1) {
                let product = |range: std::ops::Range<usize>| dot(&row[range.clone()], &other[range]);
                parts.push([product(0..n_linear), product(n_linear..n_fixed), product(n_fixed..p)]);
            }
        }
        Self::Arms { parts, means: arms.iter().map(|&arm| rewards.means[arm]).collect() }
    }
}

/// aᵀb with four sums, so that an addition need not wait for the one before.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, last_a), (b, last_b)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let last: f64 = last_a.iter().zip(last_b).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + last
}

/// Adds zzᵀ of [`ARMS`] rows z to a triangle.
#[inline(always)]
fn add_outer_products<S: Unit>(_: S, rows: &[f64], triangle: &mut [f64]) {
    let width = rows.len() / ARMS;
    let rows: [&[f64]; ARMS] = std::array::from_fn(|arm| &rows[arm * width..(arm + 1) * width]);
    let mut rest = triangle;
    for i in 0..width {
        let (entries, others) = rest.split_at_mut(i + 1);
        let z = rows.map(|row| row[i]);
        let others_of = rows.map(|row| &row[..=i]);
        for (j, entry) in entries.iter_mut().enumerate() {
            let mut sum = *entry;
            for arm in 0..ARMS {
                sum = z[arm].mul_add(others_of[arm][j], sum);
            }
            *entry = sum;
        }
        rest = others;
    }
}

/// The matrices of settings with these weights: Σ (weight of the group)·(its triangle).
#[inline(always)]
pub(super) fn weigh<S: Unit>(
    unit: S,
    tiles: &[[f64; TILE]],
    weights: &[[f64x4; AT_ONCE]],
    matrices: &mut [Vectors; AT_ONCE],
) {
    for (number, tile) in tiles.chunks_exact(weights.len()).enumerate() {
        let mut sums = [[unit.splat_f64s(0.0); AT_ONCE]; TILE];
        for (entries, weights) in tile.iter().zip(weights) {
            for entry in 0..TILE {
                let value = unit.splat_f64s(entries[entry]);
                for vector in 0..AT_ONCE {
                    sums[entry][vector] = unit.mul_add_f64s(value, weights[vector], sums[entry][vector]);
                }
            }
        }
        for vector in 0..AT_ONCE {
            let to = &mut matrices[vector][number * TILE..(number + 1) * TILE];
            to.iter_mut().zip(&sums).for_each(|(to, sums)| *to = sums[vector]);
        }
    }
}

/// The matrices of the settings that are being evaluated, one per lane.
pub(super) struct Room {
    pub(super) matrices: [Vectors; AT_ONCE],
    pub(super) panel: Panel,
    /// The weight of each group.
    pub(super) weights: Vec<[f64x4; AT_ONCE]>,
}

impl Room {
    pub(super) fn new(size: usize, n_groups: usize) -> Self {
        let matrix = || zeros(LANES * n_entries(size).next_multiple_of(TILE));
        Self {
            matrices: [matrix(), matrix()],
            panel: Panel::new(size),
            weights: vec![[f64x4(0.0, 0.0, 0.0, 0.0); AT_ONCE]; n_groups],
        }
    }
}
