//! Builds learners from a rule and the other parts of a spec.

use super::{Algorithm, EstimatorKind, SpecError};
use crate::estimators::{
    Centred, DesignEstimator, DesignedRidge, Estimator, Isotonic, Mixed, MixedSettings, NamedEstimator, PhasedRidge,
    Ridge, RidgeError, SampleMean, VarianceEstimator,
};
use crate::rules::{CustomRuleAdapter, Exploring, Index, Indexed, Lse, NamedRule, PullVariances, Rule, TAdaptive};
use crate::stop::CustomStop;
use crate::{Arms, AskTell, Budget, ConfidenceStop, Either, Learner, NamedStop, Problem, Question, Stop, StopWidth};
use std::error::Error;

// A rule by name is compiled for an estimator behind a pointer: once, and not once per estimator.
type AnyEstimator = Box<dyn Estimator + Send>;
type AnyVarianceEstimator = Box<dyn VarianceEstimator + Send>;
type AnyDesignEstimator = Box<dyn DesignEstimator + Send>;
type AnyPullVariances = Box<dyn PullVariances + Send>;

/// Everything that a learner is built from except the rule.
pub(super) struct LearnerBuilder<'a> {
    pub(super) arms: &'a Arms,
    pub(super) question: Question,
    pub(super) budget: Budget,
    /// The number of pulls for which a rule [plans](Algorithm::needs_horizon) its choices.
    pub(super) horizon: u32,
    pub(super) confidence_stop: Option<ConfidenceStop>,
    pub(super) seed: u64,
    pub(super) algorithm: &'static Algorithm,
    pub(super) custom_rule: Option<&'a NamedRule>,
    pub(super) custom_estimator: Option<&'a NamedEstimator>,
    pub(super) custom_stop: Option<&'a NamedStop>,
    /// σ, for custom parts.
    pub(super) noise: f64,
    pub(super) estimator: EstimatorKind,
    /// The parameters of the estimator.
    pub(super) parameters: &'a [f64],
}

