//! The part of a campaign's state that is bookkeeping: the tickets, the rewards of every arm and the budget used.

mod budget;
mod corrections;
mod tickets;

pub use budget::Spending;
pub use tickets::TicketStatus;

use super::early_stop::{Checkpoints, EarlyStop};
use super::terms::check_reward;
use super::{CampaignError, Event, Terms, TicketId, Time};
use cutline::diagnostics::RewardStats;
use cutline::estimators::FitHistory;
use cutline::{Arm, Arms, MeasurementCosts, NoiseEstimate, NoiseEstimator, NoiseSource, RewardKind};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use tickets::Ticket;

/// The number of recent rewards whose times are kept, from which to compute the rate of measurements.
const RECENT: usize = 32;

/// The state of a campaign except for its learner.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    /// The kind of the rewards and their range.
    accepted: (Option<RewardKind>, (f64, f64)),
    pub(super) rewards: RewardStats,
    noise: NoiseScale,
    /// The rewards for a model that learns its variances from them.
    pub(super) fit_history: Option<Box<FitHistory>>,
    /// For a campaign that ends by the expected number of errors.
    pub(super) checkpoints: Option<Checkpoints>,
    /// The number of rewards received for each arm.
    pub(super) counts: Vec<u32>,
    /// The number of open tickets for each arm.
    pub(super) pending: Vec<u32>,
    tickets: Vec<Ticket>,
    /// The tickets that wait for their reward, by the end of their lease.
    open: BTreeSet<(Time, TicketId)>,
    /// In measurements, or in units of cost.
    pub(super) budget: u32,
    /// What measurements cost; `None` if each is one unit of the budget.
    pub(super) costs: Option<MeasurementCosts>,
    /// With costs: what the rewards that count towards the budget have cost, and what open tickets will cost.
    pub(super) spending: Spending,
    /// The number of rewards that are to count towards the budget. Late rewards are never refused, so that they may exceed the budget; without
    /// costs, the first ones count then, as many as the budget is.
    pub(super) counted: u32,
    pub(super) uncounted: u64,
    pub(super) failed: u64,
    pub(super) expired: u64,
    /// How often a pull was handed out or lost.
    pub(super) changes: u64,
    pub(super) events: u64,
    pub(super) recent: VecDeque<Time>,
    /// The rewards in the order in which they came, as corrected.
    received: Vec<Received>,
    /// The number of rewards that were declared void.
    pub(super) voided: u64,
    /// The withdrawn arms, and why they were withdrawn.
    pub(super) withdrawn: BTreeMap<Arm, String>,
}

/// A reward that counts for the estimates.
#[derive(Clone, Copy, Debug)]
pub(super) struct Received {
    pub(super) arm: Arm,
    pub(super) reward: f64,
    /// `None` if it was observed without a ticket.
    ticket: Option<TicketId>,
}

/// σ: given, or estimated from the rewards.
#[derive(Clone, Debug)]
enum NoiseScale {
    Given(NoiseEstimate),
    /// The learner's model learns it.
    Learnt,
    Estimated(Box<NoiseEstimator>),
}

/// The change to the learner that an event causes.
#[derive(Clone, Copy, Debug)]
pub(super) enum LearnerUpdate {
    Assign(Arm),
    Tell(Arm, f64),
    Forget(Arm),
    /// A reward without an open ticket: a pull and its reward at the same time.
    Add(Arm, f64),
    /// The arm is withdrawn, or available again.
    Withdraw(Arm, bool),
    /// A reward was corrected, so that everything computed from the rewards has to be computed again.
    Relearn,
    Nothing,
}

impl LearnerUpdate {
    /// Whether a reward came or was corrected.
    pub(super) fn changes_rewards(self) -> bool {
        matches!(self, Self::Tell(..) | Self::Add(..) | Self::Relearn)
    }
}

impl Ledger {
    pub(super) fn new(arms: &Arms, terms: &Terms) -> Self {
        let noise = match terms.fixed_noise() {
            Some(sigma) => {
                let source = if terms.is_bernoulli() { NoiseSource::Bernoulli } else { NoiseSource::Given };
                NoiseScale::Given(NoiseEstimate { sigma, source, degrees_of_freedom: None })
            }
            None if terms.spec.estimator().learns_noise() => NoiseScale::Learnt,
            None => NoiseScale::Estimated(Box::new(NoiseEstimator::new(
                arms,
                terms.question.threshold(),
                terms.rewards.is_some(),
            ))),
        };
        let learns = terms.spec.estimator().learns_noise();
        Self {
            accepted: (terms.rewards, terms.range),
            rewards: RewardStats::new(arms),
            noise,
            checkpoints: matches!(terms.until_sure, Some(EarlyStop::ExpectedErrors(_)))
                .then(|| Checkpoints::new(arms.n_arms())),
            fit_history: learns.then(|| Box::new(FitHistory::new(arms.n_arms(), terms.question.threshold()))),
            counts: vec![0; arms.n_arms()],
            pending: vec![0; arms.n_arms()],
            tickets: Vec::new(),
            open: BTreeSet::new(),
            budget: terms.budget,
            costs: arms.measurement_costs().cloned(),
            spending: Spending::default(),
            counted: 0,
            uncounted: 0,
            failed: 0,
            expired: 0,
            changes: 0,
            events: 0,
            recent: VecDeque::with_capacity(RECENT),
            received: Vec::new(),
            voided: 0,
            withdrawn: BTreeMap::new(),
        }
    }

