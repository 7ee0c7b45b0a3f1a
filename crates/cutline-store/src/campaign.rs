//! A campaign in a store. Every operation first reads the events that other handles wrote, and writes its own before it returns.

use crate::clock::{Clock, LeaseClock};
use crate::error::{damaged, damaged_journal};
use crate::journal::{Id, Journal, has_revision};
use crate::writing::Moment;
use crate::{NewCampaign, StoreError};
use cutline::rules::NamedRule;
use cutline::{StopReason, Verdict};
use cutline_campaign as campaign;
use cutline_campaign::{Candidates, Event, Plan, Progress, Record, Revised, Settings, Standing, Terms, Time, View};
use std::cmp::Ordering;
use std::sync::Arc;
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
    pub(crate) names: Vec<String>,
    columns: Vec<String>,
    /// The state after the events read so far; `None` if it has to be rebuilt from the journal.
    pub(crate) state: Option<campaign::CampaignState>,
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
            settings: first_settings.clone(),
            first_settings,
            names: Vec::new(),
            columns: Vec::new(),
            state: None,
            lease_clock: LeaseClock::new(clock),
            decision_time: None,
            commit_time: Duration::ZERO,
        }
    }

    pub(crate) fn new(opened: Opened, id: Id, new: NewCampaign) -> Self {
        let NewCampaign { name, first_settings, settings, candidates, state, .. } = new;
        let (names, columns) = candidates.into_names_and_columns();
        Self { settings, names, columns, state: Some(state), ..Self::unread(opened, id, name, first_settings) }
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
            let Revised { settings, n_added } = self.revised(&records)?;
            match candidates.n_arms().cmp(&n_first.saturating_add(n_added)) {
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
        let mut state = settings.begin(candidates)?.with_first_budget(first_budget);
        state.extend(records).map_err(|error| damaged_journal(&self.location, error))?;
        Ok(state)
    }

    /// The state with these candidates after all events in the store. A budget that is too small for so many candidates is no hindrance.
    pub(crate) fn folded(&mut self, candidates: &Candidates) -> Result<campaign::CampaignState, StoreError> {
        let records = self.journal.read(self.id, 0)?;
        let n_arms = u32::try_from(candidates.n_arms()).unwrap_or(u32::MAX);
        let every_arm =
            candidates.measurement_costs().map_or(n_arms, |costs| costs.total().whole_units().saturating_add(1));
        let settings = Settings { budget: self.settings.budget.max(every_arm), ..self.settings.clone() };
        self.fold(&settings, candidates, &records)
    }

    /// The state after all events that are in the store now.
    ///
    /// # Errors
    /// If the store fails.
    pub fn state(&mut self) -> Result<&mut campaign::CampaignState, StoreError> {
        if self.state.is_none() {
            self.reload()?;
        }
        let state = self.take_state()?;
        let records = self.journal.read(self.id, state.n_events())?;
        self.follow(state, &records)?;
        self.state.as_mut().ok_or(StoreError::Contended)
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

    /// How the campaign stands at a time, with what the rest of its budget would bring if that is quick to compute.
    ///
    /// # Errors
    /// If the store fails.
    pub fn standing(&mut self, now: Time) -> Result<Standing, StoreError> {
        let standing = self.standing_without_rest(now)?;
        if !Plan::is_rest_quick(self.state()?) {
            return Ok(standing);
        }
        let arms = self.candidates()?.arms();
        Ok(standing.with_rest(self.state()?, arms))
    }

    /// How the campaign stands at a time, without what the rest of its budget would bring, which takes long to compute again and again.
    ///
    /// # Errors
    /// If the store fails.
    pub fn standing_without_rest(&mut self, now: Time) -> Result<Standing, StoreError> {
        self.state()?;
        let Self { name, settings, state, .. } = self;
        let state = state.as_mut().ok_or(StoreError::Contended)?;
        let verdicts = state.verdicts();
        Ok(Standing::new(name, settings, state, &verdicts, now))
    }

    /// Everything about the campaign at one moment, so that what is made of it agrees even while others write to the store.
    ///
    /// # Errors
    /// If the store fails.
    pub fn view(&mut self, now: Time) -> Result<View, StoreError> {
        let (mut state, records) = self.snapshot()?;
        let verdicts = state.verdicts();
        let mut standing = Standing::new(&self.name, &self.settings, &mut state, &verdicts, now);
        if Plan::is_rest_quick(&mut state) {
            standing = standing.with_rest(&mut state, self.candidates()?.arms());
        }
        Ok(View {
            name: self.name.clone(),
            settings: self.settings.clone(),
            columns: self.columns.clone(),
            names: self.names.clone(),
            records,
            state,
            verdicts,
            standing,
        })
    }

    /// The verdicts on all arms.
    ///
    /// # Errors
    /// If the store fails.
    pub fn verdicts(&mut self) -> Result<Vec<Verdict>, StoreError> {
        Ok(self.state()?.verdicts())
    }

    /// The verdicts of a campaign with another δ that received the same rewards.
    ///
    /// # Errors
    /// If δ is not between 0 and 1, or the store fails.
    pub fn verdicts_at(&mut self, delta: f64) -> Result<Vec<Verdict>, StoreError> {
        let latest = self.state()?;
        let terms = Terms { delta, ..latest.terms().clone() };
        let mut state = campaign::CampaignState::new(latest.arms().clone(), terms)?;
        // They were taken already, so they are taken as they are.
        let observed = |(arm, reward)| Event::Observed { arm, reward, is_counted: false };
        let rewards = (1..).zip(latest.rewards());
        let records: Vec<Record> =
            rewards.map(|(number, reward)| Record { number, at: 0, event: observed(reward) }).collect();
        state.extend(&records).map_err(|error| StoreError::CampaignError(error.refusal))?;
        Ok(state.verdicts())
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

    /// The name it had when it was opened; it may have been renamed since.
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
        &self.names
    }

    /// The names of the features; empty if the arms have none.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Applies events of others, and reads everything again if they change arms or settings.
    pub(crate) fn follow(&mut self, mut state: campaign::CampaignState, records: &[Record]) -> Result<(), StoreError> {
        if has_revision(records) {
            return self.reload();
        }
        state.extend(records).map_err(|error| damaged_journal(&self.location, error))?;
        self.state = Some(state);
        Ok(())
    }

    /// The time of a decision that is made now.
    pub(crate) fn moment(&mut self) -> Moment {
        let now = self.lease_clock.now(self.journal.database_time());
        let leases = self.state.iter().flat_map(campaign::CampaignState::open_tickets).map(|(_, until)| until);
        Moment { now, due: self.lease_clock.due(now, leases) }
    }

    /// Takes the state after the events read so far; if it was dropped, it is built again.
    pub(crate) fn take_state(&mut self) -> Result<campaign::CampaignState, StoreError> {
        if self.state.is_none() {
            self.reload()?;
        }
        self.state.take().ok_or(StoreError::Contended)
    }
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