impl LearnerBuilder<'_> {
    /// The width of the confidence stop, if there is one.
    pub(super) fn stop_width(&self) -> Option<StopWidth> {
        let lambda = (self.estimator == EstimatorKind::Ridge).then(|| ridge_parameters(self.parameters)[0]);
        self.confidence_stop.map(|stop| StopWidth::new(&stop, self.arms, lambda))
    }

    /// For an index, which works with any estimator.
    pub(super) fn index(&self, index: impl Index + Send + 'static) -> Result<Box<dyn AskTell>, SpecError> {
        self.any(Indexed::new(index, self.arms.n_arms()))
    }

    /// For a rule that works with any estimator.
    pub(super) fn any<R: Rule<AnyEstimator> + Send + 'static>(&self, rule: R) -> Result<Box<dyn AskTell>, SpecError> {
        match self.estimator {
            EstimatorKind::SampleMean => self.learner::<_, AnyEstimator>(rule, Box::new(SampleMean::new(self.arms))),
            EstimatorKind::Isotonic => self.learner::<_, AnyEstimator>(rule, Box::new(Isotonic::new(self.arms))),
            EstimatorKind::Ridge => {
                let ridge = self.ridge_estimator(Ridge::new)?;
                match self.centre() {
                    None => self.learner::<_, AnyEstimator>(rule, Box::new(ridge)),
                    Some(centre) => self.learner::<_, AnyEstimator>(rule, Box::new(Centred::new(ridge, centre)?)),
                }
            }
            EstimatorKind::Mixed => self.learner::<_, AnyEstimator>(rule, self.mixed()?),
            EstimatorKind::Custom { .. } => self.learner::<_, AnyEstimator>(rule, self.custom_estimator()?),
        }
    }

    /// For a rule that needs variances. The algorithm declares it: [`Algorithm::needs_variances`].
    pub(super) fn with_variances<R>(&self, rule: R) -> Result<Box<dyn AskTell>, SpecError>
    where
        R: Rule<AnyVarianceEstimator> + Send + 'static,
    {
        match self.estimator {
            EstimatorKind::Ridge => self.learner::<_, AnyVarianceEstimator>(rule, self.designed_ridge()?),
            EstimatorKind::Mixed => self.learner::<_, AnyVarianceEstimator>(rule, self.mixed()?),
            _ => match self.custom_variance_estimator()? {
                Some(estimator) => self.learner::<_, AnyVarianceEstimator>(rule, estimator),
                None => Err(SpecError::NeedsVariances { rule: self.algorithm.rule, estimator: self.estimator_name() }),
            },
        }
    }

    /// For a rule that needs variances, other designs and a σ that does not change. The algorithm declares it:
    /// [`Algorithm::needs_fixed_noise`].
    pub(super) fn with_designs<R>(&self, rule: R) -> Result<Box<dyn AskTell>, SpecError>
    where
        R: Rule<AnyDesignEstimator> + Send + 'static,
    {
        self.refuse_all_but_ridge()?;
        self.learner(rule, self.designed_ridge()?)
    }

    /// For [`TAdaptive`], whose phases need an estimator of their own. The algorithm declares it: [`Algorithm::needs_fixed_noise`].
    pub(super) fn phased(&self, noise: f64, delta: f64) -> Result<Box<dyn AskTell>, SpecError> {
        self.refuse_all_but_ridge()?;
        let [lambda, centre, intercept] = *ridge_parameters(self.parameters);
        let arms = if intercept == 0.0 { self.arms.clone() } else { self.arms.with_intercept(intercept)? };
        let rule = TAdaptive::new(arms.n_arms(), arms.dimension().unwrap_or(1), noise, delta)?;
        let ridge = PhasedRidge::new(&arms, lambda)?;
        if centre == 0.0 {
            self.settled_by(rule.clone(), rule, ridge)
        } else {
            self.settled_by(rule.clone(), rule, Centred::new(ridge, centre * self.question.threshold())?)
        }
    }

    /// For the custom rule of the spec.
    pub(super) fn custom(&self, noise: f64) -> Result<Box<dyn AskTell>, SpecError> {
        let rule = self.custom_rule.expect("a spec with a custom rule").make();
        if rule.opens_with_every_arm() {
            self.any_with_variances(CustomRuleAdapter::<true>::new(rule, noise))
        } else {
            self.any_with_variances(CustomRuleAdapter::<false>::new(rule, noise))
        }
    }

    /// For a rule that works with any estimator, and uses variances also where they follow from the pulls alone.
    fn any_with_variances<R>(&self, rule: R) -> Result<Box<dyn AskTell>, SpecError>
    where
        R: Rule<AnyPullVariances> + Send + 'static,
    {
        match self.estimator {
            EstimatorKind::SampleMean => {
                self.learner::<_, AnyPullVariances>(rule, Box::new(SampleMean::new(self.arms)))
            }
            EstimatorKind::Isotonic => self.learner::<_, AnyPullVariances>(rule, Box::new(Isotonic::new(self.arms))),
            EstimatorKind::Ridge => self.learner::<_, AnyPullVariances>(rule, Box::new(self.designed_ridge()?)),
            EstimatorKind::Mixed => self.learner::<_, AnyPullVariances>(rule, self.mixed()?),
            EstimatorKind::Custom { .. } => {
                let estimator: AnyPullVariances = match self.custom_variance_estimator()? {
                    Some(estimator) => Box::new(estimator),
                    None => Box::new(self.custom_estimator()?),
                };
                self.learner(rule, estimator)
            }
        }
    }

    /// Fails unless the estimator is ridge, for rules that need variances and a σ that does not change.
    fn refuse_all_but_ridge(&self) -> Result<(), SpecError> {
        if self.estimator == EstimatorKind::Ridge {
            return Ok(());
        }
        let (rule, estimator) = (self.algorithm.rule, self.estimator_name());
        Err(if !self.estimator.has_variances() {
            SpecError::NeedsVariances { rule, estimator }
        } else if self.estimator.learns_noise() {
            SpecError::NeedsFixedNoise { rule, estimator }
        } else {
            SpecError::NeedsRidge { rule, estimator }
        })
    }

    /// Ridge with variances, centred and with an intercept as its parameters say.
    fn designed_ridge(&self) -> Result<AnyDesignEstimator, SpecError> {
        let ridge = self.ridge_estimator(DesignedRidge::new)?;
        Ok(match self.centre() {
            None => Box::new(ridge),
            Some(centre) => Box::new(Centred::new(ridge, centre)?),
        })
    }

    /// Ridge, with an intercept if its parameters say so.
    fn ridge_estimator<E>(&self, new: impl Fn(&Arms, f64) -> Result<E, RidgeError>) -> Result<E, SpecError> {
        let [lambda, _, intercept] = *ridge_parameters(self.parameters);
        let arms = if intercept == 0.0 { self.arms.clone() } else { self.arms.with_intercept(intercept)? };
        Ok(new(&arms, lambda)?)
    }

    /// What ridge measures the rewards from; `None` if it takes them as they are.
    fn centre(&self) -> Option<f64> {
        let [_, centre, _] = *ridge_parameters(self.parameters);
        (centre != 0.0).then(|| centre * self.question.threshold())
    }

    /// For [`Lse`], which needs variances and a σ that does not change. The algorithm declares it: [`Algorithm::needs_fixed_noise`].
    pub(super) fn lse(&self, noise: f64, beta: f64, delta: f64) -> Result<Box<dyn AskTell>, SpecError> {
        self.refuse_all_but_ridge()?;
        let mut ridge = self.designed_ridge()?;
        let lse = Lse::new(noise, beta, delta, &mut ridge)?;
        self.settled_by(lse.clone(), lse, ridge)
    }

    /// The name of the estimator, for errors.
    fn estimator_name(&self) -> String {
        self.custom_estimator.map_or(self.estimator.name(), NamedEstimator::name).into()
    }

    /// What custom parts are made for.
    fn problem(&self) -> Problem<'_> {
        Problem { arms: self.arms, question: self.question, noise: self.noise }
    }

    fn custom_estimator(&self) -> Result<AnyEstimator, SpecError> {
        let named = self.custom_estimator.expect("a spec with a custom estimator");
        made(named.name(), named.make(&self.problem()))
    }

    /// The custom estimator, if there is one and it has variances.
    fn custom_variance_estimator(&self) -> Result<Option<AnyVarianceEstimator>, SpecError> {
        let Some(named) = self.custom_estimator else { return Ok(None) };
        named.make_with_variances(&self.problem()).map(|estimator| made(named.name(), estimator)).transpose()
    }

    fn custom_stop(&self) -> Result<Option<CustomStop>, SpecError> {
        self.custom_stop.map(|named| made(named.name(), named.make(&self.problem()))).transpose()
    }

    fn mixed(&self) -> Result<Box<Mixed>, SpecError> {
        let (settings, _) = mixed_settings(self.parameters);
        Ok(Box::new(Mixed::new(self.arms, self.question, &settings, self.seed)?))
    }

    /// For a rule on sample means and a stop that settles arms; the budget, and a confidence stop if there is one, end it too. The algorithm
    /// declares it: [`Algorithm::needs_sample_means`].
    pub(super) fn settling<R, S>(&self, rule: R, stop: S) -> Result<Box<dyn AskTell>, SpecError>
    where
        R: Rule<SampleMean> + Send + 'static,
        S: Stop<SampleMean> + Send + 'static,
    {
        if self.estimator != EstimatorKind::SampleMean {
            let (rule, estimator) = (self.algorithm.rule, self.estimator_name());
            return Err(SpecError::NeedsSampleMeans { rule, estimator });
        }
        self.settled_by(rule, stop, SampleMean::new(self.arms))
    }

    /// With a stop that settles arms, in addition to the budget and the confidence stop.
    fn settled_by<R, S, E>(&self, rule: R, stop: S, estimator: E) -> Result<Box<dyn AskTell>, SpecError>
    where
        R: Rule<E> + Send + 'static,
        S: Stop<E> + Send + 'static,
        E: Estimator + Send + 'static,
    {
        let stop = Either(Either(stop, Either(self.confidence_stop, self.custom_stop()?)), self.budget);
        let learner = Learner::new(rule, estimator, stop, self.question, self.seed)?;
        Ok(Box::new(learner.with_costs(self.arms.measurement_costs().cloned())))
    }

    fn learner<R, E>(&self, rule: R, estimator: E) -> Result<Box<dyn AskTell>, SpecError>
    where
        R: Rule<E> + Send + 'static,
        E: Estimator + Send + 'static,
    {
        // A custom rule sees the σ of each moment, which is the same when the rewards are told again in order.
        if self.estimator.learns_noise() && rule.learns() && self.custom_rule.is_none() {
            return Err(SpecError::NeedsFixedNoise { rule: self.algorithm.rule, estimator: self.estimator_name() });
        }
        // Among no arms none is explored, so that one type of rule serves all estimators.
        let explores = self.estimator == EstimatorKind::Mixed && mixed_settings(self.parameters).1;
        let rule = Exploring::new(rule, if explores { self.arms.n_arms() } else { 0 }, self.seed);
        let stop = Either(Either(self.confidence_stop, self.custom_stop()?), self.budget);
        let learner = Learner::new(rule, estimator, stop, self.question, self.seed)?;
        Ok(Box::new(learner.with_costs(self.arms.measurement_costs().cloned())))
    }
}

