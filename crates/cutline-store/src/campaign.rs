//! A campaign in a store: what happened is written down, and what others wrote is taken up, before anybody hears of it.

use crate::error::broken;
use crate::journal::{Id, Journal};
use crate::store::now;
use crate::{Candidates, Settings, StoreError};
use cutline::campaign::{self, Event, Progress, Record, Time};
use cutline::rules::NamedRule;
use cutline::{Arm, StopReason, Verdict};
use std::time::Duration;

/// A campaign in a store, through a connection of its own. Other handles, in this process and in others, work on it at the same time.
///
/// What it says is what the journal says at that moment. If anything fails, nothing was written.
pub struct Campaign {
    journal: Box<dyn Journal>,
    id: Id,
    name: String,
    location: String,
    settings: Settings,
    names: Vec<String>,
    columns: Vec<String>,
    /// What the events come to, as far as they were read; none if it has to be read anew.
    state: Option<campaign::CampaignState>,
}

/// A measurement to make.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ticket {
    /// Its number: what to tell the reward for.
    pub number: campaign::TicketId,
    /// The arm.
    pub arm: Arm,
    /// What the arm is called.
    pub name: String,
    /// The arm's features as they were given; none if the arms have none.
    pub features: Vec<f64>,
    /// When its lease runs out, in milliseconds since 1970.
    pub until: Time,
}

impl Campaign {
    /// What a campaign is before anything has happened.
    pub(crate) fn empty(settings: &Settings, candidates: &Candidates) -> Result<campaign::CampaignState, StoreError> {
        let terms = settings.terms(!candidates.columns().is_empty())?;
        let arms = settings.preparation.prepare(candidates.arms())?;
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
        let (names, columns) = candidates.into_names();
        Self { journal, id, name, location, settings, names, columns, state: Some(state) }
    }

    pub(crate) fn load(
        mut journal: Box<dyn Journal>,
        id: Id,
        name: String,
        location: String,
        own: Option<NamedRule>,
    ) -> Result<Self, StoreError> {
        let mut settings = journal.settings(id)?;
        settings.own = own.or(settings.own);
        check_own(&settings)?;
        let candidates = journal.candidates(id)?;
        let state = Self::empty(&settings, &candidates)?;
        let mut campaign = Self::new(journal, id, name, settings, candidates, state, location);
        campaign.state()?;
        Ok(campaign)
    }

    /// Hands out up to `n` measurements to `worker`, each to be told within `lease`. Fewer come out when the budget is used or every
    /// side is sure.
    ///
    /// # Errors
    /// If the store fails.
    pub fn ask(&mut self, n: usize, worker: &str, lease: Duration) -> Result<Vec<Ticket>, StoreError> {
        let lease = Time::try_from(lease.as_millis()).unwrap_or(Time::MAX);
        let mut asked = Vec::new();
        self.write(|state, now| {
            let events = state.ask(n, worker, now, lease);
            asked = events
                .iter()
                .filter_map(|event| match *event {
                    Event::Asked { ticket, arm, until, .. } => Some((ticket, arm, until)),
                    _ => None,
                })
                .collect();
            Ok(events)
        })?;
        asked
            .into_iter()
            .map(|(number, arm, until)| {
                let (name, features) = (self.names[arm].clone(), self.journal.row(self.id, arm)?);
                Ok(Ticket { number, arm, name, features, until })
            })
            .collect()
    }

    /// Takes rewards, all of them or none; says how many were new. A reward that was told before is fine.
    ///
    /// # Errors
    /// If a ticket does not exist, failed, has another reward or comes too late, or the store fails.
    pub fn tell(&mut self, rewards: &[(campaign::TicketId, f64)]) -> Result<u64, StoreError> {
        self.write(|state, now| {
            let mut events = Vec::with_capacity(rewards.len());
            for &(ticket, reward) in rewards {
                events.extend(state.tell(ticket, reward, now)?);
            }
            Ok(events)
        })
    }

    /// Gives a ticket back that will have no reward, and says why; whether it was out until now.
    ///
    /// # Errors
    /// If the ticket does not exist or has its reward, or the store fails.
    pub fn fail(&mut self, ticket: campaign::TicketId, reason: &str) -> Result<bool, StoreError> {
        let written = self.write(|state, now| Ok(state.fail(ticket, reason, now)?.into_iter().collect()))?;
        Ok(written > 0)
    }

