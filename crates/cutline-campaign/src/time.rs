//! The current time, and times in texts: RFC 3339, in UTC, with milliseconds.

use crate::Time;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The current time by the clock of the system.
#[must_use]
pub fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time::try_from(since.as_millis()).unwrap_or(Time::MAX)
}

/// A time in UTC by RFC 3339, with milliseconds; later times than its last year, 9999, are written as the end of that year.
///
/// ```
/// assert_eq!(cutline_campaign::rfc3339(951_782_399_999), "2000-02-28T23:59:59.999Z");
/// ```
#[must_use]
pub fn rfc3339(time: Time) -> String {
    const LAST: Time = 253_402_300_799_999;
    humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(time.min(LAST))).to_string()
}

/// The time that a text by RFC 3339 says; `None` if it says none, or one before 1970.
#[must_use]
pub fn from_rfc3339(text: &str) -> Option<Time> {
    let since = humantime::parse_rfc3339(text).ok()?.duration_since(UNIX_EPOCH).ok()?;
    Time::try_from(since.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rfc_3339() {
        for (time, expected) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_735_689_599_001, "2024-12-31T23:59:59.001Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(rfc3339(time), expected);
            assert_eq!(from_rfc3339(expected), Some(time));
        }
        assert_eq!(rfc3339(Time::MAX), "9999-12-31T23:59:59.999Z");
        assert_eq!(from_rfc3339("soon"), None);
    }
}
