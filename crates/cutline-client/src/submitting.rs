//! Operations on a campaign on a server, as requests.

use crate::campaign::RemoteCampaign;
use crate::connection::Method;
use crate::wire::{
    Added, AmendmentBody, AmendmentsBody, ArmBody, ArmsBody, AskBody, Changed, ChangedCampaign, FailureBody, LeaseBody,
    NamedArms, ObservationsBody, ObservedBody, ReturnsBody, TellBody, TicketBody, Tickets,
};
use cutline::Arm;
use cutline_campaign::{
    AnyCampaign, Candidates, Change, Operation, Outcome, Request, StoreError, Ticket, TicketId, Time, now,
};
use serde::Serialize;

/// How many measurements a server hands out for one request.
const MAX_TICKETS: usize = 10_000;

/// Carries out an operation. A refusal is the error that a store would return: either the server says which one it is, or it is computed here.
pub(crate) fn submit(
    campaign: &mut RemoteCampaign,
    operation: &Operation,
    is_interrupted: &dyn Fn() -> bool,
) -> Result<Outcome, StoreError> {
    if operation.is_empty() {
        return Ok(Outcome::default());
    }
    if let Some(request) = operation.request() {
        let tickets = ask_in_parts(campaign, &request, is_interrupted)?;
        return Ok(handed_out(tickets));
    }
    send(campaign, operation).map_err(|error| match error {
        StoreError::Remote { status: 409 | 422, .. } => refusal(campaign, operation).unwrap_or(error),
        error => error,
    })
}

fn send(campaign: &mut RemoteCampaign, operation: &Operation) -> Result<Outcome, StoreError> {
    match operation {
        // An ask is sent in parts.
        Operation::Ask { .. } => Err(StoreError::NotOverHttp),
        Operation::Tell(rewards) => {
            let tell = |(ticket, rewards): &(TicketId, Vec<f64>)| TellBody {
                ticket: *ticket,
                reward: None,
                rewards: rewards.clone(),
            };
            change(campaign, "tells", &rewards.iter().map(tell).collect::<Vec<_>>())
        }
        Operation::Fail(tickets) => {
            let failure =
                |(ticket, reason): &(TicketId, String)| FailureBody { ticket: *ticket, reason: reason.clone() };
            change(campaign, "failures", &tickets.iter().map(failure).collect::<Vec<_>>())
        }
        Operation::Expire(tickets) => change(campaign, "returns", &ReturnsBody { tickets: tickets.clone() }),
        Operation::Renew(tickets, lease) => renew(campaign, tickets, *lease),
        Operation::Observe(rewards, count) => {
            let names = &campaign.description()?.names;
            let observed = |&(arm, reward): &(Arm, f64)| Some(ObservedBody { arm: names.get(arm)?.clone(), reward });
            let rewards = rewards.iter().filter_map(observed).collect();
            change(campaign, "observations", &ObservationsBody { rewards, count: *count })
        }
        Operation::Amend(rewards, reason) => {
            amend(campaign, rewards.iter().map(|&(ticket, reward)| (ticket, Some(reward))), reason)
        }
        Operation::Void(tickets, reason) => amend(campaign, tickets.iter().map(|&ticket| (ticket, None)), reason),
        Operation::Withdraw(arms, reason) => {
            let body = named(campaign, arms, reason)?;
            change(campaign, "withdrawals", &body)
        }
        Operation::Restore(arms) => {
            let body = named(campaign, arms, "")?;
            change(campaign, "restorations", &body)
        }
        Operation::Change(change) => change_settings(campaign, change),
        Operation::Add(more) => add(campaign, more),
    }
}

/// Sends a change whose answer says how many events are new.
fn change(campaign: &mut RemoteCampaign, path: &str, body: &impl Serialize) -> Result<Outcome, StoreError> {
    let Changed { changed } = campaign.located(|connection| connection.post(path, body, &|| false))?;
    Ok(Outcome { n_events: changed, ..Outcome::default() })
}

fn amend(
    campaign: &mut RemoteCampaign,
    rewards: impl Iterator<Item = (TicketId, Option<f64>)>,
    reason: &str,
) -> Result<Outcome, StoreError> {
    let amendments = rewards.map(|(ticket, reward)| AmendmentBody { ticket, reward }).collect();
    change(campaign, "amendments", &AmendmentsBody { amendments, reason: reason.into() })
}

fn named(campaign: &mut RemoteCampaign, arms: &[Arm], reason: &str) -> Result<NamedArms, StoreError> {
    let names = &campaign.description()?.names;
    let arms = arms.iter().filter_map(|&arm| names.get(arm).cloned()).collect();
    Ok(NamedArms { arms, reason: reason.into() })
}

