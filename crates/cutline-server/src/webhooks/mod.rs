//! Webhooks: URLs that are told when a campaign ends, arms are decided, the model stops fitting, or nothing was told for a while.
//!
//! One thread looks at the campaigns that have webhooks and writes what is to be told to the store, together with what was noticed, so that
//! nothing is told twice or lost, however many servers look and whenever one is killed. Another thread sends what is due. Neither uses the
//! handles that answer requests.

mod courier;
mod noticed;
mod sending;
mod signature;
mod stir;
mod target;
mod watcher;

pub(crate) use courier::CourierWaker;
pub(crate) use noticed::{Noticed, body, new_delivery_id};
pub(crate) use stir::Stir;
pub(crate) use target::{TargetError, check_target};

use crate::state::AppState;
use courier::Courier;
use std::thread::JoinHandle;
use std::time::Duration;
use watcher::Watcher;

/// How webhooks are watched and sent.
///
/// | field | default | meaning |
/// |---|---|---|
/// | `allow_private` | no | whether loopback and private addresses may be told |
/// | `pauses` | 10 s, 1 min, 5 min, 30 min, 2 h, 6 h | the pauses between attempts; after the last one a delivery is given up |
/// | `poll` | 2 s | how often to look for changes by other processes, and for deliveries that are due |
/// | `answer` | 10 s | the time for one attempt |
/// | `claim` | 60 s | how long a delivery belongs to the server that sends it, in case that one is killed |
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the table above says it")]
pub struct WebhookLimits {
    pub allow_private: bool,
    pub pauses: Vec<Duration>,
    pub poll: Duration,
    pub answer: Duration,
    pub claim: Duration,
}

impl Default for WebhookLimits {
    fn default() -> Self {
        Self {
            allow_private: false,
            pauses: [10, 60, 5 * 60, 30 * 60, 2 * 3600, 6 * 3600].map(Duration::from_secs).to_vec(),
            poll: Duration::from_secs(2),
            answer: Duration::from_secs(10),
            claim: Duration::from_mins(1),
        }
    }
}

/// The two threads. They end when this is dropped.
pub(crate) struct Webhooks {
    state: AppState,
    threads: Vec<JoinHandle<()>>,
}

impl Webhooks {
    /// Begins to watch and to send.
    pub(crate) fn start(state: &AppState) -> Self {
        let (watcher, courier) = (Watcher::new(state), Courier::new(state));
        let begin = |name: &str, work: Box<dyn FnOnce() + Send>| {
            let thread = std::thread::Builder::new().name(name.into()).spawn(work);
            thread.inspect_err(|error| tracing::error!(%error, "the system has no thread for webhooks")).ok()
        };
        let threads = [
            begin("webhook watcher", Box::new(move || watcher.run())),
            begin("webhook courier", Box::new(move || courier.run())),
        ];
        Self { state: state.clone(), threads: threads.into_iter().flatten().collect() }
    }

    /// Ends both threads and waits for them. What waits to be sent stays in the store.
    pub(crate) async fn end(mut self) {
        let threads = std::mem::take(&mut self.threads);
        drop(self);
        let join = move || threads.into_iter().for_each(|thread| drop(thread.join()));
        drop(tokio::task::spawn_blocking(join).await);
    }
}

impl Drop for Webhooks {
    fn drop(&mut self) {
        self.state.stir().end();
        self.state.courier().end();
    }
}
