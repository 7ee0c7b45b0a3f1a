//! Measurements: asked for, told, given back and corrected.

use cutline::{Amount, StopReason};
use cutline_campaign::{Availability, Ticket, TicketId, TicketInfo, TicketStatus, from_rfc3339, rfc3339};
use serde::{Deserialize, Serialize};

/// A worker's request for measurements.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AskBody {
    /// How many arms to hand out at most.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schema(minimum = 1, default = 1))]
    pub count: u32,
    /// How many measurements of each arm to hand out.
    #[serde(default = "one")]
    #[cfg_attr(feature = "schema", schema(minimum = 1, default = 1))]
    pub replicates: u32,
    /// Who asks.
    #[cfg_attr(feature = "schema", schema(example = "lab 2"))]
    pub worker: String,
    /// How long the worker may take, in seconds; an hour if it is not given.
    #[cfg_attr(feature = "schema", schema(example = 600))]
    pub lease_seconds: Option<f64>,
    /// Whether the worker first gets its own open tickets again, with a new lease: it may have lost them.
    #[serde(default)]
    pub resume: bool,
}

fn one() -> u32 {
    1
}

/// Measurements to make.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Tickets {
    /// The tickets; fewer than were asked for, or none, once the budget is used up or every arm is decided.
    pub tickets: Vec<TicketBody>,
    /// Why there will never be another one; null while there may.
    pub ending: Option<String>,
}

/// A measurement to make.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TicketBody {
    /// Its number, to be told with the reward.
    #[cfg_attr(feature = "schema", schema(example = 7))]
    pub ticket: u64,
    /// The name of the arm.
    #[cfg_attr(feature = "schema", schema(example = "ethanol"))]
    pub arm: String,
    /// The number of the arm, from 0.
    pub index: usize,
    /// Its features.
    pub features: Vec<f64>,
    /// When its lease ends.
    pub until: String,
    /// How many rewards it takes.
    pub replicates: u32,
    /// What its measurements cost; left out in a campaign without costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl From<Ticket> for TicketBody {
    fn from(ticket: Ticket) -> Self {
        Self {
            ticket: ticket.number,
            arm: ticket.name,
            index: ticket.arm,
            features: ticket.features,
            until: rfc3339(ticket.until),
            replicates: ticket.replicates,
            cost: ticket.cost.map(Amount::value),
        }
    }
}

impl TicketBody {
    /// The ticket; `None` if its time cannot be understood.
    #[must_use]
    pub fn ticket(self) -> Option<Ticket> {
        Some(Ticket {
            number: self.ticket,
            arm: self.index,
            name: self.arm,
            features: self.features,
            until: from_rfc3339(&self.until)?,
            replicates: self.replicates,
            cost: self.cost.and_then(Amount::nearest),
        })
    }
}

/// Tickets that were asked for by their numbers.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TicketStatuses {
    /// The number of the campaign, which is another one after it was deleted and its name given to a new campaign.
    pub campaign_id: i64,
    /// Those of the tickets that exist.
    pub tickets: Vec<TicketStatusBody>,
}

/// A ticket and what became of it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TicketStatusBody {
    /// Its number.
    #[cfg_attr(feature = "schema", schema(example = 7))]
    pub ticket: u64,
    /// The name of the arm.
    #[cfg_attr(feature = "schema", schema(example = "ethanol"))]
    pub arm: String,
    /// `open`, `told`, `failed`, `expired` or `voided`.
    pub status: String,
    /// When its lease ends, if it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Its reward, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reward: Option<f64>,
    /// The first ticket of the replicates to which it belongs; itself if it was handed out alone.
    pub first_replicate: u64,
    /// How many rewards it takes: its own and, if it is the first of some replicates, theirs.
    pub replicates: u64,
}

impl From<TicketInfo> for TicketStatusBody {
    fn from(TicketInfo { number, name, first_replicate, replicates, status }: TicketInfo) -> Self {
        let (status, until, reward) = match status {
            TicketStatus::Open(until) => ("open", Some(rfc3339(until)), None),
            TicketStatus::Told(reward) => ("told", None, Some(reward)),
            TicketStatus::Failed => ("failed", None, None),
            TicketStatus::Expired => ("expired", None, None),
            TicketStatus::Voided => ("voided", None, None),
        };
        Self { ticket: number, arm: name, status: status.into(), until, reward, first_replicate, replicates }
    }
}

