//! The tickets, the budget and the leases of a campaign, written plainly: everything is counted again whenever it is needed.

use cutline::Arm;
use cutline::diagnostics::MAX_REWARD;
use cutline_campaign::{CampaignError, CampaignState, Event, Progress, TicketId, TicketStatus, Time};
use std::collections::BTreeSet;

/// A ticket.
#[derive(Clone, Debug)]
pub(crate) struct Ticket {
    pub(crate) arm: Arm,
    pub(crate) worker: String,
    pub(crate) status: TicketStatus,
    /// The first of the replicates that were handed out together, or the ticket itself.
    pub(crate) group: TicketId,
    /// The reward that was told first, if it was corrected.
    told_first: Option<f64>,
}

/// A campaign without its learner.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    n_arms: usize,
    pub(crate) budget: u32,
    is_bernoulli: bool,
    pub(crate) tickets: Vec<Ticket>,
    /// The rewards in their order: the arm, the reward, the ticket, and whether it counts towards the budget.
    rewards: Vec<(Arm, f64, Option<TicketId>, bool)>,
    pub(crate) withdrawn: BTreeSet<Arm>,
    times: Vec<Time>,
    n_events: u64,
}

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It makes an event.
    Event,
    /// It is known already.
    Known,
    Refused,
}

impl Answer {
    /// The answer to a request: rewards of a size that only journals of earlier versions have are refused.
    pub(crate) fn of_request(self, reward: f64) -> Self {
        if self == Self::Event && reward.abs() > cutline_campaign::MAX_REWARD { Self::Refused } else { self }
    }

    /// What the engine answered.
    pub(crate) fn of(result: &Result<Option<Event>, CampaignError>) -> Self {
        match result {
            Ok(Some(_)) => Self::Event,
            Ok(None) => Self::Known,
            Err(_) => Self::Refused,
        }
    }
}

impl Model {
    pub(crate) fn new(n_arms: usize, budget: u32, is_bernoulli: bool) -> Self {
        let (tickets, rewards, times) = (Vec::new(), Vec::new(), Vec::new());
        Self { n_arms, budget, is_bernoulli, tickets, rewards, withdrawn: BTreeSet::new(), times, n_events: 0 }
    }

    /// The tickets that expire when somebody asks at this time, in the order of their leases. This is the whole policy of leases.
    pub(crate) fn due(&self, now: Time) -> Vec<TicketId> {
        self.open().into_iter().filter(|&(until, _)| until <= now).map(|(_, ticket)| ticket).collect()
    }

    /// The open tickets in the order of their leases.
    pub(crate) fn open(&self) -> Vec<(Time, TicketId)> {
        let lease = |(ticket, number): (&Ticket, TicketId)| match ticket.status {
            TicketStatus::Open(until) => Some((until, number)),
            _ => None,
        };
        let mut open: Vec<_> = self.tickets.iter().zip(1..).filter_map(lease).collect();
        open.sort_unstable();
        open
    }

    /// The number of rewards that are to count; late ones may exceed the budget.
    fn n_to_count(&self) -> u32 {
        u32::try_from(self.rewards.iter().filter(|(.., is_counted)| *is_counted).count()).expect("few rewards")
    }

    /// The number of rewards that count: the first ones, as many as the budget is.
    fn counted(&self) -> u32 {
        self.n_to_count().min(self.budget)
    }

    pub(crate) fn used(&self) -> u32 {
        self.n_to_count() + u32::try_from(self.open().len()).expect("few tickets")
    }

    fn status(&self, ticket: TicketId) -> Option<TicketStatus> {
        let position = usize::try_from(ticket).ok()?.checked_sub(1)?;
        self.tickets.get(position).map(|ticket| ticket.status)
    }

    fn find(&mut self, ticket: TicketId) -> &mut Ticket {
        &mut self.tickets[usize::try_from(ticket).expect("few tickets") - 1]
    }

