//! A campaign that is not in a store yet. Everything that can be refused without a store is refused here.

use crate::StoreError;
use crate::clock::now;
use crate::error::{damaged, damaged_journal};
use crate::origin::Mark;
use cutline::Arm;
use cutline_campaign as campaign;
use cutline_campaign::{Candidates, Event, Origin, Record, Revised, Settings, Time};

/// A new campaign, checked, with the rewards it begins with. [`Store::begin_new`](crate::Store::begin_new) puts it into a store.
///
/// Build it before creating the store: if it is refused, no empty store is left behind.
#[derive(Debug)]
pub struct NewCampaign {
    pub(crate) name: String,
    pub(crate) created: Time,
    /// The settings before the first event.
    pub(crate) first_settings: Settings,
    pub(crate) settings: Settings,
    pub(crate) candidates: Candidates,
    /// How many of the candidates were added by events.
    pub(crate) n_added: usize,
    pub(crate) events: Vec<(Time, Event)>,
    pub(crate) state: campaign::CampaignState,
    pub(crate) origin: Origin,
    /// Whether it continues another campaign.
    pub(crate) is_copy: bool,
}

impl NewCampaign {
    /// A campaign without rewards. What the settings leave open is [chosen](Settings::resolve) here.
    ///
    /// # Errors
    /// If the name is not allowed, or the settings contradict each other, do not fit the candidates or promise what cannot be guaranteed.
    pub fn new(name: &str, mut settings: Settings, candidates: Candidates) -> Result<Self, StoreError> {
        settings.resolve(candidates.has_features())?;
        let column = settings.cost.take().unwrap_or_else(|| "cost".into());
        settings.cost = candidates.costs().map(|_| column);
        let new = Self { is_copy: false, ..Self::continued(name, settings, candidates, Vec::new())? };
        new.state.terms().check_guarantee()?;
        Ok(new)
    }

    /// A campaign that continues another one: with the settings that this one began with, all its candidates and all its events. An earlier
    /// version may have begun it, with settings that [`NewCampaign::new`] refuses.
    ///
    /// # Errors
    /// If the name is not allowed, the settings do not fit the candidates, or an event cannot follow the ones before it.
    pub fn continued(
        name: &str,
        first_settings: Settings,
        candidates: Candidates,
        records: Vec<Record>,
    ) -> Result<Self, StoreError> {
        check_name(name)?;
        let Revised { settings, n_added } = Revised::new(&first_settings, records.iter().map(|record| &record.event))
            .map_err(|what| damaged(name, what))?;
        let mut state = settings.begin(&candidates)?.with_first_budget(first_settings.budget);
        state.extend(&records).map_err(|error| damaged_journal(name, error))?;
        let events = records.into_iter().map(|record| (record.at, record.event)).collect();
        let (name, created, origin) = (name.into(), now(), Origin::default());
        let is_copy = true;
        Ok(Self { name, created, first_settings, settings, candidates, n_added, events, state, origin, is_copy })
    }

    /// The same with its origin. If a request with the same key has begun a campaign before, [`Store::begin_new`](crate::Store::begin_new)
    /// returns that one.
    #[must_use]
    pub fn with_origin(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }

    /// Where the campaign and its first events come from.
    pub(crate) fn mark(&self) -> Mark {
        Mark { origin: self.origin.clone(), at: self.created, n_events: self.events.len() as u64 }
    }

    /// Adds rewards that were measured before the campaign.
    ///
    /// # Errors
    /// If an arm does not exist, a reward is not a finite number, or the rewards count towards the budget and exceed it. The campaign
    /// must not be used after an error.
    pub fn observe(&mut self, rewards: &[(Arm, f64)], is_counted: bool) -> Result<(), StoreError> {
        for &(arm, reward) in rewards {
            self.events.push((self.created, self.state.observe(arm, reward, is_counted, self.created)?));
        }
        Ok(())
    }

    /// The name that it will have in the store.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The settings, with everything chosen that was left open.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The candidates, in the order of their arms.
    #[must_use]
    pub fn candidates(&self) -> &Candidates {
        &self.candidates
    }

    /// The state in which it begins: its terms, its arms as it learns from them, and the rewards it begins with.
    #[must_use]
    pub fn state(&self) -> &campaign::CampaignState {
        &self.state
    }
}

/// Refuses a name that a campaign cannot have.
pub(crate) fn check_name(name: &str) -> Result<(), StoreError> {
    let is_name = (1..=200).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    if is_name { Ok(()) } else { Err(StoreError::BadName(name.into())) }
}
