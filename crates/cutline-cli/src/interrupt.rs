//! Ctrl-C ends the program at once, but never in the middle of a file.

use crate::print::note;
use std::sync::{Mutex, MutexGuard, PoisonError};

static WRITING: Mutex<()> = Mutex::new(());

/// What to do about an interruption, if not to end at once.
type Instead = Box<dyn FnMut() + Send>;
static INSTEAD: Mutex<Option<Instead>> = Mutex::new(None);

/// Ends the program when it is interrupted or asked to terminate, as soon as nothing is being written.
pub(crate) fn listen() {
    let handler = ctrlc::set_handler(|| {
        if let Some(instead) = &mut *INSTEAD.lock().unwrap_or_else(PoisonError::into_inner) {
            return instead();
        }
        let _guard = hold();
        note("\ninterrupted; no file was left half-written");
        std::process::exit(130);
    });
    // Without a handler the system ends the program on Ctrl-C, which is right but for files being written.
    drop(handler);
}

/// From now on an interruption does this instead: the verb ends by itself when it has put things in order.
#[cfg(unix)]
pub(crate) fn instead(act: impl FnMut() + Send + 'static) {
    *INSTEAD.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(act));
}

/// While held, an interruption waits.
pub(crate) fn hold() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}