    fn is_reward(&self, reward: f64) -> bool {
        reward.abs() <= MAX_REWARD && (!self.is_bernoulli || reward == 0.0 || reward == 1.0)
    }

    pub(crate) fn tell(&self, ticket: TicketId, reward: f64) -> Answer {
        match self.status(ticket) {
            _ if !self.is_reward(reward) => Answer::Refused,
            // A reward is never too late.
            Some(TicketStatus::Open(_) | TicketStatus::Expired) => Answer::Event,
            Some(TicketStatus::Told(told)) => {
                let first = self.tickets[usize::try_from(ticket).expect("few tickets") - 1].told_first;
                if told == reward || first == Some(reward) { Answer::Known } else { Answer::Refused }
            }
            _ => Answer::Refused,
        }
    }

    /// Of reporting a failure or ending a lease.
    pub(crate) fn close(&self, ticket: TicketId) -> Answer {
        match self.status(ticket) {
            Some(TicketStatus::Open(_)) => Answer::Event,
            Some(TicketStatus::Told(_)) | None => Answer::Refused,
            Some(_) => Answer::Known,
        }
    }

    pub(crate) fn renew(&self, ticket: TicketId) -> Answer {
        let is_open = matches!(self.status(ticket), Some(TicketStatus::Open(_)));
        if is_open { Answer::Event } else { Answer::Refused }
    }

    pub(crate) fn observe(&self, arm: Arm, reward: f64, is_counted: bool) -> Answer {
        let has_room = !is_counted || self.used() < self.budget;
        if arm < self.n_arms && self.is_reward(reward) && has_room { Answer::Event } else { Answer::Refused }
    }

    pub(crate) fn amend(&self, ticket: TicketId, reward: f64) -> Answer {
        match self.status(ticket) {
            Some(TicketStatus::Told(told)) if self.is_reward(reward) => {
                if told == reward {
                    Answer::Known
                } else {
                    Answer::Event
                }
            }
            _ => Answer::Refused,
        }
    }

    pub(crate) fn void(&self, ticket: TicketId) -> Answer {
        match self.status(ticket) {
            Some(TicketStatus::Told(_)) => Answer::Event,
            Some(TicketStatus::Voided) => Answer::Known,
            _ => Answer::Refused,
        }
    }

    pub(crate) fn withdraw(&self, arm: Arm, is_withdrawn: bool) -> Answer {
        match arm {
            arm if arm >= self.n_arms => Answer::Refused,
            arm if self.withdrawn.contains(&arm) == is_withdrawn => Answer::Known,
            _ => Answer::Event,
        }
    }

    /// Whether an event may come next in a journal. Correcting a reward to what it is and withdrawing an arm twice change nothing there.
    pub(crate) fn takes(&self, event: &Event) -> bool {
        let answer = match *event {
            Event::Asked { ticket, arm, .. } => {
                let is_next = ticket == self.tickets.len() as TicketId + 1;
                return is_next && arm < self.n_arms && self.used() < self.budget;
            }
            Event::Renewed { ticket, .. } => self.renew(ticket),
            Event::Told { ticket, reward } => self.tell(ticket, reward),
            Event::Failed { ticket, .. } | Event::Expired { ticket } => self.close(ticket),
            Event::Observed { arm, reward, is_counted } => self.observe(arm, reward, is_counted),
            Event::Amended { ticket, reward, .. } => return self.amend(ticket, reward) != Answer::Refused,
            Event::Voided { ticket, .. } => self.void(ticket),
            Event::Withdrawn { arm, .. } => return self.withdraw(arm, true) != Answer::Refused,
            Event::Restored { arm } => return self.withdraw(arm, false) != Answer::Refused,
            Event::Changed { budget, .. } => return budget >= self.used().min(self.budget),
            _ => Answer::Event,
        };
        answer == Answer::Event
    }

