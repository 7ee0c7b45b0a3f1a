//! Arms from a prior covariance of their means: the rows of a factor X with X·Xᵀ = P are their features.
//!
//! With these features, ridge with λ is the Gaussian posterior of means that are N(0, (σ²/λ)·P) before the first pull, because the means Xθ of
//! θ ~ N(0, (σ²/λ)·I) have this covariance.

use super::{Arm, Arms, ArmsError, Graph, Kernel};
use crate::features::Features;
use crate::question::short_number;
use std::sync::Arc;
use thiserror::Error;

/// Why a prior covariance of the means was refused. Rows and columns count from 0.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum CovarianceError {
    /// The arms were refused.
    #[error(transparent)]
    Arms(#[from] ArmsError),
    /// The matrix does not have one row and one column per arm.
    #[error("the covariance of {n_arms} arms needs {n_arms}×{n_arms} numbers, not {found}")]
    Size {
        /// K.
        n_arms: usize,
        /// How many numbers there are.
        found: usize,
    },
    /// There are more arms than a K×K matrix is kept for.
    #[error("a covariance, kernel or graph takes at most {most} arms, not {0}", most = Arms::MAX_WITH_COVARIANCE)]
    TooMany(usize),
    /// A number is NaN or infinite.
    #[error("the covariance of arms {row} and {column} is {value}; it must be finite")]
    NotFinite {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The number.
        value: f64,
    },
    /// The matrix is not symmetric.
    #[error("the covariance is not symmetric: arms {row} and {column} have {} and {}", short_number(*.above), short_number(*.below))]
    NotSymmetric {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The number in this row and column.
        above: f64,
        /// The number in the mirrored place.
        below: f64,
    },
    /// The matrix is not positive semi-definite, so no means have this covariance.
    #[error("the covariance is not positive semi-definite: a combination of the means that includes arm {arm} would have the variance {}", short_number(*.variance))]
    NotPositive {
        /// An arm in a combination of means whose variance is negative.
        arm: usize,
        /// That variance.
        variance: f64,
    },
    /// The arms have no features, and a kernel is a function of features.
    #[error("a kernel needs arms with features, and these have none")]
    NoFeatures,
    /// There is no kernel of that name.
    #[error("unknown kernel `{0}`; use {names}", names = Kernel::names())]
    UnknownKernel(String),
    /// The length of a kernel is NaN or out of range.
    #[error("the length of a kernel must be a number {}, not {}", Kernel::LENGTH, short_number(*.0))]
    Length(f64),
    /// An edge has a node that does not exist.
    #[error("an edge has the node {node}, but there are only {n_nodes}, from 0 on")]
    UnknownNode {
        /// The node.
        node: Arm,
        /// The number of nodes.
        n_nodes: usize,
    },
    /// An edge leads from a node to itself.
    #[error("an edge leads from node {0} to itself")]
    SelfLoop(Arm),
    /// An edge is listed twice.
    #[error("the edge between nodes {one} and {other} is listed twice")]
    Twice {
        /// The first node, as it was listed last.
        one: Arm,
        /// The second node.
        other: Arm,
    },
    /// A weight is NaN, infinite, negative or 0.
    #[error("the edge between nodes {one} and {other} has the weight {}; it must be a number {}", short_number(*.weight), Graph::WEIGHT)]
    Weight {
        /// The first node.
        one: Arm,
        /// The second node.
        other: Arm,
        /// The weight.
        weight: f64,
    },
    /// The ridge of a graph is NaN or out of range.
    #[error("the ridge of a graph must be a number {}, not {}", Graph::RIDGE, short_number(*.0))]
    Ridge(f64),
    /// The graph has another number of nodes than there are arms.
    #[error("the graph has {n_nodes} nodes, but there are {n_arms} arms")]
    Nodes {
        /// The number of nodes.
        n_nodes: usize,
        /// The number of arms.
        n_arms: usize,
    },
}

/// A matrix is refused if the variance of an arm given other arms is negative, and larger than this part of the arm's own variance.
const NEGATIVE: f64 = 1e-10;

impl Arms {
    /// The largest number of arms with a prior covariance: a pull costs O(K²), and each K×K matrix of ridge takes 200 MB for so many.
    pub const MAX_WITH_COVARIANCE: usize = 5_000;

