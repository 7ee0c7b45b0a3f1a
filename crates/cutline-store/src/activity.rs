//! What happens in the campaigns of a store, without opening them.

use crate::{Authorship, Campaign, Store, StoreError};
use cutline_campaign::{Record, Time};

/// A campaign in the list of a store, with its latest activity.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CampaignActivity {
    /// Its number in its store, which no other campaign gets.
    pub id: i64,
    /// The name under which it is opened.
    pub name: String,
    /// When it was begun, in milliseconds since 1970.
    pub created: Time,
    /// The number of its events.
    pub events: u64,
    /// When the last of them happened; `None` if there are none.
    pub last_event: Option<Time>,
}

impl Store {
    /// The campaigns with their latest activity, in the order they were begun.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn activity(&self) -> Result<Vec<CampaignActivity>, StoreError> {
        self.with_connection(|journal| {
            let mut activity = journal.activity()?.into_iter().peekable();
            let campaign = |entry: crate::journal::Entry| {
                while activity.next_if(|&(id, ..)| id < entry.id).is_some() {}
                let found = activity.next_if(|&(id, ..)| id == entry.id);
                let (events, last_event) = found.map_or((0, None), |(_, events, last)| (events, last));
                CampaignActivity { id: entry.id, name: entry.name, created: entry.created, events, last_event }
            };
            Ok(journal.entries()?.into_iter().map(campaign).collect())
        })
    }

    /// Forgets the keys of requests that were carried out before a time.
    ///
    /// # Errors
    /// If the store cannot be written to.
    pub fn forget_requests(&self, before: Time) -> Result<(), StoreError> {
        self.with_connection(|journal| journal.forget_requests(before))
    }
}

impl Campaign {
    /// At most `most` events after number `after`, without reading the others.
    ///
    /// # Errors
    /// If the store fails.
    pub fn some_events(&mut self, after: u64, most: usize) -> Result<Vec<Record>, StoreError> {
        self.journal.read_some(self.id, after, most)
    }

    /// The number of events that this handle has read or written so far.
    #[must_use]
    pub fn known_events(&self) -> u64 {
        self.state.as_ref().map_or(0, cutline_campaign::CampaignState::n_events)
    }

    /// The authors of the events from number `first` to number `last`, in order. Events of unknown authors are in none of the ranges.
    ///
    /// # Errors
    /// If the store fails.
    pub fn authors(&mut self, first: u64, last: u64) -> Result<Vec<Authorship>, StoreError> {
        self.journal.authors(self.id, first, last)
    }

    /// Whether the campaign still has the name under which it was opened. Others may have renamed or deleted it.
    ///
    /// # Errors
    /// If the store fails.
    pub fn has_its_name(&mut self) -> Result<bool, StoreError> {
        let stored = self.journal.name(self.id)?;
        Ok(stored.as_deref() == Some(self.name()))
    }
}
