//! Columns for interactions: the products of every two features, standardised.
//!
//! A smooth function by landmarks can be anything nearby, and hardly carries an effect of two features together over all arms, such as that
//! of two options which only work together. With products it is a few weights.

use crate::Arm;
use crate::features::Features;

/// Features beyond this number have no products: their columns would cost more than all others.
const MOST_FEATURES: usize = 10;

/// The products of every two of the standardised features.
pub(super) struct Products {
    d: usize,
    /// The mean of each product over all arms, and the factor that gives all products of an arm the mean square of 1
    /// together.
    moments: Vec<(f64, f64)>,
}

impl Products {
    /// How many products `d` features have.
    pub(super) fn number(d: usize) -> usize {
        if d <= MOST_FEATURES { d * d.saturating_sub(1) / 2 } else { 0 }
    }

    /// The standardised features are the first `d` columns.
    pub(super) fn new(standardised: &Features, d: usize) -> Self {
        let n = Self::number(d);
        let n_arms = standardised.n_arms;
        let mut products = Self { d, moments: vec![(0.0, 1.0); n] };
        let mut row = vec![0.0; n];
        let mut sums = vec![0.0; n];
        for arm in 0..n_arms {
            products.write(standardised, arm, &mut row);
            sums.iter_mut().zip(&row).for_each(|(sum, product)| *sum += product);
        }
        products.moments.iter_mut().zip(&sums).for_each(|(moment, sum)| moment.0 = sum / n_arms as f64);
        sums.fill(0.0);
        for arm in 0..n_arms {
            products.write(standardised, arm, &mut row);
            sums.iter_mut().zip(&row).for_each(|(sum, product)| *sum += product * product);
        }
        for (moment, sum) in products.moments.iter_mut().zip(&sums) {
            // Products that are all equal are 0 but for rounding.
            let mean_square = sum / n_arms as f64;
            moment.1 = if mean_square > 1e-20 * (1.0 + moment.0 * moment.0) {
                (mean_square * n as f64).sqrt().recip()
            } else {
                0.0
            };
        }
        products
    }

    /// Writes the products of an arm.
    pub(super) fn write(&self, standardised: &Features, arm: Arm, to: &mut [f64]) {
        if self.moments.is_empty() {
            return;
        }
        let row: Vec<f64> = standardised.row(arm).iter().take(self.d).collect();
        let pairs = (1..self.d).flat_map(|j| (0..j).map(move |k| (j, k)));
        for ((to, (j, k)), (mean, factor)) in to.iter_mut().zip(pairs).zip(&self.moments) {
            *to = factor * (row[j] * row[k] - mean);
        }
    }
}
