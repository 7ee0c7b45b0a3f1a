//! `cutline tell STORE TICKET REWARD …`

use super::{open, parsed, read};
use crate::args;
use crate::failure::Failure;
use crate::print::note;
use crate::status_summary::reason_in_words;
use cutline::StopReason;
use cutline::campaign::{CampaignError, TicketId};
use cutline_lab::rewards::ticket_rewards;
use cutline_store::{Campaign, StoreError};
use std::io::Read;
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
    let rows = file.map(from_file).transpose()?;
    let rewards = match &rows {
        Some(rows) => rows.iter().map(|&(_, ticket, reward)| (ticket, reward)).collect(),
        None => args::rewards(&args.rewards).map_err(Failure::Usage)?,
    };
    let mut campaign = open(&args.address)?;
    let new = campaign.tell(&rewards).map_err(|error| match (error, file, &rows) {
        (StoreError::CampaignError(error), Some(path), Some(rows)) => in_row(error, path, rows),
        (error, ..) => error.into(),
    })?;
    let known = rewards.len() as u64 - new;
    let known = if known == 0 { String::new() } else { format!(", {known} already known") };
    let noun = if new == 1 { "reward" } else { "rewards" };
    note(&format!("{new} {noun} recorded{known}; {}", to_go(&mut campaign)?));
    Ok(())
}

/// How many rewards are still to come, or why no more will.
fn to_go(campaign: &mut Campaign) -> Result<String, Failure> {
    let state = campaign.state()?;
    let progress = state.progress();
    Ok(match state.stop_reason() {
        Some(StopReason::Budget) => format!("the budget of {} is used up", progress.budget),
        Some(reason) => reason_in_words(reason.name()).into(),
        None => format!("{} to go", progress.budget - progress.counted),
    })
}

/// A refusal with the row of its ticket.
fn in_row(error: CampaignError, path: &Path, rows: &[(u64, TicketId, f64)]) -> Failure {
    let refused = match error {
        CampaignError::NoTicket { ticket, .. }
        | CampaignError::OtherReward { ticket, .. }
        | CampaignError::Failed { ticket }
        | CampaignError::TooLate { ticket, .. } => Some(ticket),
        _ => None,
    };
    // A ticket with two rewards is refused at the second one.
    let found = rows.iter().rfind(|(_, ticket, _)| Some(*ticket) == refused);
    match found {
        Some(&(row, ..)) => Failure::Row { path: path.into(), row, error },
        None => StoreError::from(error).into(),
    }
}

fn from_file(path: &Path) -> Result<Vec<(u64, TicketId, f64)>, Failure> {
    if path != Path::new("-") {
        return read(path, "", |csv| ticket_rewards(csv));
    }
    let (stdin, mut bytes) = (Path::new("stdin"), Vec::new());
    let done = std::io::stdin().lock().read_to_end(&mut bytes);
    done.map_err(|error| Failure::Read { path: stdin.into(), error, hint: "" })?;
    parsed(stdin, ticket_rewards(&bytes[..]))
}
