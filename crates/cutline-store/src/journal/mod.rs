//! The journal of a store: campaigns are added to it, and their events are appended and read.

mod access;
mod database;
mod in_use;
mod managing;
mod memory;
mod open_files;
mod postgres;
mod rows;
mod sql;
mod sqlite;

pub(crate) use memory::Memory;
pub(crate) use postgres::{PostgresAddress, connect as postgres};
pub(crate) use sqlite::connect as sqlite;

use crate::origin::{Authorship, Mark, StoredRequest};
use crate::{NewCampaign, StoreError, Token};
use cutline::Arm;
use cutline_campaign::{Candidates, Event, Record, Settings, Time};

/// The number of a campaign in its store.
pub(crate) type Id = i64;

/// A campaign in the list of a journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) id: Id,
    pub(crate) name: String,
    pub(crate) created: Time,
}

/// The changes that one transaction makes.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) events: Vec<(Time, Event)>,
    /// New candidates, with the number of the first.
    pub(crate) added: Option<(Arm, Candidates)>,
    /// The arms whose features to return.
    pub(crate) features_of: Vec<Arm>,
    /// Where the events come from, in their order; events after those of the last mark have no known origin.
    pub(crate) marks: Vec<Mark>,
}

/// A campaign as it was before its first event.
pub(crate) struct Beginning {
    pub(crate) settings: Settings,
    /// The number of candidates it began with.
    pub(crate) n_arms: usize,
}

/// Decides what to write, given the events that other connections have written since the last read, and the time by the clock of the
/// database, if it has one.
pub(crate) type Decide<'a> = dyn FnMut(Vec<Record>, Option<Time>) -> Result<Changes, StoreError> + 'a;

/// A connection to the journal of a store. One thread uses it at a time; any number of them, in any number of processes, use the same
/// store at once.
pub(crate) trait Journal: Send {
    /// The campaigns, in the order they were begun.
    fn entries(&mut self) -> Result<Vec<Entry>, StoreError>;

    /// Adds a campaign and its first events, completely or not at all.
    fn begin(&mut self, new: &NewCampaign) -> Result<Id, StoreError>;

    /// The settings and the number of arms before the first event.
    fn beginning(&mut self, id: Id) -> Result<Beginning, StoreError>;

    /// All candidates of a campaign, added ones included.
    fn candidates(&mut self, id: Id) -> Result<Candidates, StoreError>;

    /// The events of a campaign after number `after`.
    fn read(&mut self, id: Id, after: u64) -> Result<Vec<Record>, StoreError>;

    /// In one transaction, which excludes other writers to the campaign: reads its events after number `after`, passes them to `decide`,
    /// and writes what it returns. All of it is durable when this returns; nothing is written if it fails.
    ///
    /// Returns the features that the decision asks for, read in the same transaction.
    fn write(&mut self, id: Id, after: u64, decide: &mut Decide<'_>) -> Result<Vec<Vec<f64>>, StoreError>;

    /// The time of the last reading of events by the clock of the database; `None` if it has none.
    fn database_time(&self) -> Option<Time>;

    /// Gives a campaign another name.
    fn rename(&mut self, id: Id, name: &str) -> Result<(), StoreError>;

    /// Deletes a campaign with its candidates and events. Its number is not used again, so that a connection that knows the campaign gets
    /// [`StoreError::Deleted`] and never reads or writes another one.
    fn delete(&mut self, id: Id) -> Result<(), StoreError>;

    /// At most `most` events of a campaign after number `after`.
    fn read_some(&mut self, id: Id, after: u64, most: usize) -> Result<Vec<Record>, StoreError>;

    /// The name that a campaign has now; `None` if it has none any more.
    fn name(&mut self, id: Id) -> Result<Option<String>, StoreError>;

    /// For every campaign, in the order they were begun, the number of its events and the time of the last one.
    fn activity(&mut self) -> Result<Vec<(Id, u64, Option<Time>)>, StoreError>;

    /// The request with this key that was carried out in a campaign; without a campaign, the one that began a campaign.
    fn request(&mut self, campaign: Option<Id>, key: &str) -> Result<Option<StoredRequest>, StoreError>;

    /// Forgets the requests that were carried out before a time.
    fn forget_requests(&mut self, before: Time) -> Result<(), StoreError>;

    /// The authors of the events from number `first` to number `last`.
    fn authors(&mut self, id: Id, first: u64, last: u64) -> Result<Vec<Authorship>, StoreError>;

    /// All tokens, in the order they were created.
    fn tokens(&mut self) -> Result<Vec<Token>, StoreError>;

    /// Adds a token, if its name is not taken.
    fn add_token(&mut self, token: &Token) -> Result<(), StoreError>;

    /// Revokes a token.
    fn revoke_token(&mut self, name: &str, now: Time) -> Result<(), StoreError>;
}

/// Numbers events, beginning after `last`.
fn numbered(last: u64, events: impl IntoIterator<Item = (Time, Event)>) -> impl Iterator<Item = Record> {
    (last + 1..).zip(events).map(|(number, (at, event))| Record { number, at, event })
}

/// Where a new campaign and its first events come from.
fn first_mark(new: &NewCampaign) -> Mark {
    Mark { origin: new.origin.clone(), at: new.created, n_events: new.events.len() as u64 }
}

/// The first events of a new campaign.
fn first_events(new: &NewCampaign) -> impl Iterator<Item = Record> + '_ {
    numbered(0, new.events.iter().cloned())
}

/// Whether arms or settings are others after these records.
pub(crate) fn has_revision(records: &[Record]) -> bool {
    records.iter().any(|record| record.event.is_revision())
}
