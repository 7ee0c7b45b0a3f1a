//! An open campaign: one thread owns its handle, and requests are sent to it. What waits while a commit is in progress shares the next one. An ask
//! that takes long is carried out in parts, and other requests in between.

use crate::extract::check_campaign;
use crate::problem::Problem;
use cutline::{Arm, Verdict};
use cutline_campaign::{Candidates, Operation, Origin, Outcome, Submission, Ticket, TicketId};
use cutline_store::{Campaign, Finished, Group, Store, StoreError};
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, oneshot, watch};

/// How many operations share a commit at most.
const MAX_GROUP: usize = 512;

/// Why a message got no answer from a campaign.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The campaign is not open any more under this name; it may be opened again.
    Closed,
    Problem(Problem),
}

/// A campaign that is open, and what was computed from it.
pub(crate) struct OpenCampaign {
    pub(crate) campaign: Campaign,
    names: Arc<Vec<String>>,
    /// The arms by their names, once it is needed.
    index: HashMap<String, Arm>,
    verdicts: Option<(u64, Arc<Vec<Verdict>>)>,
    candidates: Option<Arc<Candidates>>,
    head: watch::Sender<u64>,
}

impl OpenCampaign {
    fn open(store: &Store, name: &str, head: watch::Sender<u64>) -> Result<Self, StoreError> {
        let campaign = store.campaign(Some(name))?;
        let names = Arc::new(campaign.arm_names().to_vec());
        let open = Self { campaign, names, index: HashMap::new(), verdicts: None, candidates: None, head };
        open.publish();
        Ok(open)
    }

    /// Tells those who wait for events how many there are.
    fn publish(&self) {
        let known = self.campaign.known_events();
        self.head.send_if_modified(|head| std::mem::replace(head, known) != known);
    }

    /// The names of all arms.
    pub(crate) fn names(&mut self) -> Arc<Vec<String>> {
        if self.names.len() != self.campaign.arm_names().len() {
            self.names = Arc::new(self.campaign.arm_names().to_vec());
        }
        Arc::clone(&self.names)
    }

    /// All arms with their features, read once: arms are only ever added.
    pub(crate) fn candidates(&mut self) -> Result<Arc<Candidates>, StoreError> {
        self.campaign.state()?;
        if let Some(known) = &self.candidates
            && known.n_arms() == self.campaign.arm_names().len()
        {
            return Ok(Arc::clone(known));
        }
        let candidates = Arc::new(self.campaign.candidates()?);
        self.candidates = Some(Arc::clone(&candidates));
        Ok(candidates)
    }

    /// The arms with these names; an error has the first name that no arm has.
    pub(crate) fn arms(&mut self, names: &[String]) -> Result<Result<Vec<Arm>, String>, StoreError> {
        // Others may have added arms.
        self.campaign.state()?;
        let known = self.names();
        if self.index.len() != known.len() {
            self.index = known.iter().cloned().zip(0..).collect();
        }
        Ok(names.iter().map(|name| self.index.get(name).copied().ok_or_else(|| name.clone())).collect())
    }

    /// The verdicts after all events that are in the store now, and how many events these are.
    pub(crate) fn verdicts(&mut self) -> Result<(u64, Arc<Vec<Verdict>>), StoreError> {
        let n_events = self.campaign.state()?.n_events();
        if let Some((known, verdicts)) = &self.verdicts
            && *known == n_events
        {
            return Ok((n_events, Arc::clone(verdicts)));
        }
        let verdicts = Arc::new(self.campaign.state()?.verdicts());
        let n_events = self.campaign.known_events();
        self.verdicts = Some((n_events, Arc::clone(&verdicts)));
        Ok((n_events, verdicts))
    }
}

type Reply = oneshot::Sender<Result<Outcome, Fault>>;
type Work = Box<dyn FnOnce(Result<&mut OpenCampaign, Fault>) + Send>;

enum Message {
    /// An operation, which may share a commit with others, and the number of the campaign that it is meant for, if that is known.
    Submit(Submission, Option<i64>, Reply),
    /// Ends the leases of tickets that were handed out to a client that is gone.
    Expire(Vec<TicketId>),
    /// Anything else.
    Run(Work),
}

