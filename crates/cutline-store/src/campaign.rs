//! A campaign in a store. Every operation first reads the events that other handles wrote, and writes its own before it returns.

use crate::asking::take_back;
use crate::clock::{Clock, LeaseClock};
use crate::group::Group;
use crate::journal::{Id, Journal, has_revision};
use crate::writing::Moment;
use cutline::rules::NamedRule;
use cutline_campaign::{
    AnyCampaign, Availability, CampaignState, Candidates, Description, Event, NewCampaign, Outcome, Record, Settings,
    StoreError, Submission, Ticket, TicketId, TicketInfo,
};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

/// A campaign in a store, with its own connection. Other handles, in this process and in others, may use it at the same time.
///
/// Every answer includes all events that are in the store at that moment. See [`AnyCampaign::submit_unless`] for what
/// holds if an operation fails.
pub struct Campaign {
    pub(crate) journal: Box<dyn Journal>,
    pub(crate) id: Id,
    name: String,
    pub(crate) location: String,
    /// The settings and the names of the arms after the events read so far.
    description: Description,
    /// The state after the events read so far; `None` if it has to be rebuilt from the journal.
    pub(crate) state: Option<CampaignState>,
    pub(crate) lease_clock: LeaseClock,
    /// How long the last choice of an arm took; `None` before the first.
    pub(crate) decision_time: Option<Duration>,
    /// How long it took to write the last decision and to commit it.
    pub(crate) commit_time: Duration,
}

/// A connection to a store, its clock, and its location for messages.
pub(crate) struct Opened {
    pub(crate) journal: Box<dyn Journal>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) location: String,
}

/// How often an operation is tried again when others change the campaign at the same time.
pub(crate) const ATTEMPTS: usize = 20;

impl Campaign {
    /// A campaign without names, columns and state.
    fn unread(opened: Opened, id: Id, name: String, first_settings: Settings) -> Self {
        let Opened { journal, clock, location } = opened;
        Self {
            journal,
            id,
            name,
            location,
            description: Description {
                settings: first_settings.clone(),
                first_settings,
                names: Vec::new(),
                columns: Vec::new(),
            },
            state: None,
            lease_clock: LeaseClock::new(clock),
            decision_time: None,
            commit_time: Duration::ZERO,
        }
    }

    pub(crate) fn new(opened: Opened, id: Id, new: NewCampaign) -> Self {
        let NewCampaign { name, first_settings, settings, candidates, state, .. } = new;
        let (names, columns) = candidates.into_names_and_columns();
        let unread = Self::unread(opened, id, name, first_settings.clone());
        Self { description: Description { first_settings, settings, names, columns }, state: Some(state), ..unread }
    }

    pub(crate) fn load(mut opened: Opened, id: Id, name: String, rule: Option<NamedRule>) -> Result<Self, StoreError> {
        let mut first_settings = opened.journal.beginning(id)?.settings;
        first_settings.custom_rule = rule.or(first_settings.custom_rule);
        let mut campaign = Self::unread(opened, id, name, first_settings);
        campaign.reload()?;
        // From here on, a jump of the clock is noticed.
        campaign.moment();
        Ok(campaign)
    }

    /// Reads settings, candidates and events again, and builds the state from them.
    pub(crate) fn reload(&mut self) -> Result<(), StoreError> {
        self.state = None;
        let n_first = self.journal.beginning(self.id)?.n_arms;
        for _ in 0..ATTEMPTS {
            let records = self.journal.read(self.id, 0)?;
            let candidates = self.journal.candidates(self.id)?;
            let first_settings = &self.description.first_settings;
            let folded = Description::fold(first_settings, n_first, candidates, &records, &self.location)?;
            if let Some((description, state)) = folded {
                (self.description, self.state) = (description, Some(state));
                return Ok(());
            }
        }
        Err(StoreError::damaged(&self.location, "it has more arms than its events say"))
    }

    /// The state after all events that are in the store now.
    ///
    /// # Errors
    /// If the store fails.
    pub fn state(&mut self) -> Result<&mut CampaignState, StoreError> {
        if self.state.is_none() {
            self.reload()?;
        }
        let state = self.take_state()?;
        let records = self.journal.read(self.id, state.n_events())?;
        self.follow(state, &records)?;
        self.state.as_mut().ok_or(StoreError::Contended)
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

    /// The name it had when it was opened; it may have been renamed since.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its settings, after all changes that were read so far.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.description.settings
    }

