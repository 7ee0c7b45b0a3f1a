//! A store: where campaigns are begun and found again.

use crate::journal::{self, Journal, Memory};
use crate::location::Location;
use crate::{Campaign, Candidates, Draft, Settings, StoreError};
use cutline::campaign::Time;
use cutline::rules::NamedRule;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

/// A place for campaigns, each with a name of its own. Every [`Campaign`] taken from it has its own connection.
#[derive(Clone, Debug)]
pub struct Store {
    place: Place,
}

#[derive(Clone, Debug)]
enum Place {
    Memory(Memory),
    Kept(Location),
}

/// A campaign, as a list has it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CampaignSummary {
    /// Its name.
    pub name: String,
    /// When it was begun, in milliseconds since 1970.
    pub created: Time,
}

/// Now, in milliseconds since 1970.
pub(crate) fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time::try_from(since.as_millis()).unwrap_or(Time::MAX)
}

impl Store {
    /// The store at an address, where there is one.
    ///
    /// | address | store |
    /// |---|---|
    /// | `screen.db`, `/data/screen.db` | that file, by SQLite |
    /// | `sqlite:///screen.db`, `sqlite:////data/screen.db` | the same two |
    /// | `postgresql://user@host/database` | that database |
    ///
    /// `?durability=normal` makes writing faster: see [`Durability`](crate::Durability).
    ///
    /// # Errors
    /// If there is no store, it cannot be opened, or something else is there.
    pub fn open(address: &str) -> Result<Self, StoreError> {
        Self::at(address, false)
    }

    /// The store at an address, made if there is none.
    ///
    /// # Errors
    /// As [`Store::open`], but for a store that is missing.
    pub fn create(address: &str) -> Result<Self, StoreError> {
        Self::at(address, true)
    }

    /// The file that an address names; `None` for a database on a server and for an invalid address.
    #[must_use]
    pub fn file(address: &str) -> Option<PathBuf> {
        match Location::parse(address) {
            Ok(Location::Sqlite { path, .. }) => Some(path),
            _ => None,
        }
    }

    /// A store that lasts as long as the process. Clones share it.
    #[must_use]
    pub fn memory() -> Self {
        Self { place: Place::Memory(Memory::default()) }
    }

    fn at(address: &str, may_begin: bool) -> Result<Self, StoreError> {
        let location = Location::parse(address)?;
        connect(&location, may_begin)?;
        Ok(Self { place: Place::Kept(location) })
    }

    /// Begins a campaign, wholly or not at all.
    ///
    /// # Errors
    /// If the name is taken or cannot be one, or the settings do not fit the candidates.
    pub fn begin(&self, name: &str, settings: &Settings, candidates: Candidates) -> Result<Campaign, StoreError> {
        self.begin_draft(Draft::new(name, settings.clone(), candidates)?)
    }

    /// Begins a campaign that was drafted, with the rewards it has, wholly or not at all.
    ///
    /// # Errors
    /// If the name is taken, or the store cannot be written to.
    pub fn begin_draft(&self, draft: Draft) -> Result<Campaign, StoreError> {
        let mut journal = self.journal()?;
        let id = journal.begin(&draft)?;
        let Draft { name, settings, candidates, state, .. } = draft;
        Ok(Campaign::new(journal, id, name, settings, candidates, state, self.location()))
    }

    /// The campaigns, in the order they were begun.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn campaigns(&self) -> Result<Vec<CampaignSummary>, StoreError> {
        let entries = self.journal()?.entries()?;
        Ok(entries.into_iter().map(|entry| CampaignSummary { name: entry.name, created: entry.created }).collect())
    }

    /// The campaign of that name, as it is now; without a name, the only one.
    ///
    /// # Errors
    /// If there is none of that name, or several to choose from, or the store cannot be read.
    pub fn campaign(&self, name: Option<&str>) -> Result<Campaign, StoreError> {
        self.campaign_with(name, None)
    }

    /// As [`Store::campaign`], for one that is played by a rule of one's own, which a store cannot hold.
    ///
    /// # Errors
    /// Also if it is played by another.
    pub fn campaign_with(&self, name: Option<&str>, own: Option<NamedRule>) -> Result<Campaign, StoreError> {
        let mut journal = self.journal()?;
        let mut entries = journal.entries()?;
        let names = |entries: &[journal::Entry]| entries.iter().map(|entry| entry.name.clone()).collect();
        let position = match (name, entries.len()) {
            (_, 0) if name.is_none() => return Err(StoreError::NoCampaigns(self.location())),
            (None, 1) => 0,
            (None, _) => return Err(StoreError::WhichCampaign(names(&entries))),
            (Some(name), _) => {
                let found = entries.iter().position(|entry| entry.name == name);
                found.ok_or_else(|| StoreError::NoCampaign { name: name.into(), names: names(&entries) })?
            }
        };
        let entry = entries.swap_remove(position);
        Campaign::load(journal, entry.id, entry.name, self.location(), own)
    }

    fn journal(&self) -> Result<Box<dyn Journal>, StoreError> {
        match &self.place {
            Place::Memory(memory) => Ok(Box::new(memory.clone())),
            Place::Kept(location) => connect(location, false),
        }
    }

    fn location(&self) -> String {
        match &self.place {
            Place::Memory(_) => "the store in memory".into(),
            Place::Kept(location) => location.to_string(),
        }
    }
}

fn connect(location: &Location, may_begin: bool) -> Result<Box<dyn Journal>, StoreError> {
    match location {
        Location::Sqlite { path, durability } => journal::sqlite(path, *durability, may_begin),
        Location::Postgres { url, durability } => journal::postgres(url, location.to_string(), *durability, may_begin),
    }
}
