//! Tickets, and taking their rewards.

use crate::campaign::Campaign;
use crate::{Operation, StoreError};
use cutline::campaign::{CampaignError, CampaignState, Event, TicketId, TicketStatus, Time};
use cutline::{Amount, Arm};
use std::collections::BTreeSet;

/// A measurement to make.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ticket {
    /// Its number, to be passed to [`Campaign::tell`].
    pub number: TicketId,
    /// The arm to measure.
    pub arm: Arm,
    /// The name of the arm.
    pub name: String,
    /// The arm's features as they were given; empty if the arms have none.
    pub features: Vec<f64>,
    /// When its lease ends, in milliseconds since 1970.
    pub until: Time,
    /// How many rewards it takes: its own, and those of the tickets after it that were handed out together with it.
    pub replicates: u32,
    /// What its measurements cost; `None` in a campaign without costs.
    pub cost: Option<Amount>,
}

impl Campaign {
    /// Records the rewards of tickets, all or none, and returns how many were new. Telling the same reward again changes nothing.
    ///
    /// # Errors
    /// If a ticket does not exist, failed or has another reward, or the store fails.
    pub fn tell(&mut self, rewards: &[(TicketId, f64)]) -> Result<u64, StoreError> {
        let each = rewards.iter().map(|&(ticket, reward)| (ticket, vec![reward])).collect();
        Ok(self.submit(Operation::Tell(each))?.n_events)
    }

    /// Records the rewards of a ticket and of those that were handed out together with it, in their order, all or none, and returns how many
    /// were new. There may be fewer rewards than measurements; the others stay open.
    ///
    /// # Errors
    /// As [`Campaign::tell`], and if there are more rewards than measurements.
    pub fn tell_replicates(&mut self, ticket: TicketId, rewards: &[f64]) -> Result<u64, StoreError> {
        Ok(self.submit(Operation::Tell(vec![(ticket, rewards.to_vec())]))?.n_events)
    }

    /// Closes a ticket that will have no reward, and records the reason; if it is the first of some replicates, all of them that are open.
    /// Returns whether the ticket was open.
    ///
    /// # Errors
    /// If the ticket does not exist or has its reward, or the store fails.
    pub fn fail(&mut self, ticket: TicketId, reason: &str) -> Result<bool, StoreError> {
        Ok(self.submit(Operation::Fail(vec![(ticket, reason.to_owned())]))?.n_events > 0)
    }

    /// Ends the leases of tickets early, for example because their worker has crashed, and returns how many were open. Their rewards are
    /// still accepted late.
    ///
    /// # Errors
    /// If a ticket does not exist, or the store fails.
    pub fn expire(&mut self, tickets: &[TicketId]) -> Result<u64, StoreError> {
        Ok(self.submit(Operation::Expire(tickets.to_vec()))?.n_events)
    }

    /// Records rewards without tickets, all or none.
    ///
    /// # Errors
    /// If an arm does not exist, a reward is not a finite number, the rewards count towards the budget and exceed it, or the store fails.
    pub fn observe(&mut self, rewards: &[(Arm, f64)], is_counted: bool) -> Result<(), StoreError> {
        self.submit(Operation::Observe(rewards.to_vec(), is_counted)).map(drop)
    }
}

/// The tickets for `n` rewards of a ticket: itself and the ones that were handed out together with it.
pub(crate) fn replicates_for(
    state: &CampaignState,
    ticket: TicketId,
    n: usize,
) -> Result<std::ops::Range<TicketId>, CampaignError> {
    let tickets = state.replicates(ticket)?;
    let replicates = tickets.clone().count();
    if n > replicates { Err(CampaignError::TooManyRewards { ticket, replicates, rewards: n }) } else { Ok(tickets) }
}

/// Closes a ticket and, if it is the first of some replicates, all of them that are open.
pub(crate) fn fail(
    state: &mut CampaignState,
    ticket: TicketId,
    reason: &str,
    now: Time,
) -> Result<Vec<Event>, CampaignError> {
    let mut events: Vec<Event> = state.fail(ticket, reason, now)?.into_iter().collect();
    for other in state.replicates(ticket)?.skip(1) {
        if matches!(state.ticket(other)?.2, TicketStatus::Open(_)) {
            events.extend(state.fail(other, reason, now)?);
        }
    }
    Ok(events)
}

/// The events that end the leases of those of some tickets that are open. The others may have been told in the meantime; that is not an
/// error.
pub(crate) fn expire(state: &CampaignState, tickets: &[TicketId]) -> Result<Vec<Event>, CampaignError> {
    let mut expired = BTreeSet::new();
    let mut events = Vec::new();
    for &ticket in tickets {
        if matches!(state.ticket(ticket)?.2, TicketStatus::Open(_)) && expired.insert(ticket) {
            events.push(Event::Expired { ticket });
        }
    }
    Ok(events)
}

/// A ticket that was handed out or renewed.
pub(crate) struct HandedOut {
    number: TicketId,
    pub(crate) arm: Arm,
    until: Time,
    /// The first of the replicates to which it belongs.
    first: TicketId,
}

/// The tickets that were handed out or renewed by some events.
pub(crate) fn handed_out_by(state: &CampaignState, events: &[Event]) -> Result<Vec<HandedOut>, CampaignError> {
    let mut handed_out = Vec::new();
    for event in events {
        match *event {
            Event::Asked { ticket: number, arm, until, replicate_of, .. } => {
                handed_out.push(HandedOut { number, arm, until, first: replicate_of.unwrap_or(number) });
            }
            Event::Renewed { ticket: number, until } => {
                let first = state.first_replicate(number);
                handed_out.push(HandedOut { number, arm: state.ticket(number)?.0, until, first });
            }
            _ => (),
        }
    }
    Ok(handed_out)
}

/// The tickets that were handed out or renewed by events that were written. Takes their features from `features`, unless the state has them.
pub(crate) fn tickets(
    campaign: &Campaign,
    events: &[Event],
    features: &mut impl Iterator<Item = Vec<f64>>,
) -> Result<Vec<Ticket>, StoreError> {
    let state = campaign.state.as_ref().ok_or(StoreError::Contended)?;
    let mut tickets: Vec<Ticket> = Vec::new();
    for HandedOut { number, arm, until, first } in handed_out_by(state, events)? {
        let features = features.next().or_else(|| state.arms().row(arm)).unwrap_or_default();
        let cost = state.arms().measurement_costs().map(|costs| costs.of(arm));
        match tickets.last_mut() {
            Some(last) if last.number == first => {
                last.replicates += 1;
                last.cost = last.cost.zip(cost).map(|(sum, cost)| sum.plus(cost));
            }
            _ => {
                let name = campaign.names[arm].clone();
                tickets.push(Ticket { number, arm, name, features, until, replicates: 1, cost });
            }
        }
    }
    Ok(tickets)
}
