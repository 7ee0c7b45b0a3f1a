//! A learner: rule × estimator × stop.

use crate::estimators::{Estimator, History};
use crate::rules::{Choice, Rule};
use crate::{Amount, Arm, Beliefs, MeasurementCosts, Purpose, Question, Range, Settled, Stop, StopReason, stream};
use thiserror::Error;

/// The interface of every learner, whatever its rule, estimator and stop. Simulations and campaigns use it as `dyn AskTell`.
///
/// A pull is handed out by [`propose`](AskTell::propose) and [`assign`](AskTell::assign) (or both at once,
/// [`ask`](AskTell::ask)) and counts from then on. It is pending until its reward is told, in any order among the pending pulls,
/// or the pull is [forgotten](AskTell::forget).
pub trait AskTell: Send {
    /// The arm to pull next, or `None` once the stop is met or while the rule [waits](Choice::Wait) for rewards of pending pulls:
    /// [`stop_reason`](AskTell::stop_reason) tells which. Asking twice without a change in between gives the same arm.
    fn propose(&mut self) -> Option<Arm>;

    /// Hands out a pull of `arm`, proposed or not.
    ///
    /// # Panics
    /// If there is no such arm.
    fn assign(&mut self, arm: Arm);

    /// Receives the reward of a pull of `arm`. If no pull of `arm` is pending, the reward counts as a new pull.
    ///
    /// # Panics
    /// If there is no such arm or the reward is not finite.
    fn tell(&mut self, arm: Arm, reward: f64);

    /// Withdraws a pending pull of `arm` whose reward will never come: it no longer counts.
    ///
    /// # Panics
    /// If there is no such arm or no pull of it is pending.
    fn forget(&mut self, arm: Arm);

    /// Replaces everything that the learner has received by a history, in one step. `changes` is how many times, in that history, a pull was handed out
    /// or lost; it becomes [`Beliefs::changes`].
    ///
    /// # Panics
    /// If the choices of the learner [depend on the order](AskTell::depends_on_order) of the rewards, the history has another number
    /// of arms, or it lacks the [`FitHistory`](crate::estimators::FitHistory) that the mixed model needs.
    fn restore(&mut self, history: &History<'_>, changes: u64);

    /// Whether its choices depend on the order of the rewards, so that it cannot be [restored](AskTell::restore) from a
    /// history.
    fn depends_on_order(&self) -> bool;

    /// Changes σ, the standard deviation of a reward, for rule and stop. Where the estimator
    /// [learns σ](crate::estimators::Estimator::noise_scale), this has no effect once it has done so.
    ///
    /// # Panics
    /// If σ is not between 1e-100 and 1e100, or the rule [needs a σ that does not change](Rule::needs_fixed_noise): its state was computed
    /// with the old σ.
    fn set_noise(&mut self, noise: f64);

    /// Withdraws `arm`, which is not proposed again, or with `false` makes it available again. Rewards of a withdrawn arm are still taken, and
    /// a stop does not wait for it.
    ///
    /// # Panics
    /// If there is no such arm.
    fn set_withdrawn(&mut self, arm: Arm, is_withdrawn: bool);

    /// Whether its rule pulls every arm once first.
    fn opens_with_every_arm(&self) -> bool;

    /// How much is left to spend: arms whose [measurement costs](crate::Arms::with_measurement_costs) more are not proposed, and if no open
    /// arm can be paid for, the learner has ended. Without costs, this has no effect.
    fn set_remaining(&mut self, remaining: Amount);

    /// Why the learner has ended; `None` if it has not.
    fn stop_reason(&mut self) -> Option<StopReason>;

    /// The arms whose side is fixed for good, and when that happened.
    fn settled(&self) -> &Settled;

    /// The question, the pulls and the estimates at this moment.
    fn beliefs(&mut self) -> Beliefs<'_, dyn Estimator>;

    /// Proposes an arm and hands it out.
    fn ask(&mut self) -> Option<Arm> {
        let arm = self.propose()?;
        self.assign(arm);
        Some(arm)
    }
}

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

/// Why a learner was refused.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum LearnerError {
    /// The rule pulls every arm once first, and the budget is below the number of arms.
    #[error("a budget of {budget} is too small for {n_arms} arms: every arm is pulled once first")]
    BudgetBelowArms {
        /// The budget.
        budget: u32,
        /// The number of arms.
        n_arms: usize,
    },
    /// The rule pulls every arm once first, and that costs more than the budget.
    #[error(
        "a budget of {budget} is too small for {n_arms} arms: every arm is measured once first, which costs {cost}"
    )]
    BudgetBelowCosts {
        /// The budget.
        budget: u32,
        /// The number of arms.
        n_arms: usize,
        /// What it costs to measure every arm once.
        cost: Amount,
    },
    /// No measurement can be paid for.
    #[error("a budget of {budget} is too small: the cheapest measurement costs {cost}")]
    BudgetBelowCheapest {
        /// The budget.
        budget: u32,
        /// The least cost of a measurement.
        cost: Amount,
    },
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

/// How often each arm was pulled, pending pulls included, and the totals.
#[derive(Clone, Debug)]
struct Counts {
    pulls: Vec<u32>,
    total: u64,
    /// The number of rewards received.
    n_rewards: u64,
    /// How often a pull was handed out or lost.
    changes: u64,
    /// All arms before this one have been pulled.
    first_unpulled: Arm,
}

impl Counts {
    fn add(&mut self, arm: Arm) {
        self.pulls[arm] += 1;
        self.total += 1;
        self.changes += 1;
        while self.pulls.get(self.first_unpulled).is_some_and(|&pulls| pulls > 0) {
            self.first_unpulled += 1;
        }
    }

    fn remove(&mut self, arm: Arm) {
        self.pulls[arm] -= 1;
        self.total -= 1;
        self.changes += 1;
        if self.pulls[arm] == 0 {
            self.first_unpulled = self.first_unpulled.min(arm);
        }
    }

    fn restore(&mut self, history: &History<'_>, changes: u64) {
        for ((pulls, rewards), pending) in self.pulls.iter_mut().zip(history.n_rewards).zip(history.pending) {
            *pulls = rewards + pending;
        }
        self.total = self.pulls.iter().map(|&pulls| u64::from(pulls)).sum();
        self.n_rewards = history.n_rewards.iter().map(|&n| u64::from(n)).sum();
        self.changes = changes;
        self.first_unpulled = self.pulls.iter().position(|&pulls| pulls == 0).unwrap_or(self.pulls.len());
    }

    fn beliefs<'a, E: ?Sized>(
        &'a self,
        question: Question,
        settled: &'a Settled,
        costs: Option<&'a MeasurementCosts>,
        estimator: &'a mut E,
    ) -> Beliefs<'a, E> {
        let Self { pulls, total, changes, .. } = self;
        let first_unpulled = if settled.is_empty() {
            Some(self.first_unpulled).filter(|&arm| arm < pulls.len())
        } else {
            (self.first_unpulled..pulls.len()).find(|&arm| pulls[arm] == 0 && settled.is_open(arm))
        };
        Beliefs { question, pulls, total_pulls: *total, changes: *changes, first_unpulled, settled, costs, estimator }
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

    fn tell(&mut self, arm: Arm, reward: f64) {
        assert!(reward.is_finite(), "a reward must be finite, not {reward}");
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
        self.rule.learns() || self.stop.settles()
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
