//! A thread that is started before its work is known.
//!
//! A measurement needs threads that serve its process. They are started before the process is, so that where the system allows no more
//! threads, no process is started that would have to be killed.

use std::io::Result;
use std::sync::mpsc::{Sender, channel};
use std::thread::Builder;

/// The size of a stack. Hundreds of measurements may run at once, and what they hold is on the heap.
const STACK_SIZE: usize = 1 << 18;

/// A thread that waits for its work, and ends after it or when this is dropped.
pub(super) struct HelperThread(Sender<Work>);

type Work = Box<dyn FnOnce() + Send>;

impl HelperThread {
    /// Starts a thread.
    pub(super) fn start() -> Result<Self> {
        let (sender, receiver) = channel::<Work>();
        Builder::new().stack_size(STACK_SIZE).spawn(move || {
            if let Ok(work) = receiver.recv() {
                work();
            }
        })?;
        Ok(Self(sender))
    }

    /// Starts the threads of an array.
    pub(super) fn start_all<const N: usize>() -> Result<[Self; N]> {
        let threads = (0..N).map(|_| Self::start()).collect::<Result<Vec<_>>>()?;
        Ok(threads.try_into().unwrap_or_else(|_| unreachable!("N threads were started")))
    }

    /// Calls `work` in the thread.
    pub(super) fn run(self, work: impl FnOnce() + Send + 'static) {
        // The thread waits for it, so there is a receiver.
        drop(self.0.send(Box::new(work)));
    }
}
