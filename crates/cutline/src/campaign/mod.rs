//! Campaigns of real measurements, which are handed out as tickets and whose rewards may be told in any order.
//!
//! A [`CampaignState`] is a fold over events: it is a function of its arms, its [`Terms`] and its [`Event`]s. Its methods make decisions,
//! apply them to the state and return them as events. To keep a campaign, store its events; to restore it,
//! [extend](CampaignState::extend) a new campaign with them. Restoring does not repeat the decisions: it adds up counts and sums and
//! computes V from the counts, which is cheap for any K.
//!
//! However a journal is split into calls of `extend`, the state is the same to the last bit: after every [`REBUILD_INTERVAL`] events the
//! learner is rebuilt from the counts and the means of the rewards, and the noise scale is a function of the journal.

mod ask;
mod change;
mod early_stop;
mod error;
mod event;
mod history;
mod ledger;
mod noise;
mod opening;
mod rewards;
mod terms;

pub use ask::Request;
pub use early_stop::EarlyStop;
pub use error::{BrokenJournal, CampaignError};
pub use event::{Event, Record, TicketId, Time};
pub use history::DecisionPoint;
pub use ledger::{Spending, TicketStatus};
pub use noise::{NoiseEstimate, NoiseSource};
pub use rewards::RewardKind;
pub use terms::{Terms, TermsError};

use crate::diagnostics::{Diagnostics, LearntModel, RewardStats};
use crate::estimators::{Explained, FitHistory, History};
use crate::{
    Amount, Arm, Arms, AskTell, Budget, EstimatorKind, LearnerError, Side, Spec, SpecError, StopReason, Verdict,
};
use early_stop::Checkpoints;
use ledger::{LearnerUpdate, Ledger};
use opening::Opening;
use std::collections::BTreeMap;

/// The greatest reward that a campaign takes, in absolute value, and the greatest threshold and precision: σ estimated from such rewards is
/// well within the [range](crate::Range::NOISE_SCALE) in which estimates and doubts are computed. Journals of earlier versions may have
/// rewards up to [`diagnostics::MAX_REWARD`](crate::diagnostics::MAX_REWARD), and can still be read.
pub const MAX_REWARD: f64 = 1e80;

/// The number of events after which the learner is rebuilt from counts and means.
pub const REBUILD_INTERVAL: u64 = 64;

/// A campaign in progress.
///
/// ```
/// use cutline::campaign::{CampaignState, Event, RewardKind, Terms};
/// use cutline::{Arms, IntervalKind, Question, Spec};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let terms = Terms {
///     question: Question::new(0.5, 0.02)?,
///     spec: Spec::named("pivot")?,
///     budget: 60,
///     rewards: Some(RewardKind::Gaussian),
///     noise: Some(0.1),
///     interval: IntervalKind::Fixed,
///     delta: 0.05,
///     until_sure: None,
///     seed: 7,
/// };
/// let arms = Arms::from_rows(&[[1.0, 0.2], [0.4, 0.9], [0.1, -0.8]])?;
/// let mut campaign = CampaignState::new(arms, terms)?;
/// let (now, lease) = (0, 60_000);
/// while let [Event::Asked { ticket, arm, .. }] = campaign.ask(1, "me", now, lease)[..] {
///     campaign.tell(ticket, [0.9, 0.1, -0.3][arm], now)?;
/// }
/// assert!(campaign.verdicts()[0].lower > 0.5);
/// # Ok(())
/// # }
/// ```
pub struct CampaignState {
    terms: Terms,
    arms: Arms,
    ledger: Ledger,
    learner: Box<dyn AskTell>,
    /// The noise scale that the learner uses at present.
    noise: NoiseEstimate,
    /// Whether rewards have arrived since σ was last estimated.
    is_noise_stale: bool,
    /// What the model has learnt about the features, if it learns that.
    explained: Option<Explained>,
    spread: Option<f64>,
    /// The expected number of errors at the last checkpoints for which it was computed, by their number of rewards.
    expected_errors: [Option<(u64, f64)>; 2],
    opening: Opening,
}

