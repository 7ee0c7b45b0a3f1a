//! Where rules are put together with all else that a learner is made of.

use super::{Algorithm, Estimate, SpecError};
use crate::arms::Features;
use crate::estimators::{DesignedRidge, Estimator, Ridge, SampleMean};
use crate::quartet::{InStep, index_in_step, pivot_in_step};
use crate::rules::{Index, Indexed, Pivot, Rule};
use crate::{Arms, AskTell, Budget, Learner, Question};
use std::sync::Arc;

/// Where a rule is to be seated: everything else a learner is made of.
pub(super) struct Seat<'a> {
    pub(super) arms: &'a Arms,
    pub(super) question: Question,
    pub(super) stop: Budget,
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
        Ok(Box::new(Learner::new(rule, estimator, self.stop, self.question, self.seed)?))
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
        index_in_step(index, self.features()?, self.questions, self.lambda)
    }

    pub(super) fn pivot(&self, rule: [Pivot; 4]) -> Option<Box<dyn InStep>> {
        pivot_in_step(rule, self.features()?, self.questions, self.lambda)
    }

    fn features(&self) -> Option<[&Arc<Features>; 4]> {
        let [a, b, c, d] = self.arms.map(Arms::features);
        Some([a?, b?, c?, d?])
    }
}
