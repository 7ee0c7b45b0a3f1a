//! Ridge regression that also keeps the variance of every arm's mean, with pending pulls counted.

use super::inverse::{Inverse, Step};
use super::posterior::linear;
use super::ridge::{Ridge, RidgeError};
use super::{Estimator, History, Posterior, VarianceEstimator};
use crate::features::Features;
use crate::vector::{Unit, Vectors, add_scaled, numbers, numbers_mut, vectorised};
use crate::{Arm, Arms};
use pulp::f64x4;
use std::sync::Arc;

/// [`Ridge`] that also keeps qᵢ = xᵢᵀV⁻¹xᵢ of every arm, at the cost of one more K×d product per pull.
///
/// Two designs are kept: the *observed* one of the rewards received, which gives the means, and the *planned* one, which also counts
/// pending pulls and gives variances and covariances. While nothing else is pending, one step serves both: with u = V⁻¹xₐ, s = 1 + xₐᵀu
/// and c = Xu, qᵢ −= cᵢ²/s when the pull is handed out and μ̂ᵢ += cᵢ (r − μ̂ₐ)/s when its reward comes.
#[derive(Clone, Debug)]
pub struct DesignedRidge {
    features: Arc<Features>,
    observed: Design,
    /// Equal to `observed` while nothing is pending; its inverse is then not updated.
    planned: Design,
    /// A buffer for the next V⁻¹ of either design.
    spare: Inverse,
    /// The last step of either design.
    step: Step,
    /// A buffer for solving without changing `step`.
    probe: Step,
    /// c = Xu of `step`.
    products: Vectors,
    /// The arm of the only pending pull, if `step` and `products` still belong to that pull.
    last_planned: Option<Arm>,
    /// The number of pending pulls.
    pending: u64,
    /// Whether the planned inverse was recomputed after its last step.
    is_refreshed: bool,
    /// The sum of the rewards of each arm.
    sums: Vec<f64>,
    theta: Vectors,
    means: Vectors,
    variances: Vectors,
    /// The largest factor by which a variance can have shrunk since all were recomputed: Π s.
    shrinkage: f64,
    covariances: Vectors,
    /// The variances of the observed design, computed on demand.
    observed_variances: Vec<f64>,
}

/// A design: the number of pulls per arm, and V⁻¹.
#[derive(Clone, Debug)]
struct Design {
    pulls: Vec<u32>,
    inverse: Inverse,
}

/// Every update qᵢ −= cᵢ²/s loses digits: at most log₁₀ s, because the new qᵢ is at least 1/s of the old one. Once the product of all s
/// exceeds this limit, all variances are recomputed.
pub(crate) const SHRINK_LIMIT: f64 = 1e10;

impl DesignedRidge {
    /// The estimator before the first reward: θ̂ = 0, qᵢ = ‖xᵢ‖²/λ.
    ///
    /// # Errors
    /// As [`Ridge::new`].
    pub fn new(arms: &Arms, lambda: f64) -> Result<Self, RidgeError> {
        let Ridge { features, inverse, spare, step, n_rewards, sums, theta, means, .. } = Ridge::new(arms, lambda)?;
        let observed = Design { pulls: n_rewards, inverse };
        let mut ridge = Self {
            planned: observed.clone(),
            observed,
            spare,
            probe: step.clone(),
            step,
            products: means.clone(),
            last_planned: None,
            pending: 0,
            is_refreshed: false,
            sums,
            theta,
            variances: means.clone(),
            covariances: means.clone(),
            means,
            shrinkage: 1.0,
            observed_variances: Vec::with_capacity(features.n_arms),
            features,
        };
        ridge.recompute_variances();
        Ok(ridge)
    }

    /// qᵢ = xᵢᵀV⁻¹xᵢ of all arms, from the planned design.
    fn recompute_variances(&mut self) {
        self.shrinkage = 1.0;
        let Self { features, observed, planned, probe, variances, .. } = self;
        let inverse = if self.pending == 0 { &observed.inverse } else { &planned.inverse };
        for arm in 0..features.n_arms {
            vectorised!(|unit| inverse.solve(unit, features.row(arm), probe));
            numbers_mut(variances)[arm] = probe.q;
        }
    }

    /// Counts one more pull of `arm` in the planned design.
    fn plan(&mut self, arm: Arm) {
        self.planned.pulls[arm] += 1;
        let Self { features, observed, planned, spare, step, .. } = self;
        let is_only = self.pending == 0;
        vectorised!(|unit| {
            let x = features.row(arm);
            if is_only {
                observed.inverse.advance(unit, x, step, &mut planned.inverse);
            } else {
                planned.inverse.advance(unit, x, step, spare);
            }
        });
        if !is_only {
            std::mem::swap(&mut planned.inverse, spare);
        }
        self.is_refreshed = planned.inverse.is_coarse(step.s);
        if self.is_refreshed {
            planned.inverse.refresh(features, &planned.pulls, step);
        }
        self.last_planned = is_only.then_some(arm);
        self.pending += 1;
    }
}

impl Estimator for DesignedRidge {
    fn n_arms(&self) -> usize {
        self.features.n_arms
    }

