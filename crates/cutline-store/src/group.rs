//! Several independent operations in one transaction: each succeeds or is refused by itself, and all that succeed share one commit.

use crate::campaign::{ATTEMPTS, Campaign};
use crate::journal::Decision;
use crate::origin::{Mark, Origin};
use crate::tickets::{expire, fail, handed_out_by, replicates_for, tickets};
use crate::writing::{Decided, Moment};
use crate::{StoreError, Ticket};
use cutline::Arm;
use cutline::campaign::{CampaignState, Event, Request, TicketId, TicketStatus, Time};
use std::collections::HashSet;
use std::ops::Range;

/// Something to do with tickets, rewards or arms: all of it or nothing.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Operation {
    /// As [`Campaign::ask_unless`], but all arms are chosen in this transaction, while others wait: for a few arms.
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
}

/// An operation and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    /// What to do.
    pub operation: Operation,
    /// Who asks for it.
    pub origin: Origin,
}

/// What an operation has done.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// The number of new events; 0 if there was nothing to do, as for a reward that is recorded already.
    pub n_events: u64,
    /// The measurements that were handed out or renewed.
    pub tickets: Vec<Ticket>,
    /// Whether an earlier request with the same key has done it, and this one nothing.
    pub is_repeated: bool,
}

/// How a submission stands while its group is carried out.
enum Standing {
    /// It is to be decided.
    Waiting,
    /// Another one with the same key goes first.
    Behind,
    /// It was decided; these of the events, which are not written yet, are its own.
    Decided(Range<usize>),
    Done(Result<Outcome, StoreError>),
}

impl Campaign {
    /// Carries out several operations in their order, in one transaction and with one commit, so that concurrent workers share the time that
    /// a commit takes. Each operation succeeds or is refused by itself. An operation whose [key](Origin::key) is known is not carried
    /// out again: its outcome is that of the first time.
    ///
    /// ```
    /// use cutline_store::{Candidates, Operation, Origin, Settings, Store, Submission};
    ///
    /// # fn main() -> Result<(), cutline_store::StoreError> {
    /// # let candidates = Candidates::new(vec!["a".into(), "b".into()], vec![], vec![])?;
    /// let mut campaign = Store::memory().begin("screen", &Settings::new(0.5, 10), candidates)?;
    /// let ticket = campaign.ask(1, "anna", std::time::Duration::from_secs(60))?[0].number;
    /// let tell = |ticket, reward| Submission {
    ///     operation: Operation::Tell(vec![(ticket, vec![reward])]),
    ///     origin: Origin { author: Some("anna".into()), key: None },
    /// };
    /// let done = campaign.perform(&[tell(ticket, 0.7), tell(99, 0.1)])?;
    /// assert_eq!(done[0].as_ref().unwrap().n_events, 1);
    /// assert!(done[1].is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the store fails; then nothing was written.
    pub fn perform(&mut self, submissions: &[Submission]) -> Result<Vec<Result<Outcome, StoreError>>, StoreError> {
        let mut standings: Vec<Standing> = submissions.iter().map(|_| Standing::Waiting).collect();
        // Every refusal of an operation that was decided in part costs one attempt.
        for _ in 0..ATTEMPTS + submissions.len() {
            self.find_repeated(submissions, &mut standings)?;
            match self.perform_waiting(submissions, &mut standings) {
                Err(StoreError::Contended | StoreError::KeyInUse) => (),
                done => done?,
            }
            for standing in &mut standings {
                if matches!(standing, Standing::Behind | Standing::Decided(_)) {
                    *standing = Standing::Waiting;
                }
            }
            if !standings.iter().any(|standing| matches!(standing, Standing::Waiting)) {
                let outcome = |standing| {
                    if let Standing::Done(outcome) = standing { outcome } else { Err(StoreError::Contended) }
                };
                return Ok(standings.into_iter().map(outcome).collect());
            }
        }
        Err(StoreError::Contended)
    }

