//! A campaign in a store. Every operation first reads the events that other handles wrote, and writes its own before it returns.

use crate::error::damaged_journal;
use crate::journal::{Decision, Id, Journal};
use crate::revision::{Revised, damaged, has_revision};
use crate::store::now;
use crate::{Candidates, NewCampaign, Settings, StoreError};
use cutline::campaign::{self, CampaignError, Event, Progress, Record, Request, Time};
use cutline::rules::NamedRule;
use cutline::{Arm, StopReason, Verdict};
use std::cmp::Ordering;
use std::time::Duration;

/// A campaign in a store, with its own connection. Other handles, in this process and in others, may use it at the same time.
///
/// Every answer includes all events that are in the store at that moment. If an operation fails, nothing was written.
pub struct Campaign {
    pub(crate) journal: Box<dyn Journal>,
    pub(crate) id: Id,
    name: String,
    pub(crate) location: String,
    /// The settings it began with.
    first_settings: Settings,
    /// The settings after the events read so far.
    settings: Settings,
    names: Vec<String>,
    columns: Vec<String>,
    /// The state after the events read so far; `None` if it has to be rebuilt from the journal.
    state: Option<campaign::CampaignState>,
}

/// How often an operation is tried again when others change the campaign at the same time.
pub(crate) const ATTEMPTS: usize = 20;

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
    /// How many rewards it takes: its own, and those of the tickets after it that were handed out together with it.
    pub replicates: u32,
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

    pub(crate) fn new(journal: Box<dyn Journal>, id: Id, new: NewCampaign, location: String) -> Self {
        let NewCampaign { name, first_settings, settings, candidates, state, .. } = new;
        let (names, columns) = candidates.into_names_and_columns();
        Self { journal, id, name, location, first_settings, settings, names, columns, state: Some(state) }
    }

    pub(crate) fn load(
        mut journal: Box<dyn Journal>,
        id: Id,
        name: String,
        location: String,
        rule: Option<NamedRule>,
    ) -> Result<Self, StoreError> {
        let mut first_settings = journal.beginning(id)?.settings;
        first_settings.custom_rule = rule.or(first_settings.custom_rule);
        let settings = first_settings.clone();
        let (names, columns) = (Vec::new(), Vec::new());
        let mut campaign = Self { journal, id, name, location, first_settings, settings, names, columns, state: None };
        campaign.reload()?;
        Ok(campaign)
    }

    /// Reads settings, candidates and events again, and builds the state from them.
    pub(crate) fn reload(&mut self) -> Result<(), StoreError> {
        self.state = None;
        let n_first = self.journal.beginning(self.id)?.n_arms;
        for _ in 0..ATTEMPTS {
            let records = self.journal.read(self.id, 0)?;
            let candidates = self.journal.candidates(self.id)?;
            let Revised { settings, n_added } = self.revised(&records)?;
            match candidates.n_arms().cmp(&(n_first + n_added)) {
                Ordering::Less => return Err(damaged(&self.location, "added arms are missing")),
                // Others have added arms since the events were read.
                Ordering::Greater => continue,
                Ordering::Equal => (),
            }
            check_custom_rule(&settings)?;
            self.state = Some(self.fold(&settings, &candidates, &records)?);
            self.settings = settings;
            (self.names, self.columns) = candidates.into_names_and_columns();
            return Ok(());
        }
        Err(damaged(&self.location, "it has more arms than its events say"))
    }

    fn revised(&self, records: &[Record]) -> Result<Revised, StoreError> {
        let events = records.iter().map(|record| &record.event);
        Revised::new(&self.first_settings, events).map_err(|what| damaged(&self.location, what))
    }

    /// The state with these settings and candidates after some events.
    fn fold(
        &self,
        settings: &Settings,
        candidates: &Candidates,
        records: &[Record],
    ) -> Result<campaign::CampaignState, StoreError> {
        let first_budget = self.first_settings.budget;
        let mut state = Self::initial_state(settings, candidates)?.with_first_budget(first_budget);
        state.extend(records).map_err(|error| damaged_journal(&self.location, error))?;
        Ok(state)
    }

    /// The state with these candidates after all events in the store. A budget that is too small for so many candidates is no hindrance.
    pub(crate) fn folded(&mut self, candidates: &Candidates) -> Result<campaign::CampaignState, StoreError> {
        let records = self.journal.read(self.id, 0)?;
        let n_arms = u32::try_from(candidates.n_arms()).unwrap_or(u32::MAX);
        let settings = Settings { budget: self.settings.budget.max(n_arms), ..self.settings.clone() };
        self.fold(&settings, candidates, &records)
    }

    /// Hands out up to `n` measurements to `worker`, each with a lease of this length. There are fewer once the budget is used up or
    /// the campaign stops early because every arm is decided.
    ///
    /// # Errors
    /// If the store fails.
    pub fn ask(&mut self, n: usize, worker: &str, lease: Duration) -> Result<Vec<Ticket>, StoreError> {
        let lease = Time::try_from(lease.as_millis()).unwrap_or(Time::MAX);
        self.ask_unless(&Request::new(n, worker, lease), &|| false)
    }

    /// As [`Campaign::ask`], with replicates and resumed tickets, and asks `is_interrupted` before every ticket: if that is true, no ticket is
    /// handed out and nothing is written. Replicates are one [`Ticket`].
    ///
    /// # Errors
    /// If it was interrupted, or the store fails.
    pub fn ask_unless(
        &mut self,
        request: &Request<'_>,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<Vec<Ticket>, StoreError> {
        let mut handed_out = Vec::new();
        let Written { features, .. } = self.write(|state, now| {
            let events = state.ask_unless(request, now, is_interrupted).ok_or(StoreError::Interrupted)?;
            handed_out = handed_out_by(state, &events)?;
            Ok(events)
        })?;
        let state = self.state.as_ref();
        let unchanged = |arm: Arm| state.and_then(|state| state.arms().row(arm)).unwrap_or_default();
        let mut tickets: Vec<Ticket> = Vec::new();
        let mut features = features.into_iter();
        for (number, arm, until, first) in handed_out {
            let features = features.next().unwrap_or_else(|| unchanged(arm));
            match tickets.last_mut() {
                Some(last) if last.number == first => last.replicates += 1,
                _ => {
                    let name = self.names[arm].clone();
                    tickets.push(Ticket { number, arm, name, features, until, replicates: 1 });
                }
            }
        }
        Ok(tickets)
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

    /// Records the rewards of a ticket and of those that were handed out together with it, in their order, all or none, and returns how many
    /// were new. There may be fewer rewards than measurements; the others stay open.
    ///
    /// # Errors
    /// As [`Campaign::tell`], and if there are more rewards than measurements.
    pub fn tell_replicates(&mut self, ticket: campaign::TicketId, rewards: &[f64]) -> Result<u64, StoreError> {
        let written = self.write(|state, now| {
            let tickets = state.replicates(ticket)?;
            let replicates = tickets.clone().count();
            if rewards.len() > replicates {
                return Err(CampaignError::TooManyRewards { ticket, replicates, rewards: rewards.len() }.into());
            }
            let mut events = Vec::with_capacity(rewards.len());
            for (ticket, &reward) in tickets.zip(rewards) {
                events.extend(state.tell(ticket, reward, now)?);
            }
            Ok(events)
        })?;
        Ok(written.n_events)
    }

    /// Closes a ticket that will have no reward, and records the reason; if it is the first of some replicates, all of them that are open.
    /// Returns whether the ticket was open.
    ///
    /// # Errors
    /// If the ticket does not exist or has its reward, or the store fails.
    pub fn fail(&mut self, ticket: campaign::TicketId, reason: &str) -> Result<bool, StoreError> {
        let written = self.write(|state, now| {
            let mut events: Vec<Event> = state.fail(ticket, reason, now)?.into_iter().collect();
            for other in state.replicates(ticket)?.skip(1) {
                if matches!(state.ticket(other)?.2, campaign::TicketStatus::Open(_)) {
                    events.extend(state.fail(other, reason, now)?);
                }
            }
            Ok(events)
        })?;
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
        if self.state.is_none() {
            self.reload()?;
        }
        let mut state = self.take_state()?;
        let records = self.journal.read(self.id, state.n_events())?;
        if has_revision(&records) {
            self.reload()?;
            return self.state.as_mut().ok_or(StoreError::Contended);
        }
        state.extend(&records).map_err(|error| damaged_journal(&self.location, error))?;
        Ok(self.state.insert(state))
    }

    /// The state at this moment, and all events that led to it.
    ///
    /// # Errors
    /// If the store fails.
    pub fn snapshot(&mut self) -> Result<(campaign::CampaignState, Vec<Record>), StoreError> {
        for _ in 0..ATTEMPTS {
            let known = self.state()?.n_events();
            let records = self.journal.read(self.id, 0)?;
            let is_revised = records.iter().any(|record| record.number > known && record.event.is_revision());
            if let Some(state) = self.state.as_ref().filter(|_| !is_revised) {
                let fresh = campaign::CampaignState::new(state.arms().clone(), state.terms().clone())?;
                let mut fresh = fresh.with_first_budget(self.first_settings.budget);
                fresh.extend(&records).map_err(|error| damaged_journal(&self.location, error))?;
                return Ok((fresh, records));
            }
        }
        Err(StoreError::Contended)
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

    /// The candidates as they were given, those that were added included.
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

    /// Its settings, after all changes that were read so far.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The settings it began with.
    #[must_use]
    pub fn first_settings(&self) -> &Settings {
        &self.first_settings
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

    /// Brings the state up to date, lets `decide` change it, and writes the events that `decide` returns, all in one transaction. If others
    /// have changed arms or settings, the state is built again first.
    pub(crate) fn write(
        &mut self,
        mut decide: impl FnMut(&mut campaign::CampaignState, Time) -> Result<Vec<Event>, StoreError>,
    ) -> Result<Written, StoreError> {
        for _ in 0..ATTEMPTS {
            let mut state = self.take_state()?;
            let mut known = state.n_events();
            let mut is_revised = false;
            let location = &self.location;
            // The state has the features as they are prepared; as they were given, they are in the journal only.
            let with_features = self.settings.changes_features();
            let done = self.journal.write(self.id, known, &mut |records| {
                is_revised = has_revision(&records);
                if is_revised {
                    return Ok(Decision::default());
                }
                state.extend(&records).map_err(|error| damaged_journal(location, error))?;
                known = state.n_events();
                let now = now();
                let events = decide(&mut state, now)?;
                let handed_out = if with_features { handed_out_by(&state, &events)? } else { Vec::new() };
                let features_of = handed_out.into_iter().map(|(_, arm, ..)| arm).collect();
                let events = events.into_iter().map(|event| (now, event)).collect();
                Ok(Decision { events, features_of, added: None })
            });
            if done.is_ok() && is_revised {
                self.reload()?;
                continue;
            }
            let n_events = state.n_events() - known;
            // After a failure, a state that has events which are not in the journal is dropped; the next operation rebuilds it.
            if done.is_ok() || n_events == 0 {
                self.state = Some(state);
            }
            return done.map(|features| Written { n_events, features });
        }
        Err(StoreError::Contended)
    }

    /// Takes the state after the events read so far; if it was dropped, it is built again.
    pub(crate) fn take_state(&mut self) -> Result<campaign::CampaignState, StoreError> {
        if self.state.is_none() {
            self.reload()?;
        }
        self.state.take().ok_or(StoreError::Contended)
    }
}

/// The tickets that were handed out or renewed by some events: number, arm, end of the lease, and the first of the replicates.
fn handed_out_by(
    state: &campaign::CampaignState,
    events: &[Event],
) -> Result<Vec<(campaign::TicketId, Arm, Time, campaign::TicketId)>, StoreError> {
    let mut handed_out = Vec::new();
    for event in events {
        if let Event::Asked { ticket, until, .. } | Event::Renewed { ticket, until } = *event {
            handed_out.push((ticket, state.ticket(ticket)?.0, until, state.first_replicate(ticket)));
        }
    }
    Ok(handed_out)
}

/// What [`Campaign::write`] wrote.
pub(crate) struct Written {
    pub(crate) n_events: u64,
    /// For each ticket that was handed out or renewed, in order, the features of its arm as they were given; empty if the state has them.
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
