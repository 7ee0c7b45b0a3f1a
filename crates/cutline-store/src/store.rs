//! A store, in which campaigns are created, listed and opened.

use crate::campaign::{ATTEMPTS, Opened};
use crate::clock::{Clock, SystemClock};
use crate::journal::{Journal, Memory};
use crate::location::Location;
use crate::origin::StoredRequest;
use crate::{Campaign, OpenOptions, journal};
use cutline::rules::NamedRule;
use cutline_campaign::{
    CampaignSummary, Candidates, Interrupt, LocationError, NewCampaign, RequestKey, Settings, StoreError,
    chosen_campaign,
};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// A store of campaigns, each with its own name: a file, a database on a server, or memory. Clones refer to the same store.
///
/// Opening a store connects to it, and the first [`Campaign`] taken from it uses that connection; every further campaign opens its
/// own connection.
#[derive(Clone)]
pub struct Store {
    backend: Backend,
    clock: Arc<dyn Clock>,
    /// The custom rule of the campaigns that are opened.
    rule: Option<NamedRule>,
}

#[derive(Clone)]
enum Backend {
    Memory(Memory),
    Database {
        location: Location,
        interrupt: Interrupt,
        /// A connection that no campaign uses at present.
        idle: Arc<Mutex<Option<Box<dyn Journal>>>>,
    },
}

impl Store {
    /// Opens the store at an address.
    ///
    /// | address | store |
    /// |---|---|
    /// | `screen.db`, `/data/screen.db` | that file, with SQLite |
    /// | `sqlite:///screen.db`, `sqlite:////data/screen.db` | the same two |
    /// | `postgresql://user@host/database`, `host=host dbname=database` | that database |
    ///
    /// The address of a Cutline server is not that of a store: [`OpenOptions::host`] takes both. `?durability=normal` makes writing faster: see [`Durability`](crate::Durability). A PostgreSQL server is found with the variables of
    /// the environment and the password file that `psql` uses. An interrupt is given by [`OpenOptions`].
    ///
    /// # Errors
    /// If there is no store, it cannot be opened, or the address leads to something that is not a Cutline store.
    pub fn open(address: &str) -> Result<Self, StoreError> {
        OpenOptions::new().open(address)
    }

    /// Opens the store at an address; creates it if there is none.
    ///
    /// # Errors
    /// As [`Store::open`], but a missing store is not an error.
    pub fn create(address: &str) -> Result<Self, StoreError> {
        OpenOptions::new().create(true).open(address)
    }

    /// The file that an address names; `None` for a database on a server and for an invalid address.
    #[must_use]
    pub fn file(address: &str) -> Option<PathBuf> {
        match Location::parse(address) {
            Ok(Location::Sqlite { path, .. }) => Some(path),
            _ => None,
        }
    }

    /// Whether an address leads to a server, PostgreSQL's or Cutline's, and not to a file; valid or not.
    #[must_use]
    pub fn is_remote(address: &str) -> bool {
        !matches!(Location::parse(address), Ok(Location::Sqlite { .. }) | Err(LocationError::NoPath))
    }

    /// An address without its password, for messages; `None` if it has none. An address that cannot be read becomes `STORE`.
    #[must_use]
    pub fn redacted(address: &str) -> Option<String> {
        Location::redacted(address)
    }

    /// A store in memory, which lasts until its last clone and campaign are dropped.
    #[must_use]
    pub fn memory() -> Self {
        Self::with_backend(Backend::Memory(Memory::default()))
    }

