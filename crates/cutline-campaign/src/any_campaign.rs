//! A campaign, wherever it is: in a store here or on a server.

use crate::{
    Availability, CampaignState, Candidates, Change, Description, Event, Operation, Outcome, Plan, Progress, Record,
    Request, Standing, StoreError, Submission, Terms, Ticket, TicketId, TicketInfo, Time, View,
};
use cutline::{Arm, Guarantee, StopReason, Verdict};
use std::time::Duration;

/// How often something is read again because others change the campaign at the same time.
const ATTEMPTS: usize = 20;

/// A campaign in a store or on a server. Others may use it at the same time, and every answer includes all events that are written at that
/// moment. If an operation fails, nothing was written.
///
/// Every change is a [`Submission`]; the words `ask`, `tell`, `amend` and so on submit one. Of a campaign on a server, a change and
/// [`tickets`](Self::tickets) and [`availability`](Self::availability) transfer a request and its answer. The other questions are answered
/// from the settings, the candidates and the events, which the first of them transfers.
pub trait AnyCampaign: Send {
    /// Its number in its store, which no other campaign gets.
    fn id(&self) -> i64;

    /// The name under which it was opened.
    fn name(&self) -> &str;

    /// The names of the features.
    fn columns(&self) -> &[String];

    /// Its settings and the names of its candidates after all events that were read so far.
    ///
    /// # Errors
    /// If they have to be read and the store fails.
    fn description(&mut self) -> Result<&Description, StoreError>;

    /// The state after all events that there are now.
    ///
    /// # Errors
    /// If the store fails.
    fn state(&mut self) -> Result<&mut CampaignState, StoreError>;

    /// The candidates as they were given, those that were added included.
    ///
    /// # Errors
    /// If the store fails.
    fn candidates(&mut self) -> Result<Candidates, StoreError>;

    /// The events after number `after`; 0 for all.
    ///
    /// # Errors
    /// If the store fails.
    fn events(&mut self, after: u64) -> Result<Vec<Record>, StoreError>;

    /// Those of the tickets with these numbers that exist, in the order of the numbers given.
    ///
    /// # Errors
    /// If the store fails.
    fn tickets(&mut self, numbers: &[TicketId]) -> Result<Vec<TicketInfo>, StoreError>;

    /// What the campaign can still hand out.
    ///
    /// # Errors
    /// If the store fails.
    fn availability(&mut self) -> Result<Availability, StoreError>;

