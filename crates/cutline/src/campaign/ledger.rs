//! What events come to, without a decision: the tickets, the rewards of every arm and the budget.

use super::{CampaignError, Event, TicketId, Time};
use crate::diagnostics::{MOST_REWARD, RewardStats};
use crate::{Arm, Arms};
use std::collections::{BTreeSet, VecDeque};

/// How many of the last rewards' times are kept, to say how fast they come.
const RECENT: usize = 32;

/// The state of a campaign but for its learner.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    pub(super) told: RewardStats,
    /// How many rewards of each arm were told, and how many pulls of it are out.
    pub(super) counts: Vec<u32>,
    pub(super) pending: Vec<u32>,
    tickets: Vec<Handed>,
    /// The tickets that are out, by when their lease runs out.
    out: BTreeSet<(Time, TicketId)>,
    pub(super) budget: u32,
    /// The rewards that count towards the budget.
    pub(super) counted: u32,
    pub(super) uncounted: u64,
    pub(super) failed: u64,
    pub(super) expired: u64,
    /// How often a pull was handed out or lost.
    pub(super) changes: u64,
    pub(super) events: u64,
    pub(super) recent: VecDeque<Time>,
}

/// A ticket.
#[derive(Clone, Debug)]
struct Handed {
    arm: Arm,
    worker: String,
    status: Status,
}

/// What became of a ticket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Status {
    /// It is out, and its lease runs out then.
    Out(Time),
    /// Its reward was told.
    Told(f64),
    /// It will have no reward.
    Failed,
    /// It was given up; its reward may come late.
    Expired,
}

/// What an event means to a learner.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Assign(Arm),
    Tell(Arm, f64),
    Forget(Arm),
    /// A reward of a pull that is not out.
    Add(Arm, f64),
}

impl Ledger {
    pub(super) fn new(arms: &Arms, budget: u32) -> Self {
        Self {
            told: RewardStats::new(arms),
            counts: vec![0; arms.n_arms()],
            pending: vec![0; arms.n_arms()],
            tickets: Vec::new(),
            out: BTreeSet::new(),
            budget,
            counted: 0,
            uncounted: 0,
            failed: 0,
            expired: 0,
            changes: 0,
            events: 0,
            recent: VecDeque::with_capacity(RECENT),
        }
    }

    /// How many tickets are out.
    pub(super) fn n_out(&self) -> usize {
        self.out.len()
    }

    /// How much of the budget is used, tickets that are out included.
    pub(super) fn used(&self) -> u32 {
        u32::try_from(self.out.len()).map_or(u32::MAX, |out| self.counted.saturating_add(out))
    }

    /// The number of the next ticket.
    pub(super) fn next_ticket(&self) -> TicketId {
        self.tickets.len() as TicketId + 1
    }

    /// The arm, the worker and the status of a ticket.
    pub(super) fn ticket(&self, ticket: TicketId) -> Result<(Arm, &str, Status), CampaignError> {
        let position = usize::try_from(ticket).ok().and_then(|ticket| ticket.checked_sub(1));
        let handed = position.and_then(|position| self.tickets.get(position));
        let last = self.tickets.len() as TicketId;
        handed
            .map(|handed| (handed.arm, handed.worker.as_str(), handed.status))
            .ok_or(CampaignError::NoTicket { ticket, last })
    }

