//! What was changed in the course of a campaign, and when.

use super::tickets::minute;
use cutline::{Arm, grouped};
use cutline_campaign::{Event, Record, View, changed_settings};

/// How many changes are listed.
const LISTED: usize = 30;

/// The changes, the latest first.
pub(super) struct Changes {
    pub(super) listed: Vec<Change>,
    /// How many there are, if not all are listed.
    pub(super) all: Option<String>,
}

pub(super) struct Change {
    pub(super) at: String,
    pub(super) what: String,
    pub(super) reason: String,
}

impl Changes {
    pub(super) fn new(view: &View) -> Self {
        let mut changes: Vec<Change> = view.records.iter().rev().filter_map(|record| change(view, record)).collect();
        let all = (changes.len() > LISTED).then(|| grouped(changes.len() as u64));
        changes.truncate(LISTED);
        Self { listed: changes, all }
    }
}

fn change(view: &View, record: &Record) -> Option<Change> {
    let name = |arm: Arm| &view.names[arm];
    let of_ticket = |ticket| view.state.ticket(ticket).map_or_else(|_| String::new(), |found| name(found.0).clone());
    let (what, reason) = match &record.event {
        Event::Amended { ticket, reward, reason } => (
            format!("the reward of ticket {ticket} ({}) was corrected to {reward}", of_ticket(*ticket)),
            reason.clone(),
        ),
        Event::Voided { ticket, reason } => {
            (format!("the reward of ticket {ticket} ({}) was taken out", of_ticket(*ticket)), reason.clone())
        }
        Event::Withdrawn { arm, reason } => (format!("{} was withdrawn", name(*arm)), reason.clone()),
        Event::Restored { arm } => (format!("{} was made available again", name(*arm)), String::new()),
        Event::Added { n_arms: 1, first } => (format!("{} was added", name(*first)), String::new()),
        Event::Added { n_arms, first } => {
            (format!("{n_arms} candidates were added, from {} on", name(*first)), String::new())
        }
        Event::Changed { change, .. } => {
            let settings: Vec<String> = changed_settings(change)
                .into_iter()
                .map(|(key, value)| format!("{} = {value}", key.replace('_', " ")))
                .collect();
            (format!("changed: {}", settings.join(", ")), String::new())
        }
        _ => return None,
    };
    Some(Change { at: minute(record.at), what, reason })
}