/// The progress of a campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The largest number of rewards that may count, or what their measurements may cost.
    pub budget: u32,
    /// What was spent, if measurements have [costs](Arms::with_measurement_costs); otherwise each is one unit of the budget.
    pub spending: Option<Spending>,
    /// The number of rewards that count towards the budget.
    pub counted: u32,
    /// The number of rewards that do not count towards the budget: those observed before the campaign, and late ones beyond the budget.
    pub uncounted: u64,
    /// The number of tickets that wait for their reward.
    pub open: usize,
    /// The number of tickets that failed.
    pub failed: u64,
    /// The number of tickets that expired and have no reward.
    pub expired: u64,
    /// The number of rewards that were declared void.
    pub voided: u64,
    /// The number of arms that are withdrawn.
    pub withdrawn: usize,
    /// The number of events.
    pub events: u64,
    /// The times of the last 32 rewards of tickets, oldest first.
    pub recent: Vec<Time>,
}

impl Progress {
    /// How much of the budget is not spent yet. Open tickets take from it when their rewards come.
    #[must_use]
    pub fn remaining(&self) -> Amount {
        Amount::units(self.budget).minus(self.spent())
    }

    /// How much of the budget is spent: the cost of the rewards that count, or their number.
    #[must_use]
    pub fn spent(&self) -> Amount {
        self.spending.map_or(Amount::units(self.counted), |spending| spending.spent)
    }

    /// How much of the budget is left once all open tickets have their rewards.
    #[must_use]
    pub fn unassigned(&self) -> Amount {
        let open = u32::try_from(self.open).unwrap_or(u32::MAX);
        self.remaining().minus(self.spending.map_or(Amount::units(open), |spending| spending.open))
    }
}

impl CampaignState {
    /// A campaign without events.
    ///
    /// # Errors
    /// If the terms are out of range or do not fit the arms.
    pub fn new(arms: Arms, terms: Terms) -> Result<Self, TermsError> {
        terms.check_rewards()?;
        let mut ledger = Ledger::new(&arms, &terms);
        let noise = ledger.noise();
        terms.confidence(noise)?;
        // Checks the budget, which may be too small for the arms. The campaign's own learner has no budget: the ledger enforces it.
        // It is kept until there are two, because they share what is expensive to compute.
        let checked = if arms.measurement_costs().is_none() {
            let spec = terms.spec(noise.sigma)?;
            Some(spec.learner_for(&arms, terms.question, terms.budget, terms.budget, terms.seed)?)
        } else {
            None
        };
        let learner = build(&terms, &arms, noise.sigma)?;
        drop(checked);
        check_costs(&terms, &arms, learner.opens_with_every_arm())?;
        let estimator = terms.spec.estimator();
        if let Some(EarlyStop::ExpectedErrors(_)) = terms.until_sure
            && !estimator.learns_noise()
        {
            return Err(TermsError::ExpectedErrorsNeedMixed(estimator));
        }
        let is_custom = terms.spec.algorithm().name != terms.spec.name();
        let needs_noise = terms.spec.algorithm().needs_fixed_noise || (is_custom && learner.depends_on_order());
        if needs_noise && terms.fixed_noise().is_none() {
            return Err(TermsError::NeedsNoise(terms.spec.name().into()));
        }
        Ok(Self {
            terms,
            arms,
            ledger,
            learner,
            noise,
            is_noise_stale: false,
            explained: None,
            spread: None,
            expected_errors: [None; 2],
            opening: Opening::default(),
        })
    }

    /// Applies events from the journal, for example those that another process wrote.
    ///
    /// # Errors
    /// If an event cannot follow those before it. The campaign must not be used after that.
    pub fn extend(&mut self, records: &[Record]) -> Result<(), BrokenJournal> {
        self.fold(records.iter().map(|record| (record.at, &record.event)))
    }

    /// Applies events that this state has decided, once they are in the journal.
    ///
    /// # Panics
    /// If an event cannot follow those before it: other events were applied in the meantime.
    pub fn record(&mut self, at: Time, events: &[Event]) {
        self.fold(events.iter().map(|event| (at, event))).expect("events that were decided in this state");
    }

