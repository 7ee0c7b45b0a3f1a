//! Ending waits for a database early.

use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::time::timeout_at;

/// How often a wait looks whether it was interrupted.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Shortens the waits of a store for its server or for other processes, from any thread: for programs that have to end soon. Clones belong
/// together.
#[derive(Clone)]
pub struct Interrupt {
    limit: watch::Sender<Option<(Instant, Duration)>>,
    poll: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

impl Interrupt {
    /// An interrupt that shortens nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self { limit: watch::Sender::new(None), poll: None }
    }

    /// An interrupt for programs that learn of interruptions only when they look, as interpreters do. During a wait, `is_interrupted` is called
    /// several times per second by the thread that waits. If it is true, this wait ends.
    #[must_use]
    pub fn polled(is_interrupted: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { poll: Some(Arc::new(is_interrupted)), ..Self::new() }
    }

    /// From now on, no wait takes longer than `patience`, counted from now for one that is under way. An operation whose wait was cut short
    /// fails, and its connection to a server is closed.
    pub fn shorten_waits(&self, patience: Duration) {
        self.limit.send_replace(Some((Instant::now(), patience)));
    }

    /// Whether waits are shortened.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.limit.borrow().is_some()
    }

    /// Whether a wait that began at `begun` has to end now.
    pub(crate) fn ends(&self, begun: Instant) -> bool {
        let limit = *self.limit.borrow();
        let is_over = limit.is_some_and(|(at, patience)| at.max(begun) + patience <= Instant::now());
        is_over || self.poll.as_ref().is_some_and(|is_interrupted| is_interrupted())
    }

    /// Returns when a wait that began at `begun` has to end.
    pub(crate) async fn ended(&self, begun: Instant) {
        let mut receiver = self.limit.subscribe();
        loop {
            let end = receiver.borrow_and_update().map(|(at, patience)| at.max(begun) + patience);
            let next_look = self.poll.as_ref().map(|_| Instant::now() + POLL_INTERVAL);
            // The sender is this struct, so there is always one.
            let changed = receiver.changed();
            match end.into_iter().chain(next_look).min() {
                None => drop(changed.await),
                Some(until) => {
                    if timeout_at(until.into(), changed).await.is_err() && self.ends(begun) {
                        return;
                    }
                }
            }
        }
    }
}

impl Default for Interrupt {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Interrupt").field("is_set", &self.is_set()).finish_non_exhaustive()
    }
}
