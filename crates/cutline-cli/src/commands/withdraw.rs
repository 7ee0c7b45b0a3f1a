//! `cutline withdraw STORE CANDIDATE…` and `cutline restore STORE CANDIDATE…`

use super::open;
use crate::args;
use crate::failure::Failure;
use crate::print::note;
use cutline::Arm;
use cutline_campaign::AnyCampaign;

pub(crate) fn withdraw(args: &args::Withdraw) -> Result<(), Failure> {
    let mut campaign = open(&args.address)?;
    let arms = arms(&mut *campaign, &args.candidates)?;
    let changed = campaign.withdraw(&arms, &args.reason)?;
    report(&mut *campaign, changed, arms.len(), Done::Withdrawn)
}

pub(crate) fn restore(args: &args::Restore) -> Result<(), Failure> {
    let mut campaign = open(&args.address)?;
    let arms = arms(&mut *campaign, &args.candidates)?;
    let changed = campaign.restore(&arms)?;
    report(&mut *campaign, changed, arms.len(), Done::Restored)
}

/// The arms with these names.
fn arms(campaign: &mut dyn AnyCampaign, names: &[String]) -> Result<Vec<Arm>, Failure> {
    let known = &campaign.description()?.names;
    let position = |name: &String| {
        let found = known.iter().position(|other| other == name);
        found.ok_or_else(|| Failure::NoCandidate { name: name.clone(), nearest: nearest(known, name) })
    };
    names.iter().map(position).collect()
}

/// A name that differs from `name` in case or spaces only, or in the apostrophe with which exports mark what is no formula.
fn nearest(names: &[String], name: &str) -> Option<String> {
    let plain = |name: &str| name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let name = name.strip_prefix('\'').unwrap_or(name);
    names.iter().find(|other| plain(other) == plain(name)).cloned()
}

/// What was done to candidates.
enum Done {
    Withdrawn,
    Restored,
}

fn report(campaign: &mut dyn AnyCampaign, changed: u64, asked: usize, done: Done) -> Result<(), Failure> {
    let noun = if changed == 1 { "candidate" } else { "candidates" };
    let (done, already) = match (done, asked as u64 - changed) {
        (Done::Withdrawn, 0) => ("withdrawn", String::new()),
        (Done::Withdrawn, n) => ("withdrawn", format!(", {n} already were")),
        (Done::Restored, 0) => ("restored", String::new()),
        (Done::Restored, n) => ("restored", format!(", {n} were not withdrawn")),
    };
    let state = campaign.state()?;
    let open = state.open_tickets().filter(|&(ticket, _)| {
        let arm = state.ticket(ticket).map(|found| found.0);
        arm.is_ok_and(|arm| state.withdrawn().any(|(withdrawn, _)| withdrawn == arm))
    });
    let tickets = match open.count() {
        0 => String::new(),
        1 => "; 1 open ticket of a withdrawn candidate can still be told or failed".into(),
        n => format!("; {n} open tickets of withdrawn candidates can still be told or failed"),
    };
    let n_withdrawn = state.progress().withdrawn;
    note(&format!("{changed} {noun} {done}{already}; {n_withdrawn} withdrawn in all{tickets}"));
    Ok(())
}