    /// The same store with another clock, for example for tests.
    #[must_use]
    pub fn with_clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }

    /// The same store, for opening campaigns with this custom rule: a store holds only the name of the rule. Campaigns with another algorithm
    /// are refused.
    #[must_use]
    pub fn with_rule(self, rule: NamedRule) -> Self {
        Self { rule: Some(rule), ..self }
    }

    /// The same store with its own connection, for long-lived concurrent use.
    #[must_use]
    pub fn with_own_connection(mut self) -> Self {
        if let Backend::Database { idle, .. } = &mut self.backend {
            *idle = Arc::default();
        }
        self
    }

    /// Connects to the store at a location.
    pub(crate) fn connected(location: Location, interrupt: Interrupt, may_create: bool) -> Result<Self, StoreError> {
        let journal = connect(&location, &interrupt, may_create)?;
        Ok(Self::with_backend(Backend::Database { location, interrupt, idle: Arc::new(Mutex::new(Some(journal))) }))
    }

    fn with_backend(backend: Backend) -> Self {
        Self { backend, clock: Arc::new(SystemClock), rule: None }
    }

    /// Begins a campaign, completely or not at all.
    ///
    /// # Errors
    /// If the name is taken or not allowed, or the settings do not fit the candidates.
    pub fn begin(&self, name: &str, settings: &Settings, candidates: Candidates) -> Result<Campaign, StoreError> {
        self.begin_new(NewCampaign::new(name, settings.clone(), candidates)?)
    }

    /// Begins a campaign that was checked before and may already have rewards, completely or not at all.
    ///
    /// # Errors
    /// If the name is taken, or the store cannot be written to.
    pub fn begin_new(&self, new: NewCampaign) -> Result<Campaign, StoreError> {
        let mut journal = self.connection()?;
        for _ in 0..ATTEMPTS {
            if let Some(key) = &new.origin.key
                && let Some(begun) = journal.request(None, &key.key)?
            {
                return self.begun(journal, key, &begun);
            }
            match journal.begin(&new) {
                // Another process has begun it with the same key in the meantime.
                Err(StoreError::KeyInUse) => (),
                id => return Ok(Campaign::new(self.opened(journal), id?, new)),
            }
        }
        Err(StoreError::Contended)
    }

    /// The campaign that a request with this key has begun before.
    fn begun(
        &self,
        mut journal: Box<dyn Journal>,
        key: &RequestKey,
        begun: &StoredRequest,
    ) -> Result<Campaign, StoreError> {
        if key.fingerprint != begun.fingerprint {
            return Err(StoreError::OtherRequest);
        }
        let id = begun.first.cast_signed();
        let name = journal.name(id)?.ok_or(StoreError::Deleted)?;
        Campaign::load(self.opened(journal), id, name, None)
    }

    /// The campaigns, in the order they were begun.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn campaigns(&self) -> Result<Vec<CampaignSummary>, StoreError> {
        let entries = self.with_connection(|journal| journal.entries())?;
        Ok(entries.into_iter().map(|entry| CampaignSummary { name: entry.name, created: entry.created }).collect())
    }

    /// The campaign with that name or, without a name, the only one.
    ///
    /// # Errors
    /// If there is no such campaign, there are several and no name is given, its custom rule was not [given](Store::with_rule), or the store
    /// cannot be read.
    pub fn campaign(&self, name: Option<&str>) -> Result<Campaign, StoreError> {
        let (journal, entry) = self.find(name)?;
        Campaign::load(self.opened(journal), entry.id, entry.name, self.rule.clone())
    }

    /// The campaign with this [number](Campaign::id), whatever its name is by now: for opening one again.
    ///
    /// # Errors
    /// [`StoreError::Deleted`] if it is there no longer; and as [`Store::campaign`].
    pub fn campaign_by_id(&self, id: i64) -> Result<Campaign, StoreError> {
        let mut journal = self.connection()?;
        let mut entries = journal.entries()?.into_iter();
        let entry = entries.find(|entry| entry.id == id).ok_or(StoreError::Deleted)?;
        Campaign::load(self.opened(journal), entry.id, entry.name, self.rule.clone())
    }

    /// The entry of the campaign with that name or, without a name, of the only one; and the connection it was read by.
    pub(crate) fn find(&self, name: Option<&str>) -> Result<(Box<dyn Journal>, journal::Entry), StoreError> {
        let mut journal = self.connection()?;
        let mut entries = journal.entries()?;
        let names: Vec<String> = entries.iter().map(|entry| entry.name.clone()).collect();
        let entry = entries.swap_remove(chosen_campaign(&names, name, &self.location())?);
        Ok((journal, entry))
    }

    /// Whether an address is that of a Cutline server, or of a campaign on it.
    #[must_use]
    pub fn is_over_http(address: &str) -> bool {
        matches!(Location::parse(address), Ok(Location::Http(_)))
    }

    /// The name in the address of a campaign on a Cutline server.
    #[must_use]
    pub fn name_in(address: &str) -> Option<String> {
        match Location::parse(address) {
            Ok(Location::Http(address)) => address.name().map(str::to_owned),
            _ => None,
        }
    }

    /// The address of a campaign on the Cutline server at an address; `None` if the address is that of another store.
    #[must_use]
    pub fn address_on_server(address: &str, name: &str) -> Option<String> {
        match Location::parse(address) {
            Ok(Location::Http(address)) => Some(address.of(name).to_string()),
            _ => None,
        }
    }

    /// What `work` returns, with a connection that is kept for later; after an error it is not, because it may be broken.
    pub(crate) fn with_connection<T>(
        &self,
        work: impl FnOnce(&mut dyn Journal) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut journal = self.connection()?;
        let done = work(&mut *journal)?;
        if let Backend::Database { idle, .. } = &self.backend {
            *idle.lock().unwrap_or_else(PoisonError::into_inner) = Some(journal);
        }
        Ok(done)
    }

    /// The idle connection, or a new one.
    fn connection(&self) -> Result<Box<dyn Journal>, StoreError> {
        match &self.backend {
            Backend::Memory(memory) => Ok(Box::new(memory.clone())),
            Backend::Database { location, interrupt, idle } => {
                let idle = idle.lock().unwrap_or_else(PoisonError::into_inner).take();
                idle.map_or_else(|| connect(location, interrupt, false), Ok)
            }
        }
    }

    fn opened(&self, journal: Box<dyn Journal>) -> Opened {
        Opened { journal, clock: Arc::clone(&self.clock), location: self.location() }
    }

    fn location(&self) -> String {
        match &self.backend {
            Backend::Memory(_) => "the store in memory".into(),
            Backend::Database { location, .. } => location.to_string(),
        }
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("location", &self.location()).finish_non_exhaustive()
    }
}

