//! Ctrl-C ends the program at once, but never in the middle of a file.

use crate::print::note;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The exit code of a command that was interrupted.
pub(crate) const EXIT_CODE: u8 = 130;

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
        std::process::exit(EXIT_CODE.into());
    });
    // If no handler can be set, the system ends the program on Ctrl-C, which may leave a temporary file.
    drop(handler);
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
        let end_later = || {
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
