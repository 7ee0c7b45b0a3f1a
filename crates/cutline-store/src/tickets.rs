//! Tickets, and taking their rewards.

use crate::StoreError;
use crate::campaign::Campaign;
use cutline::Arm;
use cutline_campaign::{Event, Operation, Ticket, TicketId};

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

    /// The tickets that were handed out or renewed by events that were written. Takes their features from `features`, unless the state has
    /// them.
    pub(crate) fn handed_out(
        &self,
        events: &[Event],
        features: &mut impl Iterator<Item = Vec<f64>>,
    ) -> Result<Vec<Ticket>, StoreError> {
        let state = self.state.as_ref().ok_or(StoreError::Contended)?;
        Ok(Ticket::handed_out(state, &self.names, events, features)?)
    }
}
