//! A learner: rule × estimator × stop.

mod ask_tell;
mod counts;
mod error;

pub use ask_tell::AskTell;
pub use error::{LearnerError, TellError};

use crate::estimators::{Estimator, History};
use crate::rules::{Choice, Rule};
use crate::{
    Amount, Arm, Beliefs, MeasurementCosts, Purpose, Question, Range, Settled, SettledArm, Stop, StopReason, stream,
};
use counts::Counts;

/// A learner composed of a rule, an estimator and a stop.
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
///     learner.tell(arm, [1.0, -2.0][arm])?;
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
    settled: Settled,
    /// What a rule sees that is not restricted to open arms: withdrawn arms only.
    nothing_settled: Settled,
    /// The arms that are settled by one reward.
    newly_settled: Vec<(Arm, bool)>,
    costs: Option<Costs>,
}

/// What measurements cost, and how much is left to spend.
#[derive(Clone, Debug)]
struct Costs {
    costs: MeasurementCosts,
    remaining: Amount,
}

impl<R: Rule<E>, E: Estimator, S: Stop<E>> Learner<R, E, S> {
    /// A learner before its first pull.
    ///
    /// # Errors
    /// If the rule has to pull every arm once first and the stop does not allow that many pulls.
    pub fn new(rule: R, estimator: E, stop: S, question: Question, seed: u64) -> Result<Self, LearnerError> {
        let n_arms = estimator.n_arms();
        if let Some(budget) = stop.budget()
            && R::OPENS_WITH_EVERY_ARM
            && (budget as usize) < n_arms
        {
            return Err(LearnerError::BudgetBelowArms { budget, n_arms });
        }
        let mut learner = Self {
            rule,
            estimator,
            stop,
            question,
            seed,
            counts: Counts { pulls: vec![0; n_arms], total: 0, n_rewards: 0, changes: 0, first_unpulled: 0 },
            pending: vec![0; n_arms],
            settled: Settled::none(n_arms),
            nothing_settled: Settled::none(n_arms),
            newly_settled: Vec::new(),
            costs: None,
        };
        if learner.stop.settles() {
            learner.settled.reserve();
            learner.newly_settled.reserve(n_arms);
        }
        learner.follow_noise();
        Ok(learner)
    }

    /// The same for measurements that cost different amounts, if there are costs, one per arm. The stop still counts pulls.
    #[must_use]
    pub fn with_costs(self, costs: Option<MeasurementCosts>) -> Self {
        let remaining = Amount::units(u32::MAX);
        Self { costs: costs.map(|costs| Costs { costs, remaining }), ..self }
    }

    /// What the rule sees where an arm costs more than what is left to spend.
    fn within_remaining(&self, seen: &Settled) -> Option<Settled> {
        self.costs.as_ref().and_then(|Costs { costs, remaining }| seen.within(costs, *remaining))
    }

    /// Whether there are open arms, and none can be paid for.
    fn is_out_of_budget(&self) -> bool {
        self.within_remaining(&self.settled).is_some_and(|within| within.n_open() == 0)
    }

    /// Where the estimator learns σ, rule and stop use the same, except for a stop that guarantees something for a given σ.
    #[inline]
    fn follow_noise(&mut self) {
        if let Some(noise) = self.estimator.noise_scale() {
            self.rule.set_noise(noise);
            self.stop.set_learnt_noise(noise);
        }
    }

    #[inline]
    fn stop_is_met(&mut self) -> Option<StopReason> {
        self.stop.stop_reason(&mut self.counts.beliefs(self.question, &self.settled, None, &mut self.estimator))
    }

    #[inline]
    fn choose(&mut self) -> Choice {
        let seen = if self.stop.restricts_rules() { &self.settled } else { &self.nothing_settled };
        let within = self.within_remaining(seen);
        let seen = within.as_ref().unwrap_or(seen);
        let costs = self.costs.as_ref().map(|costs| &costs.costs);
        let mut beliefs = self.counts.beliefs(self.question, seen, costs, &mut self.estimator);
        let mut rng = stream(self.seed, Purpose::Rule, beliefs.changes);
        let choice = self.rule.choose(&mut beliefs, &mut rng);
        let is_refused = match choice {
            // The rule, perhaps a custom one, takes no notice of withdrawn arms.
            Choice::Pull(arm) => seen.is_withdrawn(arm),
            // A rule that works in phases does not know that a phase has ended by a pull that was lost or an arm that was withdrawn. Nothing
            // that it could wait for is out, so the next reward has to come from somewhere.
            Choice::Wait => self.counts.total == self.counts.n_rewards,
            Choice::Done => false,
        };
        if is_refused {
            return seen.arg_min_open(&self.counts.pulls, &self.counts.pulls, |pulls, _| f64::from(pulls)).into();
        }
        choice
    }

