//! Campaigns: real measurements, handed out as tickets and told in any order, as a fold over events.
//!
//! A [`CampaignState`] is a function of its arms, its [`Terms`] and its events. It decides, says what happened as [`Event`]s and is in
//! the state they lead to; whoever wants it to last writes them down, and has the same campaign again by
//! [extending](CampaignState::extend) a new one with them. No decision is made twice: counts and sums are added up, and V is computed
//! from the counts, so that taking up a campaign costs little whatever K is.
//!
//! How events are handed over changes nothing, to the last bit: after every [`EVERY`] events the learner is built anew from the
//! counts, the means of the rewards and the noise they give, and steps from there.

mod course;
mod error;
mod event;
mod ledger;
mod terms;

pub use course::Stage;
pub use error::{BrokenJournal, CampaignError};
pub use event::{Event, Record, TicketId, Time};
pub use ledger::Status;
pub use terms::{NoiseEstimate, NoiseSource, Terms, TermsError};

use crate::diagnostics::RewardStats;
use crate::estimators::History;
use crate::{Arm, Arms, AskTell, StopReason, Verdict};
use ledger::{Ledger, Step};

/// After how many events the learner is built anew.
pub const EVERY: u64 = 64;

/// A campaign in progress.
///
/// ```
/// use cutline::campaign::{CampaignState, Event, Terms};
/// use cutline::{Arms, IntervalKind, Question, Spec};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let terms = Terms {
///     question: Question::new(0.5, 0.02)?,
///     spec: Spec::named("pivot")?,
///     budget: 60,
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
}

/// How far a campaign is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The most rewards that may be counted.
    pub budget: u32,
    /// The rewards counted.
    pub counted: u32,
    /// The rewards that do not count towards the budget.
    pub uncounted: u64,
    /// The tickets that are out.
    pub out: usize,
    /// The tickets that failed.
    pub failed: u64,
    /// The tickets that were given up and have no reward.
    pub expired: u64,
    /// The number of events.
    pub events: u64,
    /// When the last rewards came, the oldest first.
    pub recent: Vec<Time>,
}

impl CampaignState {
    /// A campaign in which nothing has happened yet.
    ///
    /// # Errors
    /// If the terms are out of range or do not fit the arms.
    pub fn new(arms: Arms, terms: Terms) -> Result<Self, TermsError> {
        let ledger = Ledger::new(&arms, terms.budget);
        let noise = terms.noise(&ledger.told);
        terms.confidence(noise)?;
        // Once with the budget itself, which may be too small for the arms; from then on the ledger keeps it.
        terms.spec(noise)?.learner(&arms, terms.question, terms.budget, terms.seed)?;
        let learner = build(&terms, &arms, noise)?;
        if learner.depends_on_order() && terms.noise.is_none() {
            return Err(TermsError::NeedsNoise(terms.spec.algorithm().name));
        }
        Ok(Self { terms, arms, ledger, learner })
    }

    /// Takes up events that happened elsewhere.
    ///
    /// # Errors
    /// If an event cannot have happened. The campaign is of no use then.
    pub fn extend(&mut self, records: &[Record]) -> Result<(), BrokenJournal> {
        let last = self.ledger.events + records.len() as u64;
        let settled = if self.learner.depends_on_order() { 0 } else { last - last % EVERY };
        for Record { at, event, .. } in records {
            let number = self.ledger.events + 1;
            let step = self.ledger.apply(*at, event).map_err(|refusal| BrokenJournal { number, refusal })?;
            match number.cmp(&settled) {
                std::cmp::Ordering::Less => (),
                std::cmp::Ordering::Equal => self.settle(),
                std::cmp::Ordering::Greater => self.step(step),
            }
        }
        Ok(())
    }

    /// Hands out up to `n` measurements to `worker`, after giving up the tickets whose lease has run out: what happened.
    ///
    /// Fewer than `n`, or none, come out when the budget is used or every side is sure.
    pub fn ask(&mut self, n: usize, worker: &str, now: Time, lease: Time) -> Vec<Event> {
        let due = |&(_, until): &(TicketId, Time)| until <= now;
        let due: Vec<TicketId> = self.ledger.out().take_while(due).map(|(ticket, _)| ticket).collect();
        let mut events: Vec<Event> = due.into_iter().map(|ticket| Event::Expired { ticket }).collect();
        for event in &events {
            self.happen(now, event);
        }
        for _ in 0..n {
            if self.ledger.used() >= self.ledger.budget {
                break;
            }
            let Some(arm) = self.learner.propose() else { break };
            let (ticket, until) = (self.ledger.next_ticket(), now.saturating_add(lease));
            let event = Event::Asked { ticket, arm, worker: worker.into(), until };
            self.happen(now, &event);
            events.push(event);
        }
        events
    }

    /// Takes the reward of a ticket: what happened, nothing if the same reward was told before.
    ///
    /// # Errors
    /// If there is no such ticket, it failed or has another reward, or it comes too late.
    pub fn tell(&mut self, ticket: TicketId, reward: f64, now: Time) -> Result<Option<Event>, CampaignError> {
        let reward = plus_zero(reward);
        let event = Event::Told { ticket, reward };
        Ok(self.ledger.may_tell(ticket, reward)?.then(|| self.happened(now, event)))
    }

