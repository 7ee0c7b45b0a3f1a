//! Ridge regression that also keeps every arm's variance, with the pulls that are out counted at once.

use super::inverse::{Inverse, Step};
use super::posterior::linear;
use super::ridge::{Ridge, RidgeError};
use super::{Estimator, History, Posterior, VarianceEstimator};
use crate::features::Features;
use crate::vector::{Unit, Vectors, add_scaled, numbers, numbers_mut, vectorised};
use crate::{Arm, Arms};
use pulp::f64x4;
use std::sync::Arc;

/// As [`Ridge`], and qᵢ = xᵢᵀV⁻¹xᵢ of every arm; a K×d product a pull more expensive.
///
/// Two designs are kept: the pulls *told*, from which the means come, and the pulls *planned*, told or not, from which
/// variances and covariances come. While nothing else is out, one step serves both: with u = V⁻¹xₐ, s = 1 + xₐᵀu
/// and c = Xu, qᵢ −= cᵢ²/s when the pull is handed out and μ̂ᵢ += cᵢ (r − μ̂ₐ)/s when its reward comes.
#[derive(Clone, Debug)]
pub struct DesignedRidge {
    features: Arc<Features>,
    told: Design,
    /// Equal to `told` while nothing is pending; its inverse is then not kept up.
    planned: Design,
    spare: Inverse,
    step: Step,
    /// Room for looking without stepping, so that `step` stays.
    probe: Step,
    /// c of the last step of either design.
    reach: Vectors,
    /// The only pending pull, if `step` and `reach` still belong to it.
    fresh: Option<Arm>,
    pending: u64,
    /// Whether the last step of the planned design was computed afresh.
    is_refreshed: bool,
    /// The sum of each arm's rewards.
    rewards: Vec<f64>,
    theta: Vectors,
    means: Vectors,
    variances: Vectors,
    /// How much any variance may have shrunk since all were computed afresh: Π s.
    shrunk: f64,
    covariances: Vectors,
    /// The variances by the pulls told alone, once somebody asked.
    told_variances: Vec<f64>,
}

/// A design: how often each arm counts, and V⁻¹.
#[derive(Clone, Debug)]
struct Design {
    pulls: Vec<u32>,
    inverse: Inverse,
}

/// Updating qᵢ −= cᵢ²/s costs it digits, at most log₁₀ Π s of them because qᵢ never falls below qᵢ/s. Beyond this
/// factor all are computed afresh.
pub(crate) const SHRINK_LIMIT: f64 = 1e10;

impl DesignedRidge {
    /// Knows nothing yet: θ̂ = 0, qᵢ = ‖xᵢ‖²/λ.
    ///
    /// # Errors
    /// As [`Ridge::new`].
    pub fn new(arms: &Arms, lambda: f64) -> Result<Self, RidgeError> {
        let Ridge { features, inverse, spare, step, told, rewards, theta, means, .. } = Ridge::new(arms, lambda)?;
        let told = Design { pulls: told, inverse };
        let mut ridge = Self {
            planned: told.clone(),
            told,
            spare,
            probe: step.clone(),
            step,
            reach: means.clone(),
            fresh: None,
            pending: 0,
            is_refreshed: false,
            rewards,
            theta,
            variances: means.clone(),
            covariances: means.clone(),
            means,
            shrunk: 1.0,
            told_variances: Vec::with_capacity(features.n_arms),
            features,
        };
        ridge.recompute_variances();
        Ok(ridge)
    }

    /// qᵢ = xᵢᵀV⁻¹xᵢ.
    fn recompute_variances(&mut self) {
        self.shrunk = 1.0;
        let Self { features, told, planned, probe, variances, .. } = self;
        let inverse = if self.pending == 0 { &told.inverse } else { &planned.inverse };
        for arm in 0..features.n_arms {
            vectorised!(|unit| inverse.solve(unit, features.row(arm), probe));
            numbers_mut(variances)[arm] = probe.q;
        }
    }

    /// Counts one more pull of `arm` in the planned design.
    fn plan(&mut self, arm: Arm) {
        self.planned.pulls[arm] += 1;
        let Self { features, told, planned, spare, step, .. } = self;
        let is_alone = self.pending == 0;
        vectorised!(|unit| {
            let x = features.row(arm);
            if is_alone {
                told.inverse.advance(unit, x, step, &mut planned.inverse);
            } else {
                planned.inverse.advance(unit, x, step, spare);
            }
        });
        if !is_alone {
            std::mem::swap(&mut planned.inverse, spare);
        }
        self.is_refreshed = planned.inverse.is_coarse(step.s);
        if self.is_refreshed {
            planned.inverse.refresh(features, &planned.pulls, step);
        }
        self.fresh = is_alone.then_some(arm);
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
        let Self { features, step, reach, variances, .. } = self;
        features.times(numbers(&step.u), reach);
        vectorised!(|unit| shrink(unit, variances, reach, step.s));
        self.shrunk *= step.s;
        if self.is_refreshed || self.shrunk > SHRINK_LIMIT {
            self.recompute_variances();
        }
    }

