//! `cutline tell STORE TICKET REWARD …`

use super::{open, parsed, read};
use crate::args;
use crate::args::{Decimal, finite, ticket_number};
use crate::failure::Failure;
use crate::print::note;
use cutline::StopReason;
use cutline_campaign::{CampaignError, CampaignState, TicketId};
use cutline_data::input::read_stdin;
use cutline_data::rewards::{TicketReward, check_arms, ticket_rewards};
use cutline_report::words;
use cutline_store::{Campaign, StoreError};
use std::collections::HashMap;
use std::path::Path;

pub(crate) fn tell(args: &args::Tell) -> Result<(), Failure> {
    if let Some(ticket) = args.fail {
        let mut campaign = open(&args.address)?;
        let was_open = campaign.fail(ticket, &args.reason)?;
        let done = if was_open { "recorded as failed" } else { "was already recorded as failed" };
        note(&format!("ticket {ticket} {done}; {}", to_go(&mut campaign)?));
        return Ok(());
    }
    let file = match (&args.file, &args.rewards[..]) {
        (None, [stdin]) if stdin == "-" => Some(Path::new(stdin)),
        (file, _) => file.as_deref(),
    };
    let rows = file.map(|path| from_file(path, args.decimal == Decimal::Comma)).transpose()?;
    if rows.is_none() {
        check_words(&args.rewards)?;
    }
    let mut campaign = open(&args.address)?;
    if let (Some(path), Some(rows)) = (file, &rows) {
        let names = campaign.arm_names().to_vec();
        let state = campaign.state()?;
        let arm_of = |ticket| state.ticket(ticket).ok().map(|(arm, ..)| arm);
        parsed(path, check_arms(rows, &names, state.arms().n_arms(), arm_of))?;
    }
    let state = campaign.state()?;
    let rewards = match &rows {
        Some(rows) => among_replicates(state, rows.iter().map(|row| (row.ticket, row.reward))),
        None => by_ticket(state, &args.rewards)?,
    };
    let new = campaign.tell(&rewards).map_err(|error| match (error, file, &rows) {
        (StoreError::CampaignError(error), Some(path), Some(rows)) => in_row(error, path, rows),
        (error, ..) => error.into(),
    })?;
    let known = rewards.len() as u64 - new;
    let known = if known == 0 { String::new() } else { format!(", {known} already known") };
    let noun = if new == 1 { "reward" } else { "rewards" };
    let of_replicates = if rows.is_none() { replicates_in_words(campaign.state()?, &rewards) } else { String::new() };
    note(&format!("{new} {noun} recorded{known}{of_replicates}; {}", to_go(&mut campaign)?));
    Ok(())
}

/// Which rewards were taken for those of replicates, because a number that was meant as a ticket may be among them.
fn replicates_in_words(state: &CampaignState, rewards: &[(TicketId, f64)]) -> String {
    let groups = rewards.chunk_by(|&(a, _), &(b, _)| state.first_replicate(a) == state.first_replicate(b));
    let several = groups.filter(|group| group.len() > 1).map(|group| {
        let rewards: Vec<String> = group.iter().map(|(_, reward)| reward.to_string()).collect();
        format!("ticket {}: {}", state.first_replicate(group[0].0), rewards.join(", "))
    });
    let several: Vec<String> = several.collect();
    if several.is_empty() { String::new() } else { format!(" ({})", several.join("; ")) }
}

/// Refuses words that can be no tickets and rewards, before anything is opened.
fn check_words(words: &[String]) -> Result<(), Failure> {
    let Some((first, rewards)) = words.split_first() else { return Ok(()) };
    ticket_number(first).map_err(Failure::Usage)?;
    if rewards.is_empty() {
        return Err(without_reward(first));
    }
    rewards.iter().try_for_each(|word| finite(word).map(drop)).map_err(Failure::Usage)
}

fn without_reward(ticket: &str) -> Failure {
    Failure::Usage(format!("`{ticket}` has no reward; give each ticket with its reward, as in `3 0.71 4 -0.2`"))
}

/// Tickets, each followed by its reward or, if it is the first of some replicates, by as many rewards as there are.
pub(super) fn by_ticket(state: &CampaignState, words: &[String]) -> Result<Vec<(TicketId, f64)>, Failure> {
    let mut rewards = Vec::new();
    let mut rest = words;
    while let Some((word, others)) = rest.split_first() {
        let ticket = ticket_number(word).map_err(Failure::Usage)?;
        let tickets = state.replicates(ticket).unwrap_or(ticket..ticket + 1);
        let n = others.len().min(tickets.clone().count());
        if n == 0 {
            return Err(without_reward(word));
        }
        for (ticket, word) in tickets.zip(&others[..n]) {
            rewards.push((ticket, finite(word).map_err(Failure::Usage)?));
        }
        rest = &others[n..];
    }
    Ok(rewards)
}

/// The rewards of a file, in which the first ticket of some replicates may occur once per replicate.
fn among_replicates(state: &CampaignState, rewards: impl Iterator<Item = (TicketId, f64)>) -> Vec<(TicketId, f64)> {
    let mut seen: HashMap<TicketId, u64> = HashMap::new();
    let spread = |(ticket, reward): (TicketId, f64)| {
        let replicates = state.replicates(ticket).map_or(1, |tickets| tickets.count() as u64);
        let before = seen.entry(ticket).or_default();
        let own = if *before < replicates { ticket + *before } else { ticket };
        *before += 1;
        (own, reward)
    };
    rewards.map(spread).collect()
}

/// How many rewards are still to come, or why no more will.
pub(super) fn to_go(campaign: &mut Campaign) -> Result<String, Failure> {
    let state = campaign.state()?;
    let progress = state.progress();
    Ok(match state.stop_reason() {
        Some(StopReason::Budget) => format!("the budget of {} is used up", progress.budget),
        Some(reason) => words::ending(reason).into(),
        None if progress.spending.is_some() => format!("{} to spend", progress.remaining()),
        None => format!("{} to go", progress.remaining()),
    })
}

/// A refusal with the row of its ticket.
fn in_row(error: CampaignError, path: &Path, rows: &[TicketReward]) -> Failure {
    let refused = match error {
        CampaignError::NoTicket { ticket, .. }
        | CampaignError::OtherReward { ticket, .. }
        | CampaignError::Failed { ticket }
        | CampaignError::Voided { ticket } => Some(ticket),
        _ => None,
    };
    // A ticket with two rewards is refused at the second one.
    let found = rows.iter().rfind(|row| Some(row.ticket) == refused);
    match found {
        Some(&TicketReward { row, .. }) => Failure::Row { path: path.into(), row, error },
        None => StoreError::from(error).into(),
    }
}

fn from_file(path: &Path, decimal_comma: bool) -> Result<Vec<TicketReward>, Failure> {
    if path != Path::new("-") {
        return read(path, "", |csv| ticket_rewards(csv, decimal_comma));
    }
    let stdin = Path::new("stdin");
    let bytes = read_stdin().map_err(|error| Failure::Read { path: stdin.into(), error, hint: "" })?;
    parsed(stdin, ticket_rewards(&bytes[..], decimal_comma))
}
