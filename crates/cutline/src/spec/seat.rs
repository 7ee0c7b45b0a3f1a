//! Where rules are put together with all else that a learner is made of.

use super::{Algorithm, Estimate, SpecError};
use crate::estimators::{DesignedRidge, Estimator, Ridge, SampleMean};
use crate::quartet::{InStep, Quartet};
use crate::rules::{Index, Indexed, Rule};
use crate::{Arms, AskTell, Budget, Either, Learner, Question, Sure};

/// Where a rule is to be seated: everything else a learner is made of.
pub(super) struct Seat<'a> {
    pub(super) arms: &'a Arms,
    pub(super) question: Question,
    pub(super) budget: Budget,
    pub(super) sure: Option<Sure>,
    pub(super) seed: u64,
    pub(super) algorithm: &'static Algorithm,
    pub(super) estimate: Estimate,
    pub(super) parameters: &'a [f64],
}

impl Seat<'_> {
    /// For an index, which works with any estimator.
    pub(super) fn index(&self, index: impl Index + Send + 'static) -> Result<Box<dyn AskTell>, SpecError> {
        self.any(Indexed::new(index, self.arms.n_arms()))
    }

    /// For a rule that works with any estimator.
    pub(super) fn any<R>(&self, rule: R) -> Result<Box<dyn AskTell>, SpecError>
    where
        R: Rule<SampleMean> + Rule<Ridge> + Send + 'static,
    {
        match self.estimate {
            Estimate::SampleMean => self.learner(rule, SampleMean::new(self.arms)),
            Estimate::Ridge => self.learner(rule, Ridge::new(self.arms, self.parameters[0])?),
        }
    }

    /// For a rule that looks at variances.
    pub(super) fn spread<R>(&self, rule: R) -> Result<Box<dyn AskTell>, SpecError>
    where
        R: Rule<DesignedRidge> + Send + 'static,
    {
        match self.estimate {
            Estimate::Ridge => self.learner(rule, DesignedRidge::new(self.arms, self.parameters[0])?),
            estimator => Err(SpecError::NeedsSpread { rule: self.algorithm.rule, estimator }),
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

/// As [`Seat`], for four in step.
pub(super) struct Four<'a> {
    pub(super) arms: [&'a Arms; 4],
    pub(super) questions: [Question; 4],
    pub(super) lambda: f64,
}

impl Four<'_> {
    pub(super) fn index(&self, index: [impl Index + Send + 'static; 4]) -> Option<Box<dyn InStep>> {
        let [a, b, c, d] = self.arms.map(Arms::features);
        Some(Box::new(Quartet::new(index, [a?, b?, c?, d?], self.questions, self.lambda)?))
    }
}