    /// `n_arms` arms whose means have this covariance before the first pull, in units of σ²/λ: K rows of K numbers in one slice. Any estimator
    /// that takes features takes these arms; [`Ridge`](crate::estimators::Ridge) on them is the exact Gaussian posterior.
    /// [`Arms::with_kernel`] computes a covariance from features, [`Graph::arms`](super::Graph::arms) from a graph.
    ///
    /// The matrix may be singular: arms may be known to have equal means, or means that depend on those of other arms.
    ///
    /// ```
    /// use cutline::{Arms, estimators::{Estimator, Ridge}};
    ///
    /// let arms = Arms::from_covariance(&[1.0, 0.5, 0.5, 1.0], 2)?;
    /// let mut ridge = Ridge::new(&arms, 1.0)?; // σ² = v, as λ = σ²/v
    /// ridge.observe(0, 3.0); // 3·P₀₀/(P₀₀ + λ) and 3·P₁₀/(P₀₀ + λ)
    /// assert_eq!(ridge.means(), [1.5, 0.75]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there are too many arms, or the matrix is not K×K, finite, symmetric and positive semi-definite.
    pub fn from_covariance(covariance: &[f64], n_arms: usize) -> Result<Self, CovarianceError> {
        check_size(n_arms)?;
        if covariance.len() != n_arms * n_arms {
            return Err(CovarianceError::Size { n_arms, found: covariance.len() });
        }
        if let Some(place) = covariance.iter().position(|value| !value.is_finite()) {
            let (row, column) = (place / n_arms, place % n_arms);
            return Err(CovarianceError::NotFinite { row, column, value: covariance[place] });
        }
        for row in 0..n_arms {
            for column in 0..row {
                let (above, below) = (covariance[column * n_arms + row], covariance[row * n_arms + column]);
                // Programs that compute a covariance may leave its two halves different in the last digits.
                let size = (covariance[row * (n_arms + 1)].abs() * covariance[column * (n_arms + 1)].abs()).sqrt();
                if (above - below).abs() > 1e-12 * size.max(above.abs()) {
                    return Err(CovarianceError::NotSymmetric { row: column, column: row, above, below });
                }
            }
        }
        let factor = factor(covariance, n_arms)?;
        Ok(Self::with_factor(&factor, covariance.into(), n_arms))
    }

    /// Arms with a covariance X·Xᵀ, where X is K×K.
    pub(super) fn with_factor(factor: &[f64], covariance: Arc<[f64]>, n_arms: usize) -> Self {
        let features = Features::with_covariance(n_arms, factor, covariance);
        Self { n_arms, features: Some(Arc::new(features)), costs: None, measurement_costs: None }
    }

    /// The same arms with `value`² added to every covariance.
    pub(super) fn with_common_variance(&self, covariance: &[f64], value: f64) -> Result<Self, ArmsError> {
        let n_arms = self.n_arms;
        let raised: Arc<[f64]> = covariance.iter().map(|entry| value.mul_add(value, *entry)).collect();
        if !value.is_finite() || raised.iter().any(|entry| !entry.is_finite()) {
            return Err(ArmsError::NotFinite { row: 0, column: n_arms, value });
        }
        let factor = factor(&raised, n_arms).expect("the sum of two covariances is one");
        Ok(Self::with_factor(&factor, raised, n_arms))
    }

    /// Whether the arms were made from a prior covariance, a kernel or a graph.
    #[must_use]
    pub fn has_covariance(&self) -> bool {
        self.features.as_ref().is_some_and(|features| features.covariance.is_some())
    }
}

pub(super) fn check_size(n_arms: usize) -> Result<(), CovarianceError> {
    match n_arms {
        0 => Err(ArmsError::Empty.into()),
        n if n > Arms::MAX_WITH_COVARIANCE => Err(CovarianceError::TooMany(n)),
        _ => Ok(()),
    }
}

/// How many rows are factorised at a time, so that an addition need not wait for the one before.
const ROWS: usize = 8;

/// X with X·Xᵀ = P by Cholesky factorisation with pivoting: the arm with the largest part of its variance left comes next. Columns that
/// only rounding errors would fill are 0.
fn factor(covariance: &[f64], n_arms: usize) -> Result<Vec<f64>, CovarianceError> {
    let variance = |arm: usize| covariance[arm * (n_arms + 1)];
    let smallest = 4.0 * n_arms as f64 * f64::EPSILON;
    let mut x = vec![0.0; n_arms * n_arms];
    let mut pivot_row = vec![0.0; n_arms];
    // The arms that were no pivot yet, with the variance that they have given the pivots.
    let mut rest: Vec<(usize, f64)> = (0..n_arms).map(|arm| (arm, variance(arm))).collect();
    while let Some(position) = next_pivot(&rest, variance, smallest)? {
        let k = n_arms - rest.len();
        let (pivot, left) = rest.swap_remove(position);
        let root = left.sqrt();
        pivot_row[..k].copy_from_slice(&x[pivot * n_arms..][..k]);
        x[pivot * n_arms + k] = root;
        for arms in rest.chunks_mut(ROWS) {
            let products = products(&x, n_arms, arms, &pivot_row[..k]);
            for ((arm, left), product) in arms.iter_mut().zip(products) {
                let along = (covariance[*arm * n_arms + pivot] - product) / root;
                x[*arm * n_arms + k] = along;
                *left -= along * along;
            }
        }
    }
    check_rest(covariance, n_arms, &x, &rest)?;
    Ok(x)
}

