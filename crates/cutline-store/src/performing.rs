//! Several independent operations at once: each succeeds or is refused by itself, and those that are decided at the same time share one commit.

use crate::StoreError;
use crate::asking::{Asking, Slice, Stopwatch};
use crate::campaign::{ATTEMPTS, Campaign};
use crate::group::{Entry, Finished, Group};
use crate::origin::Mark;
use crate::writing::{Decided, Moment};
use cutline_campaign::{CampaignState, Event, Operation, Outcome, Submission, TicketId};
use std::collections::HashSet;
use std::ops::Range;
use std::time::{Duration, Instant};

/// How often a decision outside a transaction is made again because others were faster, before it is made inside.
const TRIES: usize = 2;

/// The pause between slices of an ask that are decided inside transactions, in which others that wait can write. SQLite lets them look every millisecond.
const PAUSE: Duration = Duration::from_millis(3);

/// The part of an operation that is decided in one transaction: its events are these.
struct Part {
    entry: usize,
    events: Range<usize>,
    then: Option<Asking>,
    is_last: bool,
}

/// What is decided in one transaction.
struct Deciding<'a> {
    state: &'a mut CampaignState,
    moment: Moment,
    decided: Decided,
    parts: Vec<Part>,
    /// The tickets whose rewards are among the events that are not applied yet.
    told: HashSet<TicketId>,
}

/// The next slice of an ask, decided before the transaction.
struct PreparedSlice {
    entry: usize,
    /// The number of events on which the decision rests.
    n_events: u64,
    slice: Slice,
}

impl Deciding<'_> {
    /// Adds events to those that are decided; with `n_applied` 0 they are not applied.
    fn add(&mut self, entry: usize, events: Vec<Event>, n_applied: usize, then: Option<Asking>, is_last: bool) {
        let first = self.decided.events.len();
        self.decided.events.extend(events);
        self.decided.n_applied += n_applied;
        self.parts.push(Part { entry, events: first..self.decided.events.len(), then, is_last });
    }

    /// Applies all events, because the next decision depends on them.
    fn apply(&mut self) {
        self.state.record(self.moment.now, &self.decided.events[self.decided.n_applied..]);
        self.decided.n_applied = self.decided.events.len();
        self.told.clear();
    }

    /// Decides an operation that is not an ask. Rewards are learnt later, where nothing depends on them.
    fn decide(&mut self, entry: usize, operation: &Operation) -> Result<(), StoreError> {
        if let Operation::Tell(rewards) = operation {
            let is_told = |(ticket, rewards): &(TicketId, Vec<f64>)| {
                let last = ticket.saturating_add(rewards.len() as u64);
                (*ticket..last).any(|ticket| self.told.contains(&ticket))
            };
            if rewards.iter().any(is_told) {
                self.apply();
            }
            let events = Operation::tell_events(self.state, rewards)?;
            self.told.extend(events.iter().filter_map(Event::ticket));
            self.add(entry, events, 0, None, true);
            return Ok(());
        }
        self.apply();
        let events = operation.decide(self.state, self.moment.now)?;
        let n_applied = events.len();
        self.add(entry, events, n_applied, None, true);
        Ok(())
    }
}

impl Campaign {
    /// Carries out several operations in their order, so that concurrent workers share the time that a commit takes: in one transaction, unless
    /// they ask for arms and deciding takes longer than a commit. Each operation succeeds or is refused by itself. An operation whose
    /// [key](cutline_campaign::Origin::key) is known is not carried out again: its outcome is that of the first time.
    ///
    /// ```
    /// use cutline_campaign::{AnyCampaign, Candidates, Operation, Origin, Settings, Submission};
    /// use cutline_store::Store;
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
    /// If the store fails. Then nothing was written, except for asks that were written in part.
    pub fn perform(&mut self, submissions: &[Submission]) -> Result<Vec<Result<Outcome, StoreError>>, StoreError> {
        let mut group = Group::default();
        for (position, submission) in submissions.iter().enumerate() {
            group.push(submission.clone(), position);
        }
        let mut finished = Vec::new();
        while !group.is_empty() {
            finished.extend(self.advance(&mut group, &|| false)?);
        }
        finished.sort_unstable_by_key(|finished: &Finished<usize>| finished.tag);
        Ok(finished.into_iter().map(|finished| finished.outcome).collect())
    }

