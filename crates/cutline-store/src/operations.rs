//! Several operations in one transaction, for callers that collect them from many clients.

use crate::StoreError;
use crate::campaign::Campaign;
use crate::tickets::{Ticket, expire, fail, replicates_for, tickets};
use crate::writing::{Decided, Moment};
use cutline::campaign::{CampaignError, CampaignState, Event, Request, TicketId, Time};
use std::ops::Range;
use std::time::Duration;

/// An operation of [`Campaign::apply`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Operation {
    /// As [`Campaign::ask_unless`], but all arms are chosen in this transaction, while others wait: for a few arms.
    Ask {
        /// How many arms to hand out at most.
        n: usize,
        /// How many measurements of each to hand out.
        replicates: u32,
        /// Who asks.
        worker: String,
        /// How long the worker may take.
        lease: Duration,
        /// Whether the worker first gets its own open tickets again.
        resume: bool,
    },
    /// As [`Campaign::tell`]: all of these rewards or none.
    Tell(Vec<(TicketId, f64)>),
    /// As [`Campaign::tell_replicates`].
    TellReplicates(TicketId, Vec<f64>),
    /// As [`Campaign::fail`].
    Fail {
        /// The ticket.
        ticket: TicketId,
        /// What went wrong.
        reason: String,
    },
    /// As [`Campaign::expire`].
    Expire(Vec<TicketId>),
    /// Renews the lease of an open ticket.
    Renew {
        /// The ticket.
        ticket: TicketId,
        /// How long the worker may take from now on.
        lease: Duration,
    },
}

/// What an operation did.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// The tickets that an [`Operation::Ask`] handed out, or the renewed one.
    Tickets(Vec<Ticket>),
    /// How many tickets any other operation changed.
    Changed(u64),
}

/// A length of time in milliseconds.
fn milliseconds(time: Duration) -> Time {
    Time::try_from(time.as_millis()).unwrap_or(Time::MAX)
}

impl Operation {
    /// Applies the operation, completely or not at all, and returns its events.
    fn apply(&self, state: &mut CampaignState, Moment { now, due }: Moment) -> Result<Vec<Event>, CampaignError> {
        let planned = match self {
            Self::Ask { n, replicates, worker, lease, resume } => {
                let (replicates, resume) = (*replicates, *resume);
                let request = Request { replicates, resume, ..Request::new(*n, worker, milliseconds(*lease)) };
                let (mut events, n_resumed) = state.lease_events(&request, now, due);
                state.record(now, &events);
                events.extend(state.ask_more(&request, n - n_resumed, now, &mut || true));
                return Ok(events);
            }
            Self::Fail { ticket, reason } => return fail(state, *ticket, reason, now),
            Self::Renew { ticket, lease } => return Ok(vec![state.renew(*ticket, now, milliseconds(*lease))?]),
            Self::Tell(rewards) => state.tell_events(rewards)?,
            Self::TellReplicates(ticket, rewards) => {
                let tickets = replicates_for(state, *ticket, rewards.len())?;
                state.tell_events(&tickets.zip(rewards.iter().copied()).collect::<Vec<_>>())?
            }
            Self::Expire(tickets) => expire(state, tickets)?,
        };
        state.record(now, &planned);
        Ok(planned)
    }

    fn hands_out(&self) -> bool {
        matches!(self, Self::Ask { .. } | Self::Renew { .. })
    }
}

impl Campaign {
    /// Applies operations in their order, in one transaction and with one commit. Each is applied completely or refused on its own, as if it had
    /// been called alone; nothing of them is written if the store fails.
    ///
    /// ```
    /// use cutline_store::{Candidates, Operation, Outcome, Settings, Store};
    ///
    /// # fn main() -> Result<(), cutline_store::StoreError> {
    /// # let candidates = Candidates::new(vec!["a".into(), "b".into()], vec![], vec![])?;
    /// let mut campaign = Store::memory().begin("screen", &Settings::new(0.5, 10), candidates)?;
    /// let ticket = campaign.ask(1, "anna", std::time::Duration::from_secs(60))?[0].number;
    /// let done = campaign.apply(&[Operation::Tell(vec![(ticket, 0.7)]), Operation::Tell(vec![(99, 0.1)])])?;
    /// assert_eq!(done[0], Ok(Outcome::Changed(1)));
    /// assert!(done[1].is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the store fails.
    pub fn apply(&mut self, operations: &[Operation]) -> Result<Vec<Result<Outcome, CampaignError>>, StoreError> {
        let mut done: Vec<Result<Range<usize>, CampaignError>> = Vec::new();
        let written = self.write(|state, moment| {
            done.clear();
            let mut events = Vec::new();
            for operation in operations {
                let first = events.len();
                done.push(operation.apply(state, moment).map(|new| {
                    events.extend(new);
                    first..events.len()
                }));
            }
            Ok(Decided::Applied(events))
        })?;
        let mut features = written.features.into_iter();
        let mut outcomes = Vec::with_capacity(operations.len());
        for (operation, range) in operations.iter().zip(done) {
            outcomes.push(match range {
                Err(refusal) => Err(refusal),
                Ok(range) if operation.hands_out() => {
                    Ok(Outcome::Tickets(tickets(self, &written.events[range], &mut features)?))
                }
                Ok(range) => Ok(Outcome::Changed(range.len() as u64)),
            });
        }
        Ok(outcomes)
    }
}
