//! A campaign in a store. Every operation first reads the events that other handles wrote, and writes its own before it returns.

use crate::error::damaged_journal;
use crate::journal::{Id, Journal};
use crate::store::now;
use crate::{Candidates, Settings, StoreError};
use cutline::campaign::{self, Event, Progress, Record, Time};
use cutline::rules::NamedRule;
use cutline::{Arm, StopReason, Verdict};
use std::time::Duration;

/// A campaign in a store, with its own connection. Other handles, in this process and in others, may use it at the same time.
///
/// Every answer includes all events that are in the store at that moment. If an operation fails, nothing was written.
pub struct Campaign {
    journal: Box<dyn Journal>,
    id: Id,
    name: String,
    location: String,
    settings: Settings,
    names: Vec<String>,
    columns: Vec<String>,
    /// The state after the events read so far; `None` if it has to be rebuilt from the journal.
    state: Option<campaign::CampaignState>,
}

/// A measurement to make.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ticket {
    /// Its number, to be passed to [`Campaign::tell`].
    pub number: campaign::TicketId,
    /// The arm.
    pub arm: Arm,
    /// The name of the arm.
    pub name: String,
    /// The arm's features as they were given; empty if the arms have none.
    pub features: Vec<f64>,
    /// When its lease ends, in milliseconds since 1970.
    pub until: Time,
}

impl Campaign {
    /// The state of a campaign without events.
    pub(crate) fn initial_state(
        settings: &Settings,
        candidates: &Candidates,
    ) -> Result<campaign::CampaignState, StoreError> {
        let terms = settings.terms(candidates.has_features())?;
        let arms = settings.prepare(candidates.arms())?;
        Ok(campaign::CampaignState::new(arms, terms)?)
    }

    pub(crate) fn new(
        journal: Box<dyn Journal>,
        id: Id,
        name: String,
        settings: Settings,
        candidates: Candidates,
        state: campaign::CampaignState,
        location: String,
    ) -> Self {
        let (names, columns) = candidates.into_names_and_columns();
        Self { journal, id, name, location, settings, names, columns, state: Some(state) }
    }

    pub(crate) fn load(
        mut journal: Box<dyn Journal>,
        id: Id,
        name: String,
        location: String,
        rule: Option<NamedRule>,
    ) -> Result<Self, StoreError> {
        let mut settings = journal.settings(id)?;
        settings.custom_rule = rule.or(settings.custom_rule);
        check_custom_rule(&settings)?;
        let candidates = journal.candidates(id)?;
        let state = Self::initial_state(&settings, &candidates)?;
        let mut campaign = Self::new(journal, id, name, settings, candidates, state, location);
        campaign.state()?;
        Ok(campaign)
    }

    /// Hands out up to `n` measurements to `worker`, each with a lease of this length. There are fewer once the budget is used up or
    /// the campaign stops early because every arm is decided.
    ///
    /// # Errors
    /// If the store fails.
    pub fn ask(&mut self, n: usize, worker: &str, lease: Duration) -> Result<Vec<Ticket>, StoreError> {
        self.ask_unless(n, worker, lease, &|| false)
    }

