//! Operations on a campaign on a server, as requests.

use super::HttpJournal;
use super::wire::{Changed, Tickets};
use crate::{Campaign, StoreError};
use cutline::Arm;
use cutline_campaign::{Operation, Request, Ticket};
use serde::Serialize;
use serde_json::json;

/// How many measurements a server hands out for one request.
const MAX_TICKETS: usize = 10_000;

impl HttpJournal {
    /// Carries out an operation that does not ask for tickets; `names` are those of the arms. Returns the number of new events.
    fn submit(&mut self, operation: &Operation, names: &[String]) -> Result<u64, StoreError> {
        let names_of = |arms: &[Arm]| arms.iter().filter_map(|&arm| names.get(arm)).collect::<Vec<_>>();
        match operation {
            Operation::Tell(rewards) => {
                let tell = |(ticket, rewards): &(u64, Vec<f64>)| json!({"ticket": ticket, "rewards": rewards});
                self.change("tells", &rewards.iter().map(tell).collect::<Vec<_>>())
            }
            Operation::Fail(tickets) => {
                let failure = |(ticket, reason): &(u64, String)| json!({"ticket": ticket, "reason": reason});
                self.change("failures", &tickets.iter().map(failure).collect::<Vec<_>>())
            }
            Operation::Expire(tickets) => self.change("returns", &json!({"tickets": tickets})),
            Operation::Observe(rewards, count) => {
                let observed = |&(arm, reward): &(Arm, f64)| Some(json!({"arm": names.get(arm)?, "reward": reward}));
                let rewards: Vec<_> = rewards.iter().filter_map(observed).collect();
                self.change("observations", &json!({"rewards": rewards, "count": count}))
            }
            Operation::Amend(rewards, reason) => {
                let amendment = |(ticket, reward): &(u64, f64)| json!({"ticket": ticket, "reward": reward});
                let amendments: Vec<_> = rewards.iter().map(amendment).collect();
                self.change("amendments", &json!({"amendments": amendments, "reason": reason}))
            }
            Operation::Void(tickets, reason) => {
                let amendments: Vec<_> =
                    tickets.iter().map(|ticket| json!({"ticket": ticket, "reward": null})).collect();
                self.change("amendments", &json!({"amendments": amendments, "reason": reason}))
            }
            Operation::Withdraw(arms, reason) => {
                self.change("withdrawals", &json!({"arms": names_of(arms), "reason": reason}))
            }
            Operation::Restore(arms) => self.change("restorations", &json!({"arms": names_of(arms)})),
            Operation::Ask { .. } | Operation::Renew(..) | Operation::Change(_) | Operation::Add(_) => {
                Err(StoreError::NotOverHttp)
            }
        }
    }

    fn change(&mut self, path: &str, body: &impl Serialize) -> Result<u64, StoreError> {
        self.located(|client| Ok(client.post::<Changed>(path, body, &|| false)?.changed))
    }

    fn ask(
        &mut self,
        n: usize,
        request: &Request<'_>,
        resume: bool,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<Vec<Ticket>, StoreError> {
        let seconds = request.lease as f64 / 1000.0;
        let body = json!({
            "count": n, "replicates": request.replicates, "worker": request.worker, "lease_seconds": seconds, "resume": resume,
        });
        let Tickets { tickets } = self.located(|client| client.post("asks", &body, is_interrupted))?;
        let tickets: Option<_> = tickets.into_iter().map(super::wire::TicketRow::ticket).collect();
        tickets.ok_or_else(|| self.client.failed("the tickets cannot be understood"))
    }
}

impl Campaign {
    /// Carries out an operation on the server of this campaign. Returns the number of new events, or of candidates that were added.
    pub(crate) fn submit_to_server(&mut self, operation: &Operation) -> Result<u64, StoreError> {
        match operation {
            Operation::Change(change) => return self.change_on_server(change).map(u64::from),
            Operation::Add(more) => return self.add_on_server(more).map(|added| added as u64),
            _ if operation.is_empty() => return Ok(0),
            _ => (),
        }
        let Some(journal) = self.journal.remote() else { return Err(StoreError::NotOverHttp) };
        journal.submit(operation, &self.names).map_err(|error| match error {
            StoreError::Remote { status: 409 | 422, .. } => self.refusal(operation).unwrap_or(error),
            error => error,
        })
    }

    /// Why the campaign does not allow an operation, by its state here: the error that a store in a file would return.
    fn refusal(&mut self, operation: &Operation) -> Option<StoreError> {
        self.state().ok()?;
        let now = self.moment().now;
        let mut state = self.state.take()?;
        let known = state.n_events();
        let refusal = operation.decide(&mut state, now).err();
        // A state with events that the server does not have is dropped.
        self.state = Some(state).filter(|state| state.n_events() == known);
        refusal.map(StoreError::from)
    }

    /// As [`Campaign::ask_unless`], from the server of this campaign; `None` if it has none.
    pub(crate) fn ask_server(
        &mut self,
        request: &Request<'_>,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Option<Result<Vec<Ticket>, StoreError>> {
        self.journal.remote()?;
        Some(self.ask_in_parts(request, is_interrupted))
    }

    fn ask_in_parts(
        &mut self,
        request: &Request<'_>,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<Vec<Ticket>, StoreError> {
        let most = (MAX_TICKETS / usize::try_from(request.replicates).unwrap_or(usize::MAX).max(1)).max(1);
        let mut all: Vec<Ticket> = Vec::new();
        let mut resume = request.resume;
        while all.len() < request.n {
            let n = most.min(request.n - all.len());
            let Some(journal) = self.journal.remote() else { break };
            let asked = journal.ask(n, request, resume, is_interrupted);
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
                let tickets = all.iter().flat_map(|ticket| ticket.number..ticket.number + u64::from(ticket.replicates));
                let tickets: Vec<_> = tickets.collect();
                // If it fails, they expire at the end of their leases.
                drop(self.expire(&tickets));
                return Err(StoreError::Interrupted);
            }
            if is_last {
                break;
            }
        }
        Ok(all)
    }
}
