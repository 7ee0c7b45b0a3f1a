//! Algorithms by name: the only place where names become types.

mod algorithm;
mod algorithms;
mod builder;
#[cfg(test)]
mod contributing;
mod error;
mod group;
mod parameter;

pub use algorithm::Algorithm;
pub use algorithms::{ALGORITHMS, algorithm};
pub use error::SpecError;
pub use parameter::{EstimatorKind, Parameter, ParameterRole};

use crate::estimators::NamedEstimator;
use crate::rules::NamedRule;
use crate::{Arms, AskTell, Budget, ConfidenceStop, NamedStop, Question, Range};
use algorithm::CUSTOM;
use builder::LearnerBuilder;
use error::quoted;

/// A named algorithm with its parameters, ready to build learners.
///
/// ```
/// use cutline::{Arms, Question, Spec};
///
/// let spec = Spec::named("linear-apt")?.with("lambda", 0.1)?;
/// let arms = Arms::from_rows(&[[1.0], [-1.0]])?;
/// let mut learner = spec.learner(&arms, Question::new(0.0, 0.01)?, 10, 0)?;
/// assert_eq!(learner.ask(), Some(0));
/// assert!(Spec::named("linear-apt")?.with("exploration", 1.0).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Spec {
    algorithm: &'static Algorithm,
    estimator: EstimatorKind,
    /// One entry per [parameter](Spec::parameters), in their order.
    values: Vec<Option<f64>>,
    confidence_stop: Option<ConfidenceStop>,
    custom_rule: Option<NamedRule>,
    custom_estimator: Option<NamedEstimator>,
    custom_stop: Option<NamedStop>,
    /// σ, for custom parts.
    noise: f64,
}

impl Spec {
    /// The algorithm `name` with its default parameters.
    ///
    /// # Errors
    /// If there is no such algorithm.
    pub fn named(name: &str) -> Result<Self, SpecError> {
        let algorithm = algorithm(name).ok_or_else(|| SpecError::Unknown(name.into()))?;
        Ok(Self::of(algorithm, algorithm.estimator))
    }

    fn of(algorithm: &'static Algorithm, estimator: EstimatorKind) -> Self {
        let parameters = algorithm.rule_parameters.iter().chain(algorithm.estimator_parameters(estimator));
        let values = parameters.map(|parameter| parameter.default).collect();
        Self {
            algorithm,
            estimator,
            values,
            confidence_stop: None,
            custom_rule: None,
            custom_estimator: None,
            custom_stop: None,
            noise: 1.0,
        }
    }