    fn fold<'a>(&mut self, events: impl ExactSizeIterator<Item = (Time, &'a Event)>) -> Result<(), BrokenJournal> {
        let last = self.ledger.events + events.len() as u64;
        let rebuild_at = if self.learner.depends_on_order() { 0 } else { last - last % REBUILD_INTERVAL };
        let mut has_rewards = false;
        for (at, event) in events {
            let number = self.ledger.events + 1;
            let update = self.ledger.apply(at, event).map_err(|refusal| BrokenJournal { number, refusal })?;
            has_rewards |= update.changes_rewards();
            self.follow(update);
            match number.cmp(&rebuild_at) {
                // The rebuild will include it.
                std::cmp::Ordering::Less => (),
                std::cmp::Ordering::Equal => self.rebuild(),
                std::cmp::Ordering::Greater => self.update_learner(update),
            }
        }
        if has_rewards {
            self.is_noise_stale = true;
            self.update_learnt();
        }
        Ok(())
    }

    /// Records the reward of a ticket. Returns the event, or `None` if the same reward is already recorded.
    ///
    /// # Errors
    /// If there is no such ticket, or it failed or has another reward.
    pub fn tell(&mut self, ticket: TicketId, reward: f64, now: Time) -> Result<Option<Event>, CampaignError> {
        let reward = without_negative_zero(reward);
        let event = Event::Told { ticket, reward };
        let is_new = self.ledger.may_tell(ticket, reward)?;
        is_new.then(|| check_size(reward).map(|()| self.apply_and_return(now, event))).transpose()
    }

    /// The events of telling these rewards, none of which is applied. A reward that is already recorded has none.
    ///
    /// # Errors
    /// As [`CampaignState::tell`], and if a ticket has two rewards.
    pub fn tell_events(&self, rewards: &[(TicketId, f64)]) -> Result<Vec<Event>, CampaignError> {
        let mut told = BTreeMap::new();
        let mut events = Vec::with_capacity(rewards.len());
        for &(ticket, reward) in rewards {
            let reward = without_negative_zero(reward);
            match told.get(&ticket) {
                Some(&first) if first == reward => (),
                Some(&told) => return Err(CampaignError::OtherReward { ticket, told, reward }),
                None if self.ledger.may_tell(ticket, reward)? => {
                    check_size(reward)?;
                    if rewards.len() > 1 {
                        told.insert(ticket, reward);
                    }
                    events.push(Event::Told { ticket, reward });
                }
                None => (),
            }
        }
        Ok(events)
    }

    /// Closes a ticket that will have no reward. Returns the event, or `None` if the ticket has already failed or expired.
    ///
    /// # Errors
    /// If there is no such ticket or it has its reward.
    pub fn fail(&mut self, ticket: TicketId, reason: &str, now: Time) -> Result<Option<Event>, CampaignError> {
        let event = Event::Failed { ticket, reason: reason.into() };
        Ok(self.ledger.may_fail(ticket)?.then(|| self.apply_and_return(now, event)))
    }

    /// Expires a ticket before its lease ends, for example because its worker is known to have crashed. Returns the event, or `None` if
    /// the ticket has already failed or expired.
    ///
    /// # Errors
    /// If there is no such ticket or it has its reward.
    pub fn expire(&mut self, ticket: TicketId, now: Time) -> Result<Option<Event>, CampaignError> {
        Ok(self.ledger.may_fail(ticket)?.then(|| self.apply_and_return(now, Event::Expired { ticket })))
    }

    /// Records a reward for which no ticket was handed out. Returns the event.
    ///
    /// # Errors
    /// If there is no such arm, or the reward is to count but the budget is used up.
    pub fn observe(&mut self, arm: Arm, reward: f64, is_counted: bool, now: Time) -> Result<Event, CampaignError> {
        let reward = without_negative_zero(reward);
        self.ledger.may_observe(arm, reward, is_counted)?;
        check_size(reward)?;
        Ok(self.apply_and_return(now, Event::Observed { arm, reward, is_counted }))
    }

    /// The verdict on every arm from the rewards received so far.
    ///
    /// # Panics
    /// Never: the terms were checked when the campaign began.
    pub fn verdicts(&mut self) -> Vec<Verdict> {
        self.update_noise();
        let confidence = self.terms.confidence(self.noise).expect("a noise in range, as when the campaign began");
        let mut verdicts: Vec<Verdict> = self.learner.beliefs().verdicts(&confidence).collect();
        let is_out_of_range = self.noise.is_out_of_range();
        if self.noise.source == NoiseSource::Nothing || is_out_of_range {
            // Without a noise scale, the intervals have no ends.
            let (lower, upper) = confidence.range();
            for verdict in &mut verdicts {
                (verdict.lower, verdict.upper) = (lower, upper);
                if is_out_of_range {
                    (verdict.side, verdict.doubt, verdict.settled_after) = (Side::Undecided, 0.5, None);
                }
            }
        }
        verdicts
    }

    /// Why the campaign will never hand out another measurement; `None` while it may.
    pub fn stop_reason(&mut self) -> Option<StopReason> {
        self.update_noise();
        let spent = self.ledger.spending.spent;
        self.learner.set_remaining(Amount::units(self.ledger.budget).minus(spent));
        let is_used = self.ledger.costs.is_none() && self.ledger.counted >= self.ledger.budget;
        if is_used {
            Some(StopReason::Budget)
        } else if self.expects_few_errors() {
            Some(StopReason::ExpectedErrors)
        } else {
            self.learner.stop_reason()
        }
    }

    /// Its progress.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let Ledger { budget, failed, expired, voided, events, .. } = self.ledger;
        let counted = self.ledger.n_counted(budget);
        let uncounted = self.ledger.uncounted + u64::from(self.ledger.counted - counted);
        let (open, recent) = (self.ledger.n_open(), self.ledger.recent.iter().copied().collect());
        let withdrawn = self.ledger.withdrawn.len();
        let spending = self.ledger.costs.as_ref().map(|_| self.ledger.spending);
        Progress { budget, spending, counted, uncounted, open, failed, expired, voided, withdrawn, events, recent }
    }

    /// The number of events.
    #[must_use]
    pub fn n_events(&self) -> u64 {
        self.ledger.events
    }

    /// The arm, the worker and the status of a ticket.
    ///
    /// # Errors
    /// If there is no such ticket.
    pub fn ticket(&self, ticket: TicketId) -> Result<(Arm, &str, TicketStatus), CampaignError> {
        self.ledger.ticket(ticket)
    }

    /// The tickets that wait for their reward, with the end of their lease; the lease that ends first comes first.
    pub fn open_tickets(&self) -> impl Iterator<Item = (TicketId, Time)> + '_ {
        self.ledger.open_tickets()
    }

    /// The noise scale, given or estimated from the rewards received so far. Choices, stop and verdicts all use it.
    #[must_use]
    pub fn noise(&self) -> NoiseEstimate {
        if self.is_noise_stale { self.ledger.current_noise() } else { self.noise }
    }

    /// How much of the differences between the arms the features explain, by the rewards received so far; `None` unless the model is
    /// [mixed](crate::estimators::Mixed) and there are rewards.
    #[must_use]
    pub fn explained(&self) -> Option<Explained> {
        self.explained
    }

    /// Whether all rewards so far are 0 or 1, and there are both, although the campaign does not take its rewards as pass or fail.
    #[must_use]
    pub fn looks_like_pass_or_fail(&self) -> bool {
        !self.terms.is_bernoulli() && self.ledger.has_only_passes_and_fails()
    }

    /// Tests the linear model with the rewards received so far, and reports what the model of the campaign has learnt. The linear model is
    /// that of a campaign on ridge: with the features as this campaign prepares them if its estimator is ridge, and otherwise with
    /// standardised features and an intercept.
    #[must_use]
    pub fn diagnose(&self) -> Diagnostics {
        let rewards = &self.ledger.rewards;
        let is_linear = self.terms.spec.estimator() == EstimatorKind::Ridge;
        let prepared = if is_linear { None } else { self.arms.clone().standardised().with_intercept(1.0).ok() };
        let tests = prepared.map_or_else(|| rewards.diagnose(), |arms| rewards.with_arms(&arms).diagnose());
        let learnt = self.explained.zip(self.spread);
        let learnt = learnt.map(|(explained, spread)| LearntModel { explained, noise: self.noise.sigma, spread });
        Diagnostics { learnt, ..tests }
    }

    /// The rewards received so far, for diagnostics.
    #[must_use]
    pub fn reward_stats(&self) -> &RewardStats {
        &self.ledger.rewards
    }

    /// Its terms.
    #[must_use]
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Its arms.
    #[must_use]
    pub fn arms(&self) -> &Arms {
        &self.arms
    }

    /// Applies an event that was checked, and returns it.
    fn apply_and_return(&mut self, now: Time, event: Event) -> Event {
        self.apply(now, &event);
        event
    }

    /// Applies an event that was checked.
    fn apply(&mut self, now: Time, event: &Event) {
        let update = self.ledger.apply(now, event).expect("an event that was checked");
        self.follow(update);
        if self.ledger.events.is_multiple_of(REBUILD_INTERVAL) && !self.learner.depends_on_order() {
            self.rebuild();
        } else {
            self.update_learner(update);
        }
        if update.changes_rewards() {
            self.is_noise_stale = true;
            self.update_learnt();
        }
    }

    fn update_learner(&mut self, update: LearnerUpdate) {
        match update {
            LearnerUpdate::Assign(arm) => self.learner.assign(arm),
            LearnerUpdate::Tell(arm, reward) => self.learner.tell(arm, reward),
            LearnerUpdate::Forget(arm) => self.learner.forget(arm),
            LearnerUpdate::Add(arm, reward) => {
                self.learner.assign(arm);
                self.learner.tell(arm, reward);
            }
            LearnerUpdate::Relearn => self.relearn(),
            LearnerUpdate::Withdraw(..) | LearnerUpdate::Nothing => (),
        }
    }

    /// What an update changes besides the estimates of the learner, whether these are updated at once or by a later rebuild.
    fn follow(&mut self, update: LearnerUpdate) {
        self.opening.follow(update);
        match update {
            LearnerUpdate::Relearn => self.relearn_ledger(),
            LearnerUpdate::Withdraw(arm, is_withdrawn) => {
                self.learner.set_withdrawn(arm, is_withdrawn);
                self.expected_errors = [None; 2];
            }
            _ => (),
        }
    }

    /// Recomputes the estimates of the learner from counts and means, so that rounding errors do not depend on where the journal was split.
    fn rebuild(&mut self) {
        let Ledger { rewards, counts, pending, changes, fit_history, .. } = &self.ledger;
        let means: Vec<f64> = (0..counts.len()).map(|arm| rewards.mean(arm)).collect();
        let fit_history = fit_history.as_deref();
        self.learner.restore(&History { n_rewards: counts, means: &means, pending, fit_history }, *changes);
    }

    /// Whether the campaign ends by [`EarlyStop::ExpectedErrors`].
    fn expects_few_errors(&mut self) -> bool {
        let Some(EarlyStop::ExpectedErrors(most)) = self.terms.until_sure else { return false };
        let Some(Checkpoints { last: Some(last), before: Some(before), .. }) = &self.ledger.checkpoints else {
            return false;
        };
        let errors = [before, last].map(|rewards| (rewards.n_rewards(), self.expected_errors_at(rewards)));
        self.expected_errors = errors.map(Some);
        errors.iter().all(|&(_, errors)| errors <= most)
    }

    /// The sum of the doubts of all verdicts by these rewards of the mixed model.
    fn expected_errors_at(&self, rewards: &FitHistory) -> f64 {
        let mut known = self.expected_errors.iter().flatten();
        if let Some(&(_, errors)) = known.find(|(n_rewards, _)| *n_rewards == rewards.n_rewards()) {
            return errors;
        }
        let mut learner =
            with_plain_rule(&self.terms, &self.arms, self.noise.sigma).expect("as when the campaign began");
        let n_arms = self.arms.n_arms();
        let (means, pending) = (vec![0.0; n_arms], vec![0; n_arms]);
        let n_rewards = rewards.counts();
        learner.restore(&History { n_rewards, means: &means, pending: &pending, fit_history: Some(rewards) }, 0);
        let confidence = self.terms.confidence(self.noise).expect("a noise in range, as when the campaign began");
        let mut beliefs = learner.beliefs();
        let verdicts = beliefs.verdicts(&confidence).enumerate();
        verdicts.filter(|(arm, _)| !self.ledger.withdrawn.contains_key(arm)).map(|(_, verdict)| verdict.doubt).sum()
    }

    /// Takes σ and the shares of the parts from a model that learns them.
    fn update_learnt(&mut self) {
        if !self.terms.spec.estimator().learns_noise() {
            return;
        }
        let estimator = self.learner.beliefs().estimator;
        self.explained = estimator.explained();
        self.spread = estimator.spread();
        if self.terms.noise.is_none() {
            let learnt = estimator.noise_scale().map(|sigma| NoiseEstimate {
                sigma,
                source: NoiseSource::Model,
                degrees_of_freedom: None,
            });
            self.noise = learnt.unwrap_or(NoiseEstimate::NOTHING);
        }
        self.is_noise_stale = false;
    }

    /// Brings σ up to date with the rewards in the ledger, for rule, stop and verdicts alike. Everything that uses σ calls this first.
    fn update_noise(&mut self) {
        if self.is_noise_stale && self.terms.fixed_noise().is_none() {
            self.noise = self.ledger.noise();
            self.learner.set_noise(self.noise.sigma);
        }
        self.is_noise_stale = false;
    }
}

