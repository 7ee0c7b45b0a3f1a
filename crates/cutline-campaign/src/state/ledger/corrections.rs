//! Corrections and changes of the ledger.

use super::{LearnerUpdate, Ledger, Received, TicketStatus};
use crate::{CampaignError, Event, Terms, TicketId, Time};
use cutline::{Amount, Arm, Arms};

impl Ledger {
    /// Computes everything again that is computed from the rewards, after one of them was corrected.
    pub(in crate::state) fn relearn(&mut self, arms: &Arms, terms: &Terms) {
        let Self { rewards, noise, fit_history, checkpoints, counts, .. } = Self::new(arms, terms);
        (self.rewards, self.noise, self.fit_history) = (rewards, noise, fit_history);
        (self.checkpoints, self.counts) = (checkpoints, counts);
        let received = std::mem::take(&mut self.received);
        for &Received { arm, reward, .. } in &received {
            self.learn(arm, reward);
        }
        self.received = received;
    }

    /// Whether the reward of a ticket may become `reward`: `Ok(false)` if it is already.
    pub(in crate::state) fn may_amend(&self, ticket: TicketId, reward: f64) -> Result<bool, CampaignError> {
        self.check_reward(reward)?;
        match self.ticket(ticket)?.2 {
            TicketStatus::Told(told) => Ok(told != reward),
            TicketStatus::Voided => Err(CampaignError::Voided { ticket }),
            _ => Err(CampaignError::NotTold { ticket }),
        }
    }

    /// Whether the reward of a ticket may be declared void: `Ok(false)` if it is already.
    pub(in crate::state) fn may_void(&self, ticket: TicketId) -> Result<bool, CampaignError> {
        match self.ticket(ticket)?.2 {
            TicketStatus::Told(_) => Ok(true),
            TicketStatus::Voided => Ok(false),
            _ => Err(CampaignError::NotTold { ticket }),
        }
    }

    /// Whether an arm may be withdrawn, or made available again: `Ok(false)` if it is already.
    pub(in crate::state) fn may_withdraw(&self, arm: Arm, is_withdrawn: bool) -> Result<bool, CampaignError> {
        let n_arms = self.counts.len();
        if arm >= n_arms {
            return Err(CampaignError::NoArm { arm, n_arms });
        }
        Ok(self.withdrawn.contains_key(&arm) != is_withdrawn)
    }

    /// Whether this may become the budget. It may stay as it is, even if late rewards exceed it.
    pub(in crate::state) fn may_change_budget(&self, budget: u32) -> Result<(), CampaignError> {
        let used = self.used();
        let is_lower = Amount::units(budget) < used.min(Amount::units(self.budget));
        if is_lower { Err(CampaignError::BudgetBelowUsed { budget, used }) } else { Ok(()) }
    }

    /// Applies an event that corrects or changes something.
    pub(super) fn apply_change(&mut self, event: &Event) -> Result<LearnerUpdate, CampaignError> {
        match *event {
            Event::Renewed { ticket, until } => {
                self.renew(ticket, until)?;
                Ok(LearnerUpdate::Nothing)
            }
            Event::Amended { ticket, reward, .. } => {
                self.may_amend(ticket, reward)?;
                self.correct(ticket, Some(reward));
                Ok(LearnerUpdate::Relearn)
            }
            Event::Voided { ticket, .. } => {
                if !self.may_void(ticket)? {
                    return Err(CampaignError::Voided { ticket });
                }
                self.correct(ticket, None);
                Ok(LearnerUpdate::Relearn)
            }
            Event::Withdrawn { arm, ref reason } => {
                self.may_withdraw(arm, true)?;
                self.withdrawn.insert(arm, reason.clone());
                Ok(LearnerUpdate::Withdraw(arm, true))
            }
            Event::Restored { arm } => {
                self.may_withdraw(arm, false)?;
                self.withdrawn.remove(&arm);
                Ok(LearnerUpdate::Withdraw(arm, false))
            }
            Event::Changed { budget, .. } => {
                self.may_change_budget(budget)?;
                self.budget = budget;
                Ok(LearnerUpdate::Nothing)
            }
            _ => Ok(LearnerUpdate::Nothing),
        }
    }

    /// Gives a ticket with a reward another one, or none.
    fn correct(&mut self, ticket: TicketId, reward: Option<f64>) {
        let position = self.received.iter().rposition(|received| received.ticket == Some(ticket));
        let position = position.expect("a ticket with a reward");
        let told = self.received[position].reward;
        let status = if let Some(reward) = reward {
            self.received[position].reward = reward;
            TicketStatus::Told(reward)
        } else {
            let arm = self.received.remove(position).arm;
            self.counted -= 1;
            self.spending.spent = self.spending.spent.minus(self.cost(arm));
            self.voided += 1;
            TicketStatus::Voided
        };
        self.close(ticket, status);
        let ticket = self.find_mut(ticket).expect("a ticket with a reward");
        ticket.told_first.get_or_insert(told);
        self.changes += 1;
    }

    fn renew(&mut self, ticket: TicketId, until: Time) -> Result<(), CampaignError> {
        self.ticket(ticket)?;
        let found = self.find_mut(ticket).expect("a ticket that was found");
        let TicketStatus::Open(before) = found.status else { return Err(CampaignError::NotOpen { ticket }) };
        found.status = TicketStatus::Open(until);
        self.open.remove(&(before, ticket));
        self.open.insert((until, ticket));
        Ok(())
    }
}
