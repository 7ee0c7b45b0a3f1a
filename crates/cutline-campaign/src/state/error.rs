//! Why a request or an event is refused.

use super::TicketId;
use crate::{amount, serialize_amount};
use cutline::{Amount, Arm, short_number};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Why a request to a campaign was refused. The campaign has not changed.
#[derive(Clone, Copy, Debug, Deserialize, Error, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CampaignError {
    /// There is no such ticket.
    #[error("there is no ticket {ticket}; {}", match last { 0 => "none was handed out yet".into(), last => format!("the last one is {last}") })]
    NoTicket {
        /// The ticket.
        ticket: TicketId,
        /// The last ticket that was handed out; 0 if none was.
        last: TicketId,
    },
    /// The ticket has another reward already.
    #[error("ticket {ticket} already has the reward {told}, so {reward} is refused")]
    OtherReward {
        /// The ticket.
        ticket: TicketId,
        /// The first reward, which stands.
        told: f64,
        /// The other reward.
        reward: f64,
    },
    /// The ticket has a reward, so it cannot fail.
    #[error("ticket {ticket} already has the reward {reward}, so it cannot fail")]
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
    /// The reward of the ticket was declared void, so it has none and can have none.
    #[error("the reward of ticket {ticket} was declared void")]
    Voided {
        /// The ticket.
        ticket: TicketId,
    },
    /// The ticket has no reward that could be corrected.
    #[error("ticket {ticket} has no reward yet, so there is nothing to correct")]
    NotTold {
        /// The ticket.
        ticket: TicketId,
    },
    /// The ticket is not open, so its lease cannot be renewed.
    #[error("ticket {ticket} is not open any more, so its lease cannot be renewed")]
    NotOpen {
        /// The ticket.
        ticket: TicketId,
    },
    /// More rewards were told than measurements were handed out together.
    #[error("ticket {ticket} is for {replicates}, not for {rewards}", replicates = measurements(*replicates), rewards = rewards)]
    TooManyRewards {
        /// The ticket.
        ticket: TicketId,
        /// The number of measurements that were handed out together, from this ticket on.
        replicates: usize,
        /// The number of rewards.
        rewards: usize,
    },
    /// The budget cannot be lower than what is used of it.
    #[error("the budget cannot be {budget}: {used} of it are used, counting open tickets")]
    BudgetBelowUsed {
        /// The budget that was asked for.
        budget: u32,
        /// What is used.
        #[serde(serialize_with = "serialize_amount", deserialize_with = "amount::deserialize")]
        used: Amount,
    },
    /// The budget is used up.
    #[error("the budget of {budget} is used up, counting open tickets")]
    BudgetUsed {
        /// The budget.
        budget: u32,
    },
    /// What is left of the budget is less than the measurement costs.
    #[error("{remaining} of the budget of {budget} are left, counting open tickets, and this measurement costs {cost}")]
    BudgetBelowCost {
        /// The budget.
        budget: u32,
        /// What is left of it.
        #[serde(serialize_with = "serialize_amount", deserialize_with = "amount::deserialize")]
        remaining: Amount,
        /// What the measurement costs.
        #[serde(serialize_with = "serialize_amount", deserialize_with = "amount::deserialize")]
        cost: Amount,
    },
    /// There is no such arm.
    #[error("there is no arm {arm}; arms are numbered from 0 to {}", n_arms - 1)]
    NoArm {
        /// The arm.
        arm: Arm,
        /// The number of arms.
        n_arms: usize,
    },
    /// The reward is neither 0 nor 1, and those of the campaign are.
    #[error("the rewards of this campaign are pass or fail, 1 or 0, not {}", short_number(*reward))]
    NotPassOrFail {
        /// What was given.
        reward: f64,
    },
    /// The reward is not a whole number of at least 0, and those of the campaign are.
    #[error("the rewards of this campaign are counts, 0, 1, 2 and so on, not {}", short_number(*reward))]
    NotACount {
        /// What was given.
        reward: f64,
    },
    /// The reward is below the range of the campaign.
    #[error("the reward {} is below {}, the `min` of this campaign", short_number(*reward), short_number(*min))]
    BelowMin {
        /// What was given.
        reward: f64,
        /// The smallest reward that is possible.
        min: f64,
    },
    /// The reward is above the range of the campaign.
    #[error("the reward {} is above {}, the `max` of this campaign", short_number(*reward), short_number(*max))]
    AboveMax {
        /// What was given.
        reward: f64,
        /// The largest reward that is possible.
        max: f64,
    },
    /// The reward is not finite or too large.
    #[error("a reward must be a number between -1e80 and 1e80, not {}", short_number(*reward))]
    NotAReward {
        /// What was given.
        reward: f64,
    },
}

fn measurements(n: usize) -> String {
    if n == 1 { "one measurement".into() } else { format!("{n} measurements") }
}

/// An event cannot follow those before it, so the events are not those of this campaign.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("event {number} cannot follow the events before it: {refusal}")]
pub struct BrokenJournal {
    /// The number of the event.
    pub number: u64,
    /// Why it was refused.
    pub refusal: CampaignError,
}
