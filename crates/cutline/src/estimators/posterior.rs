//! How sure an estimator is: the variances of its means, computed afresh from the pulls told.

use super::inverse::{Inverse, Step};
use crate::features::Features;

/// What the rewards told say of the means: μᵢ ~ N(μ̂ᵢ, σ²qᵢ), arm by arm. Pulls that are still out do not count.
///
/// For ridge this is the posterior of θ ~ N(0, σ²/λ I) and Gaussian noise, for the sample mean that of a flat prior.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Posterior<'a> {
    /// The estimates μ̂ of all means.
    pub means: &'a [f64],
    /// The variances qᵢ of the means, in units of σ²: 1/nᵢ for the sample mean, ∞ at no pull; xᵢᵀV⁻¹xᵢ for ridge.
    pub variances: &'a [f64],
    /// How many rewards of each arm were told.
    pub told: &'a [u32],
    /// How the means relate.
    pub model: Model,
}

/// How an estimator takes the means to relate.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Model {
    /// Every arm stands on its own.
    Unrelated,
    /// The means are linear in d features; V = λI + Σ xxᵀ over the pulls told.
    Linear {
        /// d.
        dimension: usize,
        /// λ.
        lambda: f64,
        /// ln(det V/λᵈ).
        log_det: f64,
    },
}

/// The variances and the model of ridge, by Cholesky's method: O(Kd² + d³). `inverse` and `step` are room to work in.
pub(super) fn linear(
    features: &Features,
    told: &[u32],
    inverse: &mut Inverse,
    step: &mut Step,
    variances: &mut Vec<f64>,
) -> Model {
    inverse.refresh(features, told, step);
    variances.clear();
    let basis = inverse.basis(features);
    variances.extend((0..features.n_arms).map(|arm| step.variance(basis.row(arm))));
    let lambda = inverse.lambda();
    Model::Linear { dimension: inverse.dimension(features), lambda, log_det: step.log_det(lambda) }
}
