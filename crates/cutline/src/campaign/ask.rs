//! Handing out measurements.

use super::opening::opening;
use super::{CampaignError, CampaignState, Event, TicketId, Time};
use crate::{Amount, Arm};
use std::collections::BTreeSet;

/// A worker's request for measurements.
///
/// ```
/// use cutline::campaign::Request;
///
/// let request = Request { replicates: 3, ..Request::new(8, "lab 2", 3_600_000) };
/// assert!(!request.resume);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// How many arms to hand out at most, an arm that is handed out twice counted twice.
    pub n: usize,
    /// How many measurements of each to hand out.
    pub replicates: u32,
    /// Who asks.
    pub worker: &'a str,
    /// How long the worker may take, in milliseconds.
    pub lease: Time,
    /// Whether the worker first gets its own open tickets again, with a new lease: it may have crashed and lost them.
    pub resume: bool,
}

impl<'a> Request<'a> {
    /// A request for `n` single measurements.
    #[must_use]
    pub fn new(n: usize, worker: &'a str, lease: Time) -> Self {
        Self { n, replicates: 1, worker, lease, resume: false }
    }
}

impl CampaignState {
    /// Hands out up to `n` measurements to `worker`, after expiring the tickets whose lease has ended. Returns the events.
    ///
    /// Fewer than `n` are handed out, or none, once the budget is used up or the campaign stops early because every arm is decided.
    pub fn ask(&mut self, n: usize, worker: &str, now: Time, lease: Time) -> Vec<Event> {
        self.ask_unless(&Request::new(n, worker, lease), now, &|| false).unwrap_or_default()
    }

    /// As [`CampaignState::ask`], for any request, and asks `is_interrupted` before every arm. `None` if that is true: some tickets are then
    /// handed out without their events, so the state is to be dropped.
    pub fn ask_unless(
        &mut self,
        request: &Request<'_>,
        now: Time,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Option<Vec<Event>> {
        let &Request { n, replicates, worker, lease, resume } = request;
        let until = now.saturating_add(lease);
        let (mut events, n_resumed) = if resume { self.resume(n, worker, now, until) } else { (Vec::new(), 0) };
        let is_due = |&(_, until): &(TicketId, Time)| until <= now;
        let due: Vec<TicketId> = self.ledger.open_tickets().take_while(is_due).map(|(ticket, _)| ticket).collect();
        for ticket in due {
            events.push(self.apply_and_return(now, Event::Expired { ticket }));
        }
        self.update_noise();
        if self.expects_few_errors() {
            return Some(events);
        }
        let mut opening = opening(&self.terms, &self.ledger).into_iter().flatten();
        for _ in n_resumed..n {
            if is_interrupted() {
                return None;
            }
            let remaining = self.ledger.remaining();
            if remaining == Amount::ZERO {
                break;
            }
            self.learner.set_remaining(remaining);
            let affordable = opening.find(|&arm| self.ledger.n_affordable(arm) > 0);
            let Some(arm) = affordable.or_else(|| self.learner.propose()) else { break };
            self.hand_out(arm, replicates, worker, now, until, &mut events);
        }
        Some(events)
    }

    /// Hands out some measurements of an arm, as far as the budget goes.
    fn hand_out(&mut self, arm: Arm, replicates: u32, worker: &str, now: Time, until: Time, events: &mut Vec<Event>) {
        let replicates = replicates.clamp(1, self.ledger.n_affordable(arm));
        let first = self.ledger.next_ticket();
        for ticket in (first..).take(replicates as usize) {
            let replicate_of = (replicates > 1).then_some(first);
            let event = Event::Asked { ticket, arm, worker: worker.into(), until, replicate_of };
            events.push(self.apply_and_return(now, event));
        }
    }

    /// Renews the leases of the open tickets of a worker, of at most `n` arms. Returns the events, and the number of arms.
    fn resume(&mut self, n: usize, worker: &str, now: Time, until: Time) -> (Vec<Event>, usize) {
        let mut groups = BTreeSet::new();
        let mut events = Vec::new();
        for ticket in self.ledger.open_tickets_of(worker) {
            let group = self.ledger.group(ticket);
            if groups.contains(&group) || groups.len() < n {
                groups.insert(group);
                events.push(self.apply_and_return(now, Event::Renewed { ticket, until }));
            }
        }
        (events, groups.len())
    }

    /// The tickets for which the rewards of `ticket` are: itself and, if it is the first of some replicates, the others, in their order.
    ///
    /// # Errors
    /// If there is no such ticket.
    pub fn replicates(&self, ticket: TicketId) -> Result<std::ops::Range<TicketId>, CampaignError> {
        self.ledger.replicates(ticket)
    }

    /// The first ticket of the replicates to which a ticket belongs; the ticket itself if it was handed out alone.
    #[must_use]
    pub fn first_replicate(&self, ticket: TicketId) -> TicketId {
        self.ledger.group(ticket)
    }

    /// Renews the lease of an open ticket. Returns the event.
    ///
    /// # Errors
    /// If there is no such ticket, or it is not open.
    pub fn renew(&mut self, ticket: TicketId, now: Time, lease: Time) -> Result<Event, CampaignError> {
        match self.ledger.ticket(ticket)?.2 {
            super::TicketStatus::Open(_) => {
                Ok(self.apply_and_return(now, Event::Renewed { ticket, until: now.saturating_add(lease) }))
            }
            _ => Err(CampaignError::NotOpen { ticket }),
        }
    }
}