/// The address of an open campaign.
#[derive(Clone)]
pub(crate) struct Handle {
    sender: mpsc::Sender<Message>,
    head: watch::Receiver<u64>,
}

impl Handle {
    /// Opens a campaign on a thread of its own, which ends when the last handle is dropped.
    pub(crate) fn open(store: Store, name: String, waiting: usize) -> (Self, Option<JoinHandle<()>>) {
        let (sender, receiver) = mpsc::channel(waiting);
        let (publisher, head) = watch::channel(0);
        let work = move || run(&store, &name, receiver, publisher);
        // Without a thread the receiver is gone, and the campaign counts as closed.
        let thread = std::thread::Builder::new().name("campaign".into()).spawn(work);
        let thread =
            thread.inspect_err(|error| tracing::error!(%error, "the system has no thread for a campaign")).ok();
        (Self { sender, head }, thread)
    }

    /// Whether its thread has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// The number of events that the server knows of; it changes when there are more.
    pub(crate) fn head(&self) -> watch::Receiver<u64> {
        self.head.clone()
    }

    /// Carries out an operation. It is durable when this returns.
    pub(crate) async fn submit(&self, submission: Submission, meant: Option<i64>) -> Result<Outcome, Fault> {
        let (reply, answer) = oneshot::channel();
        let is_lost_when_dropped = submission.is_lost_without_answer();
        self.send(Message::Submit(submission, meant, reply))?;
        if !is_lost_when_dropped {
            return answer.await.unwrap_or(Err(Fault::Closed));
        }
        let mut waiting = WaitingAsk { answer, sender: self.sender.clone() };
        (&mut waiting.answer).await.unwrap_or(Err(Fault::Closed))
    }

    /// What `work` returns for the open campaign. Nothing else happens to the campaign in this server meanwhile.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut OpenCampaign) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, Fault> {
        let (reply, answer) = oneshot::channel();
        let work = move |open: Result<&mut OpenCampaign, Fault>| {
            // Nobody waits for it if the client is gone.
            if !reply.is_closed() {
                drop(reply.send(open.and_then(|open| work(open).map_err(fault))));
            }
        };
        self.send(Message::Run(Box::new(work)))?;
        answer.await.unwrap_or(Err(Fault::Closed))
    }

    fn send(&self, message: Message) -> Result<(), Fault> {
        self.sender.try_send(message).map_err(|error| match error {
            TrySendError::Full(_) => Fault::Problem(Problem::Busy),
            TrySendError::Closed(_) => Fault::Closed,
        })
    }
}

/// A client that waits for tickets. If it is gone when they come, they are expired.
struct WaitingAsk {
    answer: oneshot::Receiver<Result<Outcome, Fault>>,
    sender: mpsc::Sender<Message>,
}

impl Drop for WaitingAsk {
    fn drop(&mut self) {
        self.answer.close();
        // Tickets that were received have been taken out.
        if let Ok(Ok(outcome)) = self.answer.try_recv() {
            drop(self.sender.try_send(Message::Expire(outcome.tickets.iter().flat_map(Ticket::numbers).collect())));
        }
    }
}

/// Why an operation was refused or failed. Failures of the store are logged.
fn fault(error: StoreError) -> Fault {
    Fault::Problem(error.into())
}

/// Serves messages until all handles are dropped, or the campaign cannot be used any more.
fn run(store: &Store, name: &str, mut receiver: mpsc::Receiver<Message>, head: watch::Sender<u64>) {
    let mut open = match OpenCampaign::open(store, name, head) {
        Ok(open) => open,
        Err(error) => {
            let problem = Problem::from(&error);
            // Whoever opened it has not sent a message yet, perhaps.
            while let Some(message) = receiver.blocking_recv() {
                receiver.close();
                refuse(message, || Fault::Problem(problem.clone()));
            }
            return;
        }
    };
    let mut group = Group::default();
    loop {
        let mut messages = Vec::new();
        if group.is_empty() {
            let Some(first) = receiver.blocking_recv() else { break };
            messages.push(first);
        }
        while messages.len() < MAX_GROUP
            && let Ok(message) = receiver.try_recv()
        {
            messages.push(message);
        }
        // Another server may have renamed or deleted it.
        let is_usable = matches!(open.campaign.has_its_name(), Ok(true));
        if !is_usable || !serve(&mut open, &mut group, messages) {
            break;
        }
        open.publish();
    }
    // Whoever still waits opens it again.
}

