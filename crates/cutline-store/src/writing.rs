//! Writing to a campaign: a decision on all events so far, and the events that follow from it, in one transaction.

use crate::StoreError;
use crate::campaign::Campaign;
use crate::journal::{Changes, has_revision};
use crate::origin::Mark;
use cutline_campaign::{CampaignState, Event, Record, Ticket, Time};
use std::time::Instant;

/// The time of a decision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// When its events happen.
    pub(crate) now: Time,
    /// The time at which leases are judged: not later than `now`.
    pub(crate) due: Time,
}

/// The events of a decision, and where they come from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Decided {
    pub(crate) events: Vec<Event>,
    /// The state has this many of them already; if they cannot be written, the state is dropped. The remaining events are applied after the
    /// commit, when other writers are no longer excluded.
    pub(crate) n_applied: usize,
    pub(crate) marks: Vec<Mark>,
}

/// What was written.
pub(crate) struct Written {
    pub(crate) events: Vec<Event>,
    /// For each ticket that was handed out or renewed, in order, the features of its arm as they were given; empty if the state has them.
    pub(crate) features: Vec<Vec<f64>>,
}

impl Campaign {
    /// Brings the state up to date, lets `decide` decide, and writes the events, all in one transaction. `None`, and nothing is written, if others
    /// have changed arms or settings or, unless `may_follow`, have written anything since the last reading. The state
    /// is up to date then or, if the database has undone the transaction, dropped.
    pub(crate) fn write_once(
        &mut self,
        may_follow: bool,
        decide: &mut dyn FnMut(&mut CampaignState, Moment) -> Result<Decided, StoreError>,
    ) -> Result<Option<Written>, StoreError> {
        let mut state = self.take_state()?;
        let mut known = state.n_events();
        let mut overtaken: Option<Vec<Record>> = None;
        let mut decided = None;
        let mut begun = Instant::now();
        // The state has the features as they are prepared; as they were given, they are in the journal only.
        let with_features = self.settings().changes_features();
        let has_custom_rule = self.settings().custom_rule.is_some();
        let Self { journal, id, location, lease_clock, .. } = self;
        let done = journal.write(*id, known, &mut |records, database_time| {
            if has_revision(&records) || !(may_follow || records.is_empty()) {
                overtaken = Some(records);
                return Ok(Changes::default());
            }
            state.extend(&records).map_err(|error| StoreError::damaged(location, error.to_string()))?;
            known = state.n_events();
            let now = lease_clock.now(database_time);
            let due = lease_clock.due(now, state.open_tickets().map(|(_, until)| until));
            let mut made = decide(&mut state, Moment { now, due })?;
            // A custom rule may fail when it learns from the events, and then nothing must be written.
            if has_custom_rule && made.n_applied < made.events.len() {
                state.record(now, &made.events[made.n_applied..]);
                made.n_applied = made.events.len();
            }
            let mut decision = Changes { marks: std::mem::take(&mut made.marks), ..Changes::default() };
            if with_features {
                decision.features_of = Ticket::arms_handed_out(&state, &made.events)?;
            }
            decision.events = made.events.iter().map(|event| (now, event.clone())).collect();
            decided = Some((now, made));
            begun = Instant::now();
            Ok(decision)
        });
        let took = begun.elapsed();
        match (done, decided, overtaken) {
            (Ok(features), Some((now, made)), _) => {
                self.commit_time = took;
                if made.n_applied < made.events.len() {
                    state.record(now, &made.events[made.n_applied..]);
                }
                self.state = Some(state);
                Ok(Some(Written { events: made.events, features }))
            }
            (Ok(_), None, records) => {
                self.follow(state, &records.unwrap_or_default())?;
                Ok(None)
            }
            // The database has undone the transaction because of another one. The state is rebuilt, and the decision made again.
            (Err(StoreError::Conflict { .. }), ..) => Ok(None),
            (Err(error), ..) => {
                // A state with events that are not in the journal is dropped; the next operation rebuilds it.
                self.state = Some(state).filter(|state| state.n_events() == known);
                Err(error)
            }
        }
    }
}
