//! Threads for computing: one per core, or the main thread alone where the system allows no others.

use crate::failure::Failure;
use crate::print::note;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Starts one thread per core. Rayon would start them when they are first needed, and panic if it cannot.
pub(crate) fn start() {
    let Err(error) = ThreadPoolBuilder::new().build_global() else { return };
    note(&format!("note: cannot start threads: {error}; going on with one"));
    if let Ok(alone) = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build() {
        // The main thread belongs to this pool from now on.
        std::mem::forget(alone);
    }
}

/// The threads of a simulation.
pub(crate) struct Pool(Option<ThreadPool>);

impl Pool {
    /// As many threads as were asked for, or by default those of [`start`].
    pub(crate) fn new(threads: Option<usize>) -> Result<Self, Failure> {
        let build = |threads| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build();
            pool.map_err(|error| Failure::Threads { threads, error })
        };
        Ok(Self(threads.map(build).transpose()?))
    }

    /// Calls a function on these threads.
    pub(crate) fn install<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        match &self.0 {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
}
