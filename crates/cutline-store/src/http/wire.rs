//! The answers of a server, as far as they are needed here.

use crate::{Settings, Ticket};
use cutline::Amount;
use cutline::campaign::{Event, Record, TicketId, Time};
use serde::Deserialize;
use std::time::UNIX_EPOCH;

/// A campaign with what it began with.
#[derive(Clone, Deserialize)]
pub(super) struct Details {
    pub(super) id: i64,
    pub(super) name: String,
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
    pub(super) events: Vec<EventRow>,
    pub(super) next: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct EventRow {
    number: u64,
    at: String,
    event: String,
    ticket: Option<TicketId>,
    index: Option<usize>,
    reward: Option<f64>,
    worker: Option<String>,
    until: Option<String>,
    reason: Option<String>,
    counted: Option<bool>,
    n_arms: Option<usize>,
    replicate_of: Option<TicketId>,
    budget: Option<u32>,
}

impl EventRow {
    /// The event; an error says what is wrong.
    pub(super) fn record(self) -> Result<Record, String> {
        let (number, kind) = (self.number, self.event.clone());
        self.read().ok_or_else(|| format!("event {number}, `{kind}`, cannot be understood"))
    }

    fn read(self) -> Option<Record> {
        let (ticket, arm, reward, reason) = (self.ticket, self.index, self.reward, self.reason);
        let until = || time(self.until.as_deref()?);
        let event = match self.event.as_str() {
            "asked" => {
                let (worker, replicate_of) = (self.worker?, self.replicate_of);
                Event::Asked { ticket: ticket?, arm: arm?, worker, until: until()?, replicate_of }
            }
            "renewed" => Event::Renewed { ticket: ticket?, until: until()? },
            "told" => Event::Told { ticket: ticket?, reward: reward? },
            "failed" => Event::Failed { ticket: ticket?, reason: reason? },
            "expired" => Event::Expired { ticket: ticket? },
            "observed" => Event::Observed { arm: arm?, reward: reward?, is_counted: self.counted? },
            "amended" => Event::Amended { ticket: ticket?, reward: reward?, reason: reason? },
            "voided" => Event::Voided { ticket: ticket?, reason: reason? },
            "withdrawn" => Event::Withdrawn { arm: arm?, reason: reason? },
            "restored" => Event::Restored { arm: arm? },
            "added" => Event::Added { first: arm?, n_arms: self.n_arms? },
            "changed" => Event::Changed { budget: self.budget?, change: reason? },
            _ => return None,
        };
        Some(Record { number: self.number, at: time(&self.at)?, event })
    }
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
            until: time(&self.until)?,
            replicates: self.replicates,
            cost: self.cost.and_then(Amount::new),
        })
    }
}

#[derive(Deserialize)]
pub(super) struct Changed {
    pub(super) changed: u64,
}

/// A time of RFC 3339 in milliseconds since 1970.
fn time(text: &str) -> Option<Time> {
    let since = humantime::parse_rfc3339(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
    Time::try_from(since.as_millis()).ok()
}
