//! Rule × estimator × stop, made to ask and to be told.

use crate::estimators::{Estimator, History};
use crate::rules::{Beliefs, Rule};
use crate::{Arm, Purpose, Question, Stop, StopReason, stream};
use thiserror::Error;

/// A learner whose rule, estimator and stop are not named: what simulations and campaigns hold.
///
/// A pull is handed out by [`propose`](AskTell::propose) and [`assign`](AskTell::assign) (or both at once,
/// [`ask`](AskTell::ask)) and counts from then on. Its reward is told later, in any order among the pulls that are out,
/// or the pull is [forgotten](AskTell::forget).
pub trait AskTell: Send {
    /// The arm to pull next, or `None` once the stop is met. Asking twice without a change in between gives the same arm.
    fn propose(&mut self) -> Option<Arm>;

    /// Hands out a pull of `arm`, proposed or not.
    ///
    /// # Panics
    /// If there is no such arm.
    fn assign(&mut self, arm: Arm);

    /// The reward of a pull of `arm`. If none is out, the reward came unasked and counts as one more pull.
    ///
    /// # Panics
    /// If there is no such arm or the reward is not finite.
    fn tell(&mut self, arm: Arm, reward: f64);

    /// A pull of `arm` is lost: it no longer counts.
    ///
    /// # Panics
    /// If there is no such arm or no pull of it is out.
    fn forget(&mut self, arm: Arm);

    /// Takes up a past at once, of a learner that was just built; `changes` counts the pulls handed out and lost in it.
    ///
    /// # Panics
    /// If the learner is [one that remembers](AskTell::remembers), or the past is not one of as many arms.
    fn recall(&mut self, past: &History<'_>, changes: u64);

    /// Whether its choices depend on the order of the rewards told, so that it cannot [recall](AskTell::recall).
    fn remembers(&self) -> bool;

    /// Why nothing is proposed any more, or `None` while the stop is not met.
    fn stop_reason(&mut self) -> Option<StopReason>;

    /// What is believed now.
    fn beliefs(&mut self) -> Beliefs<'_, dyn Estimator>;

    /// Proposes an arm and hands it out.
    fn ask(&mut self) -> Option<Arm> {
        let arm = self.propose()?;
        self.assign(arm);
        Some(arm)
    }
}

/// An algorithm at work.
///
/// ```
/// use cutline::estimators::SampleMean;
/// use cutline::rules::{Apt, Indexed};
/// use cutline::{Arms, AskTell, Budget, Learner, Question};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let arms = Arms::without_features(2)?;
/// let mut learner = Learner::new(Indexed::new(Apt, 2), SampleMean::new(&arms), Budget::new(8)?, Question::new(0.0, 0.1)?, 0)?;
/// while let Some(arm) = learner.ask() {
///     learner.tell(arm, [1.0, -2.0][arm]);
/// }
/// assert_eq!(learner.beliefs().pulls, [6, 2]); // the arm closer to the threshold got more
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Learner<R, E, S> {
    rule: R,
    estimator: E,
    stop: S,
    question: Question,
    seed: u64,
    counts: Counts,
    pending: Vec<u32>,
}

/// Why a learner was refused.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum LearnerError {
    /// The rule opens with every arm and the budget does not reach that far.
    #[error("a budget of {budget} is too small for {n_arms} arms: every arm is pulled once first")]
    BudgetBelowArms {
        /// The budget.
        budget: u32,
        /// The number of arms.
        n_arms: usize,
    },
}

impl<R: Rule<E>, E: Estimator, S: Stop<E>> Learner<R, E, S> {
    /// An algorithm that knows nothing yet.
    ///
    /// # Errors
    /// If the rule has to pull every arm once and the stop does not allow that many pulls.
    pub fn new(rule: R, estimator: E, stop: S, question: Question, seed: u64) -> Result<Self, LearnerError> {
        let n_arms = estimator.n_arms();
        if let Some(budget) = stop.budget()
            && R::OPENS_WITH_EVERY_ARM
            && (budget as usize) < n_arms
        {
            return Err(LearnerError::BudgetBelowArms { budget, n_arms });
        }
        Ok(Self {
            rule,
            estimator,
            stop,
            question,
            seed,
            counts: Counts { pulls: vec![0; n_arms], total: 0, changes: 0, opened: 0 },
            pending: vec![0; n_arms],
        })
    }
}