    /// Applies an event that it [takes](Model::takes).
    pub(crate) fn apply(&mut self, at: Time, event: &Event) {
        match *event {
            Event::Asked { arm, ref worker, until, replicate_of, ticket } => self.tickets.push(Ticket {
                arm,
                worker: worker.clone(),
                status: TicketStatus::Open(until),
                group: replicate_of.unwrap_or(ticket),
                told_first: None,
            }),
            Event::Renewed { ticket, until } => self.find(ticket).status = TicketStatus::Open(until),
            Event::Told { ticket, reward } => {
                self.find(ticket).status = TicketStatus::Told(reward);
                let arm = self.find(ticket).arm;
                self.rewards.push((arm, reward, Some(ticket), true));
                self.times.push(at);
            }
            Event::Failed { ticket, .. } => self.find(ticket).status = TicketStatus::Failed,
            Event::Expired { ticket } => self.find(ticket).status = TicketStatus::Expired,
            Event::Observed { arm, reward, is_counted } => self.rewards.push((arm, reward, None, is_counted)),
            Event::Amended { ticket, reward, .. } => {
                self.remember_first(ticket);
                self.find(ticket).status = TicketStatus::Told(reward);
                let found = self.rewards.iter_mut().find(|(_, _, of, _)| *of == Some(ticket));
                found.expect("a ticket with a reward").1 = reward;
            }
            Event::Voided { ticket, .. } => {
                self.remember_first(ticket);
                self.find(ticket).status = TicketStatus::Voided;
                self.rewards.retain(|(_, _, of, _)| *of != Some(ticket));
            }
            Event::Withdrawn { arm, .. } => {
                self.withdrawn.insert(arm);
            }
            Event::Restored { arm } => {
                self.withdrawn.remove(&arm);
            }
            Event::Changed { budget, .. } => self.budget = budget,
            _ => (),
        }
        self.n_events += 1;
    }

    fn remember_first(&mut self, ticket: TicketId) {
        let ticket = self.find(ticket);
        if let TicketStatus::Told(told) = ticket.status {
            ticket.told_first.get_or_insert(told);
        }
    }

    /// Compares everything with a campaign that has had the same events.
    pub(crate) fn assert_same(&self, state: &CampaignState) {
        let Progress { budget, counted, uncounted, open, failed, expired, voided, withdrawn, events, recent, .. } =
            state.progress();
        let count = |is: fn(&TicketStatus) -> bool| self.tickets.iter().filter(|ticket| is(&ticket.status)).count();
        assert_eq!((budget, counted, events), (self.budget, self.counted(), self.n_events));
        assert_eq!(uncounted, self.rewards.len() as u64 - u64::from(self.counted()));
        assert_eq!(failed, count(|status| *status == TicketStatus::Failed) as u64);
        assert_eq!(expired, count(|status| *status == TicketStatus::Expired) as u64);
        assert_eq!(voided, count(|status| *status == TicketStatus::Voided) as u64);
        assert_eq!((open, withdrawn), (self.open().len(), self.withdrawn.len()));
        assert_eq!(recent, self.times[self.times.len().saturating_sub(32)..]);
        for (number, ticket) in (1..).zip(&self.tickets) {
            let expected = (ticket.arm, ticket.worker.as_str(), ticket.status);
            assert_eq!(state.ticket(number).expect("a ticket"), expected, "ticket {number}");
        }
        assert!(state.ticket(0).is_err() && state.ticket(self.tickets.len() as TicketId + 1).is_err());
        let leases: Vec<_> = state.open_tickets().map(|(ticket, until)| (until, ticket)).collect();
        assert_eq!(leases, self.open());
        assert!(state.withdrawn().map(|(arm, _)| arm).eq(self.withdrawn.iter().copied()));
        assert!(state.rewards().eq(self.rewards.iter().map(|&(arm, reward, ..)| (arm, reward))), "the rewards");
        assert!(counted <= budget, "the budget holds");
    }
}
