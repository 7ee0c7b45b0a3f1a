//! The arms: their number and, if they have any, one row of features per arm.

mod covariance;
mod graph;
mod kernel;
mod kind;

pub use covariance::CovarianceError;
pub use graph::{Edge, Graph};
pub use kernel::Kernel;
pub use kind::CovarianceKind;

use crate::MeasurementCosts;
use crate::features::{Executor, Features};
use crate::vector::numbers;
use std::sync::Arc;
use thiserror::Error;

/// The position of an arm, from 0, in the order the arms were given.
pub type Arm = usize;

/// The arms of a problem: K rows of d features, or only K if the arms have no features; and what an error on each arm and a measurement of
/// it cost, where that is known. Clones share the features.
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
#[expect(clippy::struct_field_names, reason = "it is their number everywhere")]
pub struct Arms {
    n_arms: usize,
    features: Option<Arc<Features>>,
    /// The cost of an error on every arm; `None` if all are 1.
    costs: Option<Arc<[f64]>>,
    /// What a measurement of every arm costs; `None` if all cost the same.
    measurement_costs: Option<MeasurementCosts>,
}

/// Why arms were refused. Rows and columns count from 0.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum ArmsError {
    /// There is no arm.
    #[error("there are no arms; at least one is needed")]
    Empty,
    /// The rows have no columns.
    #[error("the arms have no features; at least one column is needed")]
    NoColumns,
    /// A row is shorter or longer than the first.
    #[error("arm {row} has {found} features, but arm 0 has {expected}")]
    Ragged {
        /// The row that differs.
        row: usize,
        /// The length of row 0.
        expected: usize,
        /// The length of this row.
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
    /// There is not one cost per arm.
    #[error("there are {found} costs, but {expected} arms")]
    CostsLength {
        /// The number of arms.
        expected: usize,
        /// The number of costs.
        found: usize,
    },
    /// A cost is not a positive number, or is so large or small that sums with it lose all digits.
    #[error("the cost of arm {arm} is {cost}; costs must be numbers between 1e-100 and 1e100")]
    Cost {
        /// The arm.
        arm: usize,
        /// Its cost.
        cost: f64,
    },
}