impl std::fmt::Debug for CampaignState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let progress = self.progress();
        f.debug_struct("CampaignState").field("terms", &self.terms).field("progress", &progress).finish_non_exhaustive()
    }
}

/// Refuses a new reward that is too large to be learnt from. Journals may have larger ones.
fn check_size(reward: f64) -> Result<(), CampaignError> {
    if reward.abs() <= MAX_REWARD { Ok(()) } else { Err(CampaignError::NotAReward { reward }) }
}

/// Turns −0 into 0, because not every database stores the sign of zero.
fn without_negative_zero(reward: f64) -> f64 {
    reward + 0.0
}

/// A learner without a budget: the ledger enforces the budget.
fn build(terms: &Terms, arms: &Arms, sigma: f64) -> Result<Box<dyn AskTell>, TermsError> {
    Ok(terms.spec(sigma)?.learner_for(arms, terms.question, u32::MAX, horizon(terms, arms), terms.seed)?)
}

/// The number of measurements for which a rule plans: as many as the budget is enough for on average.
fn horizon(terms: &Terms, arms: &Arms) -> u32 {
    let Some(costs) = arms.measurement_costs() else { return terms.budget };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number that is too large becomes the largest"
    )]
    let n = (f64::from(terms.budget) / costs.mean()) as u32;
    n.max(1)
}

