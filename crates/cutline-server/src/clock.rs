//! The time and how it is written.

use cutline_campaign::Time;
use cutline_store::{Clock, SystemClock};
use std::time::{Duration, UNIX_EPOCH};

/// Now, in milliseconds since 1970.
pub(crate) fn now() -> Time {
    SystemClock.now()
}

/// A time in UTC by RFC 3339, with milliseconds; times after the year 9999 are written as its end.
pub(crate) fn rfc3339(time: Time) -> String {
    const LAST: Time = 253_402_300_799_999;
    humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(time.min(LAST))).to_string()
}
