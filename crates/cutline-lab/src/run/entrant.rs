//! An algorithm that takes part in an experiment.

use crate::theory::optimal_gamma::OptimalGamma;
use crate::theory::{complexity, complexity_as_published, tracking};
use crate::{ExperimentNoise, Instance, RunError};
use cutline::{AskTell, BatchLearner, ConfidenceStop, Decision, NamedStop, Spec, SpecError};
use std::borrow::Cow;

/// An algorithm that takes part in an experiment: its spec, its label, and how it is tuned from the true means.
#[derive(Clone, Debug)]
pub struct Entrant {
    label: String,
    spec: Spec,
    oracle: Option<Oracle>,
    decision: Decision,
}

/// What is computed from the true means: UCB-E's exploration a, GrAPL's γ, or the proportions of pulls.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Oracle {
    /// a = 4ⁱ (T − K)/H, as in the paper.
    AsSpecified {
        /// The i in 4ⁱ.
        exponent: f64,
    },
    /// a = (T − K)/H′, as in the code behind the published numbers; i is ignored.
    AsPublished,
    /// The γ for which GrAPL's bound is best: [`OptimalGamma`].
    Gamma {
        /// The standard deviation σ of a reward.
        noise: f64,
    },
    /// The proportions of the best [`Allocation`](crate::Allocation), for the algorithm [`ORACLE`](crate::ORACLE).
    Allocation,
}

impl Entrant {
    /// An entrant called `label`. The caller sets the noise scale in the spec, if the algorithm takes one.
    #[must_use]
    pub fn new(label: String, spec: Spec, oracle: Option<Oracle>) -> Self {
        Self { label, spec, oracle, decision: Decision::Separate }
    }

    /// The same where the sides are decided in another way.
    #[must_use]
    pub fn with_decision(self, decision: Decision) -> Self {
        Self { decision, ..self }
    }

    /// How the sides of the arms are decided at the end.
    #[must_use]
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// Its name in results.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The algorithm and its parameters.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// How it is tuned from the true means, if it is.
    #[must_use]
    pub fn oracle(&self) -> Option<Oracle> {
        self.oracle
    }

    /// Whether one trajectory serves all budgets. The exploration of UCB-E depends on T, so every budget needs its own, as it does for a rule
    /// that [plans](cutline::Algorithm::needs_horizon) for T.
    #[must_use]
    pub fn is_anytime(&self) -> bool {
        matches!(self.oracle, None | Some(Oracle::Gamma { .. } | Oracle::Allocation))
            && !self.spec.algorithm().needs_horizon
    }

    /// A learner for `instance`.
    ///
    /// # Errors
    /// If the algorithm cannot work with the instance or the budget.
    pub fn learner(&self, instance: &Instance, budget: u32, seed: u64) -> Result<Box<dyn AskTell>, SpecError> {
        self.tuned(instance, budget)?.learner(instance.arms(), instance.question(), budget, seed)
    }

    /// A learner for a run, with the entrant's name in the error.
    pub(crate) fn run_learner(
        &self,
        instance: &Instance,
        budget: u32,
        seed: u64,
    ) -> Result<Box<dyn AskTell>, RunError> {
        self.learner(instance, budget, seed).map_err(|error| RunError::Algorithm { label: self.label().into(), error })
    }

    /// A batch of runs, one per instance, up to the last of `budgets`; `None` where the algorithm or the instances do not
    /// support it, see [`Spec::batch`].
    #[must_use]
    pub fn batch(&self, instances: &[&Instance], budgets: &[u32]) -> Option<BatchLearner> {
        if self.oracle == Some(Oracle::Allocation) || self.decision != Decision::Separate {
            return None;
        }
        let budget = *budgets.last()?;
        let tuned = instances.iter().map(|instance| self.tuned(instance, budget).ok());
        let tuned: Vec<Cow<'_, Spec>> = tuned.collect::<Option<_>>()?;
        let specs: Vec<&Spec> = tuned.iter().map(|spec| &**spec).collect();
        let arms: Vec<_> = instances.iter().map(|instance| instance.arms()).collect();
        let questions: Vec<_> = instances.iter().map(|instance| instance.question()).collect();
        Spec::batch(&specs, &arms, &questions)
    }

    /// The γ that it uses on this instance, if that follows from the true means.
    pub(crate) fn optimal_gamma(&self, instance: &Instance) -> Option<OptimalGamma> {
        let Some(Oracle::Gamma { noise }) = self.oracle else { return None };
        let alpha = self.spec.values().find(|(name, _)| *name == "alpha").map_or(0.0, |(_, alpha)| alpha);
        OptimalGamma::new(instance, noise, alpha)
    }

