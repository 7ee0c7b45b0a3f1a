//! Long work that Ctrl-C ends soon, and a lock for which nobody waits in spite of Ctrl-C.

use pyo3::prelude::*;
use std::ops::{Deref, DerefMut};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How often Python gets control, for Ctrl-C and progress.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Runs `work` on a thread of its own, detached from the interpreter, while this one handles signals and calls `tick` regularly and at
/// the end. If a signal or `tick` raises an exception, the flag that `work` got is set, `work` must end soon, and its result is dropped.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
    mut tick: impl FnMut() -> PyResult<()>,
) -> PyResult<T> {
    let (done, outcome) = attempt(py, work, &mut tick);
    outcome?;
    tick()?;
    Ok(done)
}

/// As [`interruptible`], but `tick` is not called at the end, and the result of `work` is not dropped: it may have been too late to end it.
pub(crate) fn attempt<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send,
    mut tick: impl FnMut() -> PyResult<()>,
) -> (T, PyResult<()>) {
    let is_interrupted = AtomicBool::new(false);
    let caller = thread::current();
    thread::scope(|scope| {
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
        (done, outcome)
    })
}

/// A mutex. A thread that waits for it is detached from the interpreter, and handles signals.
pub(crate) struct InterruptibleMutex<T> {
    value: Mutex<T>,
    is_taken: Mutex<bool>,
    released: Condvar,
}

/// Holds the mutex until it is dropped.
pub(crate) struct Guard<'a, T> {
    // A poisoned lock is harmless: a campaign that lost its state in a panic rebuilds it.
    value: MutexGuard<'a, T>,
    mutex: &'a InterruptibleMutex<T>,
}

impl<T: Send> InterruptibleMutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: Mutex::new(value), is_taken: Mutex::new(false), released: Condvar::new() }
    }

    /// Waits until nobody else holds it.
    ///
    /// # Errors
    /// If a signal, such as Ctrl-C, raises an exception meanwhile.
    pub(crate) fn lock(&self, py: Python<'_>) -> PyResult<Guard<'_, T>> {
        while !self.take(Duration::ZERO) && !py.detach(|| self.take(POLL_INTERVAL)) {
            py.check_signals()?;
        }
        Ok(Guard { value: self.value.lock().unwrap_or_else(PoisonError::into_inner), mutex: self })
    }

    /// Takes it if it is or becomes free within this time.
    fn take(&self, timeout: Duration) -> bool {
        let is_taken = self.is_taken.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.released.wait_timeout_while(is_taken, timeout, |is_taken| *is_taken);
        let (mut is_taken, _) = waited.unwrap_or_else(PoisonError::into_inner);
        !std::mem::replace(&mut *is_taken, true)
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        *self.mutex.is_taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.mutex.released.notify_one();
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}
