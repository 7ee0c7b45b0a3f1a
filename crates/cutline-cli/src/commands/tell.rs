//! `cutline tell STORE TICKET REWARD …`

use super::{open, parsed, read};
use crate::args;
use crate::args::{Decimal, finite, ticket_number};
use crate::failure::Failure;
use crate::print::note;
use cutline_campaign::{AnyCampaign, CampaignError, StoreError, TicketId, TicketInfo};
use cutline_data::input::read_stdin;
use cutline_data::rewards::{TicketReward, check_arms, ticket_rewards};
use cutline_report::words;
use std::collections::HashMap;
use std::path::Path;

pub(crate) fn tell(args: &args::Tell) -> Result<(), Failure> {
    if let Some(ticket) = args.fail {
        let mut campaign = open(&args.address)?;
        let was_open = campaign.fail(ticket, &args.reason)?;
        let done = if was_open { "recorded as failed" } else { "was already recorded as failed" };
        note(&format!("ticket {ticket} {done}; {}", to_go(&mut *campaign)?));
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
    let rewards = match (file, &rows) {
        (Some(path), Some(rows)) => {
            check_names(&mut *campaign, path, rows)?;
            among_replicates(&mut *campaign, rows)?
        }
        _ => by_ticket(&mut *campaign, &args.rewards)?,
    };
    let new = campaign.tell(&rewards).map_err(|error| match (error, file, &rows) {
        (StoreError::CampaignError(error), Some(path), Some(rows)) => in_row(error, path, rows),
        (error, ..) => error.into(),
    })?;
    let known = rewards.len() as u64 - new;
    let known = if known == 0 { String::new() } else { format!(", {known} already known") };
    let noun = if new == 1 { "reward" } else { "rewards" };
    let of_replicates = if rows.is_none() { replicates_in_words(&mut *campaign, &rewards)? } else { String::new() };
    note(&format!("{new} {noun} recorded{known}{of_replicates}; {}", to_go(&mut *campaign)?));
    Ok(())
}

/// Refuses a file in which the arm beside a ticket is another one than that of the ticket.
fn check_names(campaign: &mut dyn AnyCampaign, path: &Path, rows: &[TicketReward]) -> Result<(), Failure> {
    if rows.iter().all(|row| row.arm.is_none()) {
        return Ok(());
    }
    campaign.state()?;
    let names = campaign.description()?.names.clone();
    let state = campaign.state()?;
    let arm_of = |ticket| state.ticket(ticket).ok().map(|(arm, ..)| arm);
    parsed(path, check_arms(rows, &names, state.arms().n_arms(), arm_of))
}

/// What is known about tickets, by their numbers.
fn known_tickets(
    campaign: &mut dyn AnyCampaign,
    numbers: &[TicketId],
) -> Result<HashMap<TicketId, TicketInfo>, StoreError> {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    Ok(campaign.tickets(&numbers)?.into_iter().map(|ticket| (ticket.number, ticket)).collect())
}

/// Which rewards were taken for those of replicates, because a number that was meant as a ticket may be among them.
fn replicates_in_words(campaign: &mut dyn AnyCampaign, rewards: &[(TicketId, f64)]) -> Result<String, StoreError> {
    if rewards.len() < 2 {
        return Ok(String::new());
    }
    let numbers: Vec<TicketId> = rewards.iter().map(|&(ticket, _)| ticket).collect();
    let tickets = known_tickets(campaign, &numbers)?;
    let first = |ticket: TicketId| tickets.get(&ticket).map_or(ticket, |ticket| ticket.first_replicate);
    let groups = rewards.chunk_by(|&(a, _), &(b, _)| first(a) == first(b));
    let several = groups.filter(|group| group.len() > 1).map(|group| {
        let rewards: Vec<String> = group.iter().map(|(_, reward)| reward.to_string()).collect();
        format!("ticket {}: {}", first(group[0].0), rewards.join(", "))
    });
    let several: Vec<String> = several.collect();
    Ok(if several.is_empty() { String::new() } else { format!(" ({})", several.join("; ")) })
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
pub(super) fn by_ticket(campaign: &mut dyn AnyCampaign, words: &[String]) -> Result<Vec<(TicketId, f64)>, Failure> {
    // One word after the ticket is its reward, whatever its replicates are. Otherwise any word may be a ticket.
    let numbers =
        if words.len() > 2 { words.iter().filter_map(|word| ticket_number(word).ok()).collect() } else { vec![] };
    let known = known_tickets(campaign, &numbers)?;
    let mut rewards = Vec::new();
    let mut rest = words;
    while let Some((word, others)) = rest.split_first() {
        let ticket = ticket_number(word).map_err(Failure::Usage)?;
        let tickets = known.get(&ticket).map_or(ticket..ticket + 1, TicketInfo::takes);
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
fn among_replicates(campaign: &mut dyn AnyCampaign, rows: &[TicketReward]) -> Result<Vec<(TicketId, f64)>, StoreError> {
    let mut seen: HashMap<TicketId, u64> = HashMap::new();
    let numbers: Vec<TicketId> = rows.iter().map(|row| row.ticket).collect();
    let known = known_tickets(campaign, &numbers)?;
    let spread = |row: &TicketReward| {
        let replicates = known.get(&row.ticket).map_or(1, |ticket| ticket.replicates);
        let before = seen.entry(row.ticket).or_default();
        let own = if *before < replicates { row.ticket + *before } else { row.ticket };
        *before += 1;
        (own, row.reward)
    };
    Ok(rows.iter().map(spread).collect())
}

/// How many rewards are still to come, or why no more will.
pub(super) fn to_go(campaign: &mut dyn AnyCampaign) -> Result<String, Failure> {
    let available = campaign.availability()?;
    Ok(match available.stop_reason {
        Some(reason) => words::ending_of(reason, available.budget),
        None if available.has_costs => format!("{} to spend", available.remaining),
        None => format!("{} to go", available.remaining),
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