    /// cᵢ = xᵢᵀu and qᵢ −= cᵢ²/s for the planned design.
    fn expect(&mut self, arm: Arm) {
        self.plan(arm);
        let Self { features, step, products, variances, .. } = self;
        features.times(numbers(&step.u), products);
        vectorised!(|unit| shrink(unit, variances, products, step.s));
        self.shrinkage *= step.s;
        if self.is_refreshed || self.shrinkage > SHRINK_LIMIT {
            self.recompute_variances();
        }
    }

    /// μ̂ᵢ += cᵢ (r − μ̂ₐ)/s, with the step that planned the pull, or a new step of the observed design.
    fn observe(&mut self, arm: Arm, reward: f64) {
        if self.planned.pulls[arm] == self.observed.pulls[arm] {
            self.expect(arm);
        }
        let has_step = self.last_planned.take() == Some(arm);
        self.observed.pulls[arm] += 1;
        self.sums[arm] += reward;
        self.pending -= 1;
        let Self { features, observed, planned, spare, step, products, means, .. } = self;
        if !has_step {
            vectorised!(|unit| observed.inverse.advance(unit, features.row(arm), step, spare));
            features.times(numbers(&step.u), products);
        }
        let surprise = reward - numbers(means)[arm];
        vectorised!(|unit| add_scaled(unit, means, surprise / step.s, products));
        let is_refreshed = if has_step {
            std::mem::swap(&mut observed.inverse, &mut planned.inverse);
            self.is_refreshed
        } else {
            std::mem::swap(&mut observed.inverse, spare);
            let is_coarse = observed.inverse.is_coarse(step.s);
            if is_coarse {
                observed.inverse.refresh(features, &observed.pulls, step);
            }
            is_coarse
        };
        if is_refreshed {
            observed.inverse.regress(features, &self.sums, step, numbers_mut(&mut self.theta));
            features.times(numbers(&self.theta), means);
        }
    }

    /// Plans again from the observed design: undoing a step would not restore the digits it lost.
    fn forget(&mut self, pending: &[u32]) {
        self.planned.pulls.copy_from_slice(&self.observed.pulls);
        self.pending = 0;
        for (arm, &count) in pending.iter().enumerate() {
            for _ in 0..count {
                self.plan(arm);
            }
        }
        self.last_planned = None;
        self.recompute_variances();
    }

    fn restore(&mut self, history: &History<'_>) {
        self.observed.pulls.copy_from_slice(history.n_rewards);
        history.sums(&mut self.sums);
        let Self { features, observed, step, sums, theta, means, .. } = self;
        observed.inverse.refresh(features, &observed.pulls, step);
        observed.inverse.regress(features, sums, step, numbers_mut(theta));
        features.times(numbers(theta), means);
        self.forget(history.pending);
    }

    fn means(&mut self) -> &[f64] {
        &numbers(&self.means)[..self.features.n_arms]
    }

    fn posterior(&mut self) -> Posterior<'_> {
        let Self { features, observed, spare, probe, means, observed_variances: variances, .. } = self;
        let model = linear(features, &observed.pulls, spare, probe, variances);
        Posterior { means: &numbers(means)[..features.n_arms], variances, n_rewards: &observed.pulls, model }
    }

    fn moments_of(&mut self, arm: Arm) -> (f64, f64) {
        let Self { features, observed, probe, means, .. } = self;
        vectorised!(|unit| observed.inverse.solve(unit, features.row(arm), probe));
        (numbers(means)[arm], probe.q)
    }
}

impl VarianceEstimator for DesignedRidge {
    fn moments(&mut self) -> (&[f64], &[f64]) {
        let n_arms = self.features.n_arms;
        (&numbers(&self.means)[..n_arms], &numbers(&self.variances)[..n_arms])
    }

    fn covariances_with(&mut self, arm: Arm) -> (&[f64], &[f64]) {
        let Self { features, observed, planned, probe, covariances, variances, .. } = self;
        let inverse = if self.pending == 0 { &observed.inverse } else { &planned.inverse };
        vectorised!(|unit| inverse.solve(unit, features.row(arm), probe));
        features.times(numbers(&probe.u), covariances);
        (&numbers(covariances)[..features.n_arms], &numbers(variances)[..features.n_arms])
    }

    fn observed_moments(&mut self) -> (&[f64], &[f64]) {
        if self.pending == 0 {
            return self.moments();
        }
        let posterior = self.posterior();
        (posterior.means, posterior.variances)
    }

    fn observed_covariances_with(&mut self, arm: Arm) -> &[f64] {
        let Self { features, observed, probe, covariances, .. } = self;
        vectorised!(|unit| observed.inverse.solve(unit, features.row(arm), probe));
        features.times(numbers(&probe.u), covariances);
        &numbers(covariances)[..features.n_arms]
    }
}

/// qᵢ −= cᵢ²/s.
#[inline(always)]
fn shrink<S: Unit>(unit: S, variances: &mut [f64x4], products: &[f64x4], s: f64) {
    let weight = unit.splat_f64s(-1.0 / s);
    for (variance, &c) in variances.iter_mut().zip(products) {
        *variance = unit.mul_add_f64s(unit.mul_f64s(c, weight), c, *variance);
    }
}
