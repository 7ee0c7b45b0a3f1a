//! Notices: `cutline serve --notify URL` posts a signed JSON when a campaign ends, arms are decided, the model stops fitting, or no reward
//! has come for a while.
//!
//! One thread looks at the store, compares every campaign with how it stood before, and posts the differences, each a few times if the
//! receiver does not take it. What it knows is in memory: a server that starts takes how campaigns stand as known, and with several servers
//! on one store each posts.

mod address;
mod notice;
mod post;
mod signature;
mod watch;

pub use address::AddressError;

use crate::state::AppState;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

/// Where to post notices, and how.
///
/// | field | default | meaning |
/// |---|---|---|
/// | `allow_private` | no | whether the URL may lead to loopback and private addresses |
/// | `silence` | 6 h | the time without a reward after which a campaign is silent |
/// | `pauses` | 10 s, 1 min, 5 min | the pauses between attempts; after the last one a notice is given up |
/// | `poll` | 2 s | how often to look at the store |
/// | `answer` | 10 s | the time for one attempt |
#[derive(Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the table above says it")]
pub struct Notify {
    url: String,
    secret: String,
    pub allow_private: bool,
    pub silence: Duration,
    pub pauses: Vec<Duration>,
    pub poll: Duration,
    pub answer: Duration,
}

impl Notify {
    /// Notices to this URL, signed with this secret.
    ///
    /// # Errors
    /// If nothing may be sent to the URL.
    pub fn new(url: &str, secret: &str, allow_private: bool) -> Result<Self, AddressError> {
        address::check(url, allow_private)?;
        Ok(Self {
            url: url.into(),
            secret: secret.into(),
            allow_private,
            silence: Duration::from_hours(6),
            pauses: [10, 60, 300].map(Duration::from_secs).to_vec(),
            poll: Duration::from_secs(2),
            answer: Duration::from_secs(10),
        })
    }
}

/// Without the URL and the secret: both may give somebody access.
impl std::fmt::Debug for Notify {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Notify").field("silence", &self.silence).finish_non_exhaustive()
    }
}

/// The thread that looks and posts.
pub(crate) struct Notifier {
    ending: Sender<()>,
    thread: Option<JoinHandle<()>>,
}

impl Notifier {
    /// Begins to look and to post, if the server was told where to. Campaigns that begin after this are news.
    pub(crate) async fn start(state: &AppState) -> Option<Self> {
        let notify = state.limits().notify.clone()?;
        let store = state.own_store();
        let ((ending, ended), (ready, is_ready)) = (channel(), oneshot::channel());
        let work = move || {
            let watcher = watch::Watcher::new(store, notify, ended);
            ready.send(()).ok();
            watcher.run();
        };
        let thread = std::thread::Builder::new().name("notify".into()).spawn(work);
        let thread = thread.inspect_err(|error| tracing::error!(%error, "the system has no thread for notices")).ok();
        // It fails only if there is no thread.
        is_ready.await.ok();
        Some(Self { ending, thread })
    }

    /// Ends the thread and waits for it. What is not posted yet is lost.
    pub(crate) async fn end(self) {
        drop(self.ending);
        let join = move || drop(self.thread.map(JoinHandle::join));
        drop(tokio::task::spawn_blocking(join).await);
    }
}
