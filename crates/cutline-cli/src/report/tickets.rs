//! The measurements of a campaign: what was used, what is out and what was lost.

use super::{View, grouped};
use crate::clock::rfc3339;
use cutline::campaign::{Event, Progress, Record, TicketId, Time};

/// How many tickets are shown of those that are out, and of those that were lost.
const SHOWN: usize = 10;

/// The measurements.
pub(super) struct Tickets {
    pub(super) facts: Vec<(&'static str, String)>,
    /// The first whose lease runs out.
    pub(super) out: Vec<Out>,
    /// The last, the latest first.
    pub(super) lost: Vec<Lost>,
    /// How many there are, if not all are shown.
    pub(super) all_out: Option<String>,
    pub(super) all_lost: Option<String>,
}

pub(super) struct Out {
    pub(super) ticket: TicketId,
    pub(super) arm: String,
    pub(super) worker: String,
    pub(super) lease: String,
}

pub(super) struct Lost {
    pub(super) ticket: TicketId,
    pub(super) arm: String,
    pub(super) worker: String,
    pub(super) at: String,
    pub(super) reason: String,
}

impl Tickets {
    pub(super) fn new(view: &View, now: Time) -> Self {
        let lost: Vec<Lost> = view.records.iter().rev().filter_map(|record| lost(view, record)).collect();
        let n_lost = lost.len();
        let progress = view.state.progress();
        let all = |number: usize| (number > SHOWN).then(|| grouped(number as u64));
        Self {
            facts: facts(view, &progress, n_lost),
            out: view.state.open_tickets().take(SHOWN).map(|(ticket, until)| out(view, ticket, until, now)).collect(),
            lost: lost.into_iter().take(SHOWN).collect(),
            all_out: all(progress.open),
            all_lost: all(n_lost),
        }
    }
}

fn facts(view: &View, progress: &Progress, n_lost: usize) -> Vec<(&'static str, String)> {
    let is_reward = |record: &&Record| matches!(record.event, Event::Told { .. } | Event::Observed { .. });
    let last = view.records.iter().rfind(is_reward).map(|record| minute(record.at));
    let pulled = view.verdicts.iter().filter(|verdict| verdict.pulls > 0).count();
    let [pulled, n_arms] = [pulled, view.names.len()].map(|number| grouped(number as u64));
    let mut facts = vec![
        ("rewards counted", format!("{} of {}", grouped(progress.counted.into()), grouped(progress.budget.into()))),
        ("rewards from before, not counted", grouped(progress.uncounted)),
        ("arms measured", format!("{pulled} of {n_arms}")),
        ("tickets out", grouped(progress.open as u64)),
        ("tickets lost", grouped(n_lost as u64)),
    ];
    facts.extend(view.records.first().map(|record| ("first event", minute(record.at))));
    facts.extend(last.map(|at| ("last reward", at)));
    facts.retain(|(what, value)| *what != "rewards from before, not counted" || value != "0");
    facts
}

fn out(view: &View, ticket: TicketId, until: Time, now: Time) -> Out {
    let (arm, worker) = whose(view, ticket);
    let lease = if until <= now { "ran out" } else { "until" };
    Out { ticket, arm, worker, lease: format!("{lease} {}", minute(until)) }
}

/// A ticket that failed, or was given up and has had no reward since.
fn lost(view: &View, record: &Record) -> Option<Lost> {
    let (ticket, reason) = match &record.event {
        Event::Failed { ticket, reason } => (*ticket, reason.clone()),
        Event::Expired { ticket } => {
            let status = view.state.ticket(*ticket).ok()?.2;
            if status != cutline::campaign::TicketStatus::Expired {
                return None;
            }
            (*ticket, "given up: no reward within its lease".into())
        }
        _ => return None,
    };
    let (arm, worker) = whose(view, ticket);
    Some(Lost { ticket, arm, worker, at: minute(record.at), reason })
}

/// The arm and the worker of a ticket that exists.
fn whose(view: &View, ticket: TicketId) -> (String, String) {
    let (arm, worker, _) = view.state.ticket(ticket).expect("a ticket of this campaign");
    (view.names[arm].clone(), worker.into())
}

/// A time to the minute, for people.
pub(super) fn minute(time: Time) -> String {
    let text = rfc3339(time);
    format!("{} {} UTC", &text[..10], &text[11..16])
}
