//! Ctrl-C ends the program at once, but never in the middle of a file.

use crate::print::note;
use std::sync::{Mutex, MutexGuard, PoisonError};

static WRITING: Mutex<()> = Mutex::new(());

/// Ends the program when it is interrupted or asked to terminate, as soon as nothing is being written.
pub(crate) fn listen() {
    let handler = ctrlc::set_handler(|| {
        let _guard = hold();
        note("\ninterrupted; no file was left half-written");
        std::process::exit(130);
    });
    // Without a handler the system ends the program on Ctrl-C, which is right but for files being written.
    drop(handler);
}

/// While held, an interruption waits.
pub(crate) fn hold() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}
