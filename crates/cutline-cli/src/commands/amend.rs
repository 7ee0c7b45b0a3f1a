//! `cutline amend STORE TICKET REWARD …`

use super::open;
use super::tell::{by_ticket, to_go};
use crate::args::{self, ticket_number};
use crate::failure::Failure;
use crate::print::note;

pub(crate) fn amend(args: &args::Amend) -> Result<(), Failure> {
    let mut campaign = open(&args.address)?;
    let noun = |n: u64| if n == 1 { "reward" } else { "rewards" };
    if args.void {
        let tickets = args.rewards.iter().map(|word| ticket_number(word)).collect::<Result<Vec<_>, _>>();
        let tickets = tickets.map_err(Failure::Usage)?;
        let n = campaign.void(&tickets, &args.reason)?;
        note(&format!("{n} {} taken out; {}", noun(n), to_go(&mut campaign)?));
        return Ok(());
    }
    let rewards = by_ticket(campaign.state()?, &args.rewards)?;
    let n = campaign.amend(&rewards, &args.reason)?;
    let same = rewards.len() as u64 - n;
    let same = if same == 0 { String::new() } else { format!(", {same} already so") };
    note(&format!("{n} {} corrected{same}; {}", noun(n), to_go(&mut campaign)?));
    Ok(())
}