    /// As [`Campaign::ask`], and asks `is_interrupted` before every ticket: if that is true, no ticket is handed out and nothing is
    /// written.
    ///
    /// # Errors
    /// If it was interrupted, or the store fails.
    pub fn ask_unless(
        &mut self,
        n: usize,
        worker: &str,
        lease: Duration,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<Vec<Ticket>, StoreError> {
        let lease = Time::try_from(lease.as_millis()).unwrap_or(Time::MAX);
        let mut asked = Vec::new();
        let Written { features, .. } = self.write(|state, now| {
            let events = state.ask_unless(n, worker, now, lease, is_interrupted).ok_or(StoreError::Interrupted)?;
            asked = events
                .iter()
                .filter_map(|event| match *event {
                    Event::Asked { ticket, arm, until, .. } => Some((ticket, arm, until)),
                    _ => None,
                })
                .collect();
            Ok(events)
        })?;
        let arms = self.state.as_ref().map(campaign::CampaignState::arms);
        let unchanged = |arm: Arm| arms.and_then(|arms| arms.row(arm)).unwrap_or_default();
        let mut features = features.into_iter();
        let ticket = |(number, arm, until): (_, Arm, _)| {
            let name = self.names[arm].clone();
            let features = features.next().unwrap_or_else(|| unchanged(arm));
            Ticket { number, arm, name, features, until }
        };
        Ok(asked.into_iter().map(ticket).collect())
    }

    /// Records the rewards of tickets, all or none, and returns how many were new. Telling the same reward again changes nothing.
    ///
    /// # Errors
    /// If a ticket does not exist, failed, has another reward or comes too late, or the store fails.
    pub fn tell(&mut self, rewards: &[(campaign::TicketId, f64)]) -> Result<u64, StoreError> {
        let written = self.write(|state, now| {
            let mut events = Vec::with_capacity(rewards.len());
            for &(ticket, reward) in rewards {
                events.extend(state.tell(ticket, reward, now)?);
            }
            Ok(events)
        })?;
        Ok(written.n_events)
    }

    /// Closes a ticket that will have no reward, and records the reason. Returns whether the ticket was open.
    ///
    /// # Errors
    /// If the ticket does not exist or has its reward, or the store fails.
    pub fn fail(&mut self, ticket: campaign::TicketId, reason: &str) -> Result<bool, StoreError> {
        let written = self.write(|state, now| Ok(state.fail(ticket, reason, now)?.into_iter().collect()))?;
        Ok(written.n_events > 0)
    }

    /// Ends the leases of tickets early, for example because their worker has crashed, and returns how many were open. Their rewards are
    /// still accepted late.
    ///
    /// # Errors
    /// If a ticket does not exist, or the store fails.
    pub fn expire(&mut self, tickets: &[campaign::TicketId]) -> Result<u64, StoreError> {
        let written = self.write(|state, now| {
            let mut events = Vec::new();
            for &ticket in tickets {
                // A ticket may have been told in the meantime; that is not an error.
                if matches!(state.ticket(ticket)?.2, campaign::TicketStatus::Open(_)) {
                    events.extend(state.expire(ticket, now)?);
                }
            }
            Ok(events)
        })?;
        Ok(written.n_events)
    }

    /// Records rewards without tickets, all or none.
    ///
    /// # Errors
    /// If an arm does not exist, a reward is not a finite number, the rewards count towards the budget and exceed it, or the store fails.
    pub fn observe(&mut self, rewards: &[(Arm, f64)], is_counted: bool) -> Result<(), StoreError> {
        self.write(|state, now| {
            let observe = |&(arm, reward): &(Arm, f64)| state.observe(arm, reward, is_counted, now);
            Ok(rewards.iter().map(observe).collect::<Result<_, _>>()?)
        })?;
        Ok(())
    }

    /// The state after all events that are in the store now.
    ///
    /// # Errors
    /// If the store fails.
    pub fn state(&mut self) -> Result<&mut campaign::CampaignState, StoreError> {
        let mut state = self.take_state()?;
        let records = self.journal.read(self.id, state.n_events())?;
        state.extend(&records).map_err(|error| damaged_journal(&self.location, error))?;
        Ok(self.state.insert(state))
    }

    /// The verdicts on all arms.
    ///
    /// # Errors
    /// If the store fails.
    pub fn verdicts(&mut self) -> Result<Vec<Verdict>, StoreError> {
        Ok(self.state()?.verdicts())
    }

    /// The counts of measurements, tickets and events.
    ///
    /// # Errors
    /// If the store fails.
    pub fn progress(&mut self) -> Result<Progress, StoreError> {
        Ok(self.state()?.progress())
    }

    /// Why the campaign will never hand out another measurement; `None` while it may.
    ///
    /// # Errors
    /// If the store fails.
    pub fn stop_reason(&mut self) -> Result<Option<StopReason>, StoreError> {
        Ok(self.state()?.stop_reason())
    }

    /// The events after number `after`; 0 for all.
    ///
    /// # Errors
    /// If the store fails.
    pub fn events(&mut self, after: u64) -> Result<Vec<Record>, StoreError> {
        self.journal.read(self.id, after)
    }

    /// The rewards so far, in the order they were recorded, each with its arm.
    ///
    /// # Errors
    /// If the store fails.
    pub fn rewards(&mut self) -> Result<Vec<(Arm, f64)>, StoreError> {
        let records = self.journal.read(self.id, 0)?;
        let state = self.state()?;
        let reward = |record: &Record| match record.event {
            Event::Told { ticket, reward } => state.ticket(ticket).ok().map(|(arm, ..)| (arm, reward)),
            Event::Observed { arm, reward, .. } => Some((arm, reward)),
            _ => None,
        };
        Ok(records.iter().filter_map(reward).collect())
    }

    /// The candidates as they were given.
    ///
    /// # Errors
    /// If the store fails.
    pub fn candidates(&mut self) -> Result<Candidates, StoreError> {
        self.journal.candidates(self.id)
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The names of its arms.
    #[must_use]
    pub fn arm_names(&self) -> &[String] {
        &self.names
    }

    /// The names of the features.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Brings the state up to date, lets `decide` change it, and writes the events that `decide` returns, all in one transaction.
    fn write(
        &mut self,
        mut decide: impl FnMut(&mut campaign::CampaignState, Time) -> Result<Vec<Event>, StoreError>,
    ) -> Result<Written, StoreError> {
        let mut state = self.take_state()?;
        let mut known = state.n_events();
        let location = &self.location;
        // The state has the features as they are prepared; as they were given, they are in the journal only.
        let with_features = self.settings.changes_features();
        let done = self.journal.write(self.id, known, with_features, &mut |records| {
            state.extend(&records).map_err(|error| damaged_journal(location, error))?;
            known = state.n_events();
            let now = now();
            Ok(decide(&mut state, now)?.into_iter().map(|event| (now, event)).collect())
        });
        let n_events = state.n_events() - known;
        // After a failure, a state that has events which are not in the journal is dropped; the next operation rebuilds it.
        if done.is_ok() || n_events == 0 {
            self.state = Some(state);
        }
        done.map(|features| Written { n_events, features })
    }

    /// Takes the state after the events read so far or, if it was dropped, a new one without events.
    fn take_state(&mut self) -> Result<campaign::CampaignState, StoreError> {
        match self.state.take() {
            Some(state) => Ok(state),
            None => Self::initial_state(&self.settings, &self.journal.candidates(self.id)?),
        }
    }
}

/// What [`Campaign::write`] wrote.
struct Written {
    n_events: u64,
    /// For each `Asked` event, in order, the features of its arm as they were given; empty if the state has them.
    features: Vec<Vec<f64>>,
}

/// Checks that the caller gave the custom rule of this campaign, if it uses one, and no other.
fn check_custom_rule(settings: &Settings) -> Result<(), StoreError> {
    let Some(algorithm) = &settings.algorithm else { return Ok(()) };
    match &settings.custom_rule {
        None if cutline::algorithm(algorithm).is_none() => Err(StoreError::CustomRuleMissing(algorithm.clone())),
        Some(rule) if rule.name() != algorithm => {
            Err(StoreError::CustomRuleMismatch { expected: algorithm.clone(), found: rule.name().into() })
        }
        _ => Ok(()),
    }
}

impl std::fmt::Debug for Campaign {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, location, settings, .. } = self;
        f.debug_struct("Campaign")
            .field("name", name)
            .field("location", location)
            .field("settings", settings)
            .finish_non_exhaustive()
    }
}
