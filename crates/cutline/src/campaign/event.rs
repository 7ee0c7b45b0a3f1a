//! The events of a campaign. Its state follows from them and from nothing else.

use crate::Arm;

/// The number of a ticket, a measurement that was handed out: from 1, within its campaign.
pub type TicketId = u64;

/// Milliseconds since 1970 by the caller's clock. The engine reads no clock.
pub type Time = u64;

/// Something that has happened, and so can no longer be refused.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A measurement of an arm was handed out.
    Asked {
        /// Its ticket, one more than the last.
        ticket: TicketId,
        /// The arm to measure.
        arm: Arm,
        /// The worker that is to measure it.
        worker: String,
        /// When its lease ends.
        until: Time,
    },
    /// The reward of a ticket came, in time or late.
    Told {
        /// The ticket.
        ticket: TicketId,
        /// The reward.
        reward: f64,
    },
    /// A ticket will have no reward; the budget gets its measurement back.
    Failed {
        /// The ticket.
        ticket: TicketId,
        /// What went wrong, in the worker's words.
        reason: String,
    },
    /// The lease of a ticket ended or was cancelled; the budget gets its measurement back, and its reward may still come late.
    Expired {
        /// The ticket.
        ticket: TicketId,
    },
    /// A reward without a ticket, for example of a measurement made before the campaign.
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
    /// Its name in files, in JSON and on the command line.
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