    /// The tickets that are out, those first whose lease runs out first.
    pub(super) fn out(&self) -> impl Iterator<Item = (TicketId, Time)> + '_ {
        self.out.iter().map(|&(until, ticket)| (ticket, until))
    }

    /// Whether a reward may be told for a ticket: `Ok(false)` if it was told already.
    pub(super) fn may_tell(&self, ticket: TicketId, reward: f64) -> Result<bool, CampaignError> {
        check_reward(reward)?;
        match self.ticket(ticket)?.2 {
            Status::Out(_) => Ok(true),
            Status::Told(told) if told == reward => Ok(false),
            Status::Told(told) => Err(CampaignError::OtherReward { ticket, told, reward }),
            Status::Failed => Err(CampaignError::Failed { ticket }),
            Status::Expired if self.used() < self.budget => Ok(true),
            Status::Expired => Err(CampaignError::TooLate { ticket, budget: self.budget }),
        }
    }

    /// Whether a ticket may fail: `Ok(false)` if it is no longer out without a reward.
    pub(super) fn may_fail(&self, ticket: TicketId) -> Result<bool, CampaignError> {
        match self.ticket(ticket)?.2 {
            Status::Out(_) => Ok(true),
            Status::Failed | Status::Expired => Ok(false),
            Status::Told(reward) => Err(CampaignError::AlreadyTold { ticket, reward }),
        }
    }

    /// Whether a reward may be observed.
    pub(super) fn may_observe(&self, arm: Arm, reward: f64, is_counted: bool) -> Result<(), CampaignError> {
        check_reward(reward)?;
        let n_arms = self.counts.len();
        if arm >= n_arms {
            return Err(CampaignError::NoArm { arm, n_arms });
        }
        if is_counted && self.used() >= self.budget {
            return Err(CampaignError::BudgetUsed { budget: self.budget });
        }
        Ok(())
    }

    /// Takes an event, if it can have happened.
    pub(super) fn apply(&mut self, at: Time, event: &Event) -> Result<Step, CampaignError> {
        let step = match *event {
            Event::Asked { ticket, arm, ref worker, until } => {
                if ticket != self.next_ticket() {
                    return Err(CampaignError::NoTicket { ticket, last: self.next_ticket() - 1 });
                }
                if arm >= self.counts.len() {
                    return Err(CampaignError::NoArm { arm, n_arms: self.counts.len() });
                }
                if self.used() >= self.budget {
                    return Err(CampaignError::BudgetUsed { budget: self.budget });
                }
                self.tickets.push(Handed { arm, worker: worker.clone(), status: Status::Out(until) });
                self.out.insert((until, ticket));
                self.pending[arm] += 1;
                self.changes += 1;
                Step::Assign(arm)
            }
            Event::Told { ticket, reward } => {
                if !self.may_tell(ticket, reward)? {
                    return Err(CampaignError::AlreadyTold { ticket, reward });
                }
                let arm = self.ticket(ticket)?.0;
                let was_out = self.settle(ticket, Status::Told(reward));
                self.counted += 1;
                self.note(at);
                self.learn(arm, reward);
                if was_out {
                    Step::Tell(arm, reward)
                } else {
                    self.expired -= 1;
                    self.changes += 1;
                    Step::Add(arm, reward)
                }
            }
            Event::Failed { ticket, .. } => {
                let step = self.lose(ticket, Status::Failed)?;
                self.failed += 1;
                step
            }
            Event::Expired { ticket } => {
                let step = self.lose(ticket, Status::Expired)?;
                self.expired += 1;
                step
            }
            Event::Observed { arm, reward, is_counted } => {
                self.may_observe(arm, reward, is_counted)?;
                if is_counted {
                    self.counted += 1;
                } else {
                    self.uncounted += 1;
                }
                self.changes += 1;
                self.learn(arm, reward);
                Step::Add(arm, reward)
            }
        };
        self.events += 1;
        Ok(step)
    }

    fn learn(&mut self, arm: Arm, reward: f64) {
        self.counts[arm] += 1;
        self.told.tell(arm, reward);
    }

    fn lose(&mut self, ticket: TicketId, status: Status) -> Result<Step, CampaignError> {
        if !self.may_fail(ticket)? {
            return Err(CampaignError::Failed { ticket });
        }
        let arm = self.ticket(ticket)?.0;
        self.settle(ticket, status);
        self.changes += 1;
        Ok(Step::Forget(arm))
    }

    /// Gives a ticket, which exists, another status; says whether it was out.
    fn settle(&mut self, ticket: TicketId, status: Status) -> bool {
        #[expect(clippy::cast_possible_truncation, reason = "a ticket that exists is a position")]
        let handed = &mut self.tickets[ticket as usize - 1];
        let before = std::mem::replace(&mut handed.status, status);
        if let Status::Out(until) = before {
            self.out.remove(&(until, ticket));
            self.pending[handed.arm] -= 1;
            return true;
        }
        false
    }

    fn note(&mut self, at: Time) {
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(at);
    }
}

fn check_reward(reward: f64) -> Result<(), CampaignError> {
    if reward.abs() <= MOST_REWARD { Ok(()) } else { Err(CampaignError::NotAReward { reward }) }
}