    /// Settles arms after a reward of `told`.
    fn settle(&mut self, told: Arm) {
        self.newly_settled.clear();
        let mut beliefs = self.counts.beliefs(self.question, &self.settled, None, &mut self.estimator);
        self.stop.settle(&mut beliefs, told, &mut self.newly_settled);
        for &(arm, is_above) in &self.newly_settled {
            self.settled.settle(arm, is_above, self.counts.n_rewards);
        }
    }
}

impl<R, E, S> AskTell for Learner<R, E, S>
where
    R: Rule<E> + Send,
    E: Estimator + Send + 'static,
    S: Stop<E> + Send,
{
    fn propose(&mut self) -> Option<Arm> {
        if self.settled.n_open() == 0 || self.is_out_of_budget() || self.stop_is_met().is_some() {
            return None;
        }
        let mut beliefs = self.counts.beliefs(self.question, &self.settled, None, &mut self.estimator);
        let requested = self.stop.request(&mut beliefs);
        let is_affordable = |arm: &Arm| self.costs.as_ref().is_none_or(|costs| costs.costs.of(*arm) <= costs.remaining);
        if let Some(arm) = requested.filter(is_affordable) {
            return Some(arm);
        }
        match self.choose() {
            Choice::Pull(arm) => Some(arm),
            Choice::Wait | Choice::Done => None,
        }
    }

    fn assign(&mut self, arm: Arm) {
        self.counts.add(arm);
        self.pending[arm] += 1;
        self.estimator.expect(arm);
    }

    fn tell(&mut self, arm: Arm, reward: f64) -> Result<(), TellError> {
        if arm >= self.pending.len() {
            return Err(TellError::NoArm { arm, n_arms: self.pending.len() });
        }
        if !reward.is_finite() {
            return Err(TellError::NotFinite { arm, reward });
        }
        if self.pending[arm] == 0 {
            self.assign(arm);
        }
        self.pending[arm] -= 1;
        self.counts.n_rewards += 1;
        self.estimator.observe(arm, reward);
        self.follow_noise();
        if self.stop.settles() {
            self.settle(arm);
        }
        let seen = if self.stop.restricts_rules() { &self.settled } else { &self.nothing_settled };
        let costs = self.costs.as_ref().map(|costs| &costs.costs);
        self.rule.learn(&mut self.counts.beliefs(self.question, seen, costs, &mut self.estimator), arm, reward);
        Ok(())
    }

    fn forget(&mut self, arm: Arm) {
        assert!(self.pending[arm] > 0, "no pull of arm {arm} is pending");
        self.pending[arm] -= 1;
        self.counts.remove(arm);
        self.estimator.forget(&self.pending);
    }

    fn restore(&mut self, history: &History<'_>, changes: u64) {
        assert!(!self.depends_on_order(), "the state of this learner depends on the order of the rewards");
        self.counts.restore(history, changes);
        self.pending.copy_from_slice(history.pending);
        self.estimator.restore(history);
        self.follow_noise();
    }

    fn depends_on_order(&self) -> bool {
        self.rule.learns() || self.stop.settles() || !self.estimator.can_restore()
    }

    fn set_noise(&mut self, noise: f64) {
        assert!(Range::NOISE_SCALE.contains(noise), "the noise must be between 1e-100 and 1e100, not {noise}");
        assert!(!self.rule.needs_fixed_noise(), "the state of this rule was computed with another noise");
        self.rule.set_noise(noise);
        self.stop.set_noise(noise);
        self.follow_noise();
    }

    fn set_withdrawn(&mut self, arm: Arm, is_withdrawn: bool) {
        self.settled.set_withdrawn(arm, is_withdrawn);
        self.nothing_settled.set_withdrawn(arm, is_withdrawn);
    }

    fn set_settled(&mut self, settled: &[SettledArm]) {
        if !self.stop.settles() {
            self.settled.unsettle();
        }
        for &SettledArm { arm, is_above, after } in settled {
            self.settled.settle(arm, is_above, after);
        }
    }

    fn opens_with_every_arm(&self) -> bool {
        R::OPENS_WITH_EVERY_ARM
    }

    fn set_remaining(&mut self, remaining: Amount) {
        if let Some(costs) = &mut self.costs {
            costs.remaining = remaining;
        }
    }

    fn stop_reason(&mut self) -> Option<StopReason> {
        if self.settled.n_open() == 0 {
            let is_settled = self.settled.in_order().len() == self.counts.pulls.len();
            return Some(if is_settled { StopReason::Settled } else { StopReason::Withdrawn });
        }
        if self.is_out_of_budget() {
            return Some(StopReason::Budget);
        }
        let met = self.stop_is_met();
        met.or_else(|| (self.rule.may_end() && self.choose() == Choice::Done).then_some(StopReason::Done))
    }

    fn settled(&self) -> &Settled {
        &self.settled
    }

    fn beliefs(&mut self) -> Beliefs<'_, dyn Estimator> {
        self.counts.beliefs(self.question, &self.settled, None, &mut self.estimator)
    }
}
