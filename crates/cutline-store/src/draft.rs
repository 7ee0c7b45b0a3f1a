//! A campaign before it is begun: what can be refused without a store is refused here.

use crate::error::broken;
use crate::store::now;
use crate::{Campaign, Candidates, Settings, StoreError};
use cutline::Arm;
use cutline::campaign::{self, Event, Record, Time};

/// A campaign that could be begun, with the rewards it begins with. [`Store::begin_draft`](crate::Store::begin_draft) begins it.
///
/// Whoever makes it before the store leaves no empty store behind where there is nothing to begin.
#[derive(Debug)]
pub struct Draft {
    pub(crate) name: String,
    pub(crate) at: Time,
    pub(crate) settings: Settings,
    pub(crate) candidates: Candidates,
    pub(crate) events: Vec<(Time, Event)>,
    pub(crate) state: campaign::CampaignState,
}

impl Draft {
    /// A campaign in which nothing has happened yet.
    ///
    /// # Errors
    /// If the name cannot be one, or the settings do not fit the candidates.
    pub fn new(name: &str, mut settings: Settings, candidates: Candidates) -> Result<Self, StoreError> {
        if name.is_empty() || name.chars().count() > 200 || name.chars().any(char::is_control) {
            return Err(StoreError::BadName(name.into()));
        }
        settings.algorithm = Some(settings.algorithm(!candidates.columns().is_empty()).into());
        let state = Campaign::empty(&settings, &candidates)?;
        Ok(Self { name: name.into(), at: now(), settings, candidates, events: Vec::new(), state })
    }

    /// Takes rewards from before, all of them or none.
    ///
    /// # Errors
    /// If there is no such arm, a reward is not a number, or they are to count and the budget does not allow it. The draft is of no use
    /// then.
    pub fn observe(&mut self, rewards: &[(Arm, f64)], is_counted: bool) -> Result<(), StoreError> {
        for &(arm, reward) in rewards {
            self.events.push((self.at, self.state.observe(arm, reward, is_counted, self.at)?));
        }
        Ok(())
    }

    /// Takes up what happened elsewhere, in a campaign on the same terms.
    ///
    /// # Errors
    /// If an event cannot have happened. The draft is of no use then.
    pub fn extend(&mut self, records: Vec<Record>) -> Result<(), StoreError> {
        self.state.extend(&records).map_err(|error| broken(&self.name, error))?;
        self.events.extend(records.into_iter().map(|record| (record.at, record.event)));
        Ok(())
    }

    /// What it is about, its algorithm named.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Its arms.
    #[must_use]
    pub fn candidates(&self) -> &Candidates {
        &self.candidates
    }
}
