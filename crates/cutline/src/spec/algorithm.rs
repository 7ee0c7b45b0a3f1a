//! A named algorithm: its rule and estimator, and what is known about it.

use super::SpecError;
use super::builder::LearnerBuilder;
use super::group::GroupBuilder;
use super::parameter::{CENTRED_RIDGE, EstimatorKind, NOISE, Parameter};
use crate::AskTell;
use crate::batch::RunGroup;

/// A named algorithm: a rule and an estimator, with a description. The stop is the budget, or what a spec
/// [adds](super::Spec::with_confidence_stop).
#[derive(Debug)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each answers one question about the algorithm")]
pub struct Algorithm {
    /// Its name in files, in JSON and on the command line.
    pub name: &'static str,
    /// What it does, in one line.
    pub about: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// The name of its rule.
    pub rule: &'static str,
    /// Its estimator, unless a spec has [another](super::Spec::with_estimator).
    pub estimator: EstimatorKind,
    /// Whether its rule works only with an estimator that [has variances](EstimatorKind::has_variances).
    pub needs_variances: bool,
    /// Whether its rule learns from every reward with the σ of that time, so that it refuses an estimator that
    /// [changes σ](EstimatorKind::learns_noise).
    pub needs_fixed_noise: bool,
    /// Whether its choices depend on the budget T, so that a run for one budget does not serve as a run for a smaller one.
    pub needs_horizon: bool,
    /// Whether its rule looks at the pulls of an arm as if nothing else was known about its mean, so that it works with the sample mean only.
    pub needs_sample_means: bool,
    /// Whether it [settles](crate::Settled) arms, so that it may end before its budget is used up.
    pub settles: bool,
    /// Whether ridge measures the rewards from τ, unless its `centre` says otherwise.
    pub is_centred: bool,
    /// Whether its rule may pull a few arms for ever and never decide the others, so that a confidence stop is refused.
    pub starves_arms: bool,
    /// Whether its rule weighs information by what a measurement [costs](crate::Arms::with_measurement_costs). Otherwise costs count
    /// towards the budget only.
    pub weighs_costs: bool,
    /// Whether its rule works with any Gaussian belief, so that a campaign gives it the mixed model rather than the estimator it was published with.
    pub takes_any_belief: bool,
    /// The name that its paper has for ridge's λ; experiment files may use it instead of `lambda`, and it may be `"optimal"` there, for the value
    /// that follows from the true means.
    pub lambda_in_paper: Option<&'static str>,
    pub(super) rule_parameters: &'static [Parameter],
    pub(super) build: Build,
    pub(super) batch: Option<BuildGroup>,
}

/// Builds a learner with the rule of these parameters.
type Build = fn(&LearnerBuilder<'_>, &[f64]) -> Result<Box<dyn AskTell>, SpecError>;

/// Builds a group of four runs; `None` if these runs cannot be played in a group.
type BuildGroup = fn(&GroupBuilder<'_>) -> Option<Box<dyn RunGroup>>;

/// What most algorithms have in common.
pub(super) const PLAIN: Algorithm = Algorithm {
    name: "",
    about: "",
    paper: "",
    rule: "",
    estimator: EstimatorKind::SampleMean,
    needs_variances: false,
    needs_fixed_noise: false,
    needs_horizon: false,
    needs_sample_means: false,
    settles: false,
    is_centred: false,
    starves_arms: false,
    weighs_costs: false,
    takes_any_belief: false,
    lambda_in_paper: None,
    rule_parameters: &[],
    build: |_, _| unreachable!("every algorithm has its own"),
    batch: None,
};

/// The algorithm of every spec with a custom rule. It is not listed.
pub(super) static CUSTOM: Algorithm = Algorithm {
    name: "own",
    about: "a custom rule",
    paper: "none",
    rule: "own",
    estimator: EstimatorKind::Ridge,
    rule_parameters: &[NOISE],
    build: |builder, parameters| builder.custom(parameters[0]),
    ..PLAIN
};

impl Algorithm {
    /// Whether its rule works with an estimator of this kind and name.
    pub(super) fn check_estimator(&self, kind: EstimatorKind, name: &str) -> Result<(), SpecError> {
        let (rule, estimator) = (self.rule, name.to_owned());
        if self.needs_sample_means && kind != EstimatorKind::SampleMean {
            Err(SpecError::NeedsSampleMeans { rule, estimator })
        } else if self.needs_variances && !kind.has_variances() {
            Err(SpecError::NeedsVariances { rule, estimator })
        } else if self.needs_fixed_noise && kind.learns_noise() {
            Err(SpecError::NeedsFixedNoise { rule, estimator })
        } else if self.needs_fixed_noise && matches!(kind, EstimatorKind::Custom { .. }) {
            Err(SpecError::NeedsRidge { rule, estimator })
        } else {
            Ok(())
        }
    }

    /// The parameters of its rule and of its default estimator.
    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> {
        self.rule_parameters.iter().chain(self.estimator_parameters(self.estimator))
    }

    /// The parameters of an estimator, with the defaults that this algorithm gives them.
    pub(super) fn estimator_parameters(&self, estimator: EstimatorKind) -> &'static [Parameter] {
        match estimator {
            EstimatorKind::Ridge if self.is_centred => CENTRED_RIDGE,
            estimator => estimator.parameters(),
        }
    }
}
