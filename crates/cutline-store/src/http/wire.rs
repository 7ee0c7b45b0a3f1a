//! The answers of a server, as far as they are needed here.

use super::PastEvent;
use crate::journal::Entry;
use cutline::Amount;
use cutline_campaign::{Settings, Ticket, TicketId, from_rfc3339};
use serde::Deserialize;

#[derive(Deserialize)]
pub(super) struct CampaignPage {
    pub(super) campaigns: Vec<CampaignRow>,
    pub(super) total: usize,
}

#[derive(Deserialize)]
pub(super) struct CampaignRow {
    id: i64,
    name: String,
    created: String,
}

impl CampaignRow {
    pub(super) fn entry(self) -> Option<Entry> {
        Some(Entry { id: self.id, name: self.name, created: from_rfc3339(&self.created)? })
    }
}

/// A campaign that has begun.
#[derive(Deserialize)]
pub(super) struct Begun {
    pub(super) id: i64,
}

/// A campaign with what it began with.
#[derive(Clone, Deserialize)]
pub(super) struct Details {
    pub(super) id: i64,
    pub(super) columns: Vec<String>,
    pub(super) first_settings: Settings,
    pub(super) first_n_arms: usize,
}

#[derive(Deserialize)]
pub(super) struct ArmPage {
    pub(super) arms: Vec<ArmRow>,
    pub(super) total: usize,
}

#[derive(Deserialize)]
pub(super) struct ArmRow {
    pub(super) name: String,
    pub(super) features: Vec<f64>,
    pub(super) cost: Option<f64>,
}

#[derive(Deserialize)]
pub(super) struct EventPage {
    /// The number of the campaign, which is another one if it was deleted and a campaign with the same name was begun.
    pub(super) campaign_id: i64,
    pub(super) events: Vec<PastEvent>,
    pub(super) next: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct Tickets {
    pub(super) tickets: Vec<TicketRow>,
}

#[derive(Deserialize)]
pub(super) struct TicketRow {
    ticket: TicketId,
    arm: String,
    index: usize,
    features: Vec<f64>,
    until: String,
    replicates: u32,
    cost: Option<f64>,
}

impl TicketRow {
    pub(super) fn ticket(self) -> Option<Ticket> {
        Some(Ticket {
            number: self.ticket,
            arm: self.index,
            name: self.arm,
            features: self.features,
            until: from_rfc3339(&self.until)?,
            replicates: self.replicates,
            cost: self.cost.and_then(Amount::new),
        })
    }
}

#[derive(Deserialize)]
pub(super) struct Changed {
    pub(super) changed: u64,
}

#[derive(Deserialize)]
pub(super) struct ChangedSettings {
    pub(super) changed: bool,
}

#[derive(Deserialize)]
pub(super) struct AddedArms {
    pub(super) added: usize,
}
