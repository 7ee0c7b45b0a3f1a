//! Where the events of a store come from: their authors, and the requests that caused them.

use cutline_campaign::{Origin, RequestKey, Time};

/// The origin of the next events of a decision.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    pub(crate) origin: Origin,
    pub(crate) at: Time,
    /// How many events it has caused, after those of the mark before.
    pub(crate) n_events: u64,
}

/// A request that was carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredRequest {
    pub(crate) fingerprint: String,
    /// The number of its first event; of the beginning of a campaign, the number of the campaign.
    pub(crate) first: u64,
    pub(crate) n_events: u64,
}

/// The author of some events.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Authorship {
    /// The number of the first event; 0 is the beginning of the campaign.
    pub first: u64,
    /// The number of the last event, included.
    pub last: u64,
    /// The author that the [`Origin`] of the change named.
    pub author: String,
}

/// The authors of events whose numbers begin after `last`, with equal neighbours joined.
pub(crate) fn authorships(last: u64, marks: &[Mark]) -> Vec<Authorship> {
    let mut ranges: Vec<Authorship> = Vec::new();
    let mut next = last + 1;
    for Mark { origin, n_events, .. } in marks {
        let first = next;
        next += n_events;
        let Some(author) = origin.author.as_ref().filter(|_| *n_events > 0) else { continue };
        match ranges.last_mut() {
            Some(range) if range.author == *author && range.last + 1 == first => range.last = next - 1,
            _ => ranges.push(Authorship { first, last: next - 1, author: author.clone() }),
        }
    }
    ranges
}

/// The requests with keys among these, whose events begin after `last`.
pub(crate) fn keyed(last: u64, marks: &[Mark]) -> impl Iterator<Item = (&RequestKey, Time, StoredRequest)> {
    let mut next = last + 1;
    marks.iter().filter_map(move |Mark { origin, at, n_events }| {
        let first = next;
        next += n_events;
        let key = origin.key.as_ref()?;
        Some((key, *at, StoredRequest { fingerprint: key.fingerprint.clone(), first, n_events: *n_events }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_neighbours_are_one_range() {
        let mark = |author: Option<&str>, n_events| Mark {
            origin: Origin { author: author.map(str::to_owned), key: None },
            at: 0,
            n_events,
        };
        let marks = [mark(Some("a"), 2), mark(Some("a"), 1), mark(None, 3), mark(Some("a"), 1), mark(Some("b"), 0)];
        let ranges: Vec<(u64, u64)> = authorships(10, &marks).iter().map(|range| (range.first, range.last)).collect();
        assert_eq!(ranges, [(11, 13), (17, 17)]);
    }
}
