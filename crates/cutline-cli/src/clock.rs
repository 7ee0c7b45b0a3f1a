//! The time.

use cutline_campaign::Time;
use cutline_store::{Clock, SystemClock};

/// Now, in milliseconds since 1970.
pub(crate) fn now() -> Time {
    SystemClock.now()
}