    /// The settings it began with.
    #[must_use]
    pub fn first_settings(&self) -> &Settings {
        &self.description.first_settings
    }

    /// Its number in its store, which no other campaign gets.
    #[must_use]
    pub fn id(&self) -> i64 {
        self.id
    }

    /// The number of arms that it began with.
    ///
    /// # Errors
    /// If the store fails.
    pub fn first_n_arms(&mut self) -> Result<usize, StoreError> {
        Ok(self.journal.beginning(self.id)?.n_arms)
    }

    /// The names of its arms, in the order of their numbers.
    #[must_use]
    pub fn arm_names(&self) -> &[String] {
        &self.description.names
    }

    /// The names of the features; empty if the arms have none.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.description.columns
    }

    /// Applies events of others, and reads everything again if they change arms or settings.
    pub(crate) fn follow(&mut self, mut state: CampaignState, records: &[Record]) -> Result<(), StoreError> {
        if has_revision(records) {
            return self.reload();
        }
        state.extend(records).map_err(|error| StoreError::damaged(&self.location, error.to_string()))?;
        self.state = Some(state);
        Ok(())
    }

    /// The time of a decision that is made now.
    pub(crate) fn moment(&mut self) -> Moment {
        let now = self.lease_clock.now(self.journal.database_time());
        let leases = self.state.iter().flat_map(CampaignState::open_tickets).map(|(_, until)| until);
        Moment { now, due: self.lease_clock.due(now, leases) }
    }

    /// The tickets that were handed out or renewed by events that were written. Takes their features from `features`, unless the state has
    /// them.
    pub(crate) fn handed_out(
        &self,
        events: &[Event],
        features: &mut impl Iterator<Item = Vec<f64>>,
    ) -> Result<Vec<Ticket>, StoreError> {
        let state = self.state.as_ref().ok_or(StoreError::Contended)?;
        Ok(Ticket::handed_out(state, self.arm_names(), events, features)?)
    }

    /// Takes the state after the events read so far; if it was dropped, it is built again.
    pub(crate) fn take_state(&mut self) -> Result<CampaignState, StoreError> {
        if self.state.is_none() {
            self.reload()?;
        }
        self.state.take().ok_or(StoreError::Contended)
    }
}

impl AnyCampaign for Campaign {
    fn id(&self) -> i64 {
        self.id
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn columns(&self) -> &[String] {
        &self.description.columns
    }

    fn description(&mut self) -> Result<&Description, StoreError> {
        Ok(&self.description)
    }

    fn state(&mut self) -> Result<&mut CampaignState, StoreError> {
        self.state()
    }

    fn candidates(&mut self) -> Result<Candidates, StoreError> {
        self.candidates()
    }

    fn events(&mut self, after: u64) -> Result<Vec<Record>, StoreError> {
        self.events(after)
    }

    fn tickets(&mut self, numbers: &[TicketId]) -> Result<Vec<TicketInfo>, StoreError> {
        self.state()?;
        let state = self.state.as_ref().ok_or(StoreError::Contended)?;
        Ok(TicketInfo::find(state, &self.description.names, numbers))
    }

    fn availability(&mut self) -> Result<Availability, StoreError> {
        Ok(self.state()?.availability())
    }

    fn submit_unless(
        &mut self,
        submission: Submission,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<Outcome, StoreError> {
        let mut group = Group::default();
        group.push(submission, ());
        loop {
            // A custom rule may unwind.
            match catch_unwind(AssertUnwindSafe(|| self.advance(&mut group, is_interrupted))) {
                Ok(Ok(finished)) => {
                    if let Some(finished) = finished.into_iter().next() {
                        return finished.outcome;
                    }
                }
                Ok(Err(StoreError::Interrupted)) => {
                    take_back(self, &group.abandon(|_, ()| true))?;
                    return Err(StoreError::Interrupted);
                }
                Ok(Err(error)) => {
                    let outcome = group.give_up().pop().map(|((), outcome)| outcome).unwrap_or_default();
                    return if outcome.tickets.is_empty() { Err(error) } else { Ok(outcome) };
                }
                Err(payload) => {
                    // If this fails, the tickets expire at the end of their lease.
                    drop(take_back(self, &group.abandon(|_, ()| true)));
                    resume_unwind(payload);
                }
            }
        }
    }
}

impl std::fmt::Debug for Campaign {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, location, .. } = self;
        f.debug_struct("Campaign")
            .field("name", name)
            .field("location", location)
            .field("settings", self.settings())
            .finish_non_exhaustive()
    }
}
