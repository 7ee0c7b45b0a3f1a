//! The matrix of features in memory, and its product with a vector.

mod shared;
mod standardise;

pub(crate) use shared::Shared;

use crate::Arm;
use crate::arms::ArmsError;
use crate::vector::{LANES, Unit, Vectors, numbers, numbers_mut, vectorised, zeros};
use pulp::f64x4;
use std::sync::Arc;

/// Runs two tasks, possibly at the same time. The engine starts no threads of its own; a caller that has threads provides them in
/// this way, and products over very many arms are divided among them. With the feature `rayon`, [`Threads`](crate::Threads) is one.
pub trait Executor: std::fmt::Debug + Send + Sync {
    /// Calls both functions, at the same time or one after the other.
    fn both(&self, one: &mut (dyn FnMut() + Send), other: &mut (dyn FnMut() + Send));
}

/// The largest number of features in one task: 2 MB, about 100 µs of reading.
const FEATURES_PER_TASK: usize = 1 << 18;

/// The K×d matrix of features, in blocks of [`LANES`] arms; within a block column by column.
///
/// A block is d·`LANES` consecutive values, so a product with a vector is one forward pass over memory and each
/// step of it works on `LANES` arms at once. The last block is padded with arms of zeros.
#[derive(Clone, Debug)]
pub(crate) struct Features {
    pub(crate) n_arms: usize,
    pub(crate) dimension: usize,
    blocks: Arc<Vectors>,
    executor: Option<Arc<dyn Executor>>,
    /// X·Xᵀ to the last bit, K rows of K numbers, if the arms were made from it.
    pub(crate) covariance: Option<Arc<[f64]>>,
    /// What was computed from these features and may be needed again.
    pub(crate) shared: Shared,
}

impl Features {
    /// All 0.
    pub(crate) fn new(n_arms: usize, dimension: usize) -> Self {
        let blocks = Arc::new(zeros(n_arms.next_multiple_of(LANES) * dimension));
        Self { n_arms, dimension, blocks, executor: None, covariance: None, shared: Shared::default() }
    }

    /// The K×K features X with this covariance X·Xᵀ.
    pub(crate) fn with_covariance(n_arms: usize, x: &[f64], covariance: Arc<[f64]>) -> Self {
        let mut features = Self::new(n_arms, n_arms);
        features.set_rows(0, x).expect("a factor of a finite matrix is finite");
        Self { covariance: Some(covariance), ..features }
    }

    /// Sets the rows from `first` on to `values`, row after row.
    pub(crate) fn set_rows(&mut self, first: Arm, values: &[f64]) -> Result<(), ArmsError> {
        // Does not stop at the first number that is not finite, so that the compiler can vectorise the loop.
        if !values.iter().fold(true, |all, value| all & value.is_finite())
            && let Some(position) = values.iter().position(|value| !value.is_finite())
        {
            let (row, column) = (first + position / self.dimension, position % self.dimension);
            return Err(ArmsError::NotFinite { row, column, value: values[position] });
        }
        let blocks = Arc::get_mut(&mut self.blocks).expect("features that are being set are not shared yet");
        let columns = numbers_mut(blocks).as_chunks_mut::<LANES>().0;
        for (row, values) in (first..).zip(values.chunks_exact(self.dimension)) {
            let columns = &mut columns[row / LANES * self.dimension..][..self.dimension];
            for (lanes, &value) in columns.iter_mut().zip(values) {
                lanes[row % LANES] = value;
            }
        }
        Ok(())
    }

    /// The same with one more column, `value` for every arm.
    pub(crate) fn with_column(&self, value: f64) -> Result<Self, ArmsError> {
        let mut wider = self.zeros_like(self.dimension + 1);
        let mut row = Vec::with_capacity(wider.dimension);
        for arm in 0..self.n_arms {
            row.clear();
            row.extend(self.row(arm).iter().chain([value]));
            wider.set_rows(arm, &row)?;
        }
        Ok(wider)
    }