    /// Gives tickets up before their lease runs out, as when their worker is known to be gone; says how many were out. Their rewards may
    /// still come late.
    ///
    /// # Errors
    /// If a ticket does not exist, or the store fails.
    pub fn expire(&mut self, tickets: &[campaign::TicketId]) -> Result<u64, StoreError> {
        self.write(|state, now| {
            let mut events = Vec::new();
            for &ticket in tickets {
                // What was told in the meantime is no longer out, and that is fine.
                if matches!(state.ticket(ticket)?.2, campaign::TicketStatus::Open(_)) {
                    events.extend(state.expire(ticket, now)?);
                }
            }
            Ok(events)
        })
    }

    /// Takes rewards that nobody was asked for, all of them or none.
    ///
    /// # Errors
    /// If there is no such arm, a reward is not a number, they are to count and the budget does not allow it, or the store fails.
    pub fn observe(&mut self, rewards: &[(Arm, f64)], is_counted: bool) -> Result<(), StoreError> {
        self.write(|state, now| {
            let observe = |&(arm, reward): &(Arm, f64)| state.observe(arm, reward, is_counted, now);
            Ok(rewards.iter().map(observe).collect::<Result<_, _>>()?)
        })?;
        Ok(())
    }

    /// What the events come to, all of them that are in the store now.
    ///
    /// # Errors
    /// If the store fails.
    pub fn state(&mut self) -> Result<&mut campaign::CampaignState, StoreError> {
        let mut state = self.take_state()?;
        let records = self.journal.read(self.id, state.n_events())?;
        state.extend(&records).map_err(|error| broken(&self.location, error))?;
        Ok(self.state.insert(state))
    }

    /// What is said of every arm.
    ///
    /// # Errors
    /// If the store fails.
    pub fn verdicts(&mut self) -> Result<Vec<Verdict>, StoreError> {
        Ok(self.state()?.verdicts())
    }

    /// How far it is.
    ///
    /// # Errors
    /// If the store fails.
    pub fn progress(&mut self) -> Result<Progress, StoreError> {
        Ok(self.state()?.progress())
    }

    /// Why no measurement will ever be asked for again, or `None` while one may.
    ///
    /// # Errors
    /// If the store fails.
    pub fn stop_reason(&mut self) -> Result<Option<StopReason>, StoreError> {
        Ok(self.state()?.stop_reason())
    }

    /// Everything that happened after event number `after`, 0 for all.
    ///
    /// # Errors
    /// If the store fails.
    pub fn events(&mut self, after: u64) -> Result<Vec<Record>, StoreError> {
        self.journal.read(self.id, after)
    }

    /// The arms as they were given.
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

    /// What it is about.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What its arms are called.
    #[must_use]
    pub fn arms(&self) -> &[String] {
        &self.names
    }

    /// What the features are called.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Writes what `decide` makes happen; says how many events that were.
    fn write(
        &mut self,
        mut decide: impl FnMut(&mut campaign::CampaignState, Time) -> Result<Vec<Event>, StoreError>,
    ) -> Result<u64, StoreError> {
        let mut state = self.take_state()?;
        let mut known = state.n_events();
        let location = &self.location;
        let done = self.journal.write(self.id, known, &mut |records| {
            state.extend(&records).map_err(|error| broken(location, error))?;
            known = state.n_events();
            let now = now();
            Ok(decide(&mut state, now)?.into_iter().map(|event| (now, event)).collect())
        });
        let written = state.n_events() - known;
        // If it failed, a state that knows of events which are not in the journal is given up.
        if done.is_ok() || written == 0 {
            self.state = Some(state);
        }
        done.map(|()| written)
    }

    /// The state, as far as it was read; made anew if it was lost.
    fn take_state(&mut self) -> Result<campaign::CampaignState, StoreError> {
        match self.state.take() {
            Some(state) => Ok(state),
            None => Self::empty(&self.settings, &self.journal.candidates(self.id)?),
        }
    }
}

/// Whether the rule is at hand by which a campaign was begun.
fn check_own(settings: &Settings) -> Result<(), StoreError> {
    let Some(played) = &settings.algorithm else { return Ok(()) };
    match &settings.own {
        None if cutline::algorithm(played).is_none() => Err(StoreError::NeedsOwn(played.clone())),
        Some(own) if own.name() != played => {
            Err(StoreError::NotOwn { played: played.clone(), given: own.name().into() })
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