fn connect(location: &Location, interrupt: &Interrupt, may_create: bool) -> Result<Box<dyn Journal>, StoreError> {
    #[cfg(test)]
    tests::CONNECTIONS.with(|count| count.set(count.get() + 1));
    match location {
        Location::Sqlite { path, durability } => journal::sqlite(path, *durability, interrupt, may_create),
        Location::Postgres(server) => journal::postgres(server, interrupt, may_create),
        Location::Http(_) => Err(StoreError::NotOverHttp),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local! {
        /// How often this thread has connected to a store.
        pub(super) static CONNECTIONS: Cell<u32> = const { Cell::new(0) };
    }

    /// How many connections `work` makes.
    fn connections<T>(work: impl FnOnce() -> T) -> (T, u32) {
        let before = CONNECTIONS.get();
        let done = work();
        (done, CONNECTIONS.get() - before)
    }

    #[test]
    fn opening_a_campaign_connects_once() {
        let directory = tempfile::tempdir().unwrap();
        let address = directory.path().join("screen.db").display().to_string();
        let begin = || {
            let store = Store::create(&address)?;
            assert!(store.campaigns()?.is_empty());
            let candidates = Candidates::new(vec!["a".into(), "b".into()], vec![], vec![])?;
            store.begin("screen", &Settings::new(0.5, 4), candidates).map(drop)
        };
        let (done, count) = connections(begin);
        done.unwrap();
        assert_eq!(count, 1, "create, list and begin");
        let (opened, count) = connections(|| Store::open(&address)?.campaign(None));
        assert_eq!((opened.unwrap().name(), count), ("screen", 1), "open and find");
        let store = Store::open(&address).unwrap();
        let (campaigns, count) = connections(|| [store.campaign(None).unwrap(), store.campaign(None).unwrap()]);
        assert_eq!(count, 1, "the second campaign has its own connection");
        drop(campaigns);
        let (_, count) = connections(|| [store.campaigns().unwrap(), store.clone().campaigns().unwrap()]);
        assert_eq!(count, 1, "a listing gives its connection back");
    }
}