    /// The same with more columns, all 0, up to `dimension` of them.
    pub(crate) fn widened(&self, dimension: usize) -> Self {
        let mut wider = self.zeros_like(dimension);
        let blocks = Arc::get_mut(&mut wider.blocks).expect("new ones are not shared yet");
        for (to, from) in blocks.chunks_exact_mut(2 * dimension).zip(self.blocks.chunks_exact(2 * self.dimension)) {
            to[..from.len()].copy_from_slice(from);
        }
        wider
    }

    /// Zeros of the same number of arms with `dimension` columns, on the same executor.
    pub(crate) fn zeros_like(&self, dimension: usize) -> Self {
        Self { executor: self.executor.clone(), ..Self::new(self.n_arms, dimension) }
    }

    /// The same features with products computed on an executor.
    pub(crate) fn with_executor(&self, executor: Arc<dyn Executor>) -> Self {
        Self { executor: Some(executor), shared: Shared::default(), ..self.clone() }
    }

    /// Zeros, one per arm and for the padding, to be filled by [`Features::times`].
    pub(crate) fn zeros(&self) -> Vectors {
        zeros(self.n_arms.next_multiple_of(LANES))
    }

    /// The features of one arm.
    #[inline(always)]
    pub(crate) fn row(&self, arm: Arm) -> Row<'_> {
        assert!(arm < self.n_arms, "arm {arm} of {}", self.n_arms);
        let columns = numbers(&self.blocks).as_chunks().0;
        let start = arm / LANES * self.dimension;
        Row { columns: &columns[start..start + self.dimension], lane: arm % LANES }
    }

    /// The features of the arms of one block, column by column; nothing beyond the last block.
    #[inline(always)]
    pub(crate) fn block(&self, block: usize) -> &[[f64x4; 2]] {
        let start = (block * self.dimension).min(self.blocks.len() / 2);
        &self.blocks.as_chunks().0[start..(start + self.dimension).min(self.blocks.len() / 2)]
    }

    /// `products` = Xv, one value per arm and zeros for the padding; `v` may be longer than d.
    pub(crate) fn times(&self, v: &[f64], products: &mut [f64x4]) {
        self.times_part(&self.blocks, &v[..self.dimension], products);
    }

    /// The same on a given unit, without the executor.
    #[cfg(test)]
    pub(crate) fn times_on<S: Unit>(&self, unit: S, v: &[f64], products: &mut [f64x4]) {
        times_all(unit, &self.blocks, &v[..self.dimension], products);
    }

    /// The same for some of the blocks, divided among tasks if there are many.
    fn times_part(&self, blocks: &[f64x4], v: &[f64], products: &mut [f64x4]) {
        if let Some(executor) = &self.executor
            && 4 * blocks.len() > FEATURES_PER_TASK
        {
            let half = (products.len() / 2).next_multiple_of(BLOCKS_AT_ONCE * LANES / 4);
            let (products, other_products) = products.split_at_mut(half);
            let (blocks, other_blocks) = blocks.split_at(half * v.len());
            executor.both(&mut || self.times_part(blocks, v, products), &mut || {
                self.times_part(other_blocks, v, other_products);
            });
        } else {
            vectorised!(|unit| times_all(unit, blocks, v, products));
        }
    }

    /// The products of the arms of one block with v.
    #[inline(always)]
    pub(crate) fn times_block<S: Unit>(&self, unit: S, block: usize, v: &[f64]) -> [f64; LANES] {
        let v = &v[..self.dimension];
        let mut products = [unit.splat_f64s(0.0); 2];
        times_blocks::<S, 1>(unit, &self.blocks[2 * block * v.len()..2 * (block + 1) * v.len()], v, &mut products);
        pulp::cast(products)
    }

    /// The greatest ‖xᵢ‖².
    pub(crate) fn max_norm2(&self) -> f64 {
        self.max_norms2().fold(0.0, f64::max)
    }

    /// The greatest ‖xᵢ‖² of each block.
    pub(crate) fn max_norms2(&self) -> impl Iterator<Item = f64> {
        numbers(&self.blocks).chunks_exact(LANES * self.dimension).map(|block| {
            let mut sum = [0.0; LANES];
            for lanes in block.as_chunks::<LANES>().0 {
                for lane in 0..LANES {
                    sum[lane] += lanes[lane] * lanes[lane];
                }
            }
            sum.into_iter().fold(0.0, f64::max)
        })
    }
}

