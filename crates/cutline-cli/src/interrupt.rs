//! Ctrl-C ends the program at once, but never in the middle of a file.

use crate::print::note;
use cutline_store::Store;
use std::sync::{Mutex, MutexGuard, PoisonError};

static WRITING: Mutex<()> = Mutex::new(());

/// What to do on an interruption instead of ending the program at once.
type Handler = Box<dyn FnMut() + Send>;
static HANDLER: Mutex<Option<Handler>> = Mutex::new(None);

/// Ends the program on Ctrl-C and SIGTERM, as soon as no file is being written.
pub(crate) fn listen() {
    let handler = ctrlc::set_handler(|| {
        if let Some(handler) = &mut *HANDLER.lock().unwrap_or_else(PoisonError::into_inner) {
            return handler();
        }
        let _guard = hold();
        note("\ninterrupted; no file was left half-written");
        std::process::exit(130);
    });
    // If no handler can be set, the system ends the program on Ctrl-C, which may leave a temporary file.
    drop(handler);
}

/// From now on an interruption calls `handler`, and the command ends by itself after it has cleaned up.
#[cfg(unix)]
pub(crate) fn handle_with(handler: impl FnMut() + Send + 'static) {
    *HANDLER.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(handler));
}

/// While the guard is held, an interruption waits.
pub(crate) fn hold() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// As [`hold`], while a store in a file is changed. A server undoes an unfinished change by itself, and may keep us waiting.
pub(crate) fn hold_for(store: &str) -> Option<MutexGuard<'static, ()>> {
    Store::file(store).map(|_| hold())
}
