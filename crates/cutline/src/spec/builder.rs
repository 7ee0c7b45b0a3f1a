//! Where rules are put together with all else that a learner is made of.

use super::{Algorithm, EstimatorKind, SpecError};
use crate::estimators::{Centred, DesignedRidge, Estimator, Ridge, RidgeError, SampleMean};
use crate::quartet::{Alike, BatchLearner, index_in_step, pivot_in_step};
use crate::rules::{Index, Indexed, NamedRule, Pivot, Rule};
use crate::{Arms, AskTell, Budget, ConfidenceStop, Either, Learner, Question};

/// Where a rule is to be seated: everything else a learner is made of.
pub(super) struct LearnerBuilder<'a> {
    pub(super) arms: &'a Arms,
    pub(super) question: Question,
    pub(super) budget: Budget,
    pub(super) sure: Option<ConfidenceStop>,
    pub(super) seed: u64,
    pub(super) algorithm: &'static Algorithm,
    pub(super) own: Option<&'a NamedRule>,
    pub(super) estimate: EstimatorKind,
    pub(super) parameters: &'a [f64],
}

impl LearnerBuilder<'_> {
    /// For an index, which works with any estimator.
    pub(super) fn index(&self, index: impl Index + Send + 'static) -> Result<Box<dyn AskTell>, SpecError> {
        self.any(Indexed::new(index, self.arms.n_arms()))
    }

    /// For a rule that works with any estimator.
    pub(super) fn any<R>(&self, rule: R) -> Result<Box<dyn AskTell>, SpecError>
    where
        R: Rule<SampleMean> + Rule<Ridge> + Rule<Centred<Ridge>> + Send + 'static,
    {
        match self.estimate {
            EstimatorKind::SampleMean => self.learner(rule, SampleMean::new(self.arms)),
            EstimatorKind::Ridge => self.ridge(rule, Ridge::new),
        }
    }

    /// For a rule that looks at variances.
    pub(super) fn spread<R>(&self, rule: R) -> Result<Box<dyn AskTell>, SpecError>
    where
        R: Rule<DesignedRidge> + Rule<Centred<DesignedRidge>> + Send + 'static,
    {
        match self.estimate {
            EstimatorKind::Ridge => self.ridge(rule, DesignedRidge::new),
            estimator => Err(SpecError::NeedsVariances { rule: self.algorithm.rule, estimator }),
        }
    }

    /// For the rule of one's own.
    pub(super) fn own(&self, noise: f64) -> Result<Box<dyn AskTell>, SpecError> {
        let own = self.own.expect("a rule that came with the spec");
        if own.opens_with_every_arm() {
            self.related(own.seated::<true>(noise))
        } else {
            self.related(own.seated::<false>(noise))
        }
    }

    /// For a rule that works with any estimator that says how sure it is.
    fn related<R>(&self, rule: R) -> Result<Box<dyn AskTell>, SpecError>
    where
        R: Rule<SampleMean> + Rule<DesignedRidge> + Rule<Centred<DesignedRidge>> + Send + 'static,
    {
        match self.estimate {
            EstimatorKind::SampleMean => self.learner(rule, SampleMean::new(self.arms)),
            EstimatorKind::Ridge => self.ridge(rule, DesignedRidge::new),
        }
    }

    /// With ridge as its parameters have it.
    fn ridge<R, E>(
        &self,
        rule: R,
        new: impl Fn(&Arms, f64) -> Result<E, RidgeError>,
    ) -> Result<Box<dyn AskTell>, SpecError>
    where
        R: Rule<E> + Rule<Centred<E>> + Send + 'static,
        E: Estimator + Send + 'static,
    {
        let [lambda, centre, intercept] = *ridge_parameters(self.parameters);
        let ridge = if intercept == 0.0 {
            new(self.arms, lambda)?
        } else {
            new(&self.arms.with_intercept(intercept)?, lambda)?
        };
        if centre == 0.0 {
            self.learner(rule, ridge)
        } else {
            self.learner(rule, Centred::new(ridge, centre * self.question.threshold())?)
        }
    }

    fn learner<R, E>(&self, rule: R, estimator: E) -> Result<Box<dyn AskTell>, SpecError>
    where
        R: Rule<E> + Send + 'static,
        E: Estimator + Send + 'static,
    {
        let Self { question, budget, sure, seed, .. } = *self;
        Ok(match sure {
            None => Box::new(Learner::new(rule, estimator, budget, question, seed)?),
            Some(sure) => Box::new(Learner::new(rule, estimator, Either(sure, budget), question, seed)?),
        })
    }
}

/// λ, the centre and the intercept, in the order of [`EstimatorKind::parameters`].
pub(super) fn ridge_parameters(values: &[f64]) -> &[f64; 3] {
    values.try_into().expect("the parameters of ridge")
}

/// As [`LearnerBuilder`], for four in step.
pub(super) struct Four<'a> {
    pub(super) arms: [&'a Arms; 4],
    pub(super) questions: [Question; 4],
    pub(super) lambda: f64,
}

impl Four<'_> {
    pub(super) fn index(&self, index: [impl Index + Send + 'static; 4]) -> Option<Box<dyn BatchLearner>> {
        index_in_step(index, &self.alike()?)
    }

    pub(super) fn pivot(&self, rule: [Pivot; 4]) -> Option<Box<dyn BatchLearner>> {
        pivot_in_step(rule, &self.alike()?)
    }

    fn alike(&self) -> Option<Alike<'_>> {
        let [a, b, c, d] = self.arms.map(Arms::features);
        Alike::new([a?, b?, c?, d?], self.questions, self.lambda)
    }
}