    /// Carries out an operation. Every change of a campaign goes this way.
    ///
    /// An ask calls `is_interrupted` before every ticket: if that is true, no ticket is handed out. If it takes long and is interrupted, the
    /// tickets that were handed out so far are expired; if the store fails, they are returned.
    ///
    /// # Errors
    /// If it is refused or interrupted, or the store fails. Then nothing was written.
    fn submit_unless(
        &mut self,
        submission: Submission,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<Outcome, StoreError>;

    /// Carries out an operation that nothing interrupts.
    ///
    /// # Errors
    /// As [`submit_unless`](Self::submit_unless).
    fn submit(&mut self, submission: Submission) -> Result<Outcome, StoreError> {
        self.submit_unless(submission, &|| false)
    }

    /// Hands out up to `n` measurements to `worker`, each with a lease of this length. There are fewer once the budget is used up or the
    /// campaign stops early because every arm is decided.
    ///
    /// # Errors
    /// If the store fails.
    fn ask(&mut self, n: usize, worker: &str, lease: Duration) -> Result<Vec<Ticket>, StoreError> {
        let lease = Time::try_from(lease.as_millis()).unwrap_or(Time::MAX);
        self.ask_unless(&Request::new(n, worker, lease), &|| false)
    }

    /// Hands out measurements, with replicates and resumed tickets. Replicates are one [`Ticket`].
    ///
    /// # Errors
    /// If it was interrupted, or the store fails before the first ticket.
    fn ask_unless(
        &mut self,
        request: &Request<'_>,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<Vec<Ticket>, StoreError> {
        let Request { n, replicates, worker, lease, resume } = *request;
        let operation = Operation::Ask { n, replicates, worker: worker.into(), lease, resume };
        Ok(self.submit_unless(operation.into(), is_interrupted)?.tickets)
    }

    /// Records the rewards of tickets, all or none, and returns how many were new. A reward that is already recorded is not written again.
    ///
    /// # Errors
    /// If a ticket does not exist, failed or has another reward, or the store fails.
    fn tell(&mut self, rewards: &[(TicketId, f64)]) -> Result<u64, StoreError> {
        let each = rewards.iter().map(|&(ticket, reward)| (ticket, vec![reward])).collect();
        Ok(self.submit(Operation::Tell(each).into())?.n_events)
    }

    /// Records the rewards of a ticket and of those that were handed out together with it, in their order, all or none, and returns how many
    /// were new. There may be fewer rewards than measurements; the others stay open.
    ///
    /// # Errors
    /// As [`tell`](Self::tell), and if there are more rewards than measurements.
    fn tell_replicates(&mut self, ticket: TicketId, rewards: &[f64]) -> Result<u64, StoreError> {
        Ok(self.submit(Operation::Tell(vec![(ticket, rewards.to_vec())]).into())?.n_events)
    }

    /// Closes a ticket that will have no reward, and records the reason; if it is the first of some replicates, all of them that are open.
    /// Returns whether the ticket was open.
    ///
    /// # Errors
    /// If the ticket does not exist or has its reward, or the store fails.
    fn fail(&mut self, ticket: TicketId, reason: &str) -> Result<bool, StoreError> {
        Ok(self.submit(Operation::Fail(vec![(ticket, reason.to_owned())]).into())?.n_events > 0)
    }

    /// Ends the leases of tickets early, for example because their worker has crashed, and returns how many were open. Their rewards are
    /// still accepted late.
    ///
    /// # Errors
    /// If a ticket does not exist, or the store fails.
    fn expire(&mut self, tickets: &[TicketId]) -> Result<u64, StoreError> {
        Ok(self.submit(Operation::Expire(tickets.to_vec()).into())?.n_events)
    }

    /// Records rewards without tickets, all or none.
    ///
    /// # Errors
    /// If an arm does not exist, a reward is not a finite number, the rewards count towards the budget and exceed it, or the store fails.
    fn observe(&mut self, rewards: &[(Arm, f64)], is_counted: bool) -> Result<(), StoreError> {
        self.submit(Operation::Observe(rewards.to_vec(), is_counted).into()).map(drop)
    }

    /// Corrects rewards, all or none, and returns how many have changed. Both values stay in the journal.
    ///
    /// # Errors
    /// If a ticket does not exist or has no reward, or the store fails.
    fn amend(&mut self, rewards: &[(TicketId, f64)], reason: &str) -> Result<u64, StoreError> {
        Ok(self.submit(Operation::Amend(rewards.to_vec(), reason.into()).into())?.n_events)
    }

    /// Declares the rewards of tickets void, all or none, which gives their measurements back to the budget. Returns how many have changed.
    ///
    /// # Errors
    /// If a ticket does not exist or has no reward, or the store fails.
    fn void(&mut self, tickets: &[TicketId], reason: &str) -> Result<u64, StoreError> {
        Ok(self.submit(Operation::Void(tickets.to_vec(), reason.into()).into())?.n_events)
    }

    /// Withdraws arms, all or none, which are not handed out again. Returns how many have changed.
    ///
    /// # Errors
    /// If there is no such arm, or the store fails.
    fn withdraw(&mut self, arms: &[Arm], reason: &str) -> Result<u64, StoreError> {
        Ok(self.submit(Operation::Withdraw(arms.to_vec(), reason.into()).into())?.n_events)
    }

    /// Makes withdrawn arms available again, all or none. Returns how many have changed.
    ///
    /// # Errors
    /// If there is no such arm, or the store fails.
    fn restore(&mut self, arms: &[Arm]) -> Result<u64, StoreError> {
        Ok(self.submit(Operation::Restore(arms.to_vec()).into())?.n_events)
    }

    /// Changes settings from here on. Everything measured so far counts as if the campaign had begun with the new settings. Returns whether
    /// anything has changed.
    ///
    /// # Errors
    /// If the new settings are refused, the budget is below what is used, or the store fails.
    fn change(&mut self, change: &Change) -> Result<bool, StoreError> {
        Ok(self.submit(Operation::Change(Box::new(change.clone())).into())?.n_events > 0)
    }

    /// Adds candidates with the same columns, behind those that there are, and returns how many are new. Candidates that the campaign has
    /// already, with the same features and cost, are not added again.
    ///
    /// # Errors
    /// If the columns differ, a name is taken by a candidate with other features or another cost, only some candidates have costs, or the
    /// store fails.
    fn add(&mut self, more: &Candidates) -> Result<usize, StoreError> {
        Ok(self.submit(Operation::Add(Box::new(more.clone())).into())?.n_added)
    }

    /// The verdicts on all arms.
    ///
    /// # Errors
    /// If the store fails.
    fn verdicts(&mut self) -> Result<Vec<Verdict>, StoreError> {
        Ok(self.state()?.verdicts())
    }

    /// The verdicts of a campaign with another δ, and another guarantee if one is given, that received the same rewards.
    ///
    /// # Errors
    /// If δ is not between 0 and 1, or the store fails.
    fn verdicts_at(&mut self, delta: f64, guarantee: Option<Guarantee>) -> Result<Vec<Verdict>, StoreError> {
        let latest = self.state()?;
        let terms = latest.terms().clone();
        let terms = Terms { delta, guarantee: guarantee.or(terms.guarantee), ..terms };
        let mut state = CampaignState::new(latest.arms().clone(), terms)?;
        // They were taken already, so they are taken as they are.
        let observed = |(arm, reward)| Event::Observed { arm, reward, is_counted: false };
        let rewards = (1..).zip(latest.rewards());
        let records: Vec<Record> =
            rewards.map(|(number, reward)| Record { number, at: 0, event: observed(reward) }).collect();
        state.extend(&records).map_err(|error| StoreError::CampaignError(error.refusal))?;
        for (arm, reason) in latest.withdrawn() {
            state.withdraw(arm, reason, 0)?;
        }
        Ok(state.verdicts())
    }

    /// The verdicts that these candidates would have if they were added to the campaign, which does not change. They may have the names of
    /// candidates of the campaign.
    ///
    /// # Errors
    /// If the columns differ, or the store fails.
    fn predict(&mut self, others: &Candidates) -> Result<Vec<Verdict>, StoreError> {
        self.state()?;
        let (candidates, records) = (self.candidates()?, self.events(0)?);
        self.description()?.predict(&candidates, &records, others)
    }

    /// The counts of measurements, tickets and events.
    ///
    /// # Errors
    /// If the store fails.
    fn progress(&mut self) -> Result<Progress, StoreError> {
        Ok(self.state()?.progress())
    }

    /// Why the campaign will never hand out another measurement; `None` while it may.
    ///
    /// # Errors
    /// If the store fails.
    fn stop_reason(&mut self) -> Result<Option<StopReason>, StoreError> {
        Ok(self.state()?.stop_reason())
    }

    /// The state at this moment, and all events that led to it.
    ///
    /// # Errors
    /// If the store fails.
    fn snapshot(&mut self) -> Result<(CampaignState, Vec<Record>), StoreError> {
        for _ in 0..ATTEMPTS {
            let state = self.state()?;
            let (known, arms, terms) = (state.n_events(), state.arms().clone(), state.terms().clone());
            let records = self.events(0)?;
            if records.iter().any(|record| record.number > known && record.event.is_revision()) {
                continue;
            }
            let first_budget = self.description()?.first_settings.budget;
            let mut fresh = CampaignState::new(arms, terms)?.with_first_budget(first_budget);
            fresh.extend(&records).map_err(|error| StoreError::damaged(self.name(), error.to_string()))?;
            return Ok((fresh, records));
        }
        Err(StoreError::Contended)
    }

    /// How the campaign stands at a time, with what the rest of its budget would bring if that is quick to compute.
    ///
    /// # Errors
    /// If the store fails.
    fn standing(&mut self, now: Time) -> Result<Standing, StoreError> {
        let standing = self.standing_without_rest(now)?;
        if !Plan::is_rest_quick(self.state()?) {
            return Ok(standing);
        }
        let arms = self.candidates()?.arms();
        Ok(standing.with_rest(self.state()?, arms))
    }

    /// How the campaign stands at a time, without what the rest of its budget would bring, which takes long to compute again and again.
    ///
    /// # Errors
    /// If the store fails.
    fn standing_without_rest(&mut self, now: Time) -> Result<Standing, StoreError> {
        let verdicts = self.state()?.verdicts();
        let (name, settings) = (self.name().to_owned(), self.description()?.settings.clone());
        Ok(Standing::new(&name, &settings, self.state()?, &verdicts, now))
    }

    /// Everything about the campaign at one moment, so that what is made of it agrees even while others write to it.
    ///
    /// # Errors
    /// If the store fails.
    fn view(&mut self, now: Time) -> Result<View, StoreError> {
        let (mut state, records) = self.snapshot()?;
        let name = self.name().to_owned();
        let Description { settings, names, columns, .. } = self.description()?.clone();
        let verdicts = state.verdicts();
        let mut standing = Standing::new(&name, &settings, &mut state, &verdicts, now);
        if Plan::is_rest_quick(&mut state) {
            standing = standing.with_rest(&mut state, self.candidates()?.arms());
        }
        Ok(View { name, settings, columns, names, records, state, verdicts, standing })
    }
}
