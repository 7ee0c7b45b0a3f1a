//! How the watcher hears of events that this server writes.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError, RwLock};

/// Wakes the watcher when something happens in a campaign that it watches, and for no other.
pub(crate) struct Stir {
    watched: RwLock<HashSet<i64>>,
    waker: SyncSender<()>,
    woken: Mutex<Option<Receiver<()>>>,
    is_ending: AtomicBool,
}

impl Default for Stir {
    fn default() -> Self {
        // One message is enough, however much has happened.
        let (waker, woken) = sync_channel(1);
        Self { watched: RwLock::default(), waker, woken: Mutex::new(Some(woken)), is_ending: AtomicBool::new(false) }
    }
}

impl Stir {
    /// There are new events in a campaign.
    pub(crate) fn happened(&self, campaign: i64) {
        if self.watched.read().unwrap_or_else(PoisonError::into_inner).contains(&campaign) {
            self.wake();
        }
    }

    /// The watcher looks at its campaigns now.
    pub(crate) fn wake(&self) {
        // If there is a message already, one more says nothing new.
        self.waker.try_send(()).ok();
    }

    /// Ends the watcher.
    pub(crate) fn end(&self) {
        self.is_ending.store(true, Ordering::Relaxed);
        self.wake();
    }

    pub(super) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Relaxed)
    }

    /// The end by which the watcher is woken. There is one watcher.
    pub(super) fn woken(&self) -> Option<Receiver<()>> {
        self.woken.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// These are the campaigns to watch.
    pub(super) fn watch(&self, campaigns: HashSet<i64>) {
        *self.watched.write().unwrap_or_else(PoisonError::into_inner) = campaigns;
    }
}
