//! Ending waits for a server early.

use std::time::{Duration, Instant};
use tokio::sync::watch;
use tokio::time::timeout_at;

/// Shortens the waits of a store on a server, from any thread: for programs that have to end soon. Clones belong together.
///
/// A store in a file does not need it: its own waits end by themselves.
#[derive(Clone, Debug)]
pub struct Interrupt(watch::Sender<Option<(Instant, Duration)>>);

impl Interrupt {
    /// An interrupt that shortens nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self(watch::Sender::new(None))
    }

    /// From now on, no wait for the server takes longer than `patience`, counted from now for one that is under way. An operation whose
    /// wait was cut short fails, and its connection is closed.
    pub fn shorten_waits(&self, patience: Duration) {
        self.0.send_replace(Some((Instant::now(), patience)));
    }

    /// Whether waits are shortened.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.borrow().is_some()
    }

    /// Returns when a wait that began at `begun` has to end.
    pub(crate) async fn ended(&self, begun: Instant) {
        let mut receiver = self.0.subscribe();
        loop {
            let limit = *receiver.borrow_and_update();
            // The sender is this struct, so there is always one.
            let changed = receiver.changed();
            match limit {
                None => drop(changed.await),
                Some((at, patience)) => {
                    if timeout_at((at.max(begun) + patience).into(), changed).await.is_err() {
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
