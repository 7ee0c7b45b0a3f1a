//! `cutline amend STORE TICKET REWARD …`

use super::open;
use super::tell::{by_ticket, to_go};
use crate::args;
use crate::args::ticket_number;
use crate::failure::Failure;
use crate::print::note;
use cutline_campaign::{AnyCampaign, TicketId, TicketInfo, TicketStatus};
use std::collections::BTreeSet;

pub(crate) fn amend(args: &args::Amend) -> Result<(), Failure> {
    let mut campaign = open(&args.address)?;
    let noun = |n: u64| if n == 1 { "reward" } else { "rewards" };
    if args.void {
        let tickets = args.rewards.iter().map(|word| ticket_number(word)).collect::<Result<Vec<_>, _>>();
        let tickets = tickets.map_err(Failure::Usage)?;
        let n = campaign.void(&tickets, &args.reason)?;
        let others = others_in_words(&mut *campaign, &tickets)?;
        note(&format!("{n} {} taken out{others}; {}", noun(n), to_go(&mut *campaign)?));
        return Ok(());
    }
    let rewards = by_ticket(&mut *campaign, &args.rewards)?;
    let n = campaign.amend(&rewards, &args.reason)?;
    let same = rewards.len() as u64 - n;
    let same = if same == 0 { String::new() } else { format!(", {same} already so") };
    let tickets: Vec<TicketId> = rewards.iter().map(|&(ticket, _)| ticket).collect();
    let others = others_in_words(&mut *campaign, &tickets)?;
    note(&format!("{n} {} corrected{same}{others}; {}", noun(n), to_go(&mut *campaign)?));
    Ok(())
}

/// Which rewards of replicates stay as they are although the first ticket of the replicates was given, which stands for all of them in `ask`.
fn others_in_words(campaign: &mut dyn AnyCampaign, given: &[TicketId]) -> Result<String, Failure> {
    let groups = campaign.tickets(given)?;
    let others: BTreeSet<TicketId> =
        groups.iter().flat_map(TicketInfo::takes).filter(|other| !given.contains(other)).collect();
    let others = campaign.tickets(&others.into_iter().collect::<Vec<_>>())?.into_iter();
    let with_reward = others.filter(|other| matches!(other.status, TicketStatus::Told(_)));
    let others: Vec<String> = with_reward.map(|other| other.number.to_string()).collect();
    Ok(match &others[..] {
        [] => String::new(),
        [other] => format!(" (the other replicate, ticket {other}, stays as it is)"),
        others => format!(" (the other replicates, tickets {}, stay as they are)", others.join(", ")),
    })
}
