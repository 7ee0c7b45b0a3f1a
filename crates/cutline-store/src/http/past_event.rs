//! An event of a campaign in JSON, as a server reports it and takes it.

use cutline_campaign::{Event, Record, TicketId, Time, from_rfc3339, rfc3339};
use serde::{Deserialize, Serialize};

/// An event of a campaign in JSON, as a server reports it, and as it takes those of a campaign that is copied to it. Fields that are only for
/// readers, as the name of the arm, are ignored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PastEvent {
    number: u64,
    at: String,
    event: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ticket: Option<TicketId>,
    /// The number of the arm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reward: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    worker: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    counted: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    n_arms: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    replicate_of: Option<TicketId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    budget: Option<u32>,
}

impl PastEvent {
    /// An event in this form; `None` if a later version of the engine has made it.
    pub(crate) fn new(number: u64, at: Time, event: &Event) -> Option<Self> {
        let past = Self { number, at: rfc3339(at), event: event.name().into(), ..Self::default() };
        let about = |ticket: TicketId| Self { ticket: Some(ticket), ..past.clone() };
        let of = |arm: usize| Self { index: Some(arm), ..past.clone() };
        let because = |past: Self, reason: &str| Self { reason: Some(reason.into()), ..past };
        Some(match event {
            Event::Asked { ticket, arm, worker, until, replicate_of } => {
                let (worker, until) = (Some(worker.clone()), Some(rfc3339(*until)));
                Self { index: Some(*arm), worker, until, replicate_of: *replicate_of, ..about(*ticket) }
            }
            Event::Renewed { ticket, until } => Self { until: Some(rfc3339(*until)), ..about(*ticket) },
            Event::Told { ticket, reward } => Self { reward: Some(*reward), ..about(*ticket) },
            Event::Failed { ticket, reason } | Event::Voided { ticket, reason } => because(about(*ticket), reason),
            Event::Expired { ticket } => about(*ticket),
            Event::Observed { arm, reward, is_counted } => {
                Self { reward: Some(*reward), counted: Some(*is_counted), ..of(*arm) }
            }
            Event::Amended { ticket, reward, reason } => {
                because(Self { reward: Some(*reward), ..about(*ticket) }, reason)
            }
            Event::Withdrawn { arm, reason } => because(of(*arm), reason),
            Event::Restored { arm } => of(*arm),
            Event::Added { first, n_arms } => Self { n_arms: Some(*n_arms), ..of(*first) },
            Event::Changed { budget, change } => because(Self { budget: Some(*budget), ..past.clone() }, change),
            _ => return None,
        })
    }

    /// The event in the engine's form.
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
            let past = PastEvent::new(4, 951_782_399_999, &event).unwrap();
            let json = serde_json::to_string(&past).unwrap();
            let read: PastEvent = serde_json::from_str(&json).unwrap();
            assert_eq!(read.record(), Ok(Record { number: 4, at: 951_782_399_999, event }), "{json}");
        }
        let unknown = PastEvent { number: 2, at: rfc3339(0), event: "burnt".into(), ..PastEvent::default() };
        assert_eq!(unknown.record(), Err("event 2, `burnt`, cannot be understood".into()));
    }
}
