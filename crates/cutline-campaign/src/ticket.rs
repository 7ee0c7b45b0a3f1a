//! A measurement that is handed out, and what happens to it.

use crate::{CampaignError, CampaignState, Event, TicketId, TicketStatus, Time};
use cutline::{Amount, Arm};
use std::collections::BTreeSet;

/// A measurement to make.
#[derive(Clone, Debug, PartialEq)]
pub struct Ticket {
    /// Its number, by which its reward is told.
    pub number: TicketId,
    /// The arm.
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

/// What is known about a ticket.
#[derive(Clone, Debug, PartialEq)]
pub struct TicketInfo {
    /// The number of the ticket.
    pub number: TicketId,
    /// The name of its arm.
    pub name: String,
    /// The first ticket of the replicates to which it belongs; itself if it was handed out alone.
    pub first_replicate: TicketId,
    /// How many rewards it takes: its own and, if it is the first of some replicates, theirs.
    pub replicates: u64,
    /// Whether it waits for its reward, or what became of it.
    pub status: TicketStatus,
}

impl TicketInfo {
    /// Those of the tickets with these numbers that exist; `names` are those of all arms.
    #[must_use]
    pub fn find(state: &CampaignState, names: &[String], numbers: &[TicketId]) -> Vec<Self> {
        let info = |&number: &TicketId| {
            let (arm, _, status) = state.ticket(number).ok()?;
            let replicates = state.replicates(number).map_or(1, |tickets| tickets.end - tickets.start);
            let first_replicate = state.first_replicate(number);
            Some(Self { number, name: names.get(arm)?.clone(), first_replicate, replicates, status })
        };
        numbers.iter().filter_map(info).collect()
    }

    /// The tickets for which its rewards are, in their order.
    #[must_use]
    pub fn takes(&self) -> std::ops::Range<TicketId> {
        self.number..self.number + self.replicates
    }
}

impl Ticket {
    /// The numbers of its measurements: its own and those of its replicates.
    #[must_use]
    pub fn numbers(&self) -> std::ops::Range<TicketId> {
        self.number..self.number + TicketId::from(self.replicates)
    }

    /// The arms of the tickets that were handed out or renewed by some events, in their order.
    ///
    /// # Errors
    /// If a ticket does not exist.
    pub fn arms_handed_out(state: &CampaignState, events: &[Event]) -> Result<Vec<Arm>, CampaignError> {
        Ok(handed_out_by(state, events)?.iter().map(|ticket| ticket.arm).collect())
    }

    /// The tickets that were handed out or renewed by some events, replicates together; `names` are those of all arms. Takes their features
    /// from `features`, unless the state has them.
    ///
    /// # Errors
    /// If a ticket does not exist.
    pub fn handed_out(
        state: &CampaignState,
        names: &[String],
        events: &[Event],
        features: &mut impl Iterator<Item = Vec<f64>>,
    ) -> Result<Vec<Self>, CampaignError> {
        let mut tickets: Vec<Self> = Vec::new();
        for HandedOut { number, arm, until, first } in handed_out_by(state, events)? {
            let features = features.next().or_else(|| state.arms().row(arm)).unwrap_or_default();
            let cost = state.arms().measurement_costs().map(|costs| costs.of(arm));
            match tickets.last_mut() {
                Some(last) if last.number == first => {
                    last.replicates += 1;
                    last.cost = last.cost.zip(cost).map(|(sum, cost)| sum.plus(cost));
                }
                _ => {
                    let name = names[arm].clone();
                    tickets.push(Self { number, arm, name, features, until, replicates: 1, cost });
                }
            }
        }
        Ok(tickets)
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
    for other in open_replicates(state, ticket)? {
        events.extend(state.fail(other, reason, now)?);
    }
    Ok(events)
}

/// The other tickets of the replicates that begin with a ticket, as far as they are open.
pub(crate) fn open_replicates(state: &CampaignState, ticket: TicketId) -> Result<Vec<TicketId>, CampaignError> {
    let mut open = Vec::new();
    for other in state.replicates(ticket)?.skip(1) {
        if matches!(state.ticket(other)?.2, TicketStatus::Open(_)) {
            open.push(other);
        }
    }
    Ok(open)
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
struct HandedOut {
    number: TicketId,
    arm: Arm,
    until: Time,
    /// The first of the replicates to which it belongs.
    first: TicketId,
}

/// The tickets that were handed out or renewed by some events.
fn handed_out_by(state: &CampaignState, events: &[Event]) -> Result<Vec<HandedOut>, CampaignError> {
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
