//! The posterior of the means given the rewards received.

use super::inverse::{Inverse, Step};
use crate::features::Features;

/// The posterior of each mean, μᵢ ~ N(μ̂ᵢ, σ²qᵢ), given the rewards received. Pending pulls do not count.
///
/// For ridge this is the posterior of θ ~ N(0, σ²/λ I) and Gaussian noise, for the sample mean that of a flat prior.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Posterior<'a> {
    /// The estimates μ̂ of all means.
    pub means: &'a [f64],
    /// The variances qᵢ of the means, in units of σ²: 1/nᵢ for the sample mean, ∞ without a reward; xᵢᵀV⁻¹xᵢ for ridge.
    pub variances: &'a [f64],
    /// The number of rewards of each arm.
    pub n_rewards: &'a [u32],
    /// How the means are related.
    pub model: Model,
}

/// The relation between means that an estimator assumes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Model {
    /// The means are independent.
    Unrelated,
    /// The means are linear in d features; V = λI + Σ xxᵀ over the rewards received.
    Linear {
        /// d.
        dimension: usize,
        /// λ.
        lambda: f64,
        /// ln(det V/λᵈ).
        log_det: f64,
    },
    /// The means have a linear, a smooth and an own part: [`Mixed`](super::Mixed).
    Mixed,
}

/// The posterior of every mean, for verdicts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Marginals {
    /// The means of the distributions.
    pub means: Vec<f64>,
    /// Their standard deviations: half the width of an interval is a quantile of t times this.
    pub deviations: Vec<f64>,
    /// The degrees of freedom of that t distribution; ∞ for a normal one.
    pub degrees_of_freedom: Vec<f64>,
    /// The probability that the side of the mean is an error.
    pub doubts: Vec<f64>,
}

/// How much of the differences between the means each part of the [mixed model](super::Mixed) explains, as learnt from the rewards: shares
/// of their variance, whose sum is 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Explained {
    /// The share that is linear in the features.
    pub linear: f64,
    /// The share that is a smooth, but not linear, function of the features.
    pub smooth: f64,
    /// The share that the features do not explain.
    pub own: f64,
}

impl Explained {
    /// The share that the features explain.
    #[must_use]
    pub fn features(&self) -> f64 {
        self.linear + self.smooth
    }
}

/// The variances and the model of ridge by Cholesky factorisation: O(Kd² + d³). `inverse` and `step` are overwritten.
pub(super) fn linear(
    features: &Features,
    n_rewards: &[u32],
    inverse: &mut Inverse,
    step: &mut Step,
    variances: &mut Vec<f64>,
) -> Model {
    inverse.refresh(features, |arm| f64::from(n_rewards[arm]), step);
    variances.clear();
    let basis = inverse.basis(features);
    step.variances(basis, |_, variance| variances.push(variance));
    let lambda = inverse.lambda();
    Model::Linear { dimension: inverse.dimension(features), lambda, log_det: step.log_det(lambda) }
}

/// Deviations of the means from their posterior means, σXL⁻ᵀε with V = L·Lᵀ: `n` times one number per arm. `inverse` and `step` are overwritten.
pub(super) fn linear_deviations(
    features: &Features,
    n_rewards: &[u32],
    inverse: &mut Inverse,
    step: &mut Step,
    noise: f64,
    n: usize,
    normal: &mut dyn FnMut() -> f64,
) -> Vec<Vec<f64>> {
    inverse.refresh(features, |arm| f64::from(n_rewards[arm]), step);
    let basis = inverse.basis(features);
    let mut deviation = || {
        let theta = step.deviation(&mut || normal());
        (0..n_rewards.len()).map(|arm| noise * basis.row(arm).times(theta)).collect()
    };
    (0..n).map(|_| deviation()).collect()
}
