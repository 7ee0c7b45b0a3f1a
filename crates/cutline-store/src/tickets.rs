//! Measurements: handing them out and taking their rewards.

use crate::StoreError;
use crate::campaign::{Campaign, Written};
use cutline::campaign::{self, CampaignError, Event, Request, Time};
use cutline::{Amount, Arm};
use std::time::Duration;

/// A measurement to make.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ticket {
    /// Its number, to be passed to [`Campaign::tell`].
    pub number: campaign::TicketId,
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
    /// handed out and nothing is written. Replicates are one [`Ticket`].
    ///
    /// # Errors
    /// If it was interrupted, or the store fails.
    pub fn ask_unless(
        &mut self,
        request: &Request<'_>,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<Vec<Ticket>, StoreError> {
        let mut handed_out = Vec::new();
        let Written { features, .. } = self.write(|state, now| {
            let events = state.ask_unless(request, now, is_interrupted).ok_or(StoreError::Interrupted)?;
            handed_out = handed_out_by(state, &events)?;
            Ok(events)
        })?;
        let state = self.state.as_ref();
        let unchanged = |arm: Arm| state.and_then(|state| state.arms().row(arm)).unwrap_or_default();
        let mut tickets: Vec<Ticket> = Vec::new();
        let mut features = features.into_iter();
        for (number, arm, until, first) in handed_out {
            let features = features.next().unwrap_or_else(|| unchanged(arm));
            let cost = state.and_then(|state| state.arms().measurement_costs()).map(|costs| costs.of(arm));
            match tickets.last_mut() {
                Some(last) if last.number == first => {
                    last.replicates += 1;
                    last.cost = last.cost.zip(cost).map(|(sum, cost)| sum.plus(cost));
                }
                _ => {
                    let name = self.names[arm].clone();
                    tickets.push(Ticket { number, arm, name, features, until, replicates: 1, cost });
                }
            }
        }
        Ok(tickets)
    }

    /// Records the rewards of tickets, all or none, and returns how many were new. Telling the same reward again changes nothing.
    ///
    /// # Errors
    /// If a ticket does not exist, failed, has another reward or comes too late, or the store fails.
    pub fn tell(&mut self, rewards: &[(campaign::TicketId, f64)]) -> Result<u64, StoreError> {
        let written = self.write(|state, now| {
            let mut events = Vec::with_capacity(rewards.len());
            for &(ticket, reward) in rewards {
                events.extend(state.tell(ticket, reward, now)?);
            }
            Ok(events)
        })?;
        Ok(written.n_events)
    }

    /// Records the rewards of a ticket and of those that were handed out together with it, in their order, all or none, and returns how many
    /// were new. There may be fewer rewards than measurements; the others stay open.
    ///
    /// # Errors
    /// As [`Campaign::tell`], and if there are more rewards than measurements.
    pub fn tell_replicates(&mut self, ticket: campaign::TicketId, rewards: &[f64]) -> Result<u64, StoreError> {
        let written = self.write(|state, now| {
            let tickets = state.replicates(ticket)?;
            let replicates = tickets.clone().count();
            if rewards.len() > replicates {
                return Err(CampaignError::TooManyRewards { ticket, replicates, rewards: rewards.len() }.into());
            }
            let mut events = Vec::with_capacity(rewards.len());
            for (ticket, &reward) in tickets.zip(rewards) {
                events.extend(state.tell(ticket, reward, now)?);
            }
            Ok(events)
        })?;
        Ok(written.n_events)
    }

    /// Closes a ticket that will have no reward, and records the reason; if it is the first of some replicates, all of them that are open.
    /// Returns whether the ticket was open.
    ///
    /// # Errors
    /// If the ticket does not exist or has its reward, or the store fails.
    pub fn fail(&mut self, ticket: campaign::TicketId, reason: &str) -> Result<bool, StoreError> {
        let written = self.write(|state, now| {
            let mut events: Vec<Event> = state.fail(ticket, reason, now)?.into_iter().collect();
            for other in state.replicates(ticket)?.skip(1) {
                if matches!(state.ticket(other)?.2, campaign::TicketStatus::Open(_)) {
                    events.extend(state.fail(other, reason, now)?);
                }
            }
            Ok(events)
        })?;
        Ok(written.n_events > 0)
    }

    /// Ends the leases of tickets early, for example because their worker has crashed, and returns how many were open. Their rewards are
    /// still accepted late.
    ///
    /// # Errors
    /// If a ticket does not exist, or the store fails.
    pub fn expire(&mut self, tickets: &[campaign::TicketId]) -> Result<u64, StoreError> {
        let written = self.write(|state, now| {
            let mut events = Vec::new();
            for &ticket in tickets {
                // A ticket may have been told in the meantime; that is not an error.
                if matches!(state.ticket(ticket)?.2, campaign::TicketStatus::Open(_)) {
                    events.extend(state.expire(ticket, now)?);
                }
            }
            Ok(events)
        })?;
        Ok(written.n_events)
    }

    /// Records rewards without tickets, all or none.
    ///
    /// # Errors
    /// If an arm does not exist, a reward is not a finite number, the rewards count towards the budget and exceed it, or the store fails.
    pub fn observe(&mut self, rewards: &[(Arm, f64)], is_counted: bool) -> Result<(), StoreError> {
        self.write(|state, now| {
            let observe = |&(arm, reward): &(Arm, f64)| state.observe(arm, reward, is_counted, now);
            Ok(rewards.iter().map(observe).collect::<Result<_, _>>()?)
        })?;
        Ok(())
    }
}

/// The tickets that were handed out or renewed by some events: number, arm, end of the lease, and the first of the replicates.
pub(crate) fn handed_out_by(
    state: &campaign::CampaignState,
    events: &[Event],
) -> Result<Vec<(campaign::TicketId, Arm, Time, campaign::TicketId)>, StoreError> {
    let mut handed_out = Vec::new();
    for event in events {
        if let Event::Asked { ticket, until, .. } | Event::Renewed { ticket, until } = *event {
            handed_out.push((ticket, state.ticket(ticket)?.0, until, state.first_replicate(ticket)));
        }
    }
    Ok(handed_out)
}