    /// Answers the submissions whose keys are known, and lets the first of several with the same key go first.
    fn find_repeated(&mut self, submissions: &[Submission], standings: &mut [Standing]) -> Result<(), StoreError> {
        let mut keys = HashSet::new();
        for (Submission { origin, .. }, standing) in submissions.iter().zip(standings) {
            let (Standing::Waiting, Some(key)) = (&*standing, &origin.key) else { continue };
            if !keys.insert(&key.key) {
                *standing = Standing::Behind;
                continue;
            }
            match self.repeated(origin) {
                Ok(None) => (),
                Ok(Some(events)) => *standing = Standing::Done(Ok(self.outcome_again(&events)?)),
                Err(StoreError::OtherRequest) => *standing = Standing::Done(Err(StoreError::OtherRequest)),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Decides and writes the submissions that wait.
    fn perform_waiting(&mut self, submissions: &[Submission], standings: &mut [Standing]) -> Result<(), StoreError> {
        if !standings.iter().any(|standing| matches!(standing, Standing::Waiting)) {
            return Ok(());
        }
        let written = self.write_marked(|state, moment| {
            let (mut events, mut marks) = (Vec::new(), Vec::new());
            for (Submission { operation, origin }, standing) in submissions.iter().zip(&mut *standings) {
                // After a conflict with other writers, all of them are decided once more.
                if !matches!(standing, Standing::Waiting | Standing::Decided(_)) {
                    continue;
                }
                let before = state.n_events();
                match operation.decide(state, moment) {
                    Ok(new) => {
                        marks.push(Mark { origin: origin.clone(), at: moment.now, n_events: new.len() as u64 });
                        let first = events.len();
                        events.extend(new);
                        *standing = Standing::Decided(first..events.len());
                    }
                    Err(error) => {
                        *standing = Standing::Done(Err(error));
                        if state.n_events() != before {
                            // A part of it was decided, so this state cannot be used; the others are decided again without it.
                            return Err(StoreError::Contended);
                        }
                    }
                }
            }
            Ok((Decided::Applied(events), marks))
        })?;
        let mut features = written.features.into_iter();
        for standing in standings {
            if let Standing::Decided(range) = standing {
                let n_events = range.len() as u64;
                let tickets = tickets(self, &written.events[range.clone()], &mut features)?;
                *standing = Standing::Done(Ok(Outcome { n_events, tickets, is_repeated: false }));
            }
        }
        Ok(())
    }

    /// The events of an earlier request with the same key, if there is one.
    pub(crate) fn repeated(&mut self, origin: &Origin) -> Result<Option<Vec<Event>>, StoreError> {
        let Some(key) = &origin.key else { return Ok(None) };
        let Some(stored) = self.journal.request(Some(self.id), &key.key)? else { return Ok(None) };
        if stored.fingerprint != key.fingerprint {
            return Err(StoreError::OtherRequest);
        }
        if stored.n_events == 0 {
            return Ok(Some(Vec::new()));
        }
        let n_events = usize::try_from(stored.n_events).unwrap_or(usize::MAX);
        let records = self.journal.read_some(self.id, stored.first - 1, n_events)?;
        Ok(Some(records.into_iter().map(|record| record.event).collect()))
    }

    /// The outcome of an operation that has caused these events before.
    fn outcome_again(&mut self, events: &[Event]) -> Result<Outcome, StoreError> {
        let handed_out = handed_out_by(self.state()?, events)?;
        let mut features = Vec::new();
        if self.settings().changes_features() && !handed_out.is_empty() {
            let arms: Vec<Arm> = handed_out.iter().map(|ticket| ticket.arm).collect();
            let known = self.state()?.n_events();
            features = self
                .journal
                .write(self.id, known, &mut |_, _| Ok(Decision { features_of: arms.clone(), ..Decision::default() }))?;
        }
        let tickets = tickets(self, events, &mut features.into_iter())?;
        Ok(Outcome { n_events: events.len() as u64, tickets, is_repeated: true })
    }
}

impl Operation {
    /// Decides it and changes the state. After an error the state may have changed.
    pub(crate) fn decide(
        &self,
        state: &mut CampaignState,
        Moment { now, due }: Moment,
    ) -> Result<Vec<Event>, StoreError> {
        let mut events = Vec::new();
        match self {
            Self::Ask { n, replicates, worker, lease, resume } => {
                let request = Request { replicates: *replicates, resume: *resume, ..Request::new(*n, worker, *lease) };
                let n_resumed;
                (events, n_resumed) = state.lease_events(&request, now, due);
                state.record(now, &events);
                events.extend(state.ask_more(&request, n - n_resumed, now, &mut || true));
            }
            Self::Tell(rewards) => {
                events = state.tell_events(&each_reward(state, rewards)?)?;
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
fn each_reward(state: &CampaignState, rewards: &[(TicketId, Vec<f64>)]) -> Result<Vec<(TicketId, f64)>, StoreError> {
    let mut each = Vec::new();
    for (ticket, rewards) in rewards {
        match rewards[..] {
            [reward] => each.push((*ticket, reward)),
            _ => each.extend(replicates_for(state, *ticket, rewards.len())?.zip(rewards.iter().copied())),
        }
    }
    Ok(each)
}

fn is_open(state: &CampaignState, ticket: TicketId) -> Result<bool, StoreError> {
    Ok(matches!(state.ticket(ticket)?.2, TicketStatus::Open(_)))
}

/// The other tickets of the replicates that begin with a ticket, as far as they are open.
fn open_replicates(state: &CampaignState, ticket: TicketId) -> Result<Vec<TicketId>, StoreError> {
    let mut open = Vec::new();
    for other in state.replicates(ticket)?.skip(1) {
        if is_open(state, other)? {
            open.push(other);
        }
    }
    Ok(open)
}