    /// Gives a ticket back that will have no reward: what happened, nothing if it was given back before.
    ///
    /// # Errors
    /// If there is no such ticket or it has its reward.
    pub fn fail(&mut self, ticket: TicketId, reason: &str, now: Time) -> Result<Option<Event>, CampaignError> {
        let event = Event::Failed { ticket, reason: reason.into() };
        Ok(self.ledger.may_fail(ticket)?.then(|| self.happened(now, event)))
    }

    /// Gives a ticket up before its lease runs out, as when its worker is known to be gone: what happened, nothing if it is not out.
    ///
    /// # Errors
    /// If there is no such ticket or it has its reward.
    pub fn expire(&mut self, ticket: TicketId, now: Time) -> Result<Option<Event>, CampaignError> {
        Ok(self.ledger.may_fail(ticket)?.then(|| self.happened(now, Event::Expired { ticket })))
    }

    /// Takes a reward that nobody was asked for: what happened.
    ///
    /// # Errors
    /// If there is no such arm, or it is to count towards a budget that is used.
    pub fn observe(&mut self, arm: Arm, reward: f64, is_counted: bool, now: Time) -> Result<Event, CampaignError> {
        let reward = plus_zero(reward);
        self.ledger.may_observe(arm, reward, is_counted)?;
        Ok(self.happened(now, Event::Observed { arm, reward, is_counted }))
    }

    /// What is said of every arm, by the rewards told.
    ///
    /// # Panics
    /// Never: the terms were checked when the campaign began.
    pub fn verdicts(&mut self) -> Vec<Verdict> {
        let confidence = self.terms.confidence(self.noise()).expect("a noise in range, as when the campaign began");
        self.learner.beliefs().verdicts(&confidence).collect()
    }

    /// Why no measurement will ever be asked for again, or `None` while one may.
    pub fn stop_reason(&mut self) -> Option<StopReason> {
        let is_used = self.ledger.counted >= self.ledger.budget;
        if is_used { Some(StopReason::Budget) } else { self.learner.stop_reason() }
    }

    /// How far it is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        let Ledger { budget, counted, uncounted, failed, expired, events, ref recent, .. } = self.ledger;
        let (out, recent) = (self.ledger.n_out(), recent.iter().copied().collect());
        Progress { budget, counted, uncounted, out, failed, expired, events, recent }
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
    pub fn ticket(&self, ticket: TicketId) -> Result<(Arm, &str, Status), CampaignError> {
        self.ledger.ticket(ticket)
    }

    /// The tickets that are out, with when their lease runs out, the first to run out first.
    pub fn out(&self) -> impl Iterator<Item = (TicketId, Time)> + '_ {
        self.ledger.out()
    }

    /// The noise by what was told so far.
    #[must_use]
    pub fn noise(&self) -> NoiseEstimate {
        self.terms.noise(&self.ledger.told)
    }

    /// The rewards told, for diagnostics.
    #[must_use]
    pub fn told(&self) -> &RewardStats {
        &self.ledger.told
    }

    /// What it is about.
    #[must_use]
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Its arms.
    #[must_use]
    pub fn arms(&self) -> &Arms {
        &self.arms
    }

    fn happened(&mut self, now: Time, event: Event) -> Event {
        self.happen(now, &event);
        event
    }

    /// An event that was checked.
    fn happen(&mut self, now: Time, event: &Event) {
        let step = self.ledger.apply(now, event).expect("an event that was checked");
        if self.ledger.events.is_multiple_of(EVERY) && !self.learner.depends_on_order() {
            self.settle();
        } else {
            self.step(step);
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Assign(arm) => self.learner.assign(arm),
            Step::Tell(arm, reward) => self.learner.tell(arm, reward),
            Step::Forget(arm) => self.learner.forget(arm),
            Step::Add(arm, reward) => {
                self.learner.assign(arm);
                self.learner.tell(arm, reward);
            }
        }
    }

    /// Builds the learner anew from what was told.
    fn settle(&mut self) {
        let Ledger { told, counts, pending, changes, .. } = &self.ledger;
        self.learner = build(&self.terms, &self.arms, self.terms.noise(told)).expect("as when the campaign began");
        let means: Vec<f64> = (0..counts.len()).map(|arm| told.mean(arm)).collect();
        self.learner.restore(&History { n_rewards: counts, means: &means, pending }, *changes);
    }
}

impl std::fmt::Debug for CampaignState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let progress = self.progress();
        f.debug_struct("CampaignState").field("terms", &self.terms).field("progress", &progress).finish_non_exhaustive()
    }
}

/// The same number; 0 for −0, a difference that not every database keeps.
fn plus_zero(reward: f64) -> f64 {
    reward + 0.0
}

/// A learner whose budget the ledger keeps.
fn build(terms: &Terms, arms: &Arms, noise: NoiseEstimate) -> Result<Box<dyn AskTell>, TermsError> {
    Ok(terms.spec(noise)?.learner(arms, terms.question, u32::MAX, terms.seed)?)
}
