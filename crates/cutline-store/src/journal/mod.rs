//! What campaigns are kept in: append and read, nothing else.

mod database;
mod memory;
mod postgres;
mod rows;
mod sql;
mod sqlite;

pub(crate) use memory::Memory;
pub(crate) use postgres::connect as postgres;
pub(crate) use sqlite::connect as sqlite;

use crate::{Candidates, Draft, Settings, StoreError};
use cutline::Arm;
use cutline::campaign::{Event, Record, Time};

/// The number of a campaign in its store.
pub(crate) type Id = i64;

/// A campaign, as a list has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) id: Id,
    pub(crate) name: String,
    pub(crate) created: Time,
}

/// Decides what happens next, given what happened since it was asked last.
pub(crate) type Decide<'a> = dyn FnMut(Vec<Record>) -> Result<Vec<(Time, Event)>, StoreError> + 'a;

/// Where campaigns are kept. One journal is used by one thread at a time; the store behind it by any number of them, in any number of
/// processes.
pub(crate) trait Journal: Send {
    /// The campaigns, in the order they were begun.
    fn entries(&mut self) -> Result<Vec<Entry>, StoreError>;

    /// Begins a campaign, with the events it begins with: wholly or not at all.
    fn begin(&mut self, draft: &Draft) -> Result<Id, StoreError>;

    /// What a campaign is about.
    fn settings(&mut self, id: Id) -> Result<Settings, StoreError>;

    /// Its arms.
    fn candidates(&mut self, id: Id) -> Result<Candidates, StoreError>;

    /// The features of one of its arms; none if the arms have none.
    fn row(&mut self, id: Id, arm: Arm) -> Result<Vec<f64>, StoreError>;

    /// Its events after number `after`.
    fn read(&mut self, id: Id, after: u64) -> Result<Vec<Record>, StoreError>;

    /// In one transaction, in which nobody else writes to the campaign: reads its events after number `after`, gives them to
    /// `decide`, and writes what that says. All of it lasts when this returns; nothing of it is left if it fails.
    fn write(&mut self, id: Id, after: u64, decide: &mut Decide<'_>) -> Result<(), StoreError>;
}

/// Gives events their numbers, from the one after `last` on.
fn numbered(last: u64, events: impl IntoIterator<Item = (Time, Event)>) -> impl Iterator<Item = Record> {
    (last + 1..).zip(events).map(|(number, (at, event))| Record { number, at, event })
}

/// The events that a campaign begins with.
fn first_events(draft: &Draft) -> impl Iterator<Item = Record> + '_ {
    numbered(0, draft.events.iter().cloned())
}
