//! The time and how it is written.

use cutline_campaign::Time;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Now, in milliseconds since 1970.
pub(crate) fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time::try_from(since.as_millis()).unwrap_or(Time::MAX)
}

/// A time in UTC by RFC 3339, with milliseconds; later times than its last year, 9999, are written as the end of that year.
pub(crate) fn rfc3339(time: Time) -> String {
    const LAST: Time = 253_402_300_799_999;
    humantime::format_rfc3339_millis(UNIX_EPOCH + Duration::from_millis(time.min(LAST))).to_string()
}

/// A number of milliseconds in its two largest units: `2d 2h`.
pub(crate) fn span(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86400);
    let two = |large: u64, unit: &str, small: u64, part: &str| match small {
        0 => format!("{large}{unit}"),
        _ => format!("{large}{unit} {small}{part}"),
    };
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds}s"),
        (0, 0, _) => two(minutes, "m", seconds % 60, "s"),
        (0, ..) => two(hours, "h", minutes % 60, "m"),
        _ => two(days, "d", hours % 24, "h"),
    }
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
            (Time::MAX, "9999-12-31T23:59:59.999Z"),
        ] {
            assert_eq!(rfc3339(time), expected);
        }
    }

    #[test]
    fn spans_have_two_units_at_most() {
        let spans = [999, 59_000, 60_000, 61_000, 3_600_000, 7_140_000, 86_400_000, 180_000_000].map(span);
        assert_eq!(spans, ["0s", "59s", "1m", "1m 1s", "1h", "1h 59m", "1d", "2d 2h"]);
    }
}
