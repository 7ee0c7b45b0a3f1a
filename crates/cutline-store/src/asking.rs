//! Handing out measurements, in slices: no transaction excludes other writers for long, however many measurements are asked for.
//!
//! Each slice is an ask of its own: it decides on all events so far. If nobody else writes, the slices together hand out what one ask would.
//! Where a single decision takes long, it is made before the transaction begins, and made again if others write in the meantime.

use crate::StoreError;
use crate::campaign::Campaign;
use crate::tickets::{Ticket, tickets};
use crate::writing::{Decided, Moment, Written};
use cutline::campaign::{CampaignState, Event, Request, TicketId, Time};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

/// How long the decisions of a slice may exclude other writers.
const LOCK_LIMIT: Duration = Duration::from_millis(50);

/// How long a single decision may take before decisions are made outside transactions.
const SLOW: Duration = Duration::from_millis(10);

/// The pause between slices, in which others that wait can write. SQLite lets them look every millisecond.
const PAUSE: Duration = Duration::from_millis(3);

/// How often a decision outside a transaction is made again because others were faster, before it is made inside.
const TRIES: u32 = 2;

/// An ask in progress.
struct Asking<'a> {
    request: &'a Request<'a>,
    is_interrupted: &'a dyn Fn() -> bool,
    /// Whether leases were renewed and ended, which the first slice does.
    is_begun: bool,
    /// The number of arms that are still to be handed out.
    left: usize,
}

/// What a slice does: some events, none of which is applied, and the number of arms they hand out.
struct Plan {
    events: Vec<Event>,
    n_arms: usize,
}

impl Asking<'_> {
    fn plan(&self, state: &mut CampaignState, Moment { now, due }: Moment) -> Plan {
        if !self.is_begun {
            let (events, n_arms) = state.lease_events(self.request, now, due);
            if !events.is_empty() {
                return Plan { events, n_arms };
            }
        }
        if self.left == 0 {
            return Plan { events: Vec::new(), n_arms: 0 };
        }
        let events = state.next_tickets(self.request, now);
        Plan { n_arms: usize::from(!events.is_empty()), events }
    }
}

impl Campaign {
    /// Hands out up to `n` measurements to `worker`, each with a lease of this length. There are fewer once the budget is used up or
    /// the campaign stops early because every arm is decided.
    ///
    /// # Errors
    /// If the store fails.
    pub fn ask(&mut self, n: usize, worker: &str, lease: Duration) -> Result<Vec<Ticket>, StoreError> {
        let lease = Time::try_from(lease.as_millis()).unwrap_or(Time::MAX);
        self.ask_unless(&Request::new(n, worker, lease), &|| false)
    }

    /// As [`Campaign::ask`], with replicates and resumed tickets, and asks `is_interrupted` before every ticket: if that is true, no ticket is
    /// handed out. Replicates are one [`Ticket`].
    ///
    /// An ask that takes long is written in several transactions, so that others can write in between. If it is interrupted, the tickets
    /// that were handed out so far are expired; if the store fails, they are returned.
    ///
    /// # Errors
    /// If it was interrupted, or the store fails before the first ticket.
    pub fn ask_unless(
        &mut self,
        request: &Request<'_>,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<Vec<Ticket>, StoreError> {
        if let Some(asked) = self.ask_server(request, is_interrupted) {
            return asked;
        }
        let mut asking = Asking { request, is_interrupted, is_begun: false, left: request.n };
        let (mut all, mut new) = (Vec::new(), Vec::new());
        loop {
            // A custom rule may unwind.
            match catch_unwind(AssertUnwindSafe(|| self.ask_slice(&mut asking))) {
                Ok(Ok((written, is_last))) => {
                    new.extend(written.events.iter().filter_map(asked));
                    all.extend(tickets(self, &written.events, &mut written.features.into_iter())?);
                    if is_last {
                        return Ok(all);
                    }
                }
                Ok(Err(StoreError::Interrupted)) => {
                    self.take_back(&new)?;
                    return Err(StoreError::Interrupted);
                }
                Ok(Err(error)) => return if all.is_empty() { Err(error) } else { Ok(all) },
                Err(payload) => {
                    // If this fails, the tickets expire at the end of their lease.
                    drop(self.take_back(&new));
                    resume_unwind(payload);
                }
            }
            if !self.is_slow() {
                std::thread::sleep(PAUSE);
            }
        }
    }