/// Refuses a budget that is too small for what the arms cost.
fn check_costs(terms: &Terms, arms: &Arms, opens_with_every_arm: bool) -> Result<(), TermsError> {
    let Some(costs) = arms.measurement_costs() else { return Ok(()) };
    Budget::new(terms.budget).map_err(SpecError::from)?;
    let (budget, n_arms, available) = (terms.budget, arms.n_arms(), Amount::units(terms.budget));
    let cheapest = costs.all().iter().copied().min().unwrap_or_default();
    let error = if opens_with_every_arm && costs.total() > available {
        LearnerError::BudgetBelowCosts { budget, n_arms, cost: costs.total() }
    } else if cheapest > available {
        LearnerError::BudgetBelowCheapest { budget, cost: cheapest }
    } else {
        return Ok(());
    };
    Err(SpecError::from(error).into())
}

/// A learner with the estimator of the campaign and a rule without state, so that it can be restored: for verdicts, which no rule changes.
fn with_plain_rule(terms: &Terms, arms: &Arms, sigma: f64) -> Result<Box<dyn AskTell>, TermsError> {
    let spec = terms.spec(sigma)?;
    let mut plain = Spec::named("random")?.with_estimator(spec.estimator().name())?;
    let is_of_estimator = |name| spec.estimator().parameters().iter().any(|parameter| parameter.name == name);
    for (name, value) in spec.values().filter(|&(name, _)| is_of_estimator(name)) {
        plain = plain.with(name, value)?;
    }
    Ok(plain.learner(arms, terms.question, u32::MAX, terms.seed)?)
}
