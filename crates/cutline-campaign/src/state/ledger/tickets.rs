//! Tickets: what may happen to them, and what does.

use super::{LearnerUpdate, Ledger};
use crate::{CampaignError, TicketId, Time};
use cutline::Arm;

/// A measurement that was handed out.
#[derive(Clone, Debug)]
pub(super) struct Ticket {
    pub(super) arm: Arm,
    pub(super) worker: String,
    pub(super) status: TicketStatus,
    pub(super) replicate_of: Option<TicketId>,
    /// The reward that was told first, if it was corrected.
    pub(super) told_first: Option<f64>,
}

/// The status of a ticket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TicketStatus {
    /// It waits for its reward, and its lease ends at this time.
    Open(Time),
    /// It has this reward.
    Told(f64),
    /// It will have no reward.
    Failed,
    /// Its lease ended or was cancelled; its reward may still come late.
    Expired,
    /// Its reward was declared void.
    Voided,
}

impl Ledger {
    /// The number of open tickets.
    pub(in crate::state) fn n_open(&self) -> usize {
        self.open.len()
    }

    /// The number of the next ticket.
    pub(in crate::state) fn next_ticket(&self) -> TicketId {
        self.tickets.len() as TicketId + 1
    }

    /// The arm, the worker and the status of a ticket.
    pub(in crate::state) fn ticket(&self, ticket: TicketId) -> Result<(Arm, &str, TicketStatus), CampaignError> {
        let last = self.tickets.len() as TicketId;
        self.find(ticket)
            .map(|found| (found.arm, found.worker.as_str(), found.status))
            .ok_or(CampaignError::NoTicket { ticket, last })
    }

    /// The open tickets and the end of their lease; the lease that ends first comes first.
    pub(in crate::state) fn open_tickets(&self) -> impl Iterator<Item = (TicketId, Time)> + '_ {
        self.open.iter().map(|&(until, ticket)| (ticket, until))
    }

    /// Whether a reward may be recorded for a ticket: `Ok(false)` if the same reward is already recorded.
    pub(in crate::state) fn may_tell(&self, ticket: TicketId, reward: f64) -> Result<bool, CampaignError> {
        self.check_reward(reward)?;
        match self.ticket(ticket)?.2 {
            TicketStatus::Open(_) | TicketStatus::Expired => Ok(true),
            TicketStatus::Told(told) if told == reward || self.told_first(ticket) == Some(reward) => Ok(false),
            TicketStatus::Told(told) => Err(CampaignError::OtherReward { ticket, told, reward }),
            TicketStatus::Failed => Err(CampaignError::Failed { ticket }),
            TicketStatus::Voided => Err(CampaignError::Voided { ticket }),
        }
    }

    /// Whether a ticket may fail or expire: `Ok(false)` if it already has.
    pub(in crate::state) fn may_fail(&self, ticket: TicketId) -> Result<bool, CampaignError> {
        match self.ticket(ticket)?.2 {
            TicketStatus::Open(_) => Ok(true),
            TicketStatus::Failed | TicketStatus::Expired | TicketStatus::Voided => Ok(false),
            TicketStatus::Told(reward) => Err(CampaignError::AlreadyTold { ticket, reward }),
        }
    }

    /// The tickets that were handed out together with `ticket`, from it on: `ticket` itself and, if it is the first of some replicates, the
    /// others.
    pub(in crate::state) fn replicates(&self, ticket: TicketId) -> Result<std::ops::Range<TicketId>, CampaignError> {
        self.ticket(ticket)?;
        let is_replicate = |&other: &TicketId| {
            let other = self.find(other);
            other.is_some_and(|other| other.replicate_of == Some(ticket))
        };
        let others = (ticket + 1..self.next_ticket()).take_while(is_replicate).count() as TicketId;
        Ok(ticket..ticket + 1 + others)
    }

    /// The open tickets of a worker, in the order of their numbers, without those of withdrawn arms.
    pub(in crate::state) fn open_tickets_of(&self, worker: &str) -> Vec<TicketId> {
        let is_measurable = |ticket: &Ticket| ticket.worker == worker && !self.withdrawn.contains_key(&ticket.arm);
        let is_own = |ticket: &TicketId| self.find(*ticket).is_some_and(is_measurable);
        let mut own: Vec<TicketId> = self.open.iter().map(|&(_, ticket)| ticket).filter(is_own).collect();
        own.sort_unstable();
        own
    }

    /// The ticket to which a ticket belongs as a replicate, which may be itself.
    pub(in crate::state) fn group(&self, ticket: TicketId) -> TicketId {
        self.find(ticket).and_then(|found| found.replicate_of).unwrap_or(ticket)
    }

    pub(super) fn find(&self, ticket: TicketId) -> Option<&Ticket> {
        let position = usize::try_from(ticket).ok()?.checked_sub(1)?;
        self.tickets.get(position)
    }

    fn told_first(&self, ticket: TicketId) -> Option<f64> {
        self.find(ticket)?.told_first
    }

    pub(super) fn close_without_reward(
        &mut self,
        ticket: TicketId,
        status: TicketStatus,
    ) -> Result<LearnerUpdate, CampaignError> {
        if !self.may_fail(ticket)? {
            return Err(CampaignError::Failed { ticket });
        }
        let arm = self.ticket(ticket)?.0;
        self.close(ticket, status);
        self.changes += 1;
        Ok(LearnerUpdate::Forget(arm))
    }

    /// Gives an existing ticket a status other than open; returns whether it was open.
    pub(super) fn close(&mut self, ticket: TicketId, status: TicketStatus) -> bool {
        let closed = self.find_mut(ticket).expect("an existing ticket");
        let (arm, before) = (closed.arm, std::mem::replace(&mut closed.status, status));
        if let TicketStatus::Open(until) = before {
            self.open.remove(&(until, ticket));
            self.pending[arm] -= 1;
            self.spending.open = self.spending.open.minus(self.cost(arm));
            return true;
        }
        false
    }

    pub(super) fn find_mut(&mut self, ticket: TicketId) -> Option<&mut Ticket> {
        let position = usize::try_from(ticket).ok()?.checked_sub(1)?;
        self.tickets.get_mut(position)
    }
}
