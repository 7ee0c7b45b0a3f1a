//! The arms: how many there are and, if known, what is known of each: a row of features.

use crate::vector::{LANES, Unit, Vectors, numbers, numbers_mut, vectorised, zeros};
use pulp::f64x4;
use std::sync::Arc;
use thiserror::Error;

/// The position of an arm, from 0, in the order the arms were given.
pub type Arm = usize;

/// The arms of a problem: K rows of d features, or only their number. Cloning shares the features.
///
/// ```
/// use cutline::Arms;
///
/// let arms = Arms::from_rows(&[[1.0, 0.0], [0.6, 0.8]])?;
/// assert_eq!((arms.n_arms(), arms.dimension()), (2, Some(2)));
/// assert_eq!(Arms::without_features(5)?.dimension(), None);
/// # Ok::<(), cutline::ArmsError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Arms {
    n_arms: usize,
    features: Option<Arc<Features>>,
}

/// Why arms were refused. Rows and columns count from 0.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ArmsError {
    /// There is no arm.
    #[error("there are no arms; at least one is needed")]
    Empty,
    /// The rows have no columns.
    #[error("the arms have no features; give at least one column, or only the number of arms")]
    NoColumns,
    /// A row is shorter or longer than the first.
    #[error("arm {row} has {found} features, but arm 0 has {expected}")]
    Ragged {
        /// The row that differs.
        row: usize,
        /// The length of row 0.
        expected: usize,
        /// Its own length.
        found: usize,
    },
    /// A feature is NaN or infinite.
    #[error("feature {column} of arm {row} is {value}; features must be finite")]
    NotFinite {
        /// The arm.
        row: usize,
        /// The feature.
        column: usize,
        /// Its value.
        value: f64,
    },
}

impl Arms {
    /// Arms with features, a row each.
    ///
    /// # Errors
    /// If there is no row or no column, a row differs in length from the first, or a feature is not finite.
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Result<Self, ArmsError> {
        let dimension = rows.first().ok_or(ArmsError::Empty)?.as_ref().len();
        if dimension == 0 {
            return Err(ArmsError::NoColumns);
        }
        let mut features = Features::new(rows.len(), dimension);
        for (row, values) in rows.iter().map(AsRef::as_ref).enumerate() {
            if values.len() != dimension {
                return Err(ArmsError::Ragged { row, expected: dimension, found: values.len() });
            }
            features.set_rows(row, values)?;
        }
        Ok(Self { n_arms: rows.len(), features: Some(Arc::new(features)) })
    }

    /// Arms with features, row after row in one slice of `n_arms · dimension` values.
    ///
    /// # Errors
    /// As [`Arms::from_rows`]; a slice that is not a whole number of rows is ragged.
    pub fn from_slice(values: &[f64], dimension: usize) -> Result<Self, ArmsError> {
        if values.is_empty() {
            return Err(ArmsError::Empty);
        }
        if dimension == 0 {
            return Err(ArmsError::NoColumns);
        }
        let n_arms = values.len() / dimension;
        let rest = values.len() % dimension;
        if rest != 0 {
            return Err(ArmsError::Ragged { row: n_arms, expected: dimension, found: rest });
        }
        let mut features = Features::new(n_arms, dimension);
        features.set_rows(0, values)?;
        Ok(Self { n_arms, features: Some(Arc::new(features)) })
    }

    /// The same arms with one feature more, which is `value` for every arm: θ then has an entry for what all means share.
    ///
    /// The larger `value` is, the less ridge draws what they share towards 0.
    ///
    /// # Errors
    /// If the arms have no features, or `value` is not finite.
    pub fn with_intercept(&self, value: f64) -> Result<Self, ArmsError> {
        let features = self.features.as_ref().ok_or(ArmsError::NoColumns)?;
        let mut with_intercept = Features::new(self.n_arms, features.dimension + 1);
        let mut row = Vec::with_capacity(features.dimension + 1);
        for arm in 0..self.n_arms {
            row.clear();
            row.extend(features.row(arm).iter().chain([value]));
            with_intercept.set_rows(arm, &row)?;
        }
        with_intercept.crew.clone_from(&features.crew);
        Ok(Self { n_arms: self.n_arms, features: Some(Arc::new(with_intercept)) })
    }

    /// Arms of which nothing is known but that there are `n_arms`.
    ///
    /// # Errors
    /// If `n_arms` is 0.
    pub fn without_features(n_arms: usize) -> Result<Self, ArmsError> {
        if n_arms == 0 { Err(ArmsError::Empty) } else { Ok(Self { n_arms, features: None }) }
    }

