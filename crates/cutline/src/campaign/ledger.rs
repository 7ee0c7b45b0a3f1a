//! The state that follows from the events without any decision: the tickets, the rewards of every arm and the budget.

use super::noise::{NoiseEstimate, NoiseEstimator, NoiseSource};
use super::{CampaignError, Event, Terms, TicketId, Time};
use crate::diagnostics::{MOST_REWARD, RewardStats};
use crate::{Arm, Arms};
use std::collections::{BTreeSet, VecDeque};

/// How many of the last rewards' times are kept, to show how fast rewards come.
const RECENT: usize = 32;

/// The state of a campaign except for its learner.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    pub(super) rewards: RewardStats,
    noise: NoiseScale,
    /// The rewards received of each arm.
    pub(super) counts: Vec<u32>,
    /// The pulls of each arm that wait for their reward.
    pub(super) pending: Vec<u32>,
    tickets: Vec<Ticket>,
    /// The tickets that wait for their reward, by the end of their lease.
    open: BTreeSet<(Time, TicketId)>,
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

/// σ: given, or estimated from the rewards.
#[derive(Clone, Debug)]
enum NoiseScale {
    Given(NoiseEstimate),
    Estimated(Box<NoiseEstimator>),
}

/// A measurement that was handed out.
#[derive(Clone, Debug)]
struct Ticket {
    arm: Arm,
    worker: String,
    status: TicketStatus,
}

/// The status of a ticket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TicketStatus {
    /// It waits for its reward, and its lease ends at this time.
    Open(Time),
    /// It has this reward.
    Told(f64),
    /// It will have no reward.
    Failed,
    /// Its lease ended or was cancelled; its reward may still come late.
    Expired,
}

/// What an event means to a learner.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Assign(Arm),
    Tell(Arm, f64),
    Forget(Arm),
    /// A reward without an open ticket.
    Add(Arm, f64),
}

impl Ledger {
    pub(super) fn new(arms: &Arms, terms: &Terms) -> Self {
        let noise = match terms.noise {
            Some(sigma) => NoiseScale::Given(NoiseEstimate { sigma, source: NoiseSource::Given }),
            None => NoiseScale::Estimated(Box::new(NoiseEstimator::new(arms, terms.question.threshold()))),
        };
        Self {
            rewards: RewardStats::new(arms),
            noise,
            counts: vec![0; arms.n_arms()],
            pending: vec![0; arms.n_arms()],
            tickets: Vec::new(),
            open: BTreeSet::new(),
            budget: terms.budget,
            counted: 0,
            uncounted: 0,
            failed: 0,
            expired: 0,
            changes: 0,
            events: 0,
            recent: VecDeque::with_capacity(RECENT),
        }
    }

    /// σ, given or estimated from the rewards so far.
    pub(super) fn noise(&mut self) -> NoiseEstimate {
        match &mut self.noise {
            NoiseScale::Given(noise) => *noise,
            NoiseScale::Estimated(estimator) => estimator.estimate(),
        }
    }

    /// The same, computed on a copy of the estimator.
    pub(super) fn current_noise(&self) -> NoiseEstimate {
        match &self.noise {
            NoiseScale::Given(noise) => *noise,
            NoiseScale::Estimated(estimator) => estimator.clone().estimate(),
        }
    }

    /// The number of open tickets.
    pub(super) fn n_open(&self) -> usize {
        self.open.len()
    }

    /// How much of the budget is used, including open tickets.
    pub(super) fn used(&self) -> u32 {
        u32::try_from(self.open.len()).map_or(u32::MAX, |open| self.counted.saturating_add(open))
    }

    /// The number of the next ticket.
    pub(super) fn next_ticket(&self) -> TicketId {
        self.tickets.len() as TicketId + 1
    }

    /// The arm, the worker and the status of a ticket.
    pub(super) fn ticket(&self, ticket: TicketId) -> Result<(Arm, &str, TicketStatus), CampaignError> {
        let position = usize::try_from(ticket).ok().and_then(|ticket| ticket.checked_sub(1));
        let found = position.and_then(|position| self.tickets.get(position));
        let last = self.tickets.len() as TicketId;
        found
            .map(|found| (found.arm, found.worker.as_str(), found.status))
            .ok_or(CampaignError::NoTicket { ticket, last })
    }

