//! A campaign that is not in a store yet. Everything that can be refused without a store is refused here.

use crate::{CampaignState, Candidates, Event, Origin, Record, Revised, Settings, StoreError, Time, now};
use cutline::Arm;

/// A new campaign, checked, with the rewards it begins with. A [host](crate::CampaignHost) begins it.
///
/// Build it before creating a store: if it is refused, no empty store is left behind. Its fields are for those who store or send it.
#[derive(Debug)]
#[non_exhaustive]
pub struct NewCampaign {
    /// The name that it is to have.
    pub name: String,
    /// When it was built, in milliseconds since 1970.
    pub created: Time,
    /// The settings before the first event.
    pub first_settings: Settings,
    /// The settings after the last event, with everything chosen that was left open.
    pub settings: Settings,
    /// The candidates, those that events added included.
    pub candidates: Candidates,
    /// How many of the candidates were added by events.
    pub n_added: usize,
    /// The events it begins with, and when they happened.
    pub events: Vec<(Time, Event)>,
    /// The state in which it begins: its terms, its arms as it learns from them, and the rewards it begins with.
    pub state: CampaignState,
    /// Who begins it.
    pub origin: Origin,
    /// Whether it continues another campaign.
    pub is_copy: bool,
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
            .map_err(|what| StoreError::damaged(name, what))?;
        let mut state = settings.begin(&candidates)?.with_first_budget(first_settings.budget);
        state.extend(&records).map_err(|error| StoreError::damaged(name, error.to_string()))?;
        let events = records.into_iter().map(|record| (record.at, record.event)).collect();
        let (name, created, origin) = (name.into(), now(), Origin::default());
        let is_copy = true;
        Ok(Self { name, created, first_settings, settings, candidates, n_added, events, state, origin, is_copy })
    }

    /// The same with its origin. If a request with the same key has begun a campaign before, that one is
    /// returned.
    #[must_use]
    pub fn with_origin(self, origin: Origin) -> Self {
        Self { origin, ..self }
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
    pub fn state(&self) -> &CampaignState {
        &self.state
    }
}

/// Refuses a name that a campaign cannot have.
///
/// # Errors
/// If it is empty, longer than 200 characters, or has control characters.
pub fn check_name(name: &str) -> Result<(), StoreError> {
    let is_name = (1..=200).contains(&name.chars().count()) && !name.chars().any(char::is_control);
    if is_name { Ok(()) } else { Err(StoreError::BadName(name.into())) }
}