/// How many blocks are multiplied at once.
const BLOCKS_AT_ONCE: usize = 4;

/// The products of all blocks with v.
#[inline(always)]
pub(crate) fn times_all<S: Unit>(unit: S, blocks: &[f64x4], v: &[f64], products: &mut [f64x4]) {
    let mut groups = blocks.chunks_exact(BLOCKS_AT_ONCE * LANES / 4 * v.len());
    let (products, rest) = products.as_chunks_mut::<{ BLOCKS_AT_ONCE * LANES / 4 }>();
    for (products, blocks) in products.iter_mut().zip(&mut groups) {
        times_blocks::<S, BLOCKS_AT_ONCE>(unit, blocks, v, products);
    }
    let blocks = groups.remainder();
    match rest.len() {
        2 => times_blocks::<S, 1>(unit, blocks, v, rest),
        4 => times_blocks::<S, 2>(unit, blocks, v, rest),
        6 => times_blocks::<S, 3>(unit, blocks, v, rest),
        _ => (),
    }
}

/// The products of `N` blocks with v at once: their sums do not wait for each other.
#[inline(always)]
fn times_blocks<S: Unit, const N: usize>(unit: S, blocks: &[f64x4], v: &[f64], products: &mut [f64x4]) {
    let d = v.len();
    let pairs = blocks.as_chunks::<2>().0;
    let mut parts: [&[[f64x4; 2]]; N] = [&[]; N];
    for (block, part) in parts.iter_mut().enumerate() {
        *part = &pairs[block * d..(block + 1) * d];
    }
    let mut sums = [[unit.splat_f64s(0.0); 2]; N];
    for column in 0..d {
        let factor = unit.splat_f64s(v[column]);
        for block in 0..N {
            let values = parts[block][column];
            sums[block][0] = unit.mul_add_f64s(values[0], factor, sums[block][0]);
            sums[block][1] = unit.mul_add_f64s(values[1], factor, sums[block][1]);
        }
    }
    products.as_chunks_mut::<2>().0.copy_from_slice(&sums);
}

/// The features of one arm, inside its block.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    columns: &'a [[f64; LANES]],
    lane: usize,
}

impl<'a> Row<'a> {
    pub(crate) fn iter(self) -> impl Iterator<Item = f64> + 'a {
        self.columns.iter().map(move |lanes| lanes[self.lane % LANES])
    }

    /// The features column by column, all lanes of the block, and the lane of this arm.
    #[inline(always)]
    pub(crate) fn columns(self) -> (&'a [[f64; LANES]], usize) {
        (self.columns, self.lane % LANES)
    }

    /// xᵀv, added in the same order as in [`Features::times`], so that the bits are the same.
    #[inline(always)]
    pub(crate) fn times(self, v: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (lanes, &v) in self.columns.iter().zip(v) {
            sum = lanes[self.lane % LANES].mul_add(v, sum);
        }
        sum
    }

    /// xᵀv with separate sums of even and odd columns, so that an addition need not wait for the one before.
    #[inline(always)]
    pub(crate) fn times_crosswise(self, v: &[f64]) -> f64 {
        let lane = self.lane % LANES;
        let (pairs, last) = self.columns.as_chunks::<2>();
        let v_pairs = v.as_chunks::<2>().0;
        let mut sums = [0.0; 2];
        for (lanes, v) in pairs.iter().zip(v_pairs) {
            sums[0] = lanes[0][lane].mul_add(v[0], sums[0]);
            sums[1] = lanes[1][lane].mul_add(v[1], sums[1]);
        }
        if let Some(lanes) = last.first() {
            sums[0] = lanes[lane].mul_add(v[self.columns.len() - 1], sums[0]);
        }
        sums[0] + sums[1]
    }
}