/// The pulls of every arm, and what is known of them as a whole.
#[derive(Clone, Debug)]
struct Counts {
    pulls: Vec<u32>,
    total: u64,
    changes: u64,
    /// No arm before this one is unpulled.
    opened: Arm,
}

impl Counts {
    fn add(&mut self, arm: Arm) {
        self.pulls[arm] += 1;
        self.total += 1;
        self.changes += 1;
        while self.pulls.get(self.opened).is_some_and(|&pulls| pulls > 0) {
            self.opened += 1;
        }
    }

    fn remove(&mut self, arm: Arm) {
        self.pulls[arm] -= 1;
        self.total -= 1;
        self.changes += 1;
        if self.pulls[arm] == 0 {
            self.opened = self.opened.min(arm);
        }
    }

    fn recall(&mut self, past: &History<'_>, changes: u64) {
        for ((pulls, told), pending) in self.pulls.iter_mut().zip(past.told).zip(past.pending) {
            *pulls = told + pending;
        }
        self.total = self.pulls.iter().map(|&pulls| u64::from(pulls)).sum();
        self.changes = changes;
        self.opened = self.pulls.iter().position(|&pulls| pulls == 0).unwrap_or(self.pulls.len());
    }

    fn beliefs<'a, E: ?Sized>(&'a self, question: Question, estimator: &'a mut E) -> Beliefs<'a, E> {
        let first_unpulled = (self.opened < self.pulls.len()).then_some(self.opened);
        let Self { pulls, total, changes, .. } = self;
        Beliefs { question, pulls, total_pulls: *total, changes: *changes, first_unpulled, estimator }
    }
}

impl<R, E, S> AskTell for Learner<R, E, S>
where
    R: Rule<E> + Send,
    E: Estimator + Send + 'static,
    S: Stop<E> + Send,
{
    fn propose(&mut self) -> Option<Arm> {
        let mut beliefs = self.counts.beliefs(self.question, &mut self.estimator);
        if self.stop.stop_reason(&mut beliefs).is_some() {
            return None;
        }
        let mut rng = stream(self.seed, Purpose::Rule, beliefs.changes);
        Some(self.rule.choose(&mut beliefs, &mut rng))
    }

    fn assign(&mut self, arm: Arm) {
        self.counts.add(arm);
        self.pending[arm] += 1;
        self.estimator.expect(arm);
    }

    fn tell(&mut self, arm: Arm, reward: f64) {
        assert!(reward.is_finite(), "a reward must be finite, not {reward}");
        if self.pending[arm] == 0 {
            self.assign(arm);
        }
        self.pending[arm] -= 1;
        self.estimator.observe(arm, reward);
        self.rule.learn(&mut self.counts.beliefs(self.question, &mut self.estimator));
    }

    fn forget(&mut self, arm: Arm) {
        assert!(self.pending[arm] > 0, "no pull of arm {arm} is out");
        self.pending[arm] -= 1;
        self.counts.remove(arm);
        self.estimator.forget(&self.pending);
    }

    fn recall(&mut self, past: &History<'_>, changes: u64) {
        assert!(!R::LEARNS, "what this rule learned is not in the past");
        self.counts.recall(past, changes);
        self.pending.copy_from_slice(past.pending);
        self.estimator.recall(past);
    }

    fn remembers(&self) -> bool {
        R::LEARNS
    }

    fn stop_reason(&mut self) -> Option<StopReason> {
        self.stop.stop_reason(&mut self.counts.beliefs(self.question, &mut self.estimator))
    }

    fn beliefs(&mut self) -> Beliefs<'_, dyn Estimator> {
        self.counts.beliefs(self.question, &mut self.estimator)
    }
}
