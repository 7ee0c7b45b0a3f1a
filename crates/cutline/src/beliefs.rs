//! The view of a learner that rules, stops and verdicts work on: the question, the pulls and the estimates.

use crate::estimators::Estimator;
use crate::{Arm, MeasurementCosts, Question, Settled};

/// The current state of a learner: the question, the pulls handed out so far, and the estimator.
#[derive(Debug)]
#[non_exhaustive]
pub struct Beliefs<'a, E: ?Sized> {
    /// The threshold and precision.
    pub question: Question,
    /// The number of pulls Tᵢ of every arm, including pending ones.
    pub pulls: &'a [u32],
    /// Σ Tᵢ.
    pub total_pulls: u64,
    /// How often a pull was handed out or lost. If it has not changed since a rule cached values, they are still valid.
    pub changes: u64,
    /// The first open arm that was never pulled.
    pub first_unpulled: Option<Arm>,
    /// The arms whose side is fixed for good; a rule chooses among the others.
    pub settled: &'a Settled,
    /// What one measurement of each arm costs, for rules, which may weigh information by it; `None` if all cost the same.
    pub costs: Option<&'a MeasurementCosts>,
    /// The estimator, which has the means.
    pub estimator: &'a mut E,
}

impl<E: Estimator + 'static> Beliefs<'_, E> {
    /// The same beliefs for code that is compiled once for all estimators.
    pub(crate) fn of_any_estimator(&mut self) -> Beliefs<'_, dyn Estimator> {
        let Self { question, pulls, total_pulls, changes, first_unpulled, settled, costs, ref mut estimator } = *self;
        Beliefs { question, pulls, total_pulls, changes, first_unpulled, settled, costs, estimator: &mut **estimator }
    }
}

impl<E: Estimator + ?Sized> Beliefs<'_, E> {
    /// The estimates μ̂ of all means.
    pub fn means(&mut self) -> &[f64] {
        self.estimator.means()
    }

    /// Whether `arm` would be classified as above if the learner stopped now: the side it was settled with, otherwise whether μ̂ ≥ τ.
    ///
    /// # Panics
    /// If there is no such arm.
    pub fn is_above(&mut self, arm: Arm) -> bool {
        let question = self.question;
        self.settled.side(arm).unwrap_or_else(|| question.is_above(self.means()[arm]))
    }
}