    /// The rewards in the order in which they came, as corrected.
    pub(super) fn received(&self) -> &[Received] {
        &self.received
    }

    /// σ, given or estimated from the rewards so far.
    pub(super) fn noise(&mut self) -> NoiseEstimate {
        match &mut self.noise {
            NoiseScale::Given(noise) => *noise,
            NoiseScale::Learnt => NoiseEstimate::NOTHING,
            NoiseScale::Estimated(estimator) => estimator.estimate(),
        }
    }

    /// As [`Ledger::noise`], but with `&self`: a copy of the estimator computes it.
    pub(super) fn current_noise(&self) -> NoiseEstimate {
        match &self.noise {
            NoiseScale::Given(noise) => *noise,
            NoiseScale::Learnt => NoiseEstimate::NOTHING,
            NoiseScale::Estimated(estimator) => estimator.clone().estimate(),
        }
    }

    /// The number of rewards, counted towards the budget or not.
    pub(super) fn n_rewards(&self) -> u64 {
        self.received.len() as u64
    }

    /// Whether there are both passes and fails, and nothing else.
    pub(super) fn has_only_passes_and_fails(&self) -> bool {
        let has = |reward: f64| self.received.iter().any(|received| received.reward == reward);
        has(0.0) && has(1.0) && self.received.iter().all(|received| RewardKind::is_pass_or_fail(received.reward))
    }

    /// Whether a reward without a ticket may be recorded.
    pub(super) fn may_observe(&self, arm: Arm, reward: f64, is_counted: bool) -> Result<(), CampaignError> {
        self.check_reward(reward)?;
        let n_arms = self.counts.len();
        if arm >= n_arms {
            return Err(CampaignError::NoArm { arm, n_arms });
        }
        if is_counted && self.n_affordable(arm) == 0 {
            return Err(self.budget_used(arm));
        }
        Ok(())
    }

    /// Applies an event, if it can follow those before it.
    pub(super) fn apply(&mut self, at: Time, event: &Event) -> Result<LearnerUpdate, CampaignError> {
        let update = match *event {
            Event::Asked { ticket, arm, ref worker, until, replicate_of } => {
                if ticket != self.next_ticket() {
                    return Err(CampaignError::NoTicket { ticket, last: self.next_ticket() - 1 });
                }
                if arm >= self.counts.len() {
                    return Err(CampaignError::NoArm { arm, n_arms: self.counts.len() });
                }
                if self.n_affordable(arm) == 0 {
                    return Err(self.budget_used(arm));
                }
                let (worker, status) = (worker.clone(), TicketStatus::Open(until));
                self.tickets.push(Ticket { arm, worker, status, replicate_of, told_first: None });
                self.open.insert((until, ticket));
                self.pending[arm] += 1;
                self.spending.open = self.spending.open.plus(self.cost(arm));
                self.changes += 1;
                LearnerUpdate::Assign(arm)
            }
            Event::Told { ticket, reward } => {
                if !self.may_tell(ticket, reward)? {
                    return Err(CampaignError::AlreadyTold { ticket, reward });
                }
                let arm = self.ticket(ticket)?.0;
                let was_open = self.close(ticket, TicketStatus::Told(reward));
                self.count(arm);
                self.remember_time(at);
                self.receive(arm, reward, Some(ticket));
                if was_open {
                    LearnerUpdate::Tell(arm, reward)
                } else {
                    self.expired -= 1;
                    self.changes += 1;
                    LearnerUpdate::Add(arm, reward)
                }
            }
            Event::Failed { ticket, .. } => {
                let update = self.close_without_reward(ticket, TicketStatus::Failed)?;
                self.failed += 1;
                update
            }
            Event::Expired { ticket } => {
                let update = self.close_without_reward(ticket, TicketStatus::Expired)?;
                self.expired += 1;
                update
            }
            Event::Observed { arm, reward, is_counted } => {
                self.may_observe(arm, reward, is_counted)?;
                if is_counted {
                    self.count(arm);
                } else {
                    self.uncounted += 1;
                }
                self.changes += 1;
                self.receive(arm, reward, None);
                LearnerUpdate::Add(arm, reward)
            }
            _ => self.apply_change(event)?,
        };
        self.events += 1;
        Ok(update)
    }

    fn receive(&mut self, arm: Arm, reward: f64, ticket: Option<TicketId>) {
        self.received.push(Received { arm, reward, ticket });
        self.learn(arm, reward);
    }

    fn learn(&mut self, arm: Arm, reward: f64) {
        let increase = self.rewards.add(arm, reward);
        if let NoiseScale::Estimated(estimator) = &mut self.noise {
            estimator.add(arm, reward, increase, self.counts[arm] > 0);
        }
        if let Some(fit_history) = &mut self.fit_history {
            fit_history.add(arm, reward);
            if let Some(checkpoints) = &mut self.checkpoints {
                checkpoints.pass(fit_history);
            }
        }
        self.counts[arm] += 1;
    }

    fn check_reward(&self, reward: f64) -> Result<(), CampaignError> {
        check_reward(self.accepted, reward)
    }

    fn remember_time(&mut self, at: Time) {
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(at);
    }
}
