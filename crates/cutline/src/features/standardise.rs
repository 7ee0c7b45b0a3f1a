//! Features scaled to mean 0 and standard deviation 1: column by column, zᵢ = (xᵢ − x̄)/s with s² = Σᵢ (xᵢ − x̄)²/K.

use super::{Features, Shared};
use crate::vector::{LANES, Vectors, numbers_mut};
use std::sync::Arc;

/// The statistics of a column.
#[derive(Clone, Copy)]
struct Column {
    low: f64,
    high: f64,
    mean: f64,
    deviation: f64,
}

impl Features {
    /// Scales every column to mean 0 and standard deviation 1 over the arms; a column of equal values becomes 0.
    ///
    /// A column is first mapped to [0, 1], from its least value to its greatest: then nothing overflows, and a large
    /// common offset costs no digits. Additions go arm by arm in a block, then block by block. Numbers that are
    /// shared with other arms are copied, others are changed in place.
    pub(crate) fn standardise(&mut self) {
        self.standardise_first(self.dimension);
    }

    /// As [`Features::standardise`], for the first columns only.
    pub(crate) fn standardise_first(&mut self, n_columns: usize) {
        (self.shared, self.covariance) = (Shared::default(), None);
        let n_arms = self.n_arms as f64;
        let unknown = Column { low: f64::INFINITY, high: f64::NEG_INFINITY, mean: 0.0, deviation: 0.0 };
        let mut columns = vec![unknown; n_columns];
        self.by_column(&mut columns, |column, values| {
            column.low = values.iter().copied().fold(column.low, f64::min);
            column.high = values.iter().copied().fold(column.high, f64::max);
        });
        self.by_column(&mut columns, |column, values| {
            for x in &mut *values {
                *x = column.share(*x);
            }
            column.mean += values.iter().sum::<f64>();
        });
        for column in &mut columns {
            column.mean /= n_arms;
        }
        self.by_column(&mut columns, |column, values| {
            for x in &mut *values {
                *x -= column.mean;
            }
            column.deviation += values.iter().map(|x| x * x).sum::<f64>();
        });
        for column in &mut columns {
            column.deviation = (column.deviation / n_arms).sqrt();
        }
        self.by_column(&mut columns, |column, values| {
            // A column of equal values is all 0 by now, and its deviation is 0.
            if column.deviation > 0.0 {
                for x in values {
                    *x /= column.deviation;
                }
            }
        });
    }

    /// Calls `work` with every one of the first columns and its values in every block, without the padding.
    fn by_column(&mut self, columns: &mut [Column], work: impl Fn(&mut Column, &mut [f64])) {
        let blocks: &mut Vectors = Arc::make_mut(&mut self.blocks);
        let lanes = numbers_mut(blocks).as_chunks_mut::<LANES>().0;
        for (block, lanes) in lanes.chunks_exact_mut(self.dimension).enumerate() {
            let n_arms = LANES.min(self.n_arms - block * LANES);
            for (column, lanes) in columns.iter_mut().zip(lanes) {
                work(column, &mut lanes[..n_arms]);
            }
        }
    }
}

impl Column {
    /// The position of x between the least value (0) and the greatest (1); 0 if they are equal.
    fn share(self, x: f64) -> f64 {
        let Self { low, high, .. } = self;
        if low == high {
            0.0
        } else if (high - low).is_finite() {
            (x - low) / (high - low)
        } else {
            (0.5 * x - 0.5 * low) / (0.5 * high - 0.5 * low)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::vector::{LANES, numbers};
    use crate::{Arms, Purpose, stream};
    use rand_core::Rng as _;

    fn column(arms: &Arms, column: usize) -> Vec<f64> {
        (0..arms.n_arms()).map(|arm| arms.row(arm).unwrap()[column]).collect()
    }

    fn standardised(values: &[f64]) -> Vec<f64> {
        column(&Arms::from_slice(values, 1).unwrap().standardised(), 0)
    }

    /// Three columns with different offsets and units, for full and partly filled blocks.
    #[test]
    fn agrees_with_the_definition() {
        let mut rng = stream(5, Purpose::Instance, 0);
        for n_arms in [2, 7, 8, 9, 64, 1_003] {
            let mut uniform = || f64::from(rng.next_u32()) / f64::from(u32::MAX);
            let rows: Vec<[f64; 3]> =
                (0..n_arms).map(|_| [uniform(), 40.0 - 7.0 * uniform(), 1e-3 * uniform()]).collect();
            let arms = Arms::from_rows(&rows).unwrap().standardised();
            for j in 0..3 {
                let mean = rows.iter().map(|row| row[j]).sum::<f64>() / f64::from(n_arms);
                let variance = rows.iter().map(|row| (row[j] - mean).powi(2)).sum::<f64>() / f64::from(n_arms);
                for (row, z) in rows.iter().zip(column(&arms, j)) {
                    let truth = (row[j] - mean) / variance.sqrt();
                    assert!((z - truth).abs() < 1e-11, "{n_arms} arms, column {j}: {z} instead of {truth}");
                }
            }
        }
    }

    /// −√1.5, 0 and √1.5 for three evenly spaced values, for any offset and step: no overflow, no digits lost.
    #[test]
    fn offset_and_unit_do_not_matter() {
        let end = 1.5_f64.sqrt();
        for (low, step) in [
            (0.0, 1.0),
            (1e15, 1.0),
            (-4e9, 0.25),
            (-1e300, 1e300),
            (-f64::MAX, f64::MAX),
            (1e308, 1e305),
            (0.0, 5e-324),
            (3e-310, 1e-310),
            (1.0, f64::EPSILON),
        ] {
            let z = standardised(&[low, low + step, low + step + step]);
            for (z, truth) in z.iter().zip([-end, 0.0, end]) {
                assert!((z - truth).abs() < 1e-11, "{low} and steps of {step}: {z} instead of {truth}");
            }
        }
    }

    #[test]
    fn a_column_of_equal_values_becomes_0() {
        for value in [0.0, 0.1, -1e300, 5e-324] {
            assert_eq!(standardised(&[value; 11]), [0.0; 11], "{value}");
            assert_eq!(standardised(&[value]), [0.0], "one arm, {value}");
        }
    }

    /// Products read whole blocks, so the padding of the last one has to stay 0.
    #[test]
    fn padding_stays_0() {
        let arms = Arms::from_slice(&[3.0, 5.0, 4.0, 9.0, 5.0, 2.0], 2).unwrap().standardised();
        let blocks = numbers(&arms.features().unwrap().blocks);
        for lanes in blocks.as_chunks::<LANES>().0 {
            assert!(lanes[..3].iter().any(|&x| x != 0.0) && lanes[3..] == [0.0; 5], "{lanes:?}");
        }
    }

    #[test]
    fn numbers_are_changed_in_place_unless_shared() {
        let address = |arms: &Arms| arms.features().unwrap().blocks.as_ptr();
        let arms = Arms::from_slice(&[1.0, 2.0, 4.0], 1).unwrap();
        let before = address(&arms);
        let arms = arms.standardised();
        assert_eq!(address(&arms), before);

        let other = arms.clone().with_intercept(2.0).unwrap();
        let copy = other.clone().standardised();
        assert_ne!(address(&copy), address(&other));
        assert_eq!((column(&other, 1), column(&copy, 1)), (vec![2.0; 3], vec![0.0; 3]));
    }

    #[test]
    fn arms_without_features_are_unchanged() {
        let arms = Arms::without_features(3).unwrap().standardised();
        assert_eq!((arms.n_arms(), arms.dimension()), (3, None));
    }
}
