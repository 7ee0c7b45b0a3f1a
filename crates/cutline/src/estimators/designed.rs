//! Ridge regression that also keeps every arm's variance, with the pulls that are out counted at once.

use super::ridge::{Ridge, RidgeError};
use super::root::{Root, Step};
use super::{Estimator, Spread};
use crate::arms::Features;
use crate::vector::{add_scaled, vectorised};
use crate::{Arm, Arms};
use std::sync::Arc;

/// As [`Ridge`], and qᵢ = xᵢᵀV⁻¹xᵢ of every arm; a K×d product a pull more expensive.
///
/// Two designs are kept: the pulls *told*, from which the means come, and the pulls *planned*, told or not, from which
/// variances and covariances come. While nothing else is out, one step serves both: with u = V⁻¹xₐ, s = 1 + xₐᵀu
/// and c = Xu, qᵢ −= cᵢ²/s when the pull is handed out and μ̂ᵢ += cᵢ (r − μ̂ₐ)/s when its reward comes.
#[derive(Clone, Debug)]
pub struct DesignedRidge {
    features: Arc<Features>,
    told: Root,
    /// Equal to `told` while nothing is pending, and then not kept up.
    planned: Root,
    spare: Root,
    step: Step,
    /// c of the last step of either design.
    reach: Vec<f64>,
    /// The only pending pull, if `step` and `reach` still belong to it.
    fresh: Option<Arm>,
    pending: u64,
    means: Vec<f64>,
    variances: Vec<f64>,
    /// How much any variance may have shrunk since all were computed afresh: Π s.
    shrunk: f64,
    covariances: Vec<f64>,
}

/// Updating qᵢ −= cᵢ²/s costs it digits, at most log₁₀ Π s of them because qᵢ never falls below qᵢ/s. Beyond this
/// factor all are computed afresh.
const SHRINK_LIMIT: f64 = 1e10;

impl DesignedRidge {
    /// Knows nothing yet: θ̂ = 0, qᵢ = ‖xᵢ‖²/λ.
    ///
    /// # Errors
    /// As [`Ridge::new`].
    pub fn new(arms: &Arms, lambda: f64) -> Result<Self, RidgeError> {
        let Ridge { features, root, spare, step, means, .. } = Ridge::new(arms, lambda)?;
        let mut ridge = Self {
            planned: root.clone(),
            told: root,
            spare,
            step,
            reach: means.clone(),
            fresh: None,
            pending: 0,
            variances: means.clone(),
            covariances: means.clone(),
            means,
            shrunk: 1.0,
            features,
        };
        ridge.recompute_variances();
        Ok(ridge)
    }

    /// The design that variances and covariances come from, and the step to take in it.
    fn design(&mut self) -> (&Root, &mut Step) {
        (if self.pending == 0 { &self.told } else { &self.planned }, &mut self.step)
    }

    fn recompute_variances(&mut self) {
        self.shrunk = 1.0;
        for arm in 0..self.features.n_arms {
            self.features.copy_row(arm, &mut self.step.x);
            let (root, step) = self.design();
            let variance = vectorised(
                #[inline(always)]
                || root.variance(step),
            );
            self.variances[arm] = variance;
        }
    }

    /// Counts one more pull of `arm` in the planned design.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "see `vectorised`")]
    fn plan(&mut self, arm: Arm) {
        self.features.copy_row(arm, &mut self.step.x);
        if self.pending == 0 {
            self.told.advance(&mut self.step, &mut self.planned);
        } else {
            self.planned.advance(&mut self.step, &mut self.spare);
            std::mem::swap(&mut self.planned, &mut self.spare);
        }
        self.fresh = (self.pending == 0).then_some(arm);
        self.pending += 1;
    }

    /// cᵢ = xᵢᵀu and qᵢ −= cᵢ²/s for the step just taken by the planned design.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "see `vectorised`")]
    fn shrink_variances(&mut self) {
        self.features.times(&self.step.u, &mut self.reach);
        let weight = -1.0 / self.step.s;
        for (variance, &c) in self.variances.iter_mut().zip(&self.reach) {
            *variance = (c * weight).mul_add(c, *variance);
        }
        self.shrunk *= self.step.s;
    }

    /// μ̂ᵢ += cᵢ (r − μ̂ₐ)/s, with the step kept from planning the pull or taken now by the told design.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "see `vectorised`")]
    fn learn(&mut self, arm: Arm, reward: f64) {
        if self.fresh == Some(arm) {
            std::mem::swap(&mut self.told, &mut self.planned);
        } else {
            self.features.copy_row(arm, &mut self.step.x);
            self.told.advance(&mut self.step, &mut self.spare);
            std::mem::swap(&mut self.told, &mut self.spare);
            self.features.times(&self.step.u, &mut self.reach);
        }
        self.fresh = None;
        self.pending -= 1;
        let gain = (reward - self.means[arm]) / self.step.s;
        add_scaled(&mut self.means, gain, &self.reach);
    }
}

impl Estimator for DesignedRidge {
    fn n_arms(&self) -> usize {
        self.features.n_arms
    }

    fn expect(&mut self, arm: Arm) {
        vectorised(
            #[inline(always)]
            || {
                self.plan(arm);
                self.shrink_variances();
            },
        );
        if self.shrunk > SHRINK_LIMIT {
            self.recompute_variances();
        }
    }

    fn observe(&mut self, arm: Arm, reward: f64) {
        vectorised(
            #[inline(always)]
            || self.learn(arm, reward),
        );
    }

    /// Plans anew from the pulls told: undoing a step would not give back the digits it cost.
    fn forget(&mut self, pending: &[u32]) {
        self.pending = 0;
        for (arm, &count) in pending.iter().enumerate() {
            for _ in 0..count {
                vectorised(
                    #[inline(always)]
                    || self.plan(arm),
                );
            }
        }
        self.fresh = None;
        self.recompute_variances();
    }

    fn means(&mut self) -> &[f64] {
        &self.means[..self.features.n_arms]
    }
}

impl Spread for DesignedRidge {
    fn moments(&mut self) -> (&[f64], &[f64]) {
        (&self.means[..self.features.n_arms], &self.variances[..self.features.n_arms])
    }

    fn covariances_with(&mut self, arm: Arm) -> (&[f64], &[f64]) {
        self.features.copy_row(arm, &mut self.step.x);
        vectorised(
            #[inline(always)]
            || {
                let (root, step) = self.design();
                root.solve(step);
                self.features.times(&self.step.u, &mut self.covariances);
            },
        );
        (&self.covariances[..self.features.n_arms], &self.variances[..self.features.n_arms])
    }
}