impl Arms {
    /// Arms with features, one row per arm.
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
        Ok(Self { n_arms: rows.len(), features: Some(Arc::new(features)), costs: None, measurement_costs: None })
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
        Ok(Self { n_arms, features: Some(Arc::new(features)), costs: None, measurement_costs: None })
    }

    /// The same arms with one more feature, an intercept, which is `value` for every arm. The number of features of arms from a
    /// [covariance](Arms::from_covariance) stays the same: `value`² is added to every covariance.
    ///
    /// The larger `value` is, the less ridge shrinks the intercept towards 0.
    ///
    /// # Errors
    /// If the arms have no features, or `value` is not finite.
    pub fn with_intercept(&self, value: f64) -> Result<Self, ArmsError> {
        let features = self.features.as_ref().ok_or(ArmsError::NoColumns)?;
        if let Some(covariance) = &features.covariance {
            return self.with_common_variance(covariance, value);
        }
        Ok(Self { features: Some(Arc::new(features.with_column(value)?)), ..self.clone() })
    }

    /// The same arms with every feature shifted and scaled to mean 0 and standard deviation 1 over the arms (the variance
    /// divides by K, not K − 1); a feature that is the same for all arms becomes 0. Arms without features and those from a
    /// [covariance](Arms::from_covariance) are unchanged.
    ///
    /// Ridge has one λ for all features, so features with larger values are shrunk less; after standardising, all are treated alike.
    /// The features are changed in place, unless a clone shares them.
    ///
    /// ```
    /// use cutline::Arms;
    ///
    /// let arms = Arms::from_rows(&[[100.0, 7.0], [300.0, 7.0]])?.standardised();
    /// assert_eq!((arms.row(0), arms.row(1)), (Some(vec![-1.0, 0.0]), Some(vec![1.0, 0.0])));
    /// # Ok::<(), cutline::ArmsError>(())
    /// ```
    #[must_use]
    pub fn standardised(mut self) -> Self {
        if let Some(features) = self.features.as_mut().filter(|features| features.covariance.is_none()) {
            Arc::make_mut(features).standardise();
        }
        self
    }

    /// `n_arms` arms without features.
    ///
    /// # Errors
    /// If `n_arms` is 0.
    pub fn without_features(n_arms: usize) -> Result<Self, ArmsError> {
        if n_arms == 0 {
            return Err(ArmsError::Empty);
        }
        Ok(Self { n_arms, features: None, costs: None, measurement_costs: None })
    }

    /// The same arms, of which an error on arm i costs `costs[i]`. Only [`Fwt`](crate::rules::Fwt) uses the costs.
    ///
    /// # Errors
    /// If there is not one cost per arm, or a cost is not between 1e-100 and 1e100.
    pub fn with_costs(self, costs: &[f64]) -> Result<Self, ArmsError> {
        let (expected, found) = (self.n_arms, costs.len());
        if expected != found {
            return Err(ArmsError::CostsLength { expected, found });
        }
        match costs.iter().position(|cost| !(1e-100..=1e100).contains(cost)) {
            Some(arm) => Err(ArmsError::Cost { arm, cost: costs[arm] }),
            None => Ok(Self { costs: Some(costs.into()), ..self }),
        }
    }

    /// The cost of an error on every arm, if it was set; otherwise all are 1.
    #[must_use]
    pub fn costs(&self) -> Option<&[f64]> {
        self.costs.as_deref()
    }

    /// The same arms, of which measurements cost different amounts. Campaigns then count their budget in units of cost, and
    /// [`Pivot`](crate::rules::Pivot) weighs information by it.
    ///
    /// # Errors
    /// If there is not one cost per arm.
    pub fn with_measurement_costs(self, costs: MeasurementCosts) -> Result<Self, ArmsError> {
        let (expected, found) = (self.n_arms, costs.all().len());
        if expected != found {
            return Err(ArmsError::CostsLength { expected, found });
        }
        Ok(Self { measurement_costs: Some(costs), ..self })
    }

    /// What one measurement of each arm costs; `None` if all cost the same.
    #[must_use]
    pub fn measurement_costs(&self) -> Option<&MeasurementCosts> {
        self.measurement_costs.as_ref()
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
    /// If `v` does not have one value per feature.
    #[must_use]
    pub fn times(&self, v: &[f64]) -> Option<Vec<f64>> {
        self.features.as_ref().map(|features| {
            assert_eq!(v.len(), features.dimension, "one value per feature");
            let mut products = features.zeros();
            features.times(v, &mut products);
            numbers(&products)[..self.n_arms].to_vec()
        })
    }

    /// The same arms, with products over many arms computed on `executor`. The results are the same to the last bit.
    #[must_use]
    pub fn with_executor(self, executor: Arc<dyn Executor>) -> Self {
        Self { features: self.features.map(|features| Arc::new(features.with_executor(executor))), ..self }
    }

    pub(crate) fn features(&self) -> Option<&Arc<Features>> {
        self.features.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_invalid_features() {
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
    fn refuses_costs_that_are_not_positive() {
        let with_costs = |costs: &[f64]| Arms::without_features(2).unwrap().with_costs(costs);
        assert_eq!(with_costs(&[1.0]).unwrap_err(), ArmsError::CostsLength { expected: 2, found: 1 });
        for cost in [0.0, -1.0, f64::INFINITY] {
            assert_eq!(with_costs(&[1.0, cost]).unwrap_err(), ArmsError::Cost { arm: 1, cost });
        }
        assert!(with_costs(&[1.0, f64::NAN]).is_err());
        assert_eq!(with_costs(&[0.5, 3.0]).unwrap().costs(), Some(&[0.5, 3.0][..]));
    }

    #[test]
    fn an_intercept_is_one_more_column() {
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