/// A request renews one ticket, so several cannot be renewed all or none.
fn renew(campaign: &mut RemoteCampaign, tickets: &[TicketId], lease: Time) -> Result<Outcome, StoreError> {
    let [ticket] = tickets else { return Err(StoreError::NotOverHttp) };
    let (path, body) = (format!("tickets/{ticket}/lease"), LeaseBody { lease_seconds: Some(seconds(lease)) });
    let renewed: Tickets = campaign.located(|connection| connection.post(&path, &body, &|| false))?;
    Ok(handed_out(understood(campaign, renewed)?))
}

fn change_settings(campaign: &mut RemoteCampaign, change: &Change) -> Result<Outcome, StoreError> {
    let ChangedCampaign { changed, .. } = campaign.located(|connection| {
        let url = connection.address().url("");
        connection.send_to(Method::Patch, url, change)
    })?;
    Ok(Outcome { n_events: u64::from(changed), ..Outcome::default() })
}

fn add(campaign: &mut RemoteCampaign, more: &Candidates) -> Result<Outcome, StoreError> {
    // Requests do not name the columns.
    if campaign.columns() != more.columns() {
        return Err(refused(campaign, "the columns differ"));
    }
    let body = ArmsBody { arms: ArmBody::all(more) };
    let Added { added } = campaign.located(|connection| connection.post("arms", &body, &|| false))?;
    Ok(Outcome { n_events: u64::from(added > 0), n_added: added, ..Outcome::default() })
}

/// The error for what a server would refuse.
fn refused(campaign: &RemoteCampaign, detail: &str) -> StoreError {
    StoreError::Remote { location: campaign.connection.address().to_string(), status: 422, detail: detail.into() }
}

/// Why the campaign does not allow an operation, by its state here: the error that a store in a file would return.
fn refusal(campaign: &mut RemoteCampaign, operation: &Operation) -> Option<StoreError> {
    campaign.state().ok()?;
    match operation {
        Operation::Change(change) => {
            let candidates = campaign.candidates().ok()?;
            match campaign.description().ok()?.changed(change, &candidates) {
                Ok(changed) => Some(campaign.state().ok()?.check_budget(changed?.0).err()?.into()),
                Err(error) => Some(error),
            }
        }
        Operation::Add(more) => {
            let candidates = campaign.candidates().ok()?;
            campaign.description().ok()?.added(&candidates, more).err()
        }
        operation => {
            // The state is another one afterwards, so it is not that of the campaign.
            let (mut state, _) = campaign.snapshot().ok()?;
            operation.decide(&mut state, now()).err().map(StoreError::from)
        }
    }
}

/// Milliseconds in seconds.
fn seconds(time: Time) -> f64 {
    time as f64 / 1000.0
}

fn handed_out(tickets: Vec<Ticket>) -> Outcome {
    Outcome { n_events: tickets.len() as u64, tickets, ..Outcome::default() }
}

fn understood(campaign: &RemoteCampaign, Tickets { tickets, .. }: Tickets) -> Result<Vec<Ticket>, StoreError> {
    let tickets: Option<_> = tickets.into_iter().map(TicketBody::ticket).collect();
    tickets.ok_or_else(|| campaign.connection.failed("the tickets cannot be understood"))
}

/// Asks for `n` arms.
fn ask(
    campaign: &mut RemoteCampaign,
    n: usize,
    request: &Request<'_>,
    resume: bool,
    is_interrupted: &dyn Fn() -> bool,
) -> Result<Vec<Ticket>, StoreError> {
    let body = AskBody {
        count: u32::try_from(n).unwrap_or(u32::MAX),
        replicates: request.replicates,
        worker: request.worker.into(),
        lease_seconds: Some(seconds(request.lease)),
        resume,
    };
    let tickets = campaign.located(|connection| connection.post("asks", &body, is_interrupted))?;
    understood(campaign, tickets)
}

/// Asks for arms, in as many requests as the server needs.
fn ask_in_parts(
    campaign: &mut RemoteCampaign,
    request: &Request<'_>,
    is_interrupted: &dyn Fn() -> bool,
) -> Result<Vec<Ticket>, StoreError> {
    let most = (MAX_TICKETS / usize::try_from(request.replicates).unwrap_or(usize::MAX).max(1)).max(1);
    let mut all: Vec<Ticket> = Vec::new();
    let mut resume = request.resume;
    while all.len() < request.n {
        let n = most.min(request.n - all.len());
        let asked = ask(campaign, n, request, resume, is_interrupted);
        resume = false;
        let is_last = match asked {
            Ok(tickets) => {
                let is_last = tickets.len() < n;
                all.extend(tickets);
                is_last
            }
            Err(error) if all.is_empty() && !is_interrupted() => return Err(error),
            Err(_) => true,
        };
        if is_interrupted() {
            let tickets: Vec<_> = all.iter().flat_map(Ticket::numbers).collect();
            // If it fails, they expire at the end of their leases.
            drop(campaign.expire(&tickets));
            return Err(StoreError::Interrupted);
        }
        if is_last {
            break;
        }
    }
    Ok(all)
}
