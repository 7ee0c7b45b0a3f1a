//! The linear part of a Gaussian belief: the means zᵢᵀA⁻¹b and variances hᵢ = zᵢᵀA⁻¹zᵢ of every arm, with pending pulls counted in the
//! variances.
//!
//! A = Λ + Σ wᵢzᵢzᵢᵀ. One more pull adds `weight`·zₐzₐᵀ to A: with u = A⁻¹zₐ, s = 1 + weight·zₐᵀu and c = Zu, hᵢ −= weight·cᵢ²/s, and the
//! means move along c. Ridge is this with weight 1.

use super::inverse::{Inverse, Step};
use crate::Arm;
use crate::features::Features;
use crate::vector::{Unit, Vectors, add_scaled, numbers, numbers_mut, vectorised, zeros};
use pulp::f64x4;
use std::sync::Arc;

/// Two designs are kept: the *observed* one of the rewards received, which gives the means, and the *planned* one, which also counts
/// pending pulls and gives variances and covariances. While nothing else is pending, one step serves both.
///
/// The owner keeps the weights of the arms, and passes them wherever A may have to be recomputed.
#[derive(Clone, Debug)]
pub(super) struct LinearBelief {
    pub(super) features: Arc<Features>,
    observed: Inverse,
    /// Equal to `observed` while nothing is pending; it is then not updated.
    planned: Inverse,
    spare: Inverse,
    step: Step,
    /// For solving without changing `step`.
    probe: Step,
    /// c of the last step of either design.
    products: Vectors,
    /// The only pending pull, if `step` and `products` still belong to it.
    last_planned: Option<Arm>,
    pending: u64,
    /// Whether the planned design was recomputed in its last step.
    is_refreshed: bool,
    theta: Vectors,
    pub(super) means: Vectors,
    pub(super) variances: Vectors,
    /// By how much any variance may have shrunk since all were recomputed: Π s.
    shrunk: f64,
    covariances: Vectors,
    /// The arm whose covariances by the planned design are in `probe` and `covariances`.
    last_probed: Option<Arm>,
}

/// Every update hᵢ −= weight·cᵢ²/s loses digits, at most log₁₀ Π s in total because hᵢ never falls below hᵢ/s. Beyond this
/// factor all are recomputed.
pub(crate) const SHRINK_LIMIT: f64 = 1e10;

impl LinearBelief {
    /// The belief before the first pull.
    pub(super) fn new(features: Arc<Features>, inverse: Inverse) -> Self {
        let step = Step::new(features.dimension);
        let means = features.zeros();
        let mut belief = Self {
            planned: inverse.clone(),
            spare: inverse.clone(),
            observed: inverse,
            probe: step.clone(),
            step,
            products: means.clone(),
            last_planned: None,
            pending: 0,
            is_refreshed: false,
            theta: zeros(features.dimension),
            variances: means.clone(),
            covariances: means.clone(),
            means,
            shrunk: 1.0,
            last_probed: None,
            features,
        };
        belief.recompute_variances();
        belief
    }

    /// A⁻¹ of the rewards received.
    pub(super) fn observed(&self) -> &Inverse {
        &self.observed
    }

    /// hᵢ = zᵢᵀA⁻¹zᵢ.
    fn recompute_variances(&mut self) {
        self.shrunk = 1.0;
        let inverse = if self.pending == 0 { &self.observed } else { &self.planned };
        inverse.variances(&self.features, &mut self.variances);
    }

    /// Adds a pull of `arm` to the planned design, after which the arms have the weights `planned_weights`. The variances are not updated.
    pub(super) fn plan(&mut self, arm: Arm, weight: f64, planned_weights: impl Fn(Arm) -> f64) {
        let is_probed = self.last_probed.take() == Some(arm);
        let Self { features, observed, planned, spare, step, probe, .. } = self;
        let is_only = self.pending == 0;
        if is_probed {
            std::mem::swap(step, probe);
        }
        let (design, next) = if is_only { (&*observed, &mut *planned) } else { (&*planned, &mut *spare) };
        if !is_probed {
            design.solve_vectorised(features.row(arm), step);
        }
        design.advance_solved_vectorised(weight, step, next);
        if !is_only {
            std::mem::swap(planned, spare);
        }
        self.is_refreshed = planned.is_coarse(step.s);
        if self.is_refreshed {
            planned.refresh(features, planned_weights, step);
        }
        self.last_planned = is_only.then_some(arm);
        self.pending += 1;
    }

    /// Adds a pull of `arm` to the planned design, after which the arms have the weights `planned_weights`, and updates the variances.
    pub(super) fn expect(&mut self, arm: Arm, weight: f64, planned_weights: impl Fn(Arm) -> f64) {
        let is_probed = self.last_probed == Some(arm);
        self.plan(arm, weight, planned_weights);
        let Self { features, step, products, variances, covariances, .. } = self;
        if is_probed {
            std::mem::swap(products, covariances);
        } else {
            features.times(numbers(&step.u), products);
        }
        vectorised!(|unit| shrink(unit, variances, products, weight, step.s));
        self.shrunk *= step.s;
        if self.is_refreshed || self.shrunk > SHRINK_LIMIT {
            self.recompute_variances();
        }
    }