fn refuse(message: Message, fault: impl Fn() -> Fault) {
    match message {
        Message::Submit(_, _, reply) => drop(reply.send(Err(fault()))),
        Message::Run(work) => work(Err(fault())),
        Message::Expire(_) => (),
    }
}

/// Serves messages together: operations first, with those of the group that are in progress. Returns whether the campaign can still be used.
fn serve(open: &mut OpenCampaign, group: &mut Group<Reply>, messages: Vec<Message>) -> bool {
    let (mut submissions, mut works, mut lost) = (Vec::new(), Vec::new(), Vec::new());
    for message in messages {
        match message {
            // Nobody waits for it any more.
            Message::Submit(_, _, reply) if reply.is_closed() => (),
            Message::Submit(submission, meant, reply) => match check_campaign(meant, open.campaign.id()) {
                Ok(()) => submissions.push((submission, reply)),
                Err(problem) => drop(reply.send(Err(Fault::Problem(problem)))),
            },
            Message::Expire(tickets) => lost.extend(tickets),
            Message::Run(work) => works.push(work),
        }
    }
    // Rewards that no decision of the group depends on are learnt after the commit.
    submissions.sort_by_key(|(submission, _)| match submission.operation {
        Operation::Ask { .. } => 0,
        Operation::Tell(_) => 2,
        _ => 1,
    });
    for (submission, reply) in submissions {
        group.push(submission, reply);
    }
    lost.extend(group.abandon(|submission, reply| submission.is_lost_without_answer() && reply.is_closed()));
    let is_usable = group.is_empty() || advance(open, group, &mut lost);
    expire(open, lost);
    for work in works {
        work(Ok(open));
    }
    is_usable
}

/// Carries out the next part of a group and answers what is finished. Returns whether the campaign can still be used.
fn advance(open: &mut OpenCampaign, group: &mut Group<Reply>, lost: &mut Vec<TicketId>) -> bool {
    // Without an answer a client would be asked to try again, and what was decided might be in the store already.
    let done = catch_unwind(AssertUnwindSafe(|| open.campaign.advance(group, &|| false)));
    match done.unwrap_or(Err(StoreError::Interrupted)) {
        Ok(finished) => {
            lost.extend(finished.into_iter().flat_map(answer));
            true
        }
        Err(error) => {
            let problem = Problem::from(&error);
            for (reply, outcome) in group.give_up() {
                // What an ask has handed out so far is in the store.
                let is_begun = outcome.n_events > 0;
                drop(reply.send(if is_begun { Ok(outcome) } else { Err(Fault::Problem(problem.clone())) }));
            }
            false
        }
    }
}

/// Sends an outcome. Returns the tickets that were handed out to a client that is gone and cannot ask for them again.
fn answer(Finished { submission, tag: reply, outcome, .. }: Finished<Reply>) -> Vec<TicketId> {
    match reply.send(outcome.map_err(fault)) {
        Err(Ok(outcome)) if submission.is_lost_without_answer() => {
            outcome.tickets.iter().flat_map(Ticket::numbers).collect()
        }
        _ => Vec::new(),
    }
}

fn expire(open: &mut OpenCampaign, tickets: Vec<TicketId>) {
    if tickets.is_empty() {
        return;
    }
    tracing::info!(?tickets, "a client is gone before it got its tickets; they are expired");
    let expire = Submission { operation: Operation::Expire(tickets), origin: Origin::default() };
    if let Err(error) = open.campaign.perform(&[expire]) {
        // Their leases end by themselves.
        tracing::warn!(%error, "tickets could not be expired");
    }
}