    fn take_back(&mut self, tickets: &[TicketId]) -> Result<(), StoreError> {
        if tickets.is_empty() { Ok(()) } else { self.expire(tickets).map(drop) }
    }

    /// Whether a decision takes so long that it is made outside transactions.
    pub(crate) fn is_slow(&self) -> bool {
        self.decision_time > SLOW
    }

    /// One slice, and whether it is the last.
    fn ask_slice(&mut self, asking: &mut Asking<'_>) -> Result<(Written, bool), StoreError> {
        if self.is_slow() { self.slice_outside(asking) } else { self.slice_inside(asking) }
    }

    /// Hands out as many arms as fit into [`LOCK_LIMIT`], at least one.
    fn slice_inside(&mut self, asking: &mut Asking<'_>) -> Result<(Written, bool), StoreError> {
        let (mut n_arms, mut n_resumed, mut is_last) = (0, 0, false);
        let mut took = Duration::ZERO;
        let written = self.write(|state, Moment { now, due }| {
            let begun = Instant::now();
            let mut events = Vec::new();
            (n_arms, n_resumed) = (0_u32, 0);
            if !asking.is_begun {
                (events, n_resumed) = state.lease_events(asking.request, now, due);
                state.record(now, &events);
            }
            let (mut is_interrupted, mut is_over) = (false, false);
            let more = state.ask_more(asking.request, asking.left - n_resumed, now, &mut || {
                let took = begun.elapsed();
                is_interrupted = (asking.is_interrupted)();
                is_over = n_arms > 0 && took + took / n_arms > LOCK_LIMIT;
                n_arms += u32::from(!is_interrupted && !is_over);
                !is_interrupted && !is_over
            });
            if is_interrupted {
                return Err(StoreError::Interrupted);
            }
            is_last = !is_over;
            took = begun.elapsed();
            events.extend(more);
            Ok(Decided::Applied(events))
        })?;
        self.decision_time = took / n_arms.max(1);
        asking.is_begun = true;
        asking.left -= n_resumed + n_arms as usize;
        Ok((written, is_last || asking.left == 0))
    }

    /// Hands out one arm, or renews and ends leases. The decision is made before the transaction.
    fn slice_outside(&mut self, asking: &mut Asking<'_>) -> Result<(Written, bool), StoreError> {
        let mut tries = 0;
        loop {
            if (asking.is_interrupted)() {
                return Err(StoreError::Interrupted);
            }
            self.state()?;
            let moment = self.moment();
            let begun = Instant::now();
            // A custom rule that unwinds takes the state with it.
            let mut state = self.take_state()?;
            let mut plan = asking.plan(&mut state, moment);
            let mut n_events = state.n_events();
            self.state = Some(state);
            let mut took = begun.elapsed();
            if plan.events.is_empty() {
                let nothing = Written { events: Vec::new(), features: Vec::new(), apply_time: Duration::ZERO };
                return Ok((nothing, true));
            }
            let is_last_try = tries >= TRIES;
            let written = self.write_once(is_last_try, &mut |state, moment| {
                if n_events != state.n_events() {
                    plan = asking.plan(state, moment);
                    n_events = state.n_events();
                }
                Ok((Decided::Planned(plan.events.clone()), Vec::new()))
            })?;
            let Some(written) = written else {
                tries += 1;
                continue;
            };
            took += written.apply_time;
            self.decision_time = took;
            asking.is_begun = true;
            asking.left -= plan.n_arms;
            return Ok((written, plan.events.is_empty() || asking.left == 0));
        }
    }
}

/// The ticket that an event hands out.
fn asked(event: &Event) -> Option<TicketId> {
    if let Event::Asked { ticket, .. } = event { Some(*ticket) } else { None }
}
