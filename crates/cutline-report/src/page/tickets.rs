//! The measurements of a campaign: the rewards counted, the open tickets and the lost ones.

use crate::grouped_amount;
use cutline::{grouped, shown};
use cutline_campaign::{Event, OpenTicket as OpenRow, Progress, Record, TicketId, Time, View, rfc3339};

/// How many open tickets, and how many lost ones, are listed.
const LISTED: usize = 10;

/// The measurements.
pub(super) struct Tickets {
    pub(super) facts: Vec<(&'static str, String)>,
    /// The open tickets whose leases end first.
    pub(super) open: Vec<OpenTicket>,
    /// The latest lost tickets, the latest first.
    pub(super) lost: Vec<LostTicket>,
    /// How many open tickets there are, if not all are listed.
    pub(super) all_open: Option<String>,
    /// How many lost tickets there are, if not all are listed.
    pub(super) all_lost: Option<String>,
}

pub(super) struct OpenTicket {
    pub(super) ticket: TicketId,
    pub(super) arm: String,
    pub(super) worker: String,
    pub(super) lease: String,
}

pub(super) struct LostTicket {
    pub(super) ticket: TicketId,
    pub(super) arm: String,
    pub(super) worker: String,
    pub(super) at: String,
    pub(super) reason: String,
}

impl Tickets {
    pub(super) fn new(view: &View) -> Self {
        let lost: Vec<LostTicket> = view.records.iter().rev().filter_map(|record| lost(view, record)).collect();
        let n_lost = lost.len();
        let progress = view.state.progress();
        let all = |number: usize| (number > LISTED).then(|| grouped(number as u64));
        Self {
            facts: facts(view, &progress, n_lost),
            open: OpenRow::all(&view.state, &view.names, view.standing.now)
                .take(LISTED)
                .map(OpenTicket::from)
                .collect(),
            lost: lost.into_iter().take(LISTED).collect(),
            all_open: all(progress.open),
            all_lost: all(n_lost),
        }
    }
}

fn facts(view: &View, progress: &Progress, n_lost: usize) -> Vec<(&'static str, String)> {
    let is_reward = |record: &&Record| matches!(record.event, Event::Told { .. } | Event::Observed { .. });
    let last = view.records.iter().rfind(is_reward).map(|record| minute(record.at));
    let pulled = view.verdicts.iter().filter(|verdict| verdict.pulls > 0).count();
    let [pulled, n_arms] = [pulled, view.names.len()].map(|number| grouped(number as u64));
    let [counted, budget] = [progress.counted, progress.budget].map(|number| grouped(number.into()));
    let counted = match progress.spending {
        Some(spending) => format!("{counted}; {} of {budget} spent", grouped_amount(spending.spent)),
        None => format!("{counted} of {budget}"),
    };
    let mut facts = vec![
        ("rewards counted", counted),
        ("other rewards, not counted", grouped(progress.uncounted)),
        ("arms measured", format!("{pulled} of {n_arms}")),
        ("open tickets", grouped(progress.open as u64)),
        ("lost tickets", grouped(n_lost as u64)),
    ];
    facts.extend(view.records.first().map(|record| ("first event", minute(record.at))));
    facts.extend(last.map(|at| ("last reward", at)));
    facts.retain(|(what, value)| *what != "other rewards, not counted" || value != "0");
    facts
}

impl From<OpenRow> for OpenTicket {
    fn from(OpenRow { ticket, arm, worker, until, is_overdue }: OpenRow) -> Self {
        let lease = if is_overdue { "ended" } else { "until" };
        Self { ticket, arm, worker: short_worker(&worker), lease: format!("{lease} {}", minute(until)) }
    }
}

/// The ticket that a record says was lost: it failed, or it expired and got no reward later.
fn lost(view: &View, record: &Record) -> Option<LostTicket> {
    let (ticket, reason) = match &record.event {
        Event::Failed { ticket, reason } => (*ticket, reason.clone()),
        Event::Expired { ticket } => {
            let status = view.state.ticket(*ticket).ok()?.2;
            if status != cutline_campaign::TicketStatus::Expired {
                return None;
            }
            (*ticket, "expired: no reward within its lease".into())
        }
        _ => return None,
    };
    let (arm, worker) = arm_and_worker(view, ticket);
    Some(LostTicket { ticket, arm, worker, at: minute(record.at), reason })
}

/// The arm and the worker of a ticket that exists.
fn arm_and_worker(view: &View, ticket: TicketId) -> (String, String) {
    let (arm, worker, _) = view.state.ticket(ticket).expect("a ticket of this campaign");
    (view.names[arm].clone(), short_worker(worker))
}

/// A time to the minute.
pub(super) fn minute(time: Time) -> String {
    let text = rfc3339(time);
    format!("{} {} UTC", &text[..10], &text[11..16])
}

/// A worker by a short name: `machine:pid` for a `cutline run`, whose name in the journal also says when and where its process began. Hidden
/// characters are escaped.
#[must_use]
pub fn short_worker(worker: &str) -> String {
    let mut parts = worker.rsplitn(4, ':');
    let (place, start, pid, name) = (parts.next(), parts.next(), parts.next(), parts.next());
    let is_number = |part: Option<&str>| part.is_some_and(|part| part.parse::<u64>().is_ok());
    let short = match (name, pid, place) {
        (Some(name), Some(number), Some(_)) if is_number(pid) && is_number(start) => format!("{name}:{number}"),
        _ => worker.to_owned(),
    };
    shown(&short.replace(char::is_control, " ")).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_have_short_names() {
        assert_eq!(short_worker("node-7:4711:98765:0123456789abcdef-4026531836"), "node-7:4711");
        assert_eq!(short_worker("a:b:12:34:56-7"), "a:b:12");
        for other in ["me", "node:4711", "a:b:c:d", "w, 2", ""] {
            assert_eq!(short_worker(other), other);
        }
    }
}