/// The position of the arm with the largest part of its variance left; `None` if only rounding errors are left.
fn next_pivot(
    rest: &[(usize, f64)],
    variance: impl Fn(usize) -> f64,
    smallest: f64,
) -> Result<Option<usize>, CovarianceError> {
    let (mut best, mut most) = (None, smallest);
    for (position, &(arm, left)) in rest.iter().enumerate() {
        if left < -NEGATIVE * variance(arm).abs() {
            return Err(CovarianceError::NotPositive { arm, variance: left });
        }
        let part = if left > 0.0 { left / variance(arm) } else { 0.0 };
        if part > most {
            (best, most) = (Some(position), part);
        }
    }
    Ok(best)
}

/// The products of the rows of some arms with `row`.
fn products(x: &[f64], n_arms: usize, arms: &[(usize, f64)], row: &[f64]) -> [f64; ROWS] {
    let parts: [&[f64]; ROWS] = std::array::from_fn(|i| &x[arms[i.min(arms.len() - 1)].0 * n_arms..][..row.len()]);
    let mut sums = [0.0; ROWS];
    for (j, &along) in row.iter().enumerate() {
        for i in 0..ROWS {
            sums[i] += parts[i][j] * along;
        }
    }
    sums
}

/// Checks that the arms without a variance of their own have no covariance left either.
fn check_rest(covariance: &[f64], n_arms: usize, x: &[f64], rest: &[(usize, f64)]) -> Result<(), CovarianceError> {
    let variance = |arm: usize| covariance[arm * (n_arms + 1)];
    for &(arm, _) in rest {
        let row = &x[arm * n_arms..][..n_arms - rest.len()];
        for others in rest.chunks(ROWS) {
            for (&(other, _), product) in others.iter().zip(products(x, n_arms, others, row)) {
                let left = (covariance[arm * n_arms + other] - product).abs();
                if left > NEGATIVE * (variance(arm) * variance(other)).sqrt() {
                    return Err(CovarianceError::NotPositive { arm, variance: -left });
                }
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(covariance: &[f64], n_arms: usize) -> String {
        Arms::from_covariance(covariance, n_arms).unwrap_err().to_string()
    }

    #[test]
    fn invalid_matrices_are_refused() {
        assert_eq!(refused(&[], 0), "there are no arms; at least one is needed");
        assert_eq!(refused(&[1.0; 3], 2), "the covariance of 2 arms needs 2×2 numbers, not 3");
        assert_eq!(refused(&[], 5_001), "a covariance, kernel or graph takes at most 5000 arms, not 5001");
        assert_eq!(refused(&[1.0, f64::NAN, 0.0, 1.0], 2), "the covariance of arms 0 and 1 is NaN; it must be finite");
        assert_eq!(refused(&[1.0, 0.5, 0.4, 1.0], 2), "the covariance is not symmetric: arms 0 and 1 have 0.5 and 0.4");
        let negative = "the covariance is not positive semi-definite: a combination of the means that includes arm";
        assert_eq!(refused(&[-1.0], 1), format!("{negative} 0 would have the variance -1"));
        assert_eq!(refused(&[1.0, 2.0, 2.0, 1.0], 2), format!("{negative} 1 would have the variance -3"));
        assert_eq!(refused(&[0.0, 1.0, 1.0, 0.0], 2), format!("{negative} 0 would have the variance -1"));
        // Of rank 1 but for one entry.
        assert_eq!(
            refused(&[1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 1.0, 0.9, 1.0], 3).split(" arm").next(),
            negative.strip_suffix(" arm")
        );
    }

    /// X·Xᵀ is the matrix: one arm, equal arms, an arm without variance, and variances of very different size.
    #[test]
    fn the_factor_has_the_covariance_as_its_inner_products() {
        let scaled = |scales: [f64; 3]| -> Vec<f64> {
            let correlation = [1.0, 0.5, 0.9, 0.5, 1.0, 0.2, 0.9, 0.2, 1.0];
            (0..9).map(|i| correlation[i] * scales[i / 3] * scales[i % 3]).collect()
        };
        for (covariance, n_arms) in [
            (vec![2.5], 1),
            (vec![0.0], 1),
            (vec![3.0; 25], 5),
            (scaled([1e-6, 1.0, 1e6]), 3),
            (scaled([1.0, 0.0, 2.0]), 3),
        ] {
            let arms = Arms::from_covariance(&covariance, n_arms).unwrap();
            let rows: Vec<Vec<f64>> = (0..n_arms).map(|arm| arms.row(arm).unwrap()).collect();
            for i in 0..n_arms {
                for j in 0..n_arms {
                    let product: f64 = rows[i].iter().zip(&rows[j]).map(|(a, b)| a * b).sum();
                    let size = (covariance[i * (n_arms + 1)] * covariance[j * (n_arms + 1)]).sqrt();
                    assert!((product - covariance[i * n_arms + j]).abs() <= 1e-15 * size, "{i} {j} {product}");
                }
            }
        }
    }
}
