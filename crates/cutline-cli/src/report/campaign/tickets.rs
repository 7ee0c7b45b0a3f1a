//! The measurements of a campaign: the rewards counted, the open tickets and the lost ones.

use super::answer::grouped_amount;
use super::{View, grouped};
use crate::clock::rfc3339;
use crate::print::short_worker;
use cutline_campaign::{Event, Progress, Record, TicketId, Time};

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
    pub(super) fn new(view: &View, now: Time) -> Self {
        let lost: Vec<LostTicket> = view.records.iter().rev().filter_map(|record| lost(view, record)).collect();
        let n_lost = lost.len();
        let progress = view.state.progress();
        let all = |number: usize| (number > LISTED).then(|| grouped(number as u64));
        Self {
            facts: facts(view, &progress, n_lost),
            open: view
                .state
                .open_tickets()
                .take(LISTED)
                .map(|(ticket, until)| open(view, ticket, until, now))
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

fn open(view: &View, ticket: TicketId, until: Time, now: Time) -> OpenTicket {
    let (arm, worker) = arm_and_worker(view, ticket);
    let lease = if until <= now { "ended" } else { "until" };
    OpenTicket { ticket, arm, worker, lease: format!("{lease} {}", minute(until)) }
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
