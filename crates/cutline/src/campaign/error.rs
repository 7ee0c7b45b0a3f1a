//! Why something cannot happen, or cannot have happened.

use super::TicketId;
use crate::Arm;
use thiserror::Error;

/// Why something cannot happen in a campaign. Nothing has changed then.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum CampaignError {
    /// There is no such ticket.
    #[error("there is no ticket {ticket}; {}", match last { 0 => "none was handed out yet".into(), last => format!("the last one is {last}") })]
    NoTicket {
        /// The ticket.
        ticket: TicketId,
        /// The last that was handed out; 0 if none was.
        last: TicketId,
    },
    /// Another reward was told for the ticket.
    #[error("ticket {ticket} was told {told} before, and now {reward}; the first stands")]
    OtherReward {
        /// The ticket.
        ticket: TicketId,
        /// The reward that stands.
        told: f64,
        /// The other.
        reward: f64,
    },
    /// A reward was told for the ticket, so it did not fail.
    #[error("ticket {ticket} has its reward, {reward}, and cannot fail any more")]
    AlreadyTold {
        /// The ticket.
        ticket: TicketId,
        /// Its reward.
        reward: f64,
    },
    /// The ticket failed, so it can have no reward.
    #[error("ticket {ticket} was reported as failed")]
    Failed {
        /// The ticket.
        ticket: TicketId,
    },
    /// The ticket's lease ran out, and others have its place in the budget.
    #[error("ticket {ticket} came too late: its lease ran out and the budget of {budget} is used by others since")]
    TooLate {
        /// The ticket.
        ticket: TicketId,
        /// The budget.
        budget: u32,
    },
    /// The budget is used.
    #[error("the budget of {budget} is used, tickets that are out included")]
    BudgetUsed {
        /// The budget.
        budget: u32,
    },
    /// There is no such arm.
    #[error("there is no arm {arm}; arms count from 0 to {}", n_arms - 1)]
    NoArm {
        /// The arm.
        arm: Arm,
        /// The number of arms.
        n_arms: usize,
    },
    /// The reward is not finite or too large.
    #[error("a reward must be a number between -1e140 and 1e140, not {reward}")]
    NotAReward {
        /// What was given.
        reward: f64,
    },
}

/// An event cannot have happened where it stands, so the events are not those of this campaign.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("event {number} cannot have happened: {refusal}")]
pub struct BrokenJournal {
    /// The event.
    pub number: u64,
    /// Why.
    pub refusal: CampaignError,
}
