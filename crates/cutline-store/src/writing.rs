//! Writing to a campaign: a decision on all events so far, and the events that follow from it, in one transaction.

use crate::StoreError;
use crate::campaign::{ATTEMPTS, Campaign};
use crate::error::damaged_journal;
use crate::journal::Decision;
use crate::origin::Mark;
use crate::revision::has_revision;
use crate::tickets::handed_out_by;
use cutline::campaign::{CampaignState, Event, Record, Time};
use std::time::{Duration, Instant};

/// The time of a decision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    /// When its events happen.
    pub(crate) now: Time,
    /// The time at which leases are judged: not later than `now`.
    pub(crate) due: Time,
}

/// The events of a decision.
#[derive(Clone, Debug)]
pub(crate) enum Decided {
    /// The state has them already. If they cannot be written, it is dropped.
    Applied(Vec<Event>),
    /// The state gets them once they are written, when others are no longer excluded.
    Planned(Vec<Event>),
}

/// A decision, and where its events come from.
pub(crate) type MarkedDecision = (Decided, Vec<Mark>);

impl Decided {
    fn events(&self) -> &[Event] {
        match self {
            Self::Applied(events) | Self::Planned(events) => events,
        }
    }
}

/// What was written.
pub(crate) struct Written {
    pub(crate) events: Vec<Event>,
    /// For each ticket that was handed out or renewed, in order, the features of its arm as they were given; empty if the state has them.
    pub(crate) features: Vec<Vec<f64>>,
    /// How long it took to apply the events after they were written.
    pub(crate) apply_time: Duration,
}

impl Written {
    /// The number of events.
    pub(crate) fn n_events(&self) -> u64 {
        self.events.len() as u64
    }
}

impl Campaign {
    /// Brings the state up to date, lets `decide` decide, and writes the events, all in one transaction. If others have changed arms or
    /// settings, the state is built again first.
    pub(crate) fn write(
        &mut self,
        mut decide: impl FnMut(&mut CampaignState, Moment) -> Result<Decided, StoreError>,
    ) -> Result<Written, StoreError> {
        self.write_marked(|state, moment| Ok((decide(state, moment)?, Vec::new())))
    }

    /// As [`Campaign::write`], for events whose origin is written with them.
    pub(crate) fn write_marked(
        &mut self,
        mut decide: impl FnMut(&mut CampaignState, Moment) -> Result<MarkedDecision, StoreError>,
    ) -> Result<Written, StoreError> {
        if self.is_slow() {
            // Others are not excluded while their events are applied here.
            self.state()?;
        }
        for _ in 0..ATTEMPTS {
            if let Some(written) = self.write_once(true, &mut decide)? {
                return Ok(written);
            }
        }
        Err(StoreError::Contended)
    }

    /// As [`Campaign::write`], but `None`, and nothing is written, if others have changed arms or settings or, unless `may_follow`, have written
    /// anything since the last reading. The state is up to date then.
    pub(crate) fn write_once(
        &mut self,
        may_follow: bool,
        decide: &mut dyn FnMut(&mut CampaignState, Moment) -> Result<MarkedDecision, StoreError>,
    ) -> Result<Option<Written>, StoreError> {
        let mut state = self.take_state()?;
        let mut known = state.n_events();
        let mut overtaken: Option<Vec<Record>> = None;
        let mut decided = None;
        // The state has the features as they are prepared; as they were given, they are in the journal only.
        let with_features = self.settings().changes_features();
        let has_custom_rule = self.settings().custom_rule.is_some();
        let Self { journal, id, location, lease_clock, .. } = self;
        let done = journal.write(*id, known, &mut |records, server_time| {
            if has_revision(&records) || !(may_follow || records.is_empty()) {
                overtaken = Some(records);
                return Ok(Decision::default());
            }
            state.extend(&records).map_err(|error| damaged_journal(location, error))?;
            known = state.n_events();
            let now = lease_clock.now(server_time);
            let due = lease_clock.due(now, state.open_tickets().map(|(_, until)| until));
            let (decision_made, marks) = decide(&mut state, Moment { now, due })?;
            let events = match decision_made {
                // A custom rule may fail when it learns from the events, and then nothing must be written.
                Decided::Planned(events) if has_custom_rule => {
                    state.record(now, &events);
                    Decided::Applied(events)
                }
                decided => decided,
            };
            let mut decision = Decision { marks, ..Decision::default() };
            if with_features {
                decision.features_of =
                    handed_out_by(&state, events.events())?.iter().map(|ticket| ticket.arm).collect();
            }
            decision.events = events.events().iter().map(|event| (now, event.clone())).collect();
            decided = Some((now, events));
            Ok(decision)
        });
        match (done, decided, overtaken) {
            (Ok(features), Some((now, decided)), _) => {
                let begun = Instant::now();
                if let Decided::Planned(events) = &decided {
                    state.record(now, events);
                }
                self.state = Some(state);
                let (Decided::Applied(events) | Decided::Planned(events)) = decided;
                Ok(Some(Written { events, features, apply_time: begun.elapsed() }))
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
