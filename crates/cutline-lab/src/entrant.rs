//! An algorithm that takes part in an experiment.

use crate::theory::{complexity, complexity_as_published};
use crate::{Instance, Noise};
use cutline::{AskTell, Spec, SpecError};

/// An algorithm that takes part in an experiment: its spec, its label, and what it is told of the truth.
#[derive(Clone, Debug)]
pub struct Entrant {
    label: String,
    spec: Spec,
    oracle: Option<Oracle>,
}

/// How UCB-E's exploration a is set from the truth.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Oracle {
    /// a = 4ⁱ (T − K)/H, as the paper says.
    AsSpecified {
        /// i.
        exponent: f64,
    },
    /// a = (T − K)/H′, as the code behind the published numbers has it; i is ignored.
    AsPublished,
}

impl Entrant {
    /// An entrant called `label`. Its `noise`, if it takes one and none was given, is to be set in the spec already.
    #[must_use]
    pub fn new(label: String, spec: Spec, oracle: Option<Oracle>) -> Self {
        Self { label, spec, oracle }
    }

    /// What it is called in results.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The algorithm and its parameters.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// What it is told of the truth.
    #[must_use]
    pub fn oracle(&self) -> Option<Oracle> {
        self.oracle
    }

    /// Whether one trajectory serves all budgets. What is told of the truth depends on T, so an oracle needs one each.
    #[must_use]
    pub fn is_anytime(&self) -> bool {
        self.oracle.is_none()
    }

    /// A learner for `instance`.
    ///
    /// # Errors
    /// If the algorithm cannot work with the instance or the budget.
    pub fn learner(&self, instance: &Instance, budget: u32, seed: u64) -> Result<Box<dyn AskTell>, SpecError> {
        let build = |spec: &Spec| spec.learner(instance.arms(), instance.question(), budget, seed);
        match self.oracle {
            None => build(&self.spec),
            Some(oracle) => build(&self.spec.clone().with("exploration", oracle.exploration(instance, budget))?),
        }
    }
}

impl Oracle {
    /// a for a budget of T. It is 0 for T ≤ K.
    #[must_use]
    pub fn exploration(self, instance: &Instance, budget: u32) -> f64 {
        let spare = (f64::from(budget) - instance.arms().n_arms() as f64).max(0.0);
        let a = match self {
            Self::AsSpecified { exponent } => 4.0_f64.powf(exponent) * spare / complexity(instance),
            Self::AsPublished => spare / complexity_as_published(instance),
        };
        // H or H′ may be 0 or ∞, with all means far away, or with ε = 0 and a mean at τ.
        if a.is_nan() { 0.0 } else { a.min(f64::MAX) }
    }
}

/// Gives a spec the experiment's noise scale, if its algorithm takes one.
pub(crate) fn with_noise(spec: Spec, noise: Noise) -> Result<Spec, SpecError> {
    if spec.parameters().any(|p| p.name == "noise") { spec.with("noise", noise.scale()) } else { Ok(spec) }
}
