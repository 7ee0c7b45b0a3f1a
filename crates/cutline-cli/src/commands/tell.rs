//! `cutline tell STORE TICKET REWARD …`

use super::{parsed, read};
use crate::args;
use crate::failure::Failure;
use crate::print::note;
use cutline::StopReason;
use cutline::campaign::TicketId;
use cutline_lab::rewards::ticket_rewards;
use cutline_store::Campaign;
use std::io::Read;
use std::path::Path;

pub(crate) fn tell(args: &args::Tell) -> Result<(), Failure> {
    if let Some(ticket) = args.fail {
        let mut campaign = args.which.open()?;
        let was_out = campaign.fail(ticket, &args.reason)?;
        let done = if was_out { "given back" } else { "was given back before" };
        note(&format!("ticket {ticket} {done}; {}", to_go(&mut campaign)?));
        return Ok(());
    }
    let rewards = match (&args.file, &args.rewards[..]) {
        (Some(path), _) => from_file(path)?,
        (None, [stdin]) if stdin == "-" => from_file(Path::new(stdin))?,
        (None, rewards) => pairs(rewards)?,
    };
    let mut campaign = args.which.open()?;
    let new = campaign.tell(&rewards)?;
    let known = rewards.len() as u64 - new;
    let known = if known == 0 { String::new() } else { format!(", {known} known before") };
    note(&format!("{new} {} told{known}; {}", if new == 1 { "reward" } else { "rewards" }, to_go(&mut campaign)?));
    Ok(())
}

/// How many rewards are missing, or why none are.
fn to_go(campaign: &mut Campaign) -> Result<String, Failure> {
    let state = campaign.state()?;
    let progress = state.progress();
    Ok(match state.stop_reason() {
        Some(StopReason::Budget) => format!("the budget of {} is used", progress.budget),
        Some(_) => "every side is sure".into(),
        None => format!("{} to go", progress.budget - progress.counted),
    })
}

fn from_file(path: &Path) -> Result<Vec<(TicketId, f64)>, Failure> {
    if path != Path::new("-") {
        return read(path, "", |csv| ticket_rewards(csv));
    }
    let (stdin, mut bytes) = (Path::new("stdin"), Vec::new());
    let done = std::io::stdin().lock().read_to_end(&mut bytes);
    done.map_err(|error| Failure::Read { path: stdin.into(), error, hint: "" })?;
    parsed(stdin, ticket_rewards(&bytes[..]))
}

/// Tickets and rewards from the command line.
fn pairs(words: &[String]) -> Result<Vec<(TicketId, f64)>, Failure> {
    let pair = |pair: &[String]| match pair {
        [ticket, reward] => Ok((number(ticket)?, finite(reward)?)),
        _ => Err(format!("`{}` has no reward; give tickets each with its reward, as `3 0.71 4 -0.2`", pair[0])),
    };
    words.chunks(2).map(pair).collect::<Result<_, _>>().map_err(Failure::Usage)
}

fn number(text: &str) -> Result<TicketId, String> {
    let ticket = text.parse().ok().filter(|&ticket| ticket > 0);
    ticket.ok_or_else(|| format!("`{text}` is not a ticket; tickets are whole numbers from 1"))
}

fn finite(text: &str) -> Result<f64, String> {
    let reward = text.parse().ok().filter(|reward: &f64| reward.is_finite());
    reward.ok_or_else(|| format!("`{text}` is not a reward; give a finite number"))
}
