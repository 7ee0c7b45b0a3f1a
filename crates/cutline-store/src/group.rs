//! Operations that wait or are in progress, until they are finished.

use crate::StoreError;
use crate::asking::Asking;
use cutline_campaign::{Origin, Outcome, Submission, TicketId};

/// Operations that wait or are in progress, each with a tag of the caller. [`Campaign::advance`](crate::Campaign::advance) carries them out.
#[derive(Debug)]
pub struct Group<T> {
    pub(crate) entries: Vec<Entry<T>>,
}

/// An operation that was carried out or refused.
#[derive(Debug)]
#[non_exhaustive]
pub struct Finished<T> {
    /// The operation and its origin, as they were pushed.
    pub submission: Submission,
    /// The tag that it was pushed with.
    pub tag: T,
    /// What it has done, or why it was refused.
    pub outcome: Result<Outcome, StoreError>,
}

#[derive(Debug)]
pub(crate) struct Entry<T> {
    pub(crate) submission: Submission,
    pub(crate) tag: T,
    pub(crate) asking: Asking,
    /// In how many transactions it was written so far.
    pub(crate) n_slices: u64,
    /// The tickets that it has handed out so far, without those that were resumed.
    pub(crate) new: Vec<TicketId>,
    /// What it has done so far.
    pub(crate) outcome: Outcome,
    /// Another one with the same key goes first.
    pub(crate) is_behind: bool,
    /// `Some` once it is finished.
    pub(crate) end: Option<Result<(), StoreError>>,
}

impl<T> Default for Group<T> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<T> Group<T> {
    /// Adds an operation behind those that wait. Its [`Finished`] has the tag.
    pub fn push(&mut self, submission: Submission, tag: T) {
        let asking = Asking::new(submission.operation.request().map_or(0, |request| request.n));
        let (new, outcome) = (Vec::new(), Outcome::default());
        self.entries.push(Entry { submission, tag, asking, n_slices: 0, new, outcome, is_behind: false, end: None });
    }

    /// Whether nothing waits or is in progress.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Removes operations for which nobody waits any more. Returns the tickets that they have handed out so far, without those that were resumed.
    pub fn abandon(&mut self, is_gone: impl Fn(&Submission, &T) -> bool) -> Vec<TicketId> {
        let gone = self.entries.extract_if(.., |entry| is_gone(&entry.submission, &entry.tag));
        gone.flat_map(|entry| entry.new).collect()
    }

    /// Removes all operations, with their tags and what they have done so far.
    pub fn give_up(&mut self) -> Vec<(T, Outcome)> {
        self.entries.drain(..).map(|entry| (entry.tag, entry.outcome)).collect()
    }

    pub(crate) fn waiting(&mut self) -> impl Iterator<Item = (usize, &mut Entry<T>)> {
        self.entries.iter_mut().enumerate().filter(|(_, entry)| entry.is_waiting())
    }

    pub(crate) fn finished(&mut self) -> Vec<Finished<T>> {
        let finished = self.entries.extract_if(.., |entry| entry.end.is_some());
        let finished = finished.filter_map(|Entry { submission, tag, outcome, end, .. }| {
            Some(Finished { submission, tag, outcome: end?.map(|()| outcome) })
        });
        finished.collect()
    }
}

impl<T> Entry<T> {
    pub(crate) fn is_waiting(&self) -> bool {
        self.end.is_none() && !self.is_behind
    }

    /// The origin of the events of its next slice.
    pub(crate) fn origin(&self) -> Origin {
        let Origin { author, key } = &self.submission.origin;
        Origin { author: author.clone(), key: key.as_ref().map(|key| key.of_slice(self.n_slices)) }
    }
}
