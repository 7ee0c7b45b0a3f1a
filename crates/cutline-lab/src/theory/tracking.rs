//! The oracle: pulls arms in the proportions that are best for the true means, which only simulations know.

use crate::{Allocation, Instance};
use cutline::rules::{Choice, CustomRule, NamedRule, RuleContext};
use cutline::{Rng, Spec};
use std::sync::Arc;

/// The oracle in listings and in experiment files: its name, what it does, and where it comes from.
pub const ORACLE: (&str, &str, &str) = (
    "oracle",
    "pulls arms in the proportions of the best sequential test; they depend on the true means, so it plays in simulations only",
    "Garivier & Kaufmann 2016, D-tracking, of the allocation of Degenne, Ménard, Shang & Valko 2020",
);

/// Every arm once, then arg minᵢ Tᵢ − t wᵢ after t pulls, for given proportions w (Garivier & Kaufmann 2016, D-tracking). Ties go to the first arm.
struct Tracking(Arc<[f64]>);

impl CustomRule for Tracking {
    fn opens_with_every_arm(&self) -> bool {
        true
    }

    fn choose(&mut self, context: &mut dyn RuleContext, _: &mut Rng) -> Choice {
        let pulls = context.pulls();
        let total: f64 = pulls.iter().map(|&n| f64::from(n)).sum();
        cutline::arg_min(pulls, &self.0, |n, share| f64::from(n) - total * share).into()
    }
}

/// The oracle before it is tuned to an instance: with ridge, or with another estimator.
#[must_use]
pub fn oracle_spec() -> Spec {
    Spec::custom(tracking([].into()))
}

/// The oracle for an instance, by its [`Allocation`]: with the features if the estimator uses them. Where that does not exist, because a mean lies at
/// τ and ε = 0, all proportions are the same.
pub(crate) fn tuned(spec: &Spec, instance: &Instance) -> Spec {
    let n_arms = instance.arms().n_arms();
    // The proportions do not depend on σ.
    let allocation = if spec.estimator() == cutline::EstimatorKind::SampleMean {
        Allocation::without_features(instance, 1.0)
    } else {
        Allocation::new(instance, 1.0)
    };
    let proportions =
        allocation.map_or_else(|| vec![1.0 / n_arms as f64; n_arms].into(), |allocation| allocation.weights().into());
    spec.clone().with_custom_rule(tracking(proportions))
}

fn tracking(proportions: Arc<[f64]>) -> NamedRule {
    NamedRule::new(ORACLE.0, move || Box::new(Tracking(Arc::clone(&proportions)))).expect("a valid name")
}