    /// The number of arms K.
    #[must_use]
    pub fn n_arms(&self) -> usize {
        self.n_arms
    }

    /// The number of features d, if the arms have any.
    #[must_use]
    pub fn dimension(&self) -> Option<usize> {
        self.features.as_ref().map(|f| f.dimension)
    }

    /// The features of one arm, if the arms have any.
    ///
    /// # Panics
    /// If there is no such arm.
    #[must_use]
    pub fn row(&self, arm: Arm) -> Option<Vec<f64>> {
        self.features.as_ref().map(|features| features.row(arm).iter().collect())
    }

    /// Xv: the inner product of every arm's features with `v`, if the arms have features.
    ///
    /// # Panics
    /// If `v` does not have one value a feature.
    #[must_use]
    pub fn times(&self, v: &[f64]) -> Option<Vec<f64>> {
        self.features.as_ref().map(|features| {
            assert_eq!(v.len(), features.dimension, "one value a feature");
            let mut products = features.zeros();
            features.times(v, &mut products);
            numbers(&products)[..self.n_arms].to_vec()
        })
    }

    /// The same arms, whose products over many arms are shared out among `crew`. What comes out is the same to the last bit.
    #[must_use]
    pub fn shared_among(self, crew: Arc<dyn Crew>) -> Self {
        let with_crew = |features: Arc<Features>| Arc::new(Features { crew: Some(crew), ..Features::clone(&features) });
        Self { features: self.features.map(with_crew), ..self }
    }

    pub(crate) fn features(&self) -> Option<&Arc<Features>> {
        self.features.as_ref()
    }
}

/// Who does two things at once. The engine starts no thread; a caller that has some lends them, so that a product over very
/// many arms uses them all. With the feature `rayon`, [`Threads`](crate::Threads) is one.
pub trait Crew: std::fmt::Debug + Send + Sync {
    /// Calls both, at the same time or one after the other.
    fn both(&self, one: &mut (dyn FnMut() + Send), other: &mut (dyn FnMut() + Send));
}

/// How many features are worth a task of their own: 2 MB of them, some 100 µs of reading.
const FEATURES_A_TASK: usize = 1 << 18;

/// The K×d matrix of features, in blocks of [`LANES`] arms; within a block column by column.
///
/// A block is d·`LANES` consecutive values, so a product with a vector is one forward pass over memory and each
/// step of it works on `LANES` arms at once. The last block is filled up with arms of zeros.
#[derive(Clone, Debug)]
pub(crate) struct Features {
    pub(crate) n_arms: usize,
    pub(crate) dimension: usize,
    blocks: Arc<Vectors>,
    crew: Option<Arc<dyn Crew>>,
}

impl Features {
    fn new(n_arms: usize, dimension: usize) -> Self {
        let blocks = Arc::new(zeros(n_arms.next_multiple_of(LANES) * dimension));
        Self { n_arms, dimension, blocks, crew: None }
    }

    /// Sets the rows from `first` on to `values`, row after row.
    fn set_rows(&mut self, first: Arm, values: &[f64]) -> Result<(), ArmsError> {
        // All of them, and not only up to the first that is not finite: so it is done on vectors.
        if !values.iter().fold(true, |all, value| all & value.is_finite())
            && let Some(position) = values.iter().position(|value| !value.is_finite())
        {
            let (row, column) = (first + position / self.dimension, position % self.dimension);
            return Err(ArmsError::NotFinite { row, column, value: values[position] });
        }
        let blocks = Arc::get_mut(&mut self.blocks).expect("features that are being read are not shared yet");
        let columns = numbers_mut(blocks).as_chunks_mut::<LANES>().0;
        for (row, values) in (first..).zip(values.chunks_exact(self.dimension)) {
            let columns = &mut columns[row / LANES * self.dimension..][..self.dimension];
            for (lanes, &value) in columns.iter_mut().zip(values) {
                lanes[row % LANES] = value;
            }
        }
        Ok(())
    }

    /// A number for each arm, 0, and for the padding: what [`Features::times`] fills.
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

    /// `products` = Xv, one value an arm and zeros for the padding; `v` may be longer than d.
    pub(crate) fn times(&self, v: &[f64], products: &mut [f64x4]) {
        self.times_part(&self.blocks, &v[..self.dimension], products);
    }

