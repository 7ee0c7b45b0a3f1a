//! The events of a campaign. Its state follows from them and from nothing else.

use cutline::Arm;

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
        /// The first ticket of the replicates that were handed out together with this one; `None` if it was handed out alone.
        replicate_of: Option<TicketId>,
    },
    /// The lease of an open ticket was renewed.
    Renewed {
        /// The ticket.
        ticket: TicketId,
        /// When its lease ends.
        until: Time,
    },
    /// The reward of a ticket came, in time or late. It counts towards the budget if that is not used up by other rewards.
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
    /// The reward of a ticket was corrected.
    Amended {
        /// The ticket.
        ticket: TicketId,
        /// The reward that counts from here on.
        reward: f64,
        /// Why it was corrected.
        reason: String,
    },
    /// The reward of a ticket was declared void; the budget gets its measurement back.
    Voided {
        /// The ticket.
        ticket: TicketId,
        /// Why it is void.
        reason: String,
    },
    /// An arm cannot be measured any more and is not asked for again.
    Withdrawn {
        /// The arm.
        arm: Arm,
        /// Why.
        reason: String,
    },
    /// A withdrawn arm can be measured again.
    Restored {
        /// The arm.
        arm: Arm,
    },
    /// Arms were added behind those that there were.
    Added {
        /// The first new arm.
        first: Arm,
        /// The number of new arms.
        n_arms: usize,
    },
    /// The terms were changed.
    Changed {
        /// The budget from here on, changed or not.
        budget: u32,
        /// What was changed, as the caller stores it. The engine does not read it.
        change: String,
    },
}

impl Event {
    /// Its name in files, in JSON and on the command line.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Asked { .. } => "asked",
            Self::Renewed { .. } => "renewed",
            Self::Told { .. } => "told",
            Self::Failed { .. } => "failed",
            Self::Expired { .. } => "expired",
            Self::Observed { .. } => "observed",
            Self::Amended { .. } => "amended",
            Self::Voided { .. } => "voided",
            Self::Withdrawn { .. } => "withdrawn",
            Self::Restored { .. } => "restored",
            Self::Added { .. } => "added",
            Self::Changed { .. } => "changed",
        }
    }

    /// The ticket that it is about; `None` if it is about an arm or the campaign.
    #[must_use]
    pub fn ticket(&self) -> Option<TicketId> {
        match *self {
            Self::Asked { ticket, .. }
            | Self::Renewed { ticket, .. }
            | Self::Told { ticket, .. }
            | Self::Failed { ticket, .. }
            | Self::Expired { ticket }
            | Self::Amended { ticket, .. }
            | Self::Voided { ticket, .. } => Some(ticket),
            Self::Observed { .. }
            | Self::Withdrawn { .. }
            | Self::Restored { .. }
            | Self::Added { .. }
            | Self::Changed { .. } => None,
        }
    }

    /// Whether arms or terms are others from here on, so that the state has to be computed again.
    #[must_use]
    pub fn is_revision(&self) -> bool {
        matches!(self, Self::Added { .. } | Self::Changed { .. })
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
