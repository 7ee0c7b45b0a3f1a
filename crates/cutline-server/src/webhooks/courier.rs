//! The thread that sends what is due, and records the results.

use super::WebhookLimits;
use super::sending::{Answer, agent, send};
use crate::clock::now;
use crate::state::AppState;
use crate::token::hash;
use cutline_store::{AttemptOutcome, ClaimedDelivery, Store, StoreError};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many deliveries are on their way at the same time, each to another webhook.
const MAX_SENT: usize = 8;

/// How long to wait at the end for answers to deliveries that are on their way. What is not answered then is sent again later.
const PATIENCE: Duration = Duration::from_secs(1);

enum Message {
    /// There may be something to send, or it is time to end.
    Wake,
    /// An attempt is over.
    Done(Box<(ClaimedDelivery, Result<Answer, String>)>),
}

/// Wakes the courier. Clones wake the same one.
#[derive(Clone)]
pub(crate) struct CourierWaker(Arc<Shared>);

struct Shared {
    sender: Sender<Message>,
    receiver: Mutex<Option<Receiver<Message>>>,
    is_ending: AtomicBool,
}

impl Default for CourierWaker {
    fn default() -> Self {
        let (sender, receiver) = channel();
        Self(Arc::new(Shared { sender, receiver: Mutex::new(Some(receiver)), is_ending: AtomicBool::new(false) }))
    }
}

impl CourierWaker {
    /// The courier looks for what is due now.
    pub(crate) fn wake(&self) {
        drop(self.0.sender.send(Message::Wake));
    }

    /// Ends the courier.
    pub(crate) fn end(&self) {
        self.0.is_ending.store(true, Ordering::Relaxed);
        self.wake();
    }

    fn is_ending(&self) -> bool {
        self.0.is_ending.load(Ordering::Relaxed)
    }
}

pub(super) struct Courier {
    state: AppState,
    store: Store,
    limits: WebhookLimits,
    waker: CourierWaker,
    /// The webhooks to which something is on its way.
    busy: Vec<(i64, u64)>,
    /// Outcomes that could not be recorded yet.
    unrecorded: Vec<(ClaimedDelivery, AttemptOutcome)>,
    /// The client, once something is to be sent: reading certificates takes a moment.
    agent: Option<ureq::Agent>,
}

impl Courier {
    pub(super) fn new(state: &AppState) -> Self {
        Self {
            state: state.clone(),
            store: state.own_store(),
            limits: state.limits().webhooks.clone(),
            waker: state.courier().clone(),
            busy: Vec::new(),
            unrecorded: Vec::new(),
            agent: None,
        }
    }

    pub(super) fn run(mut self) {
        let receiver = self.waker.0.receiver.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(receiver) = receiver else { return };
        while !self.waker.is_ending() {
            self.record();
            if let Err(error) = self.send_due() {
                tracing::warn!(%error, "deliveries could not be read");
            }
            if let Ok(message) = receiver.recv_timeout(self.limits.poll) {
                self.take(message);
                for message in receiver.try_iter() {
                    self.take(message);
                }
            }
        }
        let end = Instant::now() + PATIENCE;
        while !self.busy.is_empty()
            && let Ok(message) = receiver.recv_timeout(end.saturating_duration_since(Instant::now()))
        {
            self.take(message);
        }
        self.record();
    }

    /// Claims what is due and sends it, each on a thread of its own, which has nothing to do with the store.
    fn send_due(&mut self) -> Result<(), StoreError> {
        let free = MAX_SENT.saturating_sub(self.busy.len());
        let (now, claim) = (now(), milliseconds(self.limits.claim));
        for delivery in self.store.claim_deliveries(now, now.saturating_add(claim), &self.busy, free)? {
            self.busy.push((delivery.campaign, delivery.webhook));
            let agent = self.agent.get_or_insert_with(|| agent(&self.limits)).clone();
            let (sender, sent) = (self.waker.0.sender.clone(), delivery.clone());
            let work = move || {
                let answer = send(&agent, &sent);
                drop(sender.send(Message::Done(Box::new((sent, answer)))));
            };
            if let Err(error) = std::thread::Builder::new().name("delivery".into()).spawn(work) {
                self.finish(delivery, &Err(format!("the system has no thread: {error}")));
            }
        }
        Ok(())
    }

    fn take(&mut self, message: Message) {
        if let Message::Done(done) = message {
            let (delivery, answer) = *done;
            self.finish(delivery, &answer);
        }
    }

    /// What follows from an attempt.
    fn finish(&mut self, delivery: ClaimedDelivery, answer: &Result<Answer, String>) {
        self.busy.retain(|&busy| busy != (delivery.campaign, delivery.webhook));
        let outcome = outcome(&self.limits, &delivery, answer, now());
        let metrics = self.state.metrics();
        let ClaimedDelivery { campaign, webhook, number, attempts, .. } = delivery;
        match (&outcome.error, outcome.next_attempt) {
            (None, _) => {
                metrics.deliveries.fetch_add(1, Ordering::Relaxed);
                tracing::debug!(campaign, webhook, delivery = number, "delivered");
            }
            (Some(error), Some(_)) => {
                metrics.failed_attempts.fetch_add(1, Ordering::Relaxed);
                tracing::debug!(campaign, webhook, delivery = number, attempts, error, "not delivered yet");
            }
            (Some(error), None) => {
                metrics.failed_attempts.fetch_add(1, Ordering::Relaxed);
                metrics.failed_deliveries.fetch_add(1, Ordering::Relaxed);
                tracing::warn!(campaign, webhook, delivery = number, attempts, error, "a delivery was given up");
            }
        }
        self.unrecorded.push((delivery, outcome));
    }