    /// The same on a given unit, alone.
    #[cfg(test)]
    pub(crate) fn times_on<S: Unit>(&self, unit: S, v: &[f64], products: &mut [f64x4]) {
        times_all(unit, &self.blocks, &v[..self.dimension], products);
    }

    /// The same for some of the blocks, shared out among the crew if they are many.
    fn times_part(&self, blocks: &[f64x4], v: &[f64], products: &mut [f64x4]) {
        if let Some(crew) = &self.crew
            && 4 * blocks.len() > FEATURES_A_TASK
        {
            let half = (products.len() / 2).next_multiple_of(BLOCKS_AT_ONCE * LANES / 4);
            let (products, other_products) = products.split_at_mut(half);
            let (blocks, other_blocks) = blocks.split_at(half * v.len());
            crew.both(&mut || self.times_part(blocks, v, products), &mut || {
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
    let mut fours = blocks.chunks_exact(BLOCKS_AT_ONCE * LANES / 4 * v.len());
    let (products, rest) = products.as_chunks_mut::<{ BLOCKS_AT_ONCE * LANES / 4 }>();
    for (products, blocks) in products.iter_mut().zip(&mut fours) {
        times_blocks::<S, BLOCKS_AT_ONCE>(unit, blocks, v, products);
    }
    let blocks = fours.remainder();
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

/// The features of one arm, as they lie in their block.
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

    /// xᵀv, in the order and so to the last bit as in [`Features::times`].
    #[inline(always)]
    pub(crate) fn times(self, v: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (lanes, &v) in self.columns.iter().zip(v) {
            sum = lanes[self.lane % LANES].mul_add(v, sum);
        }
        sum
    }

    /// xᵀv, even and odd columns apart, so that an addition need not wait for the one before.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_cannot_be_arms() {
        assert_eq!(Arms::from_rows::<[f64; 2]>(&[]).unwrap_err(), ArmsError::Empty);
        assert_eq!(Arms::from_rows(&[[0.0; 0]]).unwrap_err(), ArmsError::NoColumns);
        assert_eq!(Arms::without_features(0).unwrap_err(), ArmsError::Empty);
        let ragged = Arms::from_rows(&[vec![1.0, 2.0], vec![1.0]]).unwrap_err();
        assert_eq!(ragged, ArmsError::Ragged { row: 1, expected: 2, found: 1 });
        let infinite = Arms::from_rows(&[[1.0, 2.0], [1.0, f64::INFINITY]]).unwrap_err();
        assert_eq!(infinite, ArmsError::NotFinite { row: 1, column: 1, value: f64::INFINITY });
        assert!(matches!(Arms::from_slice(&[1.0, f64::NAN], 2), Err(ArmsError::NotFinite { .. })));
        assert!(matches!(Arms::from_slice(&[1.0; 5], 2), Err(ArmsError::Ragged { row: 2, .. })));
    }

    #[test]
    fn an_intercept_is_a_column_of_its_own() {
        let arms = Arms::from_rows(&[[1.0, 2.0], [3.0, 4.0]]).unwrap().with_intercept(0.5).unwrap();
        assert_eq!((arms.row(0), arms.row(1)), (Some(vec![1.0, 2.0, 0.5]), Some(vec![3.0, 4.0, 0.5])));
        assert!(matches!(arms.with_intercept(f64::NAN), Err(ArmsError::NotFinite { row: 0, column: 3, .. })));
        let bare = Arms::without_features(2).unwrap().with_intercept(1.0);
        assert_eq!(bare.unwrap_err(), ArmsError::NoColumns);
    }

    #[test]
    fn rows_and_products_survive_the_block_layout() {
        for n_arms in [1, 7, 8, 9, 20, 64] {
            let rows: Vec<Vec<f64>> =
                (0..n_arms).map(|i| (0..5).map(|j| f64::from(i) - 0.1 * f64::from(j)).collect()).collect();
            let arms = Arms::from_rows(&rows).unwrap();
            let v = [1.0, -2.0, 0.5, 3.0, 0.25];
            let products = arms.times(&v).unwrap();
            assert_eq!(products.len(), rows.len());
            for (i, row) in rows.iter().enumerate() {
                assert_eq!(&arms.row(i).unwrap(), row);
                let dot: f64 = row.iter().zip(v).map(|(x, v)| x * v).sum();
                assert!((products[i] - dot).abs() < 1e-12);
            }
        }
    }
}
