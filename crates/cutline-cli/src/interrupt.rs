//! Ctrl-C ends the program at once, but never in the middle of a file.

use crate::failure::Failure;
use crate::print::note;
use cutline_store::{Interrupt, Store};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The exit code of a command that was interrupted.
pub(crate) const EXIT_CODE: u8 = 130;

static WRITING: Mutex<()> = Mutex::new(());

/// Shortens the waits for a store.
static WAITS: LazyLock<Interrupt> = LazyLock::new(Interrupt::new);

/// What to do on an interruption instead of ending the program at once.
type Handler = Box<dyn FnMut() + Send>;
static HANDLER: Mutex<Option<Handler>> = Mutex::new(None);

/// Ends the program on Ctrl-C and SIGTERM, as soon as no file is being written.
///
/// # Errors
/// If signals are caught but nobody can react to them.
pub(crate) fn listen() -> Result<(), Failure> {
    // The crate `ctrlc` catches the signals before it starts its thread. Where no thread can be started, they are better left alone: then the
    // system ends the program, which may leave a temporary file.
    match std::thread::Builder::new().spawn(|| ()) {
        Ok(thread) => drop(thread.join()),
        Err(_) => return Ok(()),
    }
    let mut tries = 0;
    loop {
        match ctrlc::set_handler(interrupted) {
            // The thread that was tried may still count.
            Err(ctrlc::Error::System(_)) if tries < 10 => {
                tries += 1;
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(ctrlc::Error::System(error)) => return Err(Failure::Thread(error)),
            // If no handler can be set, the system ends the program.
            _ => return Ok(()),
        }
    }
}

fn interrupted() {
    if let Some(handler) = &mut *HANDLER.lock().unwrap_or_else(PoisonError::into_inner) {
        return handler();
    }
    // A change that waits for other processes is given up; one that is being made is finished.
    WAITS.shorten_waits(Duration::ZERO);
    let _guard = hold();
    note("\ninterrupted; no file was left half-written");
    std::process::exit(EXIT_CODE.into());
}

/// Ends the waits of a store for other processes, while an interruption waits for the store.
pub(crate) fn waits() -> &'static Interrupt {
    &WAITS
}

/// Waits for the end of the program, if it was interrupted: what the command still reports is of no interest.
pub(crate) fn end_if_interrupted() {
    while WAITS.is_set() {
        std::thread::park();
    }
}

/// From now on an interruption calls `handler`, and the command ends by itself after it has cleaned up.
pub(crate) fn handle_with(handler: impl FnMut() + Send + 'static) {
    *HANDLER.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(handler));
}

/// How long a command may take to end by itself after an interruption.
const GRACE: Duration = Duration::from_secs(3);

/// From now on an interruption makes the returned function say so. A second one ends the program at once, and so does the end of [`GRACE`]: the
/// command may be waiting for a database.
pub(crate) fn flag() -> impl Fn() -> bool {
    let is_interrupted = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&is_interrupted);
    handle_with(move || {
        if set.swap(true, Ordering::Relaxed) {
            std::process::exit(EXIT_CODE.into());
        }
        let end_later = move || {
            std::thread::sleep(GRACE);
            std::process::exit(EXIT_CODE.into())
        };
        // If no thread can be started, the second interruption ends the program.
        drop(std::thread::Builder::new().spawn::<_, ()>(end_later));
    });
    move || is_interrupted.load(Ordering::Relaxed)
}

/// While the guard is held, an interruption waits.
pub(crate) fn hold() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// As [`hold`], while a store in a file is changed. A server undoes an unfinished change by itself, and may keep us waiting.
pub(crate) fn hold_for(store: &str) -> Option<MutexGuard<'static, ()>> {
    Store::file(store).map(|_| hold())
}
