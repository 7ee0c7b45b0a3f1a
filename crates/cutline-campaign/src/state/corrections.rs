//! Corrections and changes in the course of a campaign.
//!
//! After a correction the state is that of a campaign that got the corrected rewards in the first place. After a change of arms or terms it is
//! that of a campaign with the new arms and terms that received the same rewards in the same order: such a campaign is
//! [built](CampaignState::new) again from all its events.

use super::building::build;
use super::ledger::Received;
use super::tell::{check_size, without_negative_zero};
use super::{CampaignError, CampaignState, Event, TicketId, Time};
use cutline::Arm;

impl CampaignState {
    /// The same for a campaign that began with this budget and whose events change it.
    ///
    /// # Panics
    /// If there are events already.
    #[must_use]
    pub fn with_first_budget(mut self, budget: u32) -> Self {
        assert_eq!(self.n_events(), 0, "a campaign without events");
        self.ledger.budget = budget;
        self
    }

    /// Corrects the reward of a ticket. Returns the event, or `None` if it has this reward.
    ///
    /// # Errors
    /// If there is no such ticket, or it has no reward.
    pub fn amend(
        &mut self,
        ticket: TicketId,
        reward: f64,
        reason: &str,
        now: Time,
    ) -> Result<Option<Event>, CampaignError> {
        let reward = without_negative_zero(reward);
        let event = Event::Amended { ticket, reward, reason: reason.into() };
        let is_new = self.ledger.may_amend(ticket, reward)?;
        is_new.then(|| check_size(reward).map(|()| self.apply_and_return(now, event))).transpose()
    }

    /// Declares the reward of a ticket void, which gives its measurement back to the budget. Returns the event, or `None` if it is void.
    ///
    /// # Errors
    /// If there is no such ticket, or it has no reward.
    pub fn void(&mut self, ticket: TicketId, reason: &str, now: Time) -> Result<Option<Event>, CampaignError> {
        let event = Event::Voided { ticket, reason: reason.into() };
        Ok(self.ledger.may_void(ticket)?.then(|| self.apply_and_return(now, event)))
    }

    /// Withdraws an arm, which is not handed out again. Its verdict stays and follows the rewards of other arms, rewards of open tickets are
    /// still taken, and a stop does not wait for it. Returns the event, or `None` if it is withdrawn.
    ///
    /// # Errors
    /// If there is no such arm.
    pub fn withdraw(&mut self, arm: Arm, reason: &str, now: Time) -> Result<Option<Event>, CampaignError> {
        let event = Event::Withdrawn { arm, reason: reason.into() };
        Ok(self.ledger.may_withdraw(arm, true)?.then(|| self.apply_and_return(now, event)))
    }

    /// Makes a withdrawn arm available again. Returns the event, or `None` if it is not withdrawn.
    ///
    /// # Errors
    /// If there is no such arm.
    pub fn restore(&mut self, arm: Arm, now: Time) -> Result<Option<Event>, CampaignError> {
        Ok(self.ledger.may_withdraw(arm, false)?.then(|| self.apply_and_return(now, Event::Restored { arm })))
    }

    /// The withdrawn arms, and why they were withdrawn.
    pub fn withdrawn(&self) -> impl Iterator<Item = (Arm, &str)> {
        self.ledger.withdrawn.iter().map(|(&arm, reason)| (arm, reason.as_str()))
    }

    /// The rewards in the order in which they came, each with its arm, as corrected.
    pub fn rewards(&self) -> impl Iterator<Item = (Arm, f64)> {
        self.ledger.received().iter().map(|received| (received.arm, received.reward))
    }

    /// Checks that this may become the budget.
    ///
    /// # Errors
    /// If more than that is used, counting open tickets.
    pub fn check_budget(&self, budget: u32) -> Result<(), CampaignError> {
        self.ledger.may_change_budget(budget)
    }

    /// Computes everything that the ledger computes from the rewards again.
    pub(super) fn relearn_ledger(&mut self) {
        self.ledger.relearn(&self.arms, &self.terms);
        self.expected_errors = [None; 2];
        if self.proving.take().is_some() && self.terms.is_until_proved() {
            self.learner.set_settled(&[]);
        }
    }

    /// Brings the learner up to date with corrected rewards.
    pub(super) fn relearn(&mut self) {
        if !self.learner.depends_on_order() {
            self.rebuild();
            return;
        }
        self.learner = build(&self.terms, &self.arms, self.noise.sigma).expect("terms that were checked");
        for &arm in self.ledger.withdrawn.keys() {
            self.learner.set_withdrawn(arm, true);
        }
        for &Received { arm, reward, .. } in self.ledger.received() {
            self.learner.assign(arm);
            self.learner.tell(arm, reward).expect("a reward that was checked");
        }
        for (arm, &pending) in self.ledger.pending.iter().enumerate() {
            for _ in 0..pending {
                self.learner.assign(arm);
            }
        }
    }
}
