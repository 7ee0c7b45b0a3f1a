//! The time, and how it is written.

use cutline::campaign::Time;
use std::time::{SystemTime, UNIX_EPOCH};

/// Now, in milliseconds since 1970.
pub(crate) fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time::try_from(since.as_millis()).unwrap_or(Time::MAX)
}

/// A time as RFC 3339 has it, in UTC, up to the last that it has.
pub(crate) fn rfc3339(time: Time) -> String {
    const LAST: Time = 253_402_300_799_999;
    let time = time.min(LAST);
    let (seconds, thousandths) = (time / 1000, time % 1000);
    let (days, second) = (seconds / 86400, seconds % 86400);
    let (year, month, day) = date(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{thousandths:03}Z")
}

/// The year, month and day of a number of days since 1970.
fn date(days: u64) -> (u64, u64, u64) {
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    // 400 years have 146,097 days, wherever they begin.
    let (mut year, mut day) = (1970 + days / 146_097 * 400, days % 146_097);
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    (year, month, day + 1)
}

/// How long milliseconds are, in the two largest units that matter.
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

    /// Day after day, by the lengths of the months.
    #[test]
    fn every_day_follows_the_one_before() {
        let mut before = date(0);
        for days in 1..200_000 {
            let (year, month, day) = date(days);
            let follows = [(before.0, before.1, before.2 + 1), (before.0, before.1 + 1, 1), (before.0 + 1, 1, 1)];
            assert!(
                follows.contains(&(year, month, day)) && month <= 12 && day <= 31,
                "{before:?}, {year} {month} {day}"
            );
            before = (year, month, day);
        }
        assert_eq!(before, (2517, 7, 31));
    }

    #[test]
    fn spans_are_short() {
        let spans = [999, 59_000, 60_000, 61_000, 3_600_000, 7_140_000, 86_400_000, 180_000_000].map(span);
        assert_eq!(spans, ["0s", "59s", "1m", "1m 1s", "1h", "1h 59m", "1d", "2d 2h"]);
    }
}