    /// The open tickets and the end of their lease; the lease that ends first comes first.
    pub(super) fn open_tickets(&self) -> impl Iterator<Item = (TicketId, Time)> + '_ {
        self.open.iter().map(|&(until, ticket)| (ticket, until))
    }

    /// Whether a reward may be told for a ticket: `Ok(false)` if it was told already.
    pub(super) fn may_tell(&self, ticket: TicketId, reward: f64) -> Result<bool, CampaignError> {
        check_reward(reward)?;
        match self.ticket(ticket)?.2 {
            TicketStatus::Open(_) => Ok(true),
            TicketStatus::Told(told) if told == reward => Ok(false),
            TicketStatus::Told(told) => Err(CampaignError::OtherReward { ticket, told, reward }),
            TicketStatus::Failed => Err(CampaignError::Failed { ticket }),
            TicketStatus::Expired if self.used() < self.budget => Ok(true),
            TicketStatus::Expired => Err(CampaignError::TooLate { ticket, budget: self.budget }),
        }
    }

    /// Whether a ticket may fail: `Ok(false)` if it failed or expired already.
    pub(super) fn may_fail(&self, ticket: TicketId) -> Result<bool, CampaignError> {
        match self.ticket(ticket)?.2 {
            TicketStatus::Open(_) => Ok(true),
            TicketStatus::Failed | TicketStatus::Expired => Ok(false),
            TicketStatus::Told(reward) => Err(CampaignError::AlreadyTold { ticket, reward }),
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

    /// Applies an event, if it can follow those before it.
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
                self.tickets.push(Ticket { arm, worker: worker.clone(), status: TicketStatus::Open(until) });
                self.open.insert((until, ticket));
                self.pending[arm] += 1;
                self.changes += 1;
                Step::Assign(arm)
            }
            Event::Told { ticket, reward } => {
                if !self.may_tell(ticket, reward)? {
                    return Err(CampaignError::AlreadyTold { ticket, reward });
                }
                let arm = self.ticket(ticket)?.0;
                let was_open = self.close(ticket, TicketStatus::Told(reward));
                self.counted += 1;
                self.remember_time(at);
                self.learn(arm, reward);
                if was_open {
                    Step::Tell(arm, reward)
                } else {
                    self.expired -= 1;
                    self.changes += 1;
                    Step::Add(arm, reward)
                }
            }
            Event::Failed { ticket, .. } => {
                let step = self.close_without_reward(ticket, TicketStatus::Failed)?;
                self.failed += 1;
                step
            }
            Event::Expired { ticket } => {
                let step = self.close_without_reward(ticket, TicketStatus::Expired)?;
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
        let increase = self.rewards.add(arm, reward);
        if let NoiseScale::Estimated(estimator) = &mut self.noise {
            estimator.add(arm, reward, increase, self.counts[arm] > 0);
        }
        self.counts[arm] += 1;
    }

    fn close_without_reward(&mut self, ticket: TicketId, status: TicketStatus) -> Result<Step, CampaignError> {
        if !self.may_fail(ticket)? {
            return Err(CampaignError::Failed { ticket });
        }
        let arm = self.ticket(ticket)?.0;
        self.close(ticket, status);
        self.changes += 1;
        Ok(Step::Forget(arm))
    }

    /// Gives a ticket, which exists, a final status; returns whether it was open.
    fn close(&mut self, ticket: TicketId, status: TicketStatus) -> bool {
        #[expect(clippy::cast_possible_truncation, reason = "a ticket that exists is a position")]
        let closed = &mut self.tickets[ticket as usize - 1];
        let before = std::mem::replace(&mut closed.status, status);
        if let TicketStatus::Open(until) = before {
            self.open.remove(&(until, ticket));
            self.pending[closed.arm] -= 1;
            return true;
        }
        false
    }

    fn remember_time(&mut self, at: Time) {
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(at);
    }
}

fn check_reward(reward: f64) -> Result<(), CampaignError> {
    if reward.abs() <= MOST_REWARD { Ok(()) } else { Err(CampaignError::NotAReward { reward }) }
}