    /// μ̂ᵢ += cᵢ (r − μ̂ₐ)/s, with the step kept from planning the pull or taken now by the told design.
    fn observe(&mut self, arm: Arm, reward: f64) {
        if self.planned.pulls[arm] == self.told.pulls[arm] {
            self.expect(arm);
        }
        let is_fresh = self.fresh.take() == Some(arm);
        self.told.pulls[arm] += 1;
        self.rewards[arm] += reward;
        self.pending -= 1;
        let Self { features, told, planned, spare, step, reach, means, .. } = self;
        if !is_fresh {
            vectorised!(|unit| told.inverse.advance(unit, features.row(arm), step, spare));
            features.times(numbers(&step.u), reach);
        }
        let surprise = reward - numbers(means)[arm];
        vectorised!(|unit| add_scaled(unit, means, surprise / step.s, reach));
        let is_refreshed = if is_fresh {
            std::mem::swap(&mut told.inverse, &mut planned.inverse);
            self.is_refreshed
        } else {
            std::mem::swap(&mut told.inverse, spare);
            let is_coarse = told.inverse.is_coarse(step.s);
            if is_coarse {
                told.inverse.refresh(features, &told.pulls, step);
            }
            is_coarse
        };
        if is_refreshed {
            told.inverse.regress(features, &self.rewards, step, numbers_mut(&mut self.theta));
            features.times(numbers(&self.theta), means);
        }
    }

    /// Plans anew from the pulls told: undoing a step would not give back the digits it cost.
    fn forget(&mut self, pending: &[u32]) {
        self.planned.pulls.copy_from_slice(&self.told.pulls);
        self.pending = 0;
        for (arm, &count) in pending.iter().enumerate() {
            for _ in 0..count {
                self.plan(arm);
            }
        }
        self.fresh = None;
        self.recompute_variances();
    }

    fn recall(&mut self, past: &History<'_>) {
        self.told.pulls.copy_from_slice(past.told);
        past.sums(&mut self.rewards);
        let Self { features, told, step, rewards, theta, means, .. } = self;
        told.inverse.refresh(features, &told.pulls, step);
        told.inverse.regress(features, rewards, step, numbers_mut(theta));
        features.times(numbers(theta), means);
        self.forget(past.pending);
    }

    fn means(&mut self) -> &[f64] {
        &numbers(&self.means)[..self.features.n_arms]
    }

    fn posterior(&mut self) -> Posterior<'_> {
        let Self { features, told, spare, probe, means, told_variances: variances, .. } = self;
        let model = linear(features, &told.pulls, spare, probe, variances);
        Posterior { means: &numbers(means)[..features.n_arms], variances, told: &told.pulls, model }
    }

    fn moments_of(&mut self, arm: Arm) -> (f64, f64) {
        let Self { features, told, probe, means, .. } = self;
        vectorised!(|unit| told.inverse.solve(unit, features.row(arm), probe));
        (numbers(means)[arm], probe.q)
    }
}

impl VarianceEstimator for DesignedRidge {
    fn moments(&mut self) -> (&[f64], &[f64]) {
        let n_arms = self.features.n_arms;
        (&numbers(&self.means)[..n_arms], &numbers(&self.variances)[..n_arms])
    }

    fn covariances_with(&mut self, arm: Arm) -> (&[f64], &[f64]) {
        let Self { features, told, planned, probe, covariances, variances, .. } = self;
        let inverse = if self.pending == 0 { &told.inverse } else { &planned.inverse };
        vectorised!(|unit| inverse.solve(unit, features.row(arm), probe));
        features.times(numbers(&probe.u), covariances);
        (&numbers(covariances)[..features.n_arms], &numbers(variances)[..features.n_arms])
    }

    fn told_moments(&mut self) -> (&[f64], &[f64]) {
        if self.pending == 0 {
            return self.moments();
        }
        let posterior = self.posterior();
        (posterior.means, posterior.variances)
    }

    fn told_covariances_with(&mut self, arm: Arm) -> &[f64] {
        let Self { features, told, probe, covariances, .. } = self;
        vectorised!(|unit| told.inverse.solve(unit, features.row(arm), probe));
        features.times(numbers(&probe.u), covariances);
        &numbers(covariances)[..features.n_arms]
    }
}

/// qᵢ −= cᵢ²/s.
#[inline(always)]
fn shrink<S: Unit>(unit: S, variances: &mut [f64x4], reach: &[f64x4], s: f64) {
    let weight = unit.splat_f64s(-1.0 / s);
    for (variance, &c) in variances.iter_mut().zip(reach) {
        *variance = unit.mul_add_f64s(unit.mul_f64s(c, weight), c, *variance);
    }
}
