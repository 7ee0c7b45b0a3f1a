//! Ridge regression: θ̂ = V⁻¹b with V = λI + Σ xxᵀ and b = Σ r x over the rewards received; μ̂ᵢ = xᵢᵀθ̂.

use super::inverse::{Inverse, Step};
use super::posterior::{linear, linear_deviations};
use super::prior_free::LeastSquares;
use super::{Estimator, History, LazyMeans, LinearEstimate, Posterior, PriorFree};
use crate::features::Features;
use crate::question::short_number;
use crate::vector::{Vectors, add_scaled, norm, numbers, numbers_mut, vectorised, zeros};
use crate::{Arm, Arms};
use std::sync::Arc;
use thiserror::Error;

/// Ridge regression of the rewards on the features; use [`DesignedRidge`](super::DesignedRidge) for rules that also
/// need variances, [`SampleMean`](super::SampleMean) where there are no features.
///
/// A reward costs O(d²); the means of all arms cost one K×d product, computed only on demand. With no more arms than
/// features it works with the inner products of the arms instead, and both cost O(K²).
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `lambda` | 1 | the regularisation λ | 1e-12 ≤ λ, and max ‖xᵢ‖²/λ ≤ 1e15, else [`RidgeError`] |
///
/// ```
/// use cutline::{Arms, estimators::{Estimator, Ridge}};
///
/// let arms = Arms::from_rows(&[[1.0], [2.0]])?;
/// let mut ridge = Ridge::new(&arms, 1.0)?;
/// ridge.observe(0, 3.0); // V = 1 + 1, b = 3
/// assert_eq!(ridge.means(), [1.5, 3.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ridge {
    pub(super) features: Arc<Features>,
    pub(super) inverse: Inverse,
    pub(super) spare: Inverse,
    pub(super) step: Step,
    /// The number of rewards of each arm, and their sum.
    pub(super) n_rewards: Vec<u32>,
    pub(super) sums: Vec<f64>,
    pub(super) theta: Vectors,
    pub(super) means: Vectors,
    is_stale: bool,
    /// The length of the path that θ̂ has travelled so far, rounded up.
    travelled: f64,
    /// xᵢᵀV⁻¹xᵢ, computed on demand.
    variances: Vec<f64>,
    least_squares: LeastSquares,
}

/// Why a ridge estimator was refused.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RidgeError {
    /// The arms have no features.
    #[error("ridge needs arms with features, and these have none")]
    NoFeatures,
    /// λ is too small, NaN or infinite.
    #[error("lambda must be a number of at least 1e-12, not {}", short_number(*.0))]
    Lambda(f64),
    /// The features are so large that no correct digit would remain.
    #[error(
        "the features are too large for this lambda: the greatest squared norm divided by lambda is {0:e}, more than 1e15"
    )]
    TooLarge(f64),
}

impl Ridge {
    /// The estimator before the first reward: θ̂ = 0.
    ///
    /// # Errors
    /// If the arms have no features or too large ones, or λ is not at least 1e-12.
    pub fn new(arms: &Arms, lambda: f64) -> Result<Self, RidgeError> {
        let (features, inverse) = Inverse::for_features(Self::check(arms, lambda)?, lambda);
        let step = Step::new(features.dimension);
        Ok(Self {
            spare: inverse.clone(),
            inverse,
            theta: zeros(features.dimension),
            step,
            n_rewards: vec![0; features.n_arms],
            sums: vec![0.0; features.n_arms],
            means: features.zeros(),
            is_stale: false,
            travelled: 0.0,
            variances: Vec::new(),
            least_squares: LeastSquares::default(),
            features,
        })
    }

    /// The features, if ridge works with these arms and λ.
    pub(crate) fn check(arms: &Arms, lambda: f64) -> Result<&Arc<Features>, RidgeError> {
        let features = arms.features().ok_or(RidgeError::NoFeatures)?;
        if !(1e-12..f64::INFINITY).contains(&lambda) {
            return Err(RidgeError::Lambda(lambda));
        }
        let largest = features.max_norm2() / lambda;
        if !(largest <= 1e15) {
            return Err(RidgeError::TooLarge(largest));
        }
        Ok(features)
    }
}

impl Estimator for Ridge {
    fn n_arms(&self) -> usize {
        self.features.n_arms
    }

