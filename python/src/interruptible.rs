//! Long work that Ctrl-C ends soon.

use pyo3::prelude::*;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// How often Python gets control, for Ctrl-C and progress.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Runs `work` on a thread of its own, detached from the interpreter, while this one handles signals and calls `tick` regularly and at
/// the end. If a signal or `tick` raises an exception, the flag that `work` got is set, `work` must end soon, and its result is dropped.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
    mut tick: impl FnMut() -> PyResult<()>,
) -> PyResult<T> {
    let is_interrupted = AtomicBool::new(false);
    let caller = thread::current();
    let done = thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let done = work(&is_interrupted);
            caller.unpark();
            done
        });
        let mut outcome = Ok(());
        while outcome.is_ok() && !worker.is_finished() {
            py.detach(|| thread::park_timeout(POLL_INTERVAL));
            outcome = py.check_signals().and_then(|()| tick());
        }
        is_interrupted.store(outcome.is_err(), Relaxed);
        let done = py.detach(|| worker.join()).unwrap_or_else(|panic| resume_unwind(panic));
        outcome.map(|()| done)
    })?;
    tick()?;
    Ok(done)
}
