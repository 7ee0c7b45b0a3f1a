//! Operations: every change of a campaign is one, and each is carried out completely or not at all.

use crate::ticket::{expire, fail, open_replicates, replicates_for};
use crate::{CampaignError, CampaignState, Candidates, Change, Event, Origin, Request, Ticket, TicketId, Time};
use cutline::Arm;

/// A change of a campaign: all of it or nothing. A store or a server carries it out.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// Hands out measurements. If deciding takes longer than a commit, it happens
    /// outside transactions or in several of them, so that others can write in the meantime.
    Ask {
        /// How many arms to hand out at most.
        n: usize,
        /// How many measurements of each.
        replicates: u32,
        /// Who asks.
        worker: String,
        /// How long the worker may take, in milliseconds.
        lease: Time,
        /// Whether the worker first gets its own open tickets again.
        resume: bool,
    },
    /// Records the rewards of tickets. Several rewards of one ticket are those of its replicates, in their order.
    Tell(Vec<(TicketId, Vec<f64>)>),
    /// Closes tickets that will have no reward, each with the reason; with the first of some replicates, all of them that are open.
    Fail(Vec<(TicketId, String)>),
    /// Ends the leases of tickets early. Their rewards are still accepted late.
    Expire(Vec<TicketId>),
    /// Gives tickets, with their replicates, a new lease of this many milliseconds.
    Renew(Vec<TicketId>, Time),
    /// Records rewards without tickets; the last value says whether they count towards the budget.
    Observe(Vec<(Arm, f64)>, bool),
    /// Corrects rewards, for this reason.
    Amend(Vec<(TicketId, f64)>, String),
    /// Declares the rewards of tickets void, for this reason.
    Void(Vec<TicketId>, String),
    /// Withdraws arms, for this reason.
    Withdraw(Vec<Arm>, String),
    /// Makes withdrawn arms available again.
    Restore(Vec<Arm>),
    /// Changes settings. Everything measured so far counts as if the campaign had begun with the new ones.
    Change(Box<Change>),
    /// Adds candidates with the same columns, behind those that there are.
    Add(Box<Candidates>),
}

/// An operation and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// What to do.
    pub operation: Operation,
    /// Who asks for it.
    pub origin: Origin,
}

impl From<Operation> for Submission {
    fn from(operation: Operation) -> Self {
        Self { operation, origin: Origin::default() }
    }
}

impl Submission {
    /// Whether nobody can get what it hands out if its answer does not arrive: it is an ask that is neither resumed nor repeated by its key.
    #[must_use]
    pub fn is_lost_without_answer(&self) -> bool {
        self.origin.key.is_none() && matches!(self.operation, Operation::Ask { resume: false, .. })
    }
}

/// What an operation has done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The number of new events; 0 if there was nothing to do, as for a reward that is recorded already.
    pub n_events: u64,
    /// The measurements that were handed out or renewed.
    pub tickets: Vec<Ticket>,
    /// The number of candidates that were added.
    pub n_added: usize,
    /// Whether an earlier request with the same key has done it, and this one nothing.
    pub is_repeated: bool,
}

impl Operation {
    /// What an ask asks for.
    #[must_use]
    pub fn request(&self) -> Option<Request<'_>> {
        let Self::Ask { n, replicates, worker, lease, resume } = self else { return None };
        Some(Request { replicates: *replicates, resume: *resume, ..Request::new(*n, worker, *lease) })
    }

    /// Whether it changes settings or candidates, so that the state is built again.
    #[must_use]
    pub fn is_revision(&self) -> bool {
        matches!(self, Self::Change(_) | Self::Add(_))
    }

    /// Whether it is about nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Ask { n, .. } => *n == 0,
            Self::Tell(rewards) => rewards.is_empty(),
            Self::Fail(tickets) => tickets.is_empty(),
            Self::Expire(tickets) | Self::Renew(tickets, _) | Self::Void(tickets, _) => tickets.is_empty(),
            Self::Observe(rewards, _) => rewards.is_empty(),
            Self::Amend(rewards, _) => rewards.is_empty(),
            Self::Withdraw(arms, _) | Self::Restore(arms) => arms.is_empty(),
            Self::Change(_) | Self::Add(_) => false,
        }
    }

    /// The events of telling the rewards of tickets, none of which is applied.
    ///
    /// # Errors
    /// If a ticket does not exist, failed or has another reward, or has fewer replicates than there are rewards.
    pub fn tell_events(state: &CampaignState, rewards: &[(TicketId, Vec<f64>)]) -> Result<Vec<Event>, CampaignError> {
        state.tell_events(&each_reward(state, rewards)?)
    }

    /// Decides it, unless it is an ask or a revision, and changes the state. After an error the state may have changed.
    ///
    /// # Errors
    /// If the campaign does not allow it.
    pub fn decide(&self, state: &mut CampaignState, now: Time) -> Result<Vec<Event>, CampaignError> {
        let mut events = Vec::new();
        match self {
            // Asks are decided in slices, and revisions outside groups.
            Self::Ask { .. } | Self::Change(_) | Self::Add(_) => (),
            Self::Tell(rewards) => {
                events = Self::tell_events(state, rewards)?;
                state.record(now, &events);
            }
            Self::Fail(tickets) => {
                for (ticket, reason) in tickets {
                    events.extend(fail(state, *ticket, reason, now)?);
                }
            }
            Self::Expire(tickets) => {
                events = expire(state, tickets)?;
                state.record(now, &events);
            }
            Self::Renew(tickets, lease) => {
                for &ticket in tickets {
                    events.push(state.renew(ticket, now, *lease)?);
                    for other in open_replicates(state, ticket)? {
                        events.push(state.renew(other, now, *lease)?);
                    }
                }
            }
            Self::Observe(rewards, is_counted) => {
                for &(arm, reward) in rewards {
                    events.push(state.observe(arm, reward, *is_counted, now)?);
                }
            }
            Self::Amend(rewards, reason) => {
                for &(ticket, reward) in rewards {
                    events.extend(state.amend(ticket, reward, reason, now)?);
                }
            }
            Self::Void(tickets, reason) => {
                for &ticket in tickets {
                    events.extend(state.void(ticket, reason, now)?);
                }
            }
            Self::Withdraw(arms, reason) => {
                for &arm in arms {
                    events.extend(state.withdraw(arm, reason, now)?);
                }
            }
            Self::Restore(arms) => {
                for &arm in arms {
                    events.extend(state.restore(arm, now)?);
                }
            }
        }
        Ok(events)
    }
}

/// Every reward with its ticket: one reward is that of the ticket itself, several are those of its replicates.
fn each_reward(state: &CampaignState, rewards: &[(TicketId, Vec<f64>)]) -> Result<Vec<(TicketId, f64)>, CampaignError> {
    let mut each = Vec::new();
    for (ticket, rewards) in rewards {
        match rewards[..] {
            [reward] => each.push((*ticket, reward)),
            _ => each.extend(replicates_for(state, *ticket, rewards.len())?.zip(rewards.iter().copied())),
        }
    }
    Ok(each)
}
