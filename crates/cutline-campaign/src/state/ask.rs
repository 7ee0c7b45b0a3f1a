//! Handing out measurements.

use super::{CampaignError, CampaignState, Event, TicketId, Time};
use cutline::Amount;
use std::collections::BTreeSet;

/// A worker's request for measurements.
///
/// ```
/// use cutline_campaign::Request;
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
        let (mut events, n_resumed) = self.lease_events(request, now, now);
        for event in &events {
            self.apply(now, event);
        }
        let mut was_interrupted = false;
        let more = self.ask_more(request, request.n - n_resumed, now, &mut || {
            was_interrupted = is_interrupted();
            !was_interrupted
        });
        events.extend(more);
        (!was_interrupted).then_some(events)
    }

    /// The events with which an ask begins, none of which is applied: the worker's own tickets are renewed if it resumes, and all other tickets
    /// expire whose lease has ended at the time `due`. Also returns the number of arms that are resumed.
    ///
    /// `due` is `now`, unless the caller has reason to doubt its clock.
    #[must_use]
    pub fn lease_events(&self, request: &Request<'_>, now: Time, due: Time) -> (Vec<Event>, usize) {
        let until = now.saturating_add(request.lease);
        let mut groups = BTreeSet::new();
        let mut renewed = BTreeSet::new();
        if request.resume {
            for ticket in self.ledger.open_tickets_of(request.worker) {
                let group = self.ledger.group(ticket);
                if groups.contains(&group) || groups.len() < request.n {
                    groups.insert(group);
                    renewed.insert(ticket);
                }
            }
        }
        let mut events: Vec<Event> = renewed.iter().map(|&ticket| Event::Renewed { ticket, until }).collect();
        let ended = self.ledger.open_tickets().take_while(|&(_, until)| until <= due).map(|(ticket, _)| ticket);
        events.extend(ended.filter(|ticket| !renewed.contains(ticket)).map(|ticket| Event::Expired { ticket }));
        (events, groups.len())
    }

    /// Hands out the tickets of up to `n` arms, and asks `goes_on` before every arm. Returns the events.
    pub fn ask_more(
        &mut self,
        request: &Request<'_>,
        n: usize,
        now: Time,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Vec<Event> {
        let mut events = Vec::new();
        for _ in 0..n {
            if !goes_on() {
                break;
            }
            let tickets = self.next_tickets(request, now);
            if tickets.is_empty() {
                break;
            }
            for event in tickets {
                events.push(self.apply_and_return(now, event));
            }
        }
        events
    }

    /// The events that hand out the next arm, none of which is applied; as many as the request has replicates and the budget allows. There are
    /// none once the budget is used up or the campaign stops early.
    pub fn next_tickets(&mut self, request: &Request<'_>, now: Time) -> Vec<Event> {
        self.update_noise();
        let remaining = self.ledger.remaining();
        if remaining == Amount::ZERO || self.expects_few_errors() {
            return Vec::new();
        }
        self.learner.set_remaining(remaining);
        if self.terms.is_until_proved() {
            self.update_proofs();
        }
        let opening = self.opening.next(&self.terms, &self.ledger);
        let Some(arm) = opening.or_else(|| self.learner.propose()) else { return Vec::new() };
        let replicates = request.replicates.clamp(1, self.ledger.n_affordable(arm));
        let (first, until) = (self.ledger.next_ticket(), now.saturating_add(request.lease));
        let replicate_of = (replicates > 1).then_some(first);
        let asked = |ticket| Event::Asked { ticket, arm, worker: request.worker.into(), until, replicate_of };
        (first..).take(replicates as usize).map(asked).collect()
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
