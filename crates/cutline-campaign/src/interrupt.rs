//! Ending waits for a store early.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Shortens the waits of a store for its server or for other processes, from any thread: for programs that have to end soon. Clones belong
/// together.
#[derive(Clone)]
pub struct Interrupt {
    limit: Arc<Mutex<Option<(Instant, Duration)>>>,
    poll: Option<Arc<dyn Fn() -> bool + Send + Sync>>,
}

impl Interrupt {
    /// An interrupt that shortens nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self { limit: Arc::default(), poll: None }
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
        *self.limit.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), patience));
    }

    /// Whether waits are shortened.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.limit().is_some()
    }

    /// Whether a wait that began at `begun` has to end now. Whoever waits calls it several times per second.
    #[must_use]
    pub fn ends(&self, begun: Instant) -> bool {
        let is_over = self.limit().is_some_and(|(at, patience)| at.max(begun) + patience <= Instant::now());
        is_over || self.poll.as_ref().is_some_and(|is_interrupted| is_interrupted())
    }

    fn limit(&self) -> Option<(Instant, Duration)> {
        *self.limit.lock().unwrap_or_else(PoisonError::into_inner)
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
