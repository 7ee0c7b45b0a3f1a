//! Requests that are repeated with their key: they have the outcome of the first time.

use crate::StoreError;
use crate::campaign::Campaign;
use crate::journal::Changes;
use cutline_campaign::{Event, Origin, Outcome, Ticket};

impl Campaign {
    /// The events of an earlier request with the same key, if there is one.
    pub(crate) fn repeated(&mut self, origin: &Origin) -> Result<Option<Vec<Event>>, StoreError> {
        let Some(key) = &origin.key else { return Ok(None) };
        let Some(stored) = self.journal.request(Some(self.id), &key.key)? else { return Ok(None) };
        if stored.fingerprint != key.fingerprint {
            return Err(StoreError::OtherRequest);
        }
        let mut slice = Some(stored);
        let mut events = Vec::new();
        for number in 1.. {
            let Some(stored) = slice else { break };
            if stored.n_events > 0 {
                let n_events = usize::try_from(stored.n_events).unwrap_or(usize::MAX);
                let records = self.journal.read_some(self.id, stored.first - 1, n_events)?;
                events.extend(records.into_iter().map(|record| record.event));
            }
            slice = self.journal.request(Some(self.id), &key.of_slice(number).key)?;
        }
        Ok(Some(events))
    }

    /// The outcome of an operation that has caused these events before.
    pub(crate) fn outcome_again(&mut self, events: &[Event]) -> Result<Outcome, StoreError> {
        let arms = Ticket::arms_handed_out(self.state()?, events)?;
        let mut features = Vec::new();
        if self.settings().changes_features() && !arms.is_empty() {
            let known = self.state()?.n_events();
            features = self
                .journal
                .write(self.id, known, &mut |_, _| Ok(Changes { features_of: arms.clone(), ..Changes::default() }))?;
        }
        let tickets = self.handed_out(events, &mut features.into_iter())?;
        let added = |event: &Event| if let Event::Added { n_arms, .. } = event { *n_arms } else { 0 };
        let n_added = events.iter().map(added).sum();
        Ok(Outcome { n_events: events.len() as u64, tickets, n_added, is_repeated: true })
    }
}
