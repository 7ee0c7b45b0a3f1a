//! The bodies of requests and answers, as both ends of a connection use them.

mod arms;
mod campaigns;
mod event;
mod measurements;
mod problem;

pub use arms::{Added, ArmBody, ArmPage, ArmsBody, ListedArm, NamedArms};
pub use campaigns::{
    BegunCampaign, CampaignEntry, CampaignIdentity, CampaignPage, ChangedCampaign, CopyBody, FirstTerms,
};
pub use event::{EventBody, EventPage};
pub use measurements::{
    AmendmentBody, AmendmentsBody, AskBody, AvailabilityBody, FailureBody, LeaseBody, ObservationsBody, ObservedBody,
    ReturnsBody, TellBody, TicketBody, TicketStatusBody, TicketStatuses, Tickets,
};
pub use problem::{ProblemDocument, Refusal};

use serde::{Deserialize, Serialize};

/// How many of the things that were asked for have changed something.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Changed {
    /// The number of new events in the campaign. 0 if there was nothing to do, because it had been done before.
    pub changed: u64,
}
