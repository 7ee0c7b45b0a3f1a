//! Recording what happened to measurements.

use super::{CampaignError, CampaignState, Event, MAX_REWARD, TicketId, Time};
use cutline::Arm;
use std::collections::BTreeMap;

impl CampaignState {
    /// Records the reward of a ticket. Returns the event, or `None` if the same reward is already recorded.
    ///
    /// # Errors
    /// If there is no such ticket, or it failed or has another reward.
    pub fn tell(&mut self, ticket: TicketId, reward: f64, now: Time) -> Result<Option<Event>, CampaignError> {
        let reward = without_negative_zero(reward);
        let event = Event::Told { ticket, reward };
        let is_new = self.ledger.may_tell(ticket, reward)?;
        is_new.then(|| check_size(reward).map(|()| self.apply_and_return(now, event))).transpose()
    }

    /// The events of telling these rewards, none of which is applied. A reward that is already recorded has none.
    ///
    /// # Errors
    /// As [`CampaignState::tell`], and if a ticket has two rewards.
    pub fn tell_events(&self, rewards: &[(TicketId, f64)]) -> Result<Vec<Event>, CampaignError> {
        let mut told = BTreeMap::new();
        let mut events = Vec::with_capacity(rewards.len());
        for &(ticket, reward) in rewards {
            let reward = without_negative_zero(reward);
            match told.get(&ticket) {
                Some(&first) if first == reward => (),
                Some(&told) => return Err(CampaignError::OtherReward { ticket, told, reward }),
                None if self.ledger.may_tell(ticket, reward)? => {
                    check_size(reward)?;
                    if rewards.len() > 1 {
                        told.insert(ticket, reward);
                    }
                    events.push(Event::Told { ticket, reward });
                }
                None => (),
            }
        }
        Ok(events)
    }

    /// Closes a ticket that will have no reward. Returns the event, or `None` if the ticket has already failed or expired.
    ///
    /// # Errors
    /// If there is no such ticket or it has its reward.
    pub fn fail(&mut self, ticket: TicketId, reason: &str, now: Time) -> Result<Option<Event>, CampaignError> {
        let event = Event::Failed { ticket, reason: reason.into() };
        Ok(self.ledger.may_fail(ticket)?.then(|| self.apply_and_return(now, event)))
    }

    /// Expires a ticket before its lease ends, for example because its worker is known to have crashed. Returns the event, or `None` if
    /// the ticket has already failed or expired.
    ///
    /// # Errors
    /// If there is no such ticket or it has its reward.
    pub fn expire(&mut self, ticket: TicketId, now: Time) -> Result<Option<Event>, CampaignError> {
        Ok(self.ledger.may_fail(ticket)?.then(|| self.apply_and_return(now, Event::Expired { ticket })))
    }

    /// Records a reward for which no ticket was handed out. Returns the event.
    ///
    /// # Errors
    /// If there is no such arm, or the reward is to count but the budget is used up.
    pub fn observe(&mut self, arm: Arm, reward: f64, is_counted: bool, now: Time) -> Result<Event, CampaignError> {
        let reward = without_negative_zero(reward);
        self.ledger.may_observe(arm, reward, is_counted)?;
        check_size(reward)?;
        Ok(self.apply_and_return(now, Event::Observed { arm, reward, is_counted }))
    }
}

/// Refuses a new reward that is too large to be learnt from. Journals may have larger ones.
pub(super) fn check_size(reward: f64) -> Result<(), CampaignError> {
    if reward.abs() <= MAX_REWARD { Ok(()) } else { Err(CampaignError::NotAReward { reward }) }
}

/// Turns −0 into 0, because not every database stores the sign of zero.
pub(super) fn without_negative_zero(reward: f64) -> f64 {
    reward + 0.0
}
