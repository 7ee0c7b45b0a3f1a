//! Ridge regression that also keeps the variance of every arm's mean, with pending pulls counted.

use super::inverse::Inverse;
use super::linear_belief::LinearBelief;
use super::posterior::{linear, linear_deviations};
use super::prior_free::LeastSquares;
use super::ridge::{Ridge, RidgeError};
use super::{DesignEstimator, Estimator, History, LinearEstimate, Posterior, PriorFree, VarianceEstimator};
use crate::vector::numbers;
use crate::{Arm, Arms};

/// [`Ridge`] that also keeps qᵢ = xᵢᵀV⁻¹xᵢ of every arm, at the cost of one more K×d product per pull.
#[derive(Clone, Debug)]
pub struct DesignedRidge {
    linear: LinearBelief,
    /// The rewards received and the pulls handed out, per arm.
    observed: Vec<u32>,
    planned: Vec<u32>,
    /// The sum of the rewards of each arm.
    sums: Vec<f64>,
    /// The variances of the observed design, computed on demand.
    observed_variances: Vec<f64>,
    least_squares: LeastSquares,
}

impl DesignedRidge {
    /// The estimator before the first reward: θ̂ = 0, qᵢ = ‖xᵢ‖²/λ.
    ///
    /// # Errors
    /// As [`Ridge::new`].
    pub fn new(arms: &Arms, lambda: f64) -> Result<Self, RidgeError> {
        let (features, inverse) = Inverse::for_features(Ridge::check(arms, lambda)?, lambda);
        let n_arms = features.n_arms;
        Ok(Self {
            linear: LinearBelief::new(features, inverse),
            observed: vec![0; n_arms],
            planned: vec![0; n_arms],
            sums: vec![0.0; n_arms],
            observed_variances: Vec::with_capacity(n_arms),
            least_squares: LeastSquares::default(),
        })
    }

    fn n(&self) -> usize {
        self.observed.len()
    }
}

/// Every pull of an arm adds 1 to its weight.
fn weights(pulls: &[u32]) -> impl Fn(Arm) -> f64 {
    |arm| f64::from(pulls[arm])
}

impl Estimator for DesignedRidge {
    fn n_arms(&self) -> usize {
        self.n()
    }

    fn expect(&mut self, arm: Arm) {
        self.planned[arm] += 1;
        self.linear.expect(arm, 1.0, weights(&self.planned));
    }

    /// μ̂ᵢ += cᵢ (r − μ̂ₐ)/s.
    fn observe(&mut self, arm: Arm, reward: f64) {
        if self.planned[arm] == self.observed[arm] {
            self.expect(arm);
        }
        self.observed[arm] += 1;
        self.sums[arm] += reward;
        let residual = reward - numbers(&self.linear.means)[arm];
        self.linear.observe(arm, 1.0, |s| residual / s, weights(&self.observed), &self.sums);
    }

    fn forget(&mut self, pending: &[u32]) {
        self.planned.copy_from_slice(&self.observed);
        self.linear.clear_plan();
        for (arm, &count) in pending.iter().enumerate() {
            for _ in 0..count {
                self.planned[arm] += 1;
                self.linear.plan(arm, 1.0, weights(&self.planned));
            }
        }
        self.linear.finish_plan();
    }

    fn can_restore(&self) -> bool {
        true
    }

    fn restore(&mut self, past: &History<'_>) {
        self.observed.copy_from_slice(past.n_rewards);
        past.sums(&mut self.sums);
        self.linear.restore(weights(&self.observed), &self.sums);
        self.forget(past.pending);
    }

    fn means(&mut self) -> &[f64] {
        &numbers(&self.linear.means)[..self.observed.len()]
    }

    fn linear_estimate(&mut self) -> Option<LinearEstimate> {
        Some(LinearEstimate::new(self.linear.observed(), &self.linear.features, &self.observed, &self.sums))
    }

    fn posterior(&mut self) -> Posterior<'_> {
        let (features, inverse, step) = self.linear.scratch();
        let model = linear(features, &self.observed, inverse, step, &mut self.observed_variances);
        let means = &numbers(&self.linear.means)[..self.observed.len()];
        Posterior { means, variances: &self.observed_variances, n_rewards: &self.observed, model }
    }

    fn posterior_and_prior_free(&mut self) -> (Posterior<'_>, Option<PriorFree<'_>>) {
        let Self { linear: belief, observed, sums, observed_variances, least_squares, .. } = self;
        let (features, inverse, step) = belief.scratch();
        let model = linear(features, observed, inverse, step, observed_variances);
        let prior_free = least_squares.all(inverse.basis(features), observed, sums, model);
        let means = &numbers(&belief.means)[..observed.len()];
        (Posterior { means, variances: observed_variances, n_rewards: observed, model }, prior_free)
    }

    fn deviations(&mut self, noise: f64, n: usize, normal: &mut dyn FnMut() -> f64) -> Vec<Vec<f64>> {
        let (features, inverse, step) = self.linear.scratch();
        linear_deviations(features, &self.observed, inverse, step, noise, n, normal)
    }

    fn moments_of(&mut self, arm: Arm) -> (f64, f64) {
        let variance = if self.linear.is_settled() {
            numbers(&self.linear.variances)[arm]
        } else {
            self.linear.observed_variance_of(arm)
        };
        (numbers(&self.linear.means)[arm], variance)
    }

    fn prior_free_moments_of(&mut self, arm: Arm) -> (f64, f64) {
        let (features, inverse, _) = self.linear.scratch();
        self.least_squares.one(inverse.basis(features), &self.observed, &self.sums, inverse.lambda(), arm)
    }
}

impl VarianceEstimator for DesignedRidge {
    fn moments(&mut self) -> (&[f64], &[f64]) {
        let n_arms = self.n();
        (&numbers(&self.linear.means)[..n_arms], &numbers(&self.linear.variances)[..n_arms])
    }

    fn covariances_with(&mut self, arm: Arm) -> (&[f64], &[f64]) {
        let n_arms = self.n();
        let (covariances, variances) = self.linear.covariances_with(arm);
        (&numbers(covariances)[..n_arms], &numbers(variances)[..n_arms])
    }

    fn observed_moments(&mut self) -> (&[f64], &[f64]) {
        if self.linear.is_settled() {
            return self.moments();
        }
        let posterior = self.posterior();
        (posterior.means, posterior.variances)
    }

    fn observed_covariances_with(&mut self, arm: Arm) -> &[f64] {
        let n_arms = self.n();
        &numbers(self.linear.observed_covariances_with(arm))[..n_arms]
    }
}

impl DesignEstimator for DesignedRidge {
    fn design_variances(&mut self, weights: &[f64]) -> &[f64] {
        let (features, inverse, step) = self.linear.scratch();
        inverse.refresh(features, |arm| weights[arm], step);
        let (basis, variances) = (inverse.basis(features), &mut self.observed_variances);
        variances.clear();
        step.variances(basis, |_, variance| variances.push(variance));
        variances
    }

    fn design_covariances_with(&mut self, arm: Arm) -> &[f64] {
        let n_arms = self.n();
        &numbers(self.linear.scratch_covariances_with(arm))[..n_arms]
    }
}
