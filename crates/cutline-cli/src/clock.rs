//! The time, and durations as they are shown.

use cutline_campaign::Time;
pub(crate) use cutline_store::rfc3339;
use cutline_store::{Clock, SystemClock};

/// Now, in milliseconds since 1970.
pub(crate) fn now() -> Time {
    SystemClock.now()
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
    fn spans_have_two_units_at_most() {
        let spans = [999, 59_000, 60_000, 61_000, 3_600_000, 7_140_000, 86_400_000, 180_000_000].map(span);
        assert_eq!(spans, ["0s", "59s", "1m", "1m 1s", "1h", "1h 59m", "1d", "2d 2h"]);
    }
}
