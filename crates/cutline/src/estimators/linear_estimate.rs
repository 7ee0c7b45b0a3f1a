//! θ̂ and V⁻¹ of ridge, for rules and analyses that need more than the means.

use super::gram_basis::GramBasis;
use super::inverse::Inverse;
use crate::features::Features;

/// θ̂ = V⁻¹b and V⁻¹, with V = λI + Σ xxᵀ and b = Σ r x over the rewards received; pending pulls do not count.
///
/// An estimator has it if the means are linear in the features: [`Estimator::linear_estimate`](super::Estimator::linear_estimate).
///
/// ```
/// use cutline::{Arms, estimators::{Estimator, Ridge}};
///
/// let arms = Arms::from_rows(&[[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])?;
/// let mut ridge = Ridge::new(&arms, 1.0)?;
/// ridge.observe(0, 3.0); // V = diag(2, 1), b = (3, 0)
/// let estimate = ridge.linear_estimate().expect("ridge is linear");
/// let is_near = |found: &[f64], expected: &[f64]| found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12);
/// assert!(is_near(&estimate.theta, &[1.5, 0.0]));
/// assert!(is_near(&estimate.inverse_design, &[0.5, 0.0, 0.0, 1.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct LinearEstimate {
    /// θ̂, one number per feature.
    pub theta: Vec<f64>,
    /// V⁻¹, d×d numbers, row by row. The covariance of θ̂ is σ²V⁻¹.
    pub inverse_design: Vec<f64>,
}

impl LinearEstimate {
    /// The estimate from V⁻¹, or where the arms are the coordinates from C = XV⁻¹Xᵀ, and the number and sum of each arm's rewards.
    pub(super) fn new(inverse: &Inverse, features: &Features, n_rewards: &[u32], sums: &[f64]) -> Self {
        if let Some(basis) = inverse.gram_basis() {
            return Self::in_gram_basis(inverse, basis, n_rewards, sums);
        }
        let d = features.dimension;
        let inverse_design: Vec<f64> = (0..d * d).map(|at| inverse.entry(d, at / d, at % d)).collect();
        let b = combination(features, sums);
        Self { theta: inverse_design.chunks_exact(d).map(|row| dot(row, &b)).collect(), inverse_design }
    }

    /// With nᵢ rewards of arm i on the diagonal of D and their sums s: μ̂ = Cs, θ̂ = Xᵀ(s − Dμ̂)/λ and V⁻¹ = I/λ − Xᵀ(D − DCD)X/λ².
    fn in_gram_basis(inverse: &Inverse, basis: &GramBasis, n_rewards: &[u32], sums: &[f64]) -> Self {
        let (features, lambda, k) = (basis.features(), inverse.lambda(), n_rewards.len());
        let (d, n) = (features.dimension, |arm: usize| f64::from(n_rewards[arm]));
        let mean = |arm| (0..k).map(|other| inverse.entry(k, arm, other) * sums[other]).sum::<f64>();
        let residuals: Vec<f64> = (0..k).map(|arm| (sums[arm] - n(arm) * mean(arm)) / lambda).collect();
        let mut inverse_design = vec![0.0; d * d];
        inverse_design.iter_mut().step_by(d + 1).for_each(|entry| *entry = 1.0 / lambda);
        for arm in (0..k).filter(|&arm| n_rewards[arm] > 0) {
            let weight =
                |other| if other == arm { n(arm) } else { 0.0 } - n(arm) * inverse.entry(k, arm, other) * n(other);
            let weights: Vec<f64> = (0..k).map(weight).collect();
            let column = combination(features, &weights);
            for (row, x) in inverse_design.chunks_exact_mut(d).zip(features.row(arm).iter()) {
                row.iter_mut().zip(&column).for_each(|(entry, y)| *entry -= x * y / (lambda * lambda));
            }
        }
        Self { theta: combination(features, &residuals), inverse_design }
    }
}

/// Σ wᵢxᵢ.
fn combination(features: &Features, weights: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; features.dimension];
    for (arm, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight != 0.0) {
        sum.iter_mut().zip(features.row(arm).iter()).for_each(|(sum, x)| *sum += weight * x);
    }
    sum
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use crate::Arms;
    use crate::estimators::{DesignedRidge, Estimator, LinearEstimate, Ridge};
    use nalgebra::{DMatrix, DVector};

    /// Against a dense solve, with more arms than features and with fewer.
    #[test]
    fn agrees_with_a_dense_solve() {
        for (n_arms, d) in [(7, 3), (3, 3), (2, 5), (4, 1)] {
            let x = DMatrix::from_fn(n_arms, d, |arm, j| ((3 * arm + 5 * j + arm * j) % 7) as f64 / 3.0 - 1.0);
            let rows: Vec<Vec<f64>> = x.row_iter().map(|row| row.iter().copied().collect()).collect();
            let arms = Arms::from_rows(&rows).unwrap();
            let lambda = 0.5;
            let (mut ridge, mut designed) =
                (Ridge::new(&arms, lambda).unwrap(), DesignedRidge::new(&arms, lambda).unwrap());
            let (mut v, mut b) = (DMatrix::identity(d, d) * lambda, DVector::zeros(d));
            for pull in 0..12 {
                let (arm, reward) = (pull % n_arms.min(3), (pull * pull % 5) as f64 - 1.7);
                ridge.observe(arm, reward);
                designed.observe(arm, reward);
                v += x.row(arm).transpose() * x.row(arm);
                b += x.row(arm).transpose() * reward;
            }
            designed.expect(0); // a pending pull does not count
            let inverse = v.try_inverse().unwrap();
            let theta = &inverse * b;
            for LinearEstimate { theta: found, inverse_design } in
                [ridge.linear_estimate().unwrap(), designed.linear_estimate().unwrap()]
            {
                assert!(
                    found.iter().zip(theta.iter()).all(|(ours, dense)| (ours - dense).abs() < 1e-10),
                    "{n_arms} {d}"
                );
                let inverse = inverse.transpose();
                let pairs = inverse_design.iter().zip(inverse.iter());
                assert!(pairs.into_iter().all(|(ours, dense)| (ours - dense).abs() < 1e-10), "{n_arms} {d}");
            }
        }
    }
}