impl TicketStatusBody {
    /// What is known about the ticket; `None` if its status cannot be understood.
    #[must_use]
    pub fn info(self) -> Option<TicketInfo> {
        let status = match self.status.as_str() {
            "open" => TicketStatus::Open(from_rfc3339(&self.until?)?),
            "told" => TicketStatus::Told(self.reward?),
            "failed" => TicketStatus::Failed,
            "expired" => TicketStatus::Expired,
            "voided" => TicketStatus::Voided,
            _ => return None,
        };
        let (first_replicate, replicates) = (self.first_replicate, self.replicates);
        Some(TicketInfo { number: self.ticket, name: self.arm, first_replicate, replicates, status })
    }
}

/// What a campaign can still hand out.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AvailabilityBody {
    /// The number of the campaign, which is another one after it was deleted and its name given to a new campaign.
    pub campaign_id: i64,
    /// Why there will never be another ticket; null while there may.
    pub ending: Option<String>,
    /// How many rewards may count or, if measurements have costs, what they may cost in all.
    pub budget: u32,
    /// How much of the budget is not spent yet.
    pub remaining: f64,
    /// How much of the budget is left once all open tickets have their rewards.
    pub unassigned: f64,
    /// Whether measurements have costs; otherwise each is one unit of the budget.
    pub has_costs: bool,
    /// What the cheapest measurement costs that can still be asked for; left out in a campaign without costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_cost: Option<f64>,
    /// How many tickets wait for their reward.
    pub open: usize,
    /// When the first of their leases ends.
    pub first_lease_end: Option<String>,
}

impl AvailabilityBody {
    /// What the campaign with this number can still hand out.
    #[must_use]
    pub fn new(campaign_id: i64, availability: &Availability) -> Self {
        let Availability { stop_reason, budget, remaining, unassigned, has_costs, least_cost, open, first_lease_end } =
            *availability;
        Self {
            campaign_id,
            ending: stop_reason.map(|reason| reason.name().into()),
            budget,
            remaining: remaining.value(),
            unassigned: unassigned.value(),
            has_costs,
            least_cost: least_cost.map(Amount::value),
            open,
            first_lease_end: first_lease_end.map(rfc3339),
        }
    }

    /// What the campaign can still hand out; `None` if that cannot be understood.
    #[must_use]
    pub fn availability(&self) -> Option<Availability> {
        let first_lease_end = self.first_lease_end.as_deref().map(from_rfc3339);
        Some(Availability {
            stop_reason: self.ending.as_deref().map(StopReason::named).map_or(Some(None), |reason| reason.map(Some))?,
            budget: self.budget,
            remaining: Amount::nearest(self.remaining)?,
            unassigned: Amount::nearest(self.unassigned)?,
            has_costs: self.has_costs,
            least_cost: self.least_cost.and_then(Amount::nearest),
            open: self.open,
            first_lease_end: first_lease_end.map_or(Some(None), |until| until.map(Some))?,
        })
    }
}

/// A reward, or the rewards of replicates.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct TellBody {
    /// The ticket.
    #[cfg_attr(feature = "schema", schema(example = 7))]
    pub ticket: TicketId,
    /// Its reward.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(example = 0.71))]
    pub reward: Option<f64>,
    /// In place of one reward, those of the ticket's replicates, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rewards: Vec<f64>,
}

/// A measurement that will have no reward.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FailureBody {
    /// The ticket.
    pub ticket: TicketId,
    /// What went wrong.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(example = "sample lost"))]
    pub reason: String,
}

/// Tickets that their worker will not measure.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ReturnsBody {
    /// The tickets. Each replicate is given back by itself.
    pub tickets: Vec<TicketId>,
}

/// A new lease.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LeaseBody {
    /// How long the worker may take from now on, in seconds; an hour if it is not given.
    pub lease_seconds: Option<f64>,
}

/// Rewards for which no ticket was handed out.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ObservationsBody {
    /// The rewards.
    pub rewards: Vec<ObservedBody>,
    /// Whether they count towards the budget.
    #[serde(default)]
    pub count: bool,
}

/// A reward without a ticket.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ObservedBody {
    /// The name of the arm.
    #[cfg_attr(feature = "schema", schema(example = "ethanol"))]
    pub arm: String,
    /// The reward.
    #[cfg_attr(feature = "schema", schema(example = 0.71))]
    pub reward: f64,
}

/// Corrections of rewards.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AmendmentsBody {
    /// The corrections: either all have a reward, or none has.
    pub amendments: Vec<AmendmentBody>,
    /// Why, for the record.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(example = "digits swapped"))]
    pub reason: String,
}

/// The right reward of a ticket.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AmendmentBody {
    /// The ticket.
    pub ticket: TicketId,
    /// Its right reward; null to declare its reward void, which gives the measurement back to the budget.
    pub reward: Option<f64>,
}