    /// u = V⁻¹xₐ, s = 1 + xₐᵀu, θ̂ += u (r − xₐᵀθ̂)/s.
    fn observe(&mut self, arm: Arm, reward: f64) {
        self.n_rewards[arm] += 1;
        self.sums[arm] += reward;
        let Self { features, inverse, spare, step, theta, means, .. } = self;
        let is_stale = self.is_stale;
        let x = features.row(arm);
        inverse.advance_vectorised(x, 1.0, step, spare);
        vectorised!(|unit| {
            let mean = if is_stale { x.times(numbers(theta)) } else { numbers(means)[arm] };
            let gain = (reward - mean) / step.s;
            add_scaled(unit, theta, gain, &step.u);
            // Rounded up by more than the rounding error of θ̂ in a step: ‖θ̂‖ is at most the length of its path.
            self.travelled =
                (self.travelled + norm(unit, &step.u) * gain.abs() * (1.0 + 1e-9)) * (1.0 + 2.0 * f64::EPSILON);
        });
        std::mem::swap(inverse, spare);
        if inverse.is_coarse(step.s) {
            inverse.refresh(features, |arm| f64::from(self.n_rewards[arm]), step);
            // θ̂ jumps, by at most the sum of its norms before and after.
            self.travelled += norm(pulp::Scalar256b, theta);
            inverse.regress(features, &self.sums, step, numbers_mut(theta));
            self.travelled += norm(pulp::Scalar256b, theta);
        }
        self.is_stale = true;
    }

    fn can_restore(&self) -> bool {
        true
    }

    fn restore(&mut self, history: &History<'_>) {
        self.n_rewards.copy_from_slice(history.n_rewards);
        history.sums(&mut self.sums);
        let Self { features, inverse, step, n_rewards, sums, theta, .. } = self;
        inverse.refresh(features, |arm| f64::from(n_rewards[arm]), step);
        // θ̂ jumps, by at most the sum of its norms before and after.
        self.travelled += norm(pulp::Scalar256b, theta) * (1.0 + 1e-9);
        inverse.regress(features, sums, step, numbers_mut(theta));
        self.travelled += norm(pulp::Scalar256b, theta) * (1.0 + 1e-9);
        self.is_stale = true;
    }

    fn means(&mut self) -> &[f64] {
        if self.is_stale {
            self.features.times(numbers(&self.theta), &mut self.means);
            self.is_stale = false;
        }
        &numbers(&self.means)[..self.features.n_arms]
    }

    fn lazy_means(&mut self) -> Option<LazyMeans<'_>> {
        let Self { features, theta, travelled, means, is_stale, .. } = self;
        Some(LazyMeans { features, theta: numbers(theta), travelled: *travelled, means, is_stale })
    }

    fn linear_estimate(&mut self) -> Option<LinearEstimate> {
        Some(LinearEstimate::new(&self.inverse, &self.features, &self.n_rewards, &self.sums))
    }

    fn posterior(&mut self) -> Posterior<'_> {
        self.means();
        let Self { features, spare, step, n_rewards, means, variances, .. } = self;
        let model = linear(features, n_rewards, spare, step, variances);
        Posterior { means: &numbers(means)[..features.n_arms], variances, n_rewards, model }
    }

    fn posterior_and_prior_free(&mut self) -> (Posterior<'_>, Option<PriorFree<'_>>) {
        self.means();
        let Self { features, spare, step, n_rewards, sums, means, variances, least_squares, .. } = self;
        let model = linear(features, n_rewards, spare, step, variances);
        let prior_free = least_squares.all(spare.basis(features), n_rewards, sums, model);
        (Posterior { means: &numbers(means)[..features.n_arms], variances, n_rewards, model }, prior_free)
    }

    fn deviations(&mut self, noise: f64, n: usize, normal: &mut dyn FnMut() -> f64) -> Vec<Vec<f64>> {
        let Self { features, spare, step, n_rewards, .. } = self;
        linear_deviations(features, n_rewards, spare, step, noise, n, normal)
    }

    fn moments_of(&mut self, arm: Arm) -> (f64, f64) {
        let Self { features, inverse, step, theta, .. } = self;
        inverse.solve_vectorised(features.row(arm), step);
        (features.row(arm).times(numbers(theta)), step.q)
    }

    fn prior_free_moments_of(&mut self, arm: Arm) -> (f64, f64) {
        let Self { features, inverse, n_rewards, sums, least_squares, .. } = self;
        least_squares.one(inverse.basis(features), n_rewards, sums, inverse.lambda(), arm)
    }
}