    /// Carries out the next part of a group, in one transaction, and returns the operations that are finished. What remains are asks that take
    /// long, and repetitions of a request that is in progress. `is_interrupted` is called before an arm is chosen.
    ///
    /// # Errors
    /// If it was interrupted, or the store fails. Then nothing was written by this call.
    pub fn advance<T>(
        &mut self,
        group: &mut Group<T>,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<Vec<Finished<T>>, StoreError> {
        if !self.is_slow() && group.entries.iter().any(|entry| entry.n_slices > 0) {
            std::thread::sleep(PAUSE);
        }
        // Every refusal of an operation that was decided in part costs one attempt.
        for attempt in 0..ATTEMPTS + group.entries.len() {
            self.find_repeated(group)?;
            if group.waiting().next().is_none() {
                return Ok(group.finished());
            }
            let revision = group.waiting().find(|(_, entry)| entry.submission.operation.is_revision());
            if let Some((_, entry)) = revision {
                let done = self.perform_revision(&entry.submission);
                entry.end = Some(done.map(|outcome| entry.outcome = outcome));
                return Ok(group.finished());
            }
            let prepared = self.prepare(group, is_interrupted)?;
            match self.write_group(group, prepared, attempt >= TRIES, is_interrupted) {
                Ok(true) => return Ok(group.finished()),
                Ok(false) | Err(StoreError::Contended | StoreError::KeyInUse) => (),
                Err(error) => return Err(error),
            }
        }
        Err(StoreError::Contended)
    }

    /// Answers the operations whose keys are known, and lets the first of several with the same key go first.
    fn find_repeated<T>(&mut self, group: &mut Group<T>) -> Result<(), StoreError> {
        let mut keys = HashSet::new();
        for entry in group.entries.iter_mut().filter(|entry| entry.end.is_none()) {
            let Some(key) = &entry.submission.origin.key else { continue };
            entry.is_behind = !keys.insert(&key.key);
            if entry.is_behind || entry.n_slices > 0 {
                continue;
            }
            match self.repeated(&entry.submission.origin) {
                Ok(None) => (),
                Ok(Some(events)) => {
                    entry.outcome = self.outcome_again(&events)?;
                    entry.end = Some(Ok(()));
                }
                Err(StoreError::OtherRequest) => entry.end = Some(Err(StoreError::OtherRequest)),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Where decisions take long, the next slice of the first ask that waits.
    fn prepare<T>(
        &mut self,
        group: &mut Group<T>,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<Option<PreparedSlice>, StoreError> {
        if !self.is_slow() {
            return Ok(None);
        }
        // Others are not excluded while their events are applied here.
        self.state()?;
        let mut asks =
            group.waiting().filter_map(|(entry, ask)| Some((entry, ask.asking, ask.submission.operation.request()?)));
        let Some((entry, asking, request)) = asks.next() else { return Ok(None) };
        if is_interrupted() {
            return Err(StoreError::Interrupted);
        }
        let moment = self.moment();
        let begun = Instant::now();
        // A custom rule that unwinds takes the state with it.
        let mut state = self.take_state()?;
        let slice = asking.plan(&request, &mut state, moment);
        let n_events = state.n_events();
        self.state = Some(state);
        self.decision_time = Some(begun.elapsed());
        Ok(Some(PreparedSlice { entry, n_events, slice }))
    }

    /// Decides and writes the operations that wait; of asks, only the prepared slice, if there is one. `false`, and nothing is written, if others
    /// have written since it was prepared.
    fn write_group<T>(
        &mut self,
        group: &mut Group<T>,
        mut prepared: Option<PreparedSlice>,
        may_follow: bool,
        is_interrupted: &dyn Fn() -> bool,
    ) -> Result<bool, StoreError> {
        let limit = self.lock_limit();
        let mut parts = Vec::new();
        let mut per_arm = None;
        let written = self.write_once(may_follow || prepared.is_none(), &mut |state, moment| {
            let mut deciding =
                Deciding { state, moment, decided: Decided::default(), parts: Vec::new(), told: HashSet::new() };
            if let Some(PreparedSlice { entry, n_events, slice }) = &mut prepared {
                let Entry { submission, asking, .. } = &group.entries[*entry];
                if *n_events != deciding.state.n_events()
                    && let Some(request) = submission.operation.request()
                {
                    *slice = asking.plan(&request, deciding.state, moment);
                    *n_events = deciding.state.n_events();
                }
                deciding.add(*entry, slice.events.clone(), 0, Some(slice.then), slice.is_last);
            }
            let mut watch = Stopwatch::start(limit);
            for (number, entry) in group.waiting() {
                let before = deciding.state.n_events();
                let done = match entry.submission.operation.request() {
                    Some(_) if prepared.is_some() || watch.is_over() => Ok(()),
                    Some(request) => {
                        deciding.apply();
                        let slice =
                            entry.asking.decide(&request, deciding.state, moment, &mut watch, is_interrupted)?;
                        let n_applied = slice.events.len();
                        deciding.add(number, slice.events, n_applied, Some(slice.then), slice.is_last);
                        Ok(())
                    }
                    None => deciding.decide(number, &entry.submission.operation),
                };
                if let Err(error) = done {
                    entry.end = Some(Err(error));
                    if deciding.state.n_events() != before {
                        // A part of it was decided, so this state cannot be used; the others are decided again without it.
                        return Err(StoreError::Contended);
                    }
                }
            }
            let mark = |part: &Part| Mark {
                origin: group.entries[part.entry].origin(),
                at: moment.now,
                n_events: part.events.len() as u64,
            };
            deciding.decided.marks = deciding.parts.iter().map(mark).collect();
            parts = deciding.parts;
            per_arm = watch.per_arm();
            Ok(deciding.decided)
        })?;
        let Some(written) = written else { return Ok(false) };
        self.decision_time = per_arm.or(self.decision_time);
        let mut features = written.features.into_iter();
        for Part { entry, events, then, is_last } in parts {
            let (entry, events) = (&mut group.entries[entry], &written.events[events]);
            entry.outcome.n_events += events.len() as u64;
            entry.outcome.tickets.extend(self.handed_out(events, &mut features)?);
            let asked = events.iter().filter(|event| matches!(event, Event::Asked { .. }));
            entry.new.extend(asked.filter_map(Event::ticket));
            entry.asking = then.unwrap_or(entry.asking);
            entry.n_slices += 1;
            entry.end = is_last.then_some(Ok(()));
        }
        Ok(true)
    }
}