    /// The spec, tuned for this instance.
    fn tuned(&self, instance: &Instance, budget: u32) -> Result<Cow<'_, Spec>, SpecError> {
        match self.oracle {
            None => Ok(Cow::Borrowed(&self.spec)),
            Some(Oracle::Gamma { .. }) => match self.optimal_gamma(instance) {
                Some(optimal) => self.spec.clone().with_regularisation(optimal.gamma).map(Cow::Owned),
                None => Ok(Cow::Borrowed(&self.spec)),
            },
            Some(Oracle::Allocation) => Ok(Cow::Owned(tracking::tuned(&self.spec, instance))),
            Some(oracle) => {
                let exploration = oracle.exploration(instance, budget);
                self.spec.clone().with_oracle_exploration(exploration).map(Cow::Owned)
            }
        }
    }
}

impl Oracle {
    /// UCB-E's a for a budget of T. It is 0 for T ≤ K, and where something else is computed.
    #[must_use]
    pub fn exploration(self, instance: &Instance, budget: u32) -> f64 {
        let spare = (f64::from(budget) - instance.arms().n_arms() as f64).max(0.0);
        let a = match self {
            Self::AsSpecified { exponent } => 4.0_f64.powf(exponent) * spare / complexity(instance),
            Self::AsPublished => spare / complexity_as_published(instance),
            Self::Gamma { .. } | Self::Allocation => 0.0,
        };
        // H or H′ may be 0 or ∞, with all means far away, or with ε = 0 and a mean at τ.
        if a.is_nan() { 0.0 } else { a.min(f64::MAX) }
    }
}

/// The spec with the noise scale of the experiment, if its algorithm takes one.
pub(crate) fn with_noise(spec: Spec, noise: &ExperimentNoise) -> Result<Spec, SpecError> {
    spec.with_noise_scale(noise.scale())
}

/// A stop in addition to the budget.
#[derive(Clone, Debug)]
pub(crate) enum ExtraStop {
    Confidence(ConfidenceStop),
    Custom(NamedStop),
}

/// The spec with a stop in addition to the budget, and with the δ of a confidence stop if its rule takes one.
pub(crate) fn with_stop(spec: Spec, stop: Option<&ExtraStop>) -> Result<Spec, SpecError> {
    match stop {
        None => Ok(spec),
        Some(ExtraStop::Confidence(stop)) => Ok(spec.with_delta(stop.delta())?.with_confidence_stop(*stop)),
        Some(ExtraStop::Custom(stop)) => Ok(spec.with_custom_stop(stop.clone())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Threshold;

    /// Means ½ and −¼, τ = ⅛: both lie ⅜ from it.
    fn two_arms(precision: f64) -> Instance {
        Instance::unstructured(vec![0.5, -0.25], Threshold::Value(0.125), precision).unwrap()
    }

    /// With ε = ⅛ both gaps are ½, so H = 2·4, and |μ − τ|/ε = 3, so H′ = 2/9.
    #[test]
    fn exploration_as_computed_by_hand() {
        let instance = two_arms(0.125);
        assert_eq!(complexity(&instance), 8.0);
        assert!((complexity_as_published(&instance) - 2.0 / 9.0).abs() < 1e-15);
        for (exponent, a) in [(-1.0, 0.25), (0.0, 1.0), (4.0, 256.0), (0.5, 2.0)] {
            assert_eq!(Oracle::AsSpecified { exponent }.exploration(&instance, 10), a, "4^{exponent} (10 − 2)/8");
        }
        assert!((Oracle::AsPublished.exploration(&instance, 10) - 36.0).abs() < 1e-12, "(10 − 2)/(2/9)");
    }

    #[test]
    fn exploration_is_0_without_pulls_beyond_the_opening() {
        for oracle in [Oracle::AsPublished, Oracle::AsSpecified { exponent: 4.0 }] {
            for (precision, budget) in [(0.125, 2), (0.125, 1), (0.0, 2)] {
                assert_eq!(oracle.exploration(&two_arms(precision), budget), 0.0, "{oracle:?}, ε = {precision}");
            }
        }
    }

    /// H′ = 0 at ε = 0; 4^1000 is infinite; H is infinite if ε = 0 and a mean lies at τ.
    #[test]
    fn exploration_is_finite_for_any_complexity() {
        assert_eq!(Oracle::AsPublished.exploration(&two_arms(0.0), 10), f64::MAX);
        assert_eq!(Oracle::AsSpecified { exponent: 1000.0 }.exploration(&two_arms(0.0), 10), f64::MAX);
        let at_threshold = Instance::unstructured(vec![0.0, 1.0], Threshold::Value(0.0), 0.0).unwrap();
        assert_eq!(Oracle::AsSpecified { exponent: 0.0 }.exploration(&at_threshold, 10), 0.0);
    }
}