/// What custom code has made, or why it did not.
fn made<T>(name: &str, result: Result<T, Box<dyn Error + Send + Sync>>) -> Result<T, SpecError> {
    result.map_err(|error| SpecError::Custom { name: name.into(), reason: error.to_string() })
}

/// λ, the centre and the intercept, in the order of [`EstimatorKind::parameters`].
pub(super) fn ridge_parameters(values: &[f64]) -> &[f64; 3] {
    values.try_into().expect("the parameters of ridge")
}

/// The settings of the mixed model and whether to explore, from numbers in the order of [`EstimatorKind::parameters`]. Whole numbers are
/// rounded.
fn mixed_settings(values: &[f64]) -> (MixedSettings, bool) {
    let [landmarks, length, additive, linear, smooth, own, noise, explore] = *values else {
        unreachable!("the parameters of the mixed model")
    };
    let is_on = |value: f64| value >= 0.5;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "its range has no negative numbers")]
    let landmarks = landmarks.round() as usize;
    let settings = MixedSettings {
        linear: is_on(linear),
        smooth: is_on(smooth),
        own: is_on(own),
        landmarks,
        length,
        additive,
        known_noise: (noise != 0.0).then_some(noise),
        ..MixedSettings::default()
    };
    (settings, is_on(explore))
}
