//! The time.

use cutline_campaign::Time;
use cutline_store::{Clock, SystemClock};
pub(crate) use cutline_store::{from_rfc3339, rfc3339};

/// Now, in milliseconds since 1970.
pub(crate) fn now() -> Time {
    SystemClock.now()
}
