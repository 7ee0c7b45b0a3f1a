//! Long work that Ctrl-C ends soon, waits for a store that it ends, and a lock for which nobody waits in spite of Ctrl-C.

use cutline_store::Interrupt;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::panic::resume_unwind;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;

/// How often Python gets control, for Ctrl-C and progress.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

thread_local! {
    /// Set once the work of this thread has to end.
    static IS_ENDING: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };

    /// The exception that has ended a wait of this thread.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Ends the waits of a store, for its server or for other processes, when a signal raises an exception.
pub(crate) fn waits() -> Interrupt {
    Interrupt::polled(|| {
        if IS_ENDING.with_borrow(|flag| flag.as_ref().is_some_and(|flag| flag.load(Relaxed))) {
            return true;
        }
        // On other threads than the main one, Python ignores this.
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the method is not general enough in its lifetime"
        )]
        let raised = Python::attach(|py| py.check_signals()).err();
        let is_raised = raised.is_some();
        RAISED.set(raised);
        is_raised
    })
}

/// The exception that has ended a wait of this thread, once.
pub(crate) fn take_raised() -> Option<PyErr> {
    RAISED.take()
}

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
    let is_interrupted = Arc::new(AtomicBool::new(false));
    let caller = thread::current();
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            IS_ENDING.set(Some(Arc::clone(&is_interrupted)));
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
    /// How many threads wait. If none does, there is nobody to wake, which would cost a system call.
    waiting: AtomicUsize,
    queue: Mutex<()>,
    released: Condvar,
}

/// Holds the mutex until it is dropped.
pub(crate) struct Guard<'a, T> {
    /// `None` only while it is dropped.
    value: Option<MutexGuard<'a, T>>,
    mutex: &'a InterruptibleMutex<T>,
}

impl<T: Send> InterruptibleMutex<T> {
    pub(crate) fn new(value: T) -> Self {
        let (value, queue) = (Mutex::new(value), Mutex::new(()));
        Self { value, waiting: AtomicUsize::new(0), queue, released: Condvar::new() }
    }

    /// Waits until nobody else holds it.
    ///
    /// # Errors
    /// If a signal, such as Ctrl-C, raises an exception meanwhile.
    pub(crate) fn lock(&self, py: Python<'_>) -> PyResult<Guard<'_, T>> {
        loop {
            if let Some(value) = self.try_lock() {
                return Ok(Guard { value: Some(value), mutex: self });
            }
            py.detach(|| self.wait());
            py.check_signals()?;
        }
    }

    /// A poisoned mutex is harmless: a campaign that lost its state in a panic rebuilds it.
    fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.value.try_lock() {
            Ok(value) => Some(value),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Waits until the mutex is released, but no longer than the interval in which Python gets control.
    fn wait(&self) {
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_add(1, SeqCst);
        // Whoever releases it from now on sees that somebody waits, and has to wait for the queue.
        if self.try_lock().is_none() {
            drop(self.released.wait_timeout(queue, POLL_INTERVAL));
        }
        self.waiting.fetch_sub(1, SeqCst);
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        drop(self.value.take());
        if self.mutex.waiting.load(SeqCst) > 0 {
            drop(self.mutex.queue.lock());
            self.mutex.released.notify_one();
        }
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.as_ref().expect("it is not dropped")
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.value.as_mut().expect("it is not dropped")
    }
}
