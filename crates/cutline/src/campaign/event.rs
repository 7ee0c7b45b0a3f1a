//! What can happen in a campaign. Its state is what its events come to, and nothing else.

use crate::Arm;

/// A measurement that was handed out, by its number in its campaign, from 1.
pub type TicketId = u64;

/// Milliseconds since 1970, as the caller's clock has them. The engine reads no clock.
pub type Time = u64;

/// Something that happened, in the past tense: it cannot be refused any more.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A measurement of an arm was handed out.
    Asked {
        /// Its ticket, one more than the last.
        ticket: TicketId,
        /// The arm to measure.
        arm: Arm,
        /// Who is to measure it.
        worker: String,
        /// When its lease runs out.
        until: Time,
    },
    /// The reward of a ticket came, in time or late.
    Told {
        /// The ticket.
        ticket: TicketId,
        /// The reward.
        reward: f64,
    },
    /// A ticket will have no reward; its measurement is given back to the budget.
    Failed {
        /// The ticket.
        ticket: TicketId,
        /// What went wrong, in the worker's words.
        reason: String,
    },
    /// A ticket was given up; its measurement is given back to the budget, and its reward may still come late.
    Expired {
        /// The ticket.
        ticket: TicketId,
    },
    /// A reward that nobody was asked for, as from measurements made before.
    Observed {
        /// The arm.
        arm: Arm,
        /// The reward.
        reward: f64,
        /// Whether it counts towards the budget.
        is_counted: bool,
    },
}

impl Event {
    /// What it is called everywhere.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Asked { .. } => "asked",
            Self::Told { .. } => "told",
            Self::Failed { .. } => "failed",
            Self::Expired { .. } => "expired",
            Self::Observed { .. } => "observed",
        }
    }
}

/// An event, when it happened, and its number in its campaign, from 1 and without gaps.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its number.
    pub number: u64,
    /// When it happened.
    pub at: Time,
    /// What happened.
    pub event: Event,
}