    /// Records what came of attempts. What the store does not take now is tried again; until the claim ends, nobody else sends it.
    fn record(&mut self) {
        for (delivery, outcome) in std::mem::take(&mut self.unrecorded) {
            let recorded = self.store.settle_delivery(&delivery, &outcome).and_then(|()| {
                if outcome.status == Some(GONE) {
                    let why = "the receiver answered 410 Gone";
                    self.store.turn_webhook_off(delivery.campaign, delivery.webhook, why)?;
                }
                Ok(())
            });
            match recorded {
                Err(error) if error.may_pass() => {
                    tracing::warn!(%error, "the outcome of a delivery could not be recorded");
                    self.unrecorded.push((delivery, outcome));
                }
                // The campaign was deleted.
                Ok(()) | Err(_) => (),
            }
        }
    }
}

/// The status by which a receiver says that it wants nothing any more.
const GONE: u16 = 410;

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// What came of an attempt, and when to try again.
fn outcome(
    limits: &WebhookLimits,
    delivery: &ClaimedDelivery,
    answer: &Result<Answer, String>,
    now: u64,
) -> AttemptOutcome {
    let (status, error, retry_after) = match answer {
        Ok(Answer { status: status @ 200..300, .. }) => {
            return AttemptOutcome { status: Some(*status), delivered: Some(now), ..AttemptOutcome::default() };
        }
        Ok(Answer { status: GONE, .. }) => {
            let error = Some("the receiver answered 410 Gone".into());
            return AttemptOutcome { status: Some(GONE), error, ..AttemptOutcome::default() };
        }
        Ok(Answer { status: status @ 300..400, .. }) => {
            (Some(*status), format!("the answer has the status {status}; redirects are not followed"), None)
        }
        Ok(Answer { status, retry_after }) => {
            (Some(*status), format!("the answer has the status {status}"), *retry_after)
        }
        Err(error) => (None, error.clone(), None),
    };
    let pause =
        usize::try_from(delivery.attempts).ok().and_then(|attempts| limits.pauses.get(attempts.checked_sub(1)?));
    let next_attempt = pause.map(|&pause| {
        let pause = pause + pause.mul_f64(jitter(delivery));
        now.saturating_add(milliseconds(retry_after.map_or(pause, |asked| asked.max(pause))))
    });
    AttemptOutcome { status, error: Some(error), delivered: None, next_attempt }
}

/// A part of a pause, at most a fifth, by which deliveries that failed together are spread. It is a function of the delivery.
fn jitter(delivery: &ClaimedDelivery) -> f64 {
    let digits = hash(format!("{} {}", delivery.id, delivery.attempts).as_bytes());
    let bits = u32::from_str_radix(&digits[..8], 16).unwrap_or(0);
    0.2 * f64::from(bits) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutline_store::{Candidates, NewDelivery, NewWebhook, Origin, Settings, WebhookEvent, WebhookSecret};

    /// A delivery that is sent for the first time.
    fn delivery(id: &str) -> ClaimedDelivery {
        let store = Store::memory();
        let candidates = Candidates::new(vec!["a".into(), "b".into()], vec![], vec![]).unwrap();
        store.begin("c", &Settings::new(0.5, 9), candidates).unwrap();
        let (secret, events) = (WebhookSecret("s".into()), vec![WebhookEvent::Ended]);
        let webhook = NewWebhook { url: "http://a/".into(), secret, events, silence: None };
        store.add_webhook("c", &webhook, "", &Origin::default()).unwrap();
        let (id, payload) = (id.into(), String::new());
        let new = NewDelivery { webhook: 1, id, event: WebhookEvent::Test, payload, at: 0 };
        store.add_delivery("c", &new, &Origin::default()).unwrap();
        store.claim_deliveries(0, 1, &[], 1).unwrap().remove(0)
    }

    #[test]
    fn pauses_grow_and_are_spread() {
        let limits = WebhookLimits::default();
        let failed =
            |retry_after: Option<u64>| Ok(Answer { status: 503, retry_after: retry_after.map(Duration::from_secs) });
        let pause = |delivery: &ClaimedDelivery, answer| outcome(&limits, delivery, &answer, 1_000).next_attempt;
        let mut first = delivery("one");
        for seconds in [10, 60, 300, 1_800, 7_200, 21_600_u64] {
            let pause = pause(&first, failed(None)).unwrap() - 1_000;
            assert!((1_000 * seconds..=1_200 * seconds).contains(&pause), "{pause} ms instead of {seconds} s");
            first.attempts += 1;
        }
        assert_eq!(pause(&first, failed(None)), None, "given up");
        let (one, two) = (delivery("one"), delivery("two"));
        assert_eq!(pause(&one, failed(None)), pause(&delivery("one"), failed(None)), "a function of the delivery");
        assert_ne!(pause(&one, failed(None)), pause(&two, failed(None)));
        assert_eq!(pause(&one, failed(Some(900))), Some(901_000), "as the receiver asks");
        assert_eq!(pause(&one, failed(Some(1))), pause(&one, failed(None)), "but not sooner");
        assert_eq!(pause(&one, Err("no".into())), pause(&one, failed(None)));
        assert_eq!(pause(&one, Ok(Answer { status: 410, retry_after: None })), None);
        let done = outcome(&limits, &one, &Ok(Answer { status: 204, retry_after: None }), 1_000);
        assert_eq!((done.delivered, done.error, done.next_attempt), (Some(1_000), None, None));
    }
}
