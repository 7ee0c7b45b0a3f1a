//! An event of a campaign in JSON, as a server reports it and takes it.

use cutline_campaign::{Event, Record, TicketId, from_rfc3339, rfc3339};
use serde::{Deserialize, Serialize};

/// A part of the events.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EventPage {
    /// The events, in their order.
    pub events: Vec<EventBody>,
    /// The number of the campaign, which is another one after it was deleted and its name given to a new campaign.
    pub campaign_id: i64,
    /// The number of the last one, after which to go on; null if there is none after it.
    pub next: Option<u64>,
}

/// An event.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct EventBody {
    /// Its number, from 1 and without gaps.
    pub number: u64,
    /// When it happened.
    pub at: String,
    /// `asked`, `renewed`, `told`, `failed`, `expired`, `observed`, `amended`, `voided`, `withdrawn`, `restored`, `added` or `changed`.
    pub event: String,
    /// The ticket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ticket: Option<TicketId>,
    /// The name of the arm; of `added`, of the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arm: Option<String>,
    /// The number of the arm, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
    /// The reward.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reward: Option<f64>,
    /// Who asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// When the lease ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Why; of `changed`, the changed settings as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Whether an observed reward counts towards the budget.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counted: Option<bool>,
    /// The number of arms that were added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n_arms: Option<usize>,
    /// The first ticket of the replicates to which an asked ticket belongs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicate_of: Option<TicketId>,
    /// Of `changed`, the budget from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<u32>,
    /// The name of the token by which it was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl From<Record> for EventBody {
    /// The event without the names of its arm and its author.
    fn from(Record { number, at, event }: Record) -> Self {
        let (name, ticket) = (event.name(), event.ticket());
        let mut body = Self { number, at: rfc3339(at), event: name.into(), ticket, ..Self::default() };
        match event {
            Event::Asked { arm, worker, until, replicate_of, .. } => {
                (body.index, body.worker, body.until) = (Some(arm), Some(worker), Some(rfc3339(until)));
                body.replicate_of = replicate_of;
            }
            Event::Renewed { until, .. } => body.until = Some(rfc3339(until)),
            Event::Told { reward, .. } => body.reward = Some(reward),
            Event::Failed { reason, .. } | Event::Voided { reason, .. } => body.reason = Some(reason),
            Event::Observed { arm, reward, is_counted } => {
                (body.index, body.reward, body.counted) = (Some(arm), Some(reward), Some(is_counted));
            }
            Event::Amended { reward, reason, .. } => (body.reward, body.reason) = (Some(reward), Some(reason)),
            Event::Withdrawn { arm, reason } => (body.index, body.reason) = (Some(arm), Some(reason)),
            Event::Restored { arm } => body.index = Some(arm),
            Event::Added { first, n_arms } => (body.index, body.n_arms) = (Some(first), Some(n_arms)),
            Event::Changed { budget, change } => (body.budget, body.reason) = (Some(budget), Some(change)),
            // Nothing is known about events that later versions add, but their names.
            _ => (),
        }
        body
    }
}

impl EventBody {
    /// The event.
    ///
    /// # Errors
    /// If there is no such event, or a field is missing. The error says which event it is.
    pub fn record(self) -> Result<Record, String> {
        let (number, kind) = (self.number, self.event.clone());
        self.read().ok_or_else(|| format!("event {number}, `{kind}`, cannot be understood"))
    }

    fn read(self) -> Option<Record> {
        let (ticket, arm, reward, reason) = (self.ticket, self.index, self.reward, self.reason);
        let until = || from_rfc3339(self.until.as_deref()?);
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
        Some(Record { number: self.number, at: from_rfc3339(&self.at)?, event })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_survives_json() {
        let (ticket, arm, reward, reason) = (7, 3, -0.1 + 0.3, String::from("why"));
        let events = [
            Event::Asked { ticket, arm, worker: "w".into(), until: 5, replicate_of: Some(6) },
            Event::Renewed { ticket, until: 9_876_543_210_123 },
            Event::Told { ticket, reward },
            Event::Failed { ticket, reason: reason.clone() },
            Event::Expired { ticket },
            Event::Observed { arm, reward, is_counted: true },
            Event::Amended { ticket, reward, reason: reason.clone() },
            Event::Voided { ticket, reason: reason.clone() },
            Event::Withdrawn { arm, reason: reason.clone() },
            Event::Restored { arm },
            Event::Added { first: arm, n_arms: 2 },
            Event::Changed { budget: 9, change: reason },
        ];
        for event in events {
            let record = Record { number: 4, at: 951_782_399_999, event };
            let json = serde_json::to_string(&EventBody::from(record.clone())).unwrap();
            let read: EventBody = serde_json::from_str(&json).unwrap();
            assert_eq!(read.record(), Ok(record), "{json}");
        }
        let unknown = EventBody { number: 2, at: rfc3339(0), event: "burnt".into(), ..EventBody::default() };
        assert_eq!(unknown.record(), Err("event 2, `burnt`, cannot be understood".into()));
    }
}