    /// A custom rule with ridge, or with [sample means](Spec::with_estimator). Its parameters are `noise` and those of its estimator.
    ///
    /// ```
    /// use cutline::rules::{Choice, CustomRule, NamedRule, RuleContext};
    /// use cutline::{Arms, Question, Rng, Spec};
    ///
    /// struct LeastPulled;
    ///
    /// impl CustomRule for LeastPulled {
    ///     fn choose(&mut self, context: &mut dyn RuleContext, _: &mut Rng) -> Choice {
    ///         let least_pulled = (0..context.pulls().len()).min_by_key(|&arm| context.pulls()[arm]);
    ///         least_pulled.map_or(Choice::Done, Choice::Pull)
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let spec = Spec::custom(NamedRule::new("least-pulled", || Box::new(LeastPulled))?);
    /// let arms = Arms::from_rows(&[[1.0], [-1.0]])?;
    /// let mut learner = spec.learner(&arms, Question::new(0.0, 0.01)?, 10, 0)?;
    /// assert_eq!([learner.ask(), learner.ask(), learner.ask()], [Some(0), Some(1), Some(0)]);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn custom(rule: NamedRule) -> Self {
        Self { custom_rule: Some(rule), ..Self::of(&CUSTOM, CUSTOM.estimator) }
    }

    /// The same with another custom rule.
    ///
    /// # Panics
    /// If its rule is not a custom one.
    #[must_use]
    pub fn with_custom_rule(self, rule: NamedRule) -> Self {
        assert!(self.custom_rule.is_some(), "`{}` is not a custom rule", self.name());
        Self { custom_rule: Some(rule), ..self }
    }

    /// The name of its algorithm or of its custom rule.
    #[must_use]
    pub fn name(&self) -> &str {
        self.custom_rule.as_ref().map_or(self.algorithm.name, NamedRule::name)
    }

    /// The same with another estimator, by name; the estimator's parameters are at their defaults.
    ///
    /// # Errors
    /// If there is no such estimator, the rule needs variances and the estimator has none, or the rule needs a σ that does not change and
    /// the estimator learns it.
    pub fn with_estimator(self, name: &str) -> Result<Self, SpecError> {
        self.estimating(EstimatorKind::named(name)?, None)
    }

    /// The same with a custom estimator, which experiment files and results know by its name.
    ///
    /// # Errors
    /// If the rule needs variances and the estimator has none, the rule needs a σ that does not change and the estimator learns it, or the rule
    /// works with one of the built-in estimators only.
    pub fn with_custom_estimator(self, estimator: NamedEstimator) -> Result<Self, SpecError> {
        self.estimating(estimator.kind(), Some(estimator))
    }

    fn estimating(self, estimator: EstimatorKind, custom: Option<NamedEstimator>) -> Result<Self, SpecError> {
        let name = custom.as_ref().map_or(estimator.name(), NamedEstimator::name);
        self.algorithm.check_estimator(estimator, name)?;
        let mut values = Self::of(self.algorithm, estimator).values;
        let n_rule = self.algorithm.rule_parameters.len();
        values[..n_rule].copy_from_slice(&self.values[..n_rule]);
        Ok(Self { estimator, values, custom_estimator: custom, ..self })
    }

    /// The same with `parameter` set to `value`.
    ///
    /// # Errors
    /// If the algorithm takes no such parameter, or the value is out of range.
    pub fn with(mut self, parameter: &str, value: f64) -> Result<Self, SpecError> {
        let Some((position, known)) = self.parameters().enumerate().find(|(_, p)| p.name == parameter) else {
            return Err(SpecError::UnknownParameter {
                algorithm: self.algorithm.name,
                parameter: parameter.into(),
                takes: quoted(self.parameters().map(|p| p.name)),
            });
        };
        if !known.range.contains(value) {
            return Err(SpecError::OutOfRange { parameter: *known, value });
        }
        self.values[position] = Some(value);
        Ok(self)
    }

    /// Sets σ for the algorithm, if it takes it, and for custom estimators and stops.
    ///
    /// # Errors
    /// If the algorithm takes σ and it is out of range.
    pub fn with_noise_scale(self, noise: f64) -> Result<Self, SpecError> {
        Self { noise, ..self }.with_role(ParameterRole::NoiseScale, noise)
    }

    /// Sets δ; no effect if the algorithm has none.
    ///
    /// # Errors
    /// If δ is out of range.
    pub fn with_delta(self, delta: f64) -> Result<Self, SpecError> {
        self.with_role(ParameterRole::Confidence, delta)
    }

    /// Sets UCB-E's a; no effect with other algorithms.
    ///
    /// # Errors
    /// If a is out of range.
    pub fn with_oracle_exploration(self, exploration: f64) -> Result<Self, SpecError> {
        self.with_role(ParameterRole::OracleExploration, exploration)
    }

    /// Sets ridge's λ; no effect with other estimators.
    ///
    /// # Errors
    /// If λ is out of range.
    pub fn with_regularisation(self, lambda: f64) -> Result<Self, SpecError> {
        self.with_role(ParameterRole::Regularisation, lambda)
    }

    /// Lets ridge shrink the means towards `centre` times τ; no effect with other estimators.
    ///
    /// # Errors
    /// If `centre` is out of range.
    pub fn with_centre(self, centre: f64) -> Result<Self, SpecError> {
        self.with_role(ParameterRole::Centre, centre)
    }

    /// Fixes σ for an estimator that would otherwise learn it from the rewards; no effect with other estimators.
    ///
    /// # Errors
    /// If σ is out of range.
    pub fn with_known_noise(self, noise: f64) -> Result<Self, SpecError> {
        self.with_role(ParameterRole::KnownNoise, noise)
    }

    /// Whether it takes a parameter of that role.
    #[must_use]
    pub fn takes(&self, role: ParameterRole) -> bool {
        self.parameters().any(|parameter| parameter.role == role)
    }

    fn with_role(self, role: ParameterRole, value: f64) -> Result<Self, SpecError> {
        match self.parameters().find(|parameter| parameter.role == role) {
            Some(parameter) => self.with(parameter.name, value),
            None => Ok(self),
        }
    }

    /// The same with a stop that may end before the budget is used up. [`Spec::learner`] refuses it for a rule that
    /// [starves arms](Algorithm::starves_arms).
    #[must_use]
    pub fn with_confidence_stop(self, stop: ConfidenceStop) -> Self {
        Self { confidence_stop: Some(stop), ..self }
    }

    /// The stop that may end before the budget is used up, if there is one.
    #[must_use]
    pub fn confidence_stop(&self) -> Option<ConfidenceStop> {
        self.confidence_stop
    }

    /// The same with a custom stop in addition to the budget, and to a confidence stop if there is one.
    #[must_use]
    pub fn with_custom_stop(self, stop: NamedStop) -> Self {
        Self { custom_stop: Some(stop), ..self }
    }

    /// The custom stop, if there is one.
    #[must_use]
    pub fn custom_stop(&self) -> Option<&NamedStop> {
        self.custom_stop.as_ref()
    }

    /// Its stops in words: `budget`, or for example `confidence or budget`.
    #[must_use]
    pub fn stop(&self) -> String {
        let confidence = self.confidence_stop.map(|_| "confidence");
        let names = [confidence, self.custom_stop.as_ref().map(NamedStop::name), Some("budget")];
        names.into_iter().flatten().collect::<Vec<_>>().join(" or ")
    }

    /// The algorithm.
    #[must_use]
    pub fn algorithm(&self) -> &'static Algorithm {
        self.algorithm
    }

    /// The estimator, by which callers choose words and bounds; for its name use [`estimator_name`](Spec::estimator_name).
    #[must_use]
    pub fn estimator(&self) -> EstimatorKind {
        self.estimator
    }

    /// The name of the estimator, built-in or custom.
    #[must_use]
    pub fn estimator_name(&self) -> &str {
        self.custom_estimator.as_ref().map_or(self.estimator.name(), NamedEstimator::name)
    }

    /// The parameters of its rule and of its estimator.
    pub fn parameters(&self) -> impl Iterator<Item = &'static Parameter> + use<> {
        self.algorithm.rule_parameters.iter().chain(self.algorithm.estimator_parameters(self.estimator))
    }

    /// The parameters that have a value, by name.
    pub fn values(&self) -> impl Iterator<Item = (&'static str, f64)> {
        self.parameters().zip(&self.values).filter_map(|(p, value)| Some((p.name, (*value)?)))
    }

    /// A learner before its first pull.
    ///
    /// # Errors
    /// If a parameter is missing, the algorithm needs features and the arms have none, the budget is 0, or it is below the number of arms
    /// and the rule opens with every arm, or there is a confidence stop and the rule [starves arms](Algorithm::starves_arms).
    pub fn learner(
        &self,
        arms: &Arms,
        question: Question,
        budget: u32,
        seed: u64,
    ) -> Result<Box<dyn AskTell>, SpecError> {
        self.check_stop(self.confidence_stop.is_some())?;
        self.learner_for(arms, question, budget, budget, seed)
    }

    /// Refuses a confidence stop for a rule that may never meet it.
    ///
    /// # Errors
    /// If there is such a stop and the rule [starves arms](Algorithm::starves_arms).
    pub fn check_stop(&self, has_confidence_stop: bool) -> Result<(), SpecError> {
        let starves = has_confidence_stop && self.algorithm.starves_arms;
        if starves { Err(SpecError::Starves { algorithm: self.algorithm.name }) } else { Ok(()) }
    }

    /// As [`learner`](Spec::learner), ending after `budget` pulls, for a rule that [plans](Algorithm::needs_horizon) for `horizon` pulls.
    /// It refuses no stop, because an earlier version may have begun a campaign with it.
    ///
    /// # Errors
    /// As [`learner`](Spec::learner), but for the stop.
    pub fn learner_for(
        &self,
        arms: &Arms,
        question: Question,
        budget: u32,
        horizon: u32,
        seed: u64,
    ) -> Result<Box<dyn AskTell>, SpecError> {
        let algorithm = self.algorithm;
        if self.estimator == EstimatorKind::Ridge && arms.dimension().is_none() {
            return Err(SpecError::NeedsFeatures { algorithm: algorithm.name });
        }
        let values = self.complete()?;
        let (rule, estimator) = values.split_at(algorithm.rule_parameters.len());
        let builder = LearnerBuilder {
            arms,
            question,
            budget: Budget::new(budget)?,
            horizon,
            confidence_stop: self.confidence_stop,
            seed,
            algorithm,
            custom_rule: self.custom_rule.as_ref(),
            custom_estimator: self.custom_estimator.as_ref(),
            custom_stop: self.custom_stop.as_ref(),
            noise: self.noise,
            estimator: self.estimator,
            parameters: estimator,
        };
        (algorithm.build)(&builder, rule)
    }

    /// The value of every parameter, those of the rule first.
    fn complete(&self) -> Result<Vec<f64>, SpecError> {
        let value = |(parameter, value): (&Parameter, &Option<f64>)| {
            value.ok_or(SpecError::Missing { algorithm: self.algorithm.name, parameter: *parameter })
        };
        self.parameters().zip(&self.values).map(value).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A learner can be built exactly where the declarations say that the rule works with the estimator.
    #[test]
    fn declared_needs_agree_with_what_can_be_built() {
        let arms = Arms::from_slice(&[1.0], 1).unwrap();
        let question = Question::new(0.0, 0.0).unwrap();
        for algorithm in ALGORITHMS {
            for &estimator in EstimatorKind::ALL {
                let spec = Spec::of(algorithm, estimator).with_oracle_exploration(1.0).unwrap();
                let built = spec.learner(&arms, question, 1, 0).map(|_| ());
                let expected = algorithm.check_estimator(estimator, estimator.name());
                assert_eq!(built, expected, "{} with {}", algorithm.name, estimator.name());
                let chosen = Spec::named(algorithm.name).unwrap().with_estimator(estimator.name()).map(|_| ());
                assert_eq!(chosen, expected, "{} with {}", algorithm.name, estimator.name());
            }
        }
    }
}