    /// Adds an expected pull of `arm` to the observed design, and `gain(s)`·c to the means. `observed_weights` and `targets`, the terms of
    /// b = Σ `targets`ᵢzᵢ, are those after the pull.
    pub(super) fn observe(
        &mut self,
        arm: Arm,
        weight: f64,
        gain: impl FnOnce(f64) -> f64,
        observed_weights: impl Fn(Arm) -> f64,
        targets: &[f64],
    ) {
        let is_last = self.last_planned.take() == Some(arm);
        self.pending -= 1;
        self.last_probed = None;
        let Self { features, observed, planned, spare, step, products, means, .. } = self;
        if !is_last {
            observed.advance_vectorised(features.row(arm), weight, step, spare);
            features.times(numbers(&step.u), products);
        }
        let gain = gain(step.s);
        vectorised!(|unit| add_scaled(unit, means, gain, products));
        let is_refreshed = if is_last {
            std::mem::swap(observed, planned);
            self.is_refreshed
        } else {
            std::mem::swap(observed, spare);
            let is_coarse = observed.is_coarse(step.s);
            if is_coarse {
                observed.refresh(features, observed_weights, step);
            }
            is_coarse
        };
        if is_refreshed {
            observed.regress(features, targets, step, numbers_mut(&mut self.theta));
            features.times(numbers(&self.theta), means);
        }
    }

    /// Drops all pending pulls. The owner [plans](LinearBelief::plan) those that remain again, because undoing a step would not restore
    /// the digits it lost, and then calls [`LinearBelief::finish_plan`].
    pub(super) fn clear_plan(&mut self) {
        self.pending = 0;
        self.last_probed = None;
    }

    /// Recomputes the variances after pulls were planned one by one.
    pub(super) fn finish_plan(&mut self) {
        self.last_planned = None;
        self.recompute_variances();
    }

    /// Recomputes the observed design and the means from the weights and the terms of b. [`LinearBelief::finish_plan`] has to follow.
    pub(super) fn restore(&mut self, observed_weights: impl Fn(Arm) -> f64, targets: &[f64]) {
        self.last_probed = None;
        let Self { features, observed, step, theta, means, .. } = self;
        observed.refresh(features, observed_weights, step);
        observed.regress(features, targets, step, numbers_mut(theta));
        features.times(numbers(theta), means);
    }

    /// Changes the prior precisions of the columns. [`LinearBelief::restore`] has to follow.
    pub(super) fn set_precisions(&mut self, precisions: &Arc<[f64]>) {
        for inverse in [&mut self.observed, &mut self.planned, &mut self.spare] {
            inverse.set_precisions(precisions);
        }
    }

    /// zᵢᵀA⁻¹zₐ for every arm, by the planned design; and the variances. A pull of the same arm that follows uses them again.
    pub(super) fn covariances_with(&mut self, arm: Arm) -> (&Vectors, &Vectors) {
        self.last_probed = Some(arm);
        let Self { features, observed, planned, probe, covariances, variances, .. } = self;
        let inverse = if self.pending == 0 { &*observed } else { &*planned };
        inverse.solve_vectorised(features.row(arm), probe);
        features.times(numbers(&probe.u), covariances);
        (covariances, variances)
    }

    /// zᵢᵀA⁻¹zₐ for every arm, by the observed design.
    pub(super) fn observed_covariances_with(&mut self, arm: Arm) -> &Vectors {
        self.last_probed = None;
        let Self { features, observed, probe, covariances, .. } = self;
        observed.solve_vectorised(features.row(arm), probe);
        features.times(numbers(&probe.u), covariances);
        covariances
    }

    /// hₐ by the observed design.
    pub(super) fn observed_variance_of(&mut self, arm: Arm) -> f64 {
        self.last_probed = None;
        let Self { features, observed, probe, .. } = self;
        observed.solve_vectorised(features.row(arm), probe);
        probe.q
    }

    /// Whether no pull is pending.
    pub(super) fn is_settled(&self) -> bool {
        self.pending == 0
    }

    /// zᵢᵀA⁻¹zₐ for every arm, by the design that was last computed in [`LinearBelief::scratch`].
    pub(super) fn scratch_covariances_with(&mut self, arm: Arm) -> &Vectors {
        let Self { features, spare, probe, covariances, .. } = self;
        spare.solve_vectorised(features.row(arm), probe);
        features.times(numbers(&probe.u), covariances);
        covariances
    }

    /// An inverse and a step to overwrite, for recomputing the observed design elsewhere.
    pub(super) fn scratch(&mut self) -> (&Features, &mut Inverse, &mut Step) {
        self.last_probed = None;
        (&self.features, &mut self.spare, &mut self.probe)
    }
}

/// hᵢ −= weight·cᵢ²/s.
#[inline(always)]
fn shrink<S: Unit>(unit: S, variances: &mut [f64x4], products: &[f64x4], weight: f64, s: f64) {
    let factor = unit.splat_f64s(-weight / s);
    for (variance, &c) in variances.iter_mut().zip(products) {
        *variance = unit.mul_add_f64s(unit.mul_f64s(c, factor), c, *variance);
    }
}
