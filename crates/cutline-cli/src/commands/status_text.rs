//! What `cutline status` prints: the numbers and sentences about a campaign, its open tickets, and the arms with the largest doubts.

use crate::print::{cell, left, table};
use cutline_campaign::{AnyCampaign, OpenTicket, Standing, StoreError, VerdictRow, rfc3339};
use cutline_report::{Summary, short, short_worker, span, spending, words};
use serde::Serialize;
use std::fmt::Write;

/// How many open tickets and how many doubtful arms are shown.
const MAX_SHOWN: usize = 5;

/// What to do to learn what the rest of a budget would bring.
pub(crate) const PLAN: &str = "`cutline plan STORE`";

/// The status of a campaign at one moment: an object of JSON.
#[derive(Debug, Serialize)]
pub(super) struct Status {
    #[serde(flatten)]
    pub(super) summary: Summary,
    /// The open tickets, the lease that ends first first.
    tickets: Vec<OpenTicket>,
    /// The arms with the largest doubt.
    doubtful: Vec<VerdictRow>,
}

impl Status {
    pub(super) fn new(campaign: &mut dyn AnyCampaign, standing: Standing) -> Result<Self, StoreError> {
        campaign.state()?;
        let names = campaign.description()?.names.clone();
        let state = campaign.state()?;
        let tickets = OpenTicket::all(state, &names, standing.now).collect();
        let verdicts = state.verdicts();
        let doubtful = VerdictRow::most_doubtful(state, &names, &verdicts, MAX_SHOWN);
        Ok(Self { summary: standing.into(), tickets, doubtful })
    }

    fn standing(&self) -> &Standing {
        &self.summary.standing
    }

    /// How much of the budget is used.
    fn used(&self) -> String {
        let Standing { told, spent, budget, .. } = *self.standing();
        spending::used(told, spent, budget)
    }

    /// The numbers that change, in one line.
    pub(super) fn line(&self) -> String {
        let Standing { failed, open, spent, ending, now, .. } = *self.standing();
        let rewards = if spent.is_some() { "" } else { " rewards" };
        let ending = ending.map_or_else(String::new, |ending| format!("; ended: {}", ending.name()));
        let (at, used, sides) = (rfc3339(now), self.used(), words::sides(self.standing()));
        format!("{at} {used}{rewards}, {open} open tickets, {failed} failed; {sides}{ending}")
    }

    /// The whole status as text.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (what, value) in self.facts() {
            writeln!(text, "{what:<11}{value}").expect("writing to a string does not fail");
        }
        for (title, table) in self.open_table().into_iter().chain([self.doubt_table()]) {
            write!(text, "\n{title}\n{table}\n").expect("writing to a string does not fail");
        }
        text
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let standing = self.standing();
        let Standing { campaign, threshold, precision, n_arms, algorithm, model, .. } = standing;
        let within = if *precision > 0.0 { format!(", give or take {precision}") } else { String::new() };
        let uncounted = more(standing.uncounted, "more that do not count towards the budget");
        let overdue = self.tickets.iter().filter(|ticket| ticket.is_overdue).count();
        let mut facts = vec![
            ("campaign", cell(campaign)),
            ("question", format!("which of {n_arms} arms have a mean above {threshold}{within}?")),
            ("algorithm", format!("{algorithm}, {} model", model.name())),
            ("rewards", format!("{}{uncounted}", self.used())),
            ("tickets", format!("{} open{}", standing.open, more(overdue as u64, "of them overdue"))),
        ];
        if standing.failed + standing.expired > 0 {
            facts.push(("lost", format!("{} failed, {} expired", standing.failed, standing.expired)));
        }
        if standing.voided > 0 {
            facts.push(("taken out", format!("{} rewards", standing.voided)));
        }
        if standing.withdrawn > 0 {
            facts.push(("withdrawn", format!("{} of {n_arms} arms", standing.withdrawn)));
        }
        facts.push(("verdicts", words::sides(standing)));
        facts.extend(words::lines(standing, PLAN));
        facts.extend(self.summary.finding.clone().map(|finding| ("found", finding)));
        facts.push(("noise", words::noise(standing.noise, standing.noise_from)));
        if standing.looks_like_pass_or_fail {
            facts.push(("note", words::LOOKS_LIKE_PASS_OR_FAIL.into()));
        }
        if let (Some(stop), None) = (standing.until_sure, standing.ending) {
            facts.push(("ends", words::early_stop(stop)));
        }
        if let Some(ending) = standing.ending {
            facts.push(("ended", words::ending(ending).into()));
        } else if let (Some(pace), Some(at)) = (standing.rewards_per_hour, standing.budget_used_at) {
            let left = span(at.saturating_sub(standing.now));
            facts.push((
                "pace",
                format!("{} rewards per hour; at this rate the budget is used up in {left}", short(pace)),
            ));
        }
        facts
    }

    fn open_table(&self) -> Option<(String, comfy_table::Table)> {
        let mut table = left(table(&["ticket", "arm", "worker", "lease"]), &[1, 2, 3]);
        for open in self.tickets.iter().take(MAX_SHOWN) {
            let lease = if open.is_overdue { "overdue by" } else { "runs out in" };
            let lease = format!("{lease} {}", span(open.until.abs_diff(self.standing().now)));
            table.add_row([open.ticket.to_string(), cell(&open.arm), short_worker(&open.worker), lease]);
        }
        let title = format!("open tickets{}", first_of(self.tickets.len()));
        (!self.tickets.is_empty()).then_some((title, table))
    }

    fn doubt_table(&self) -> (String, comfy_table::Table) {
        let mut table = left(table(&["arm", "side", "basis", "mean", "lower", "upper", "pulls", "doubt"]), &[1, 2]);
        let number = |number: Option<f64>, unknown: &str| number.map_or_else(|| unknown.to_owned(), short);
        for arm in &self.doubtful {
            let side = if arm.at_threshold { "at the threshold" } else { arm.side.name() };
            let (lower, upper) = (number(arm.lower, "-inf"), number(arm.upper, "inf"));
            let (mean, pulls, doubt) = (number(arm.mean, "NaN"), arm.pulls.to_string(), short(arm.doubt));
            let basis = arm.basis.map_or("", cutline::Basis::name);
            table.add_row([cell(&arm.arm), side.into(), basis.into(), mean, lower, upper, pulls, doubt]);
        }
        (format!("most doubtful arms{}", first_of(self.standing().n_arms)), table)
    }
}

fn more(count: u64, what: &str) -> String {
    if count == 0 { String::new() } else { format!(", {count} {what}") }
}

fn first_of(total: usize) -> String {
    if total > MAX_SHOWN { format!(", {MAX_SHOWN} of {total}") } else { String::new() }
}
