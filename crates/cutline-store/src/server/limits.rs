//! How long to wait for a server.

use super::Settings;
use crate::LocationError;
use std::time::Duration;

/// Time limits; `None` for no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limits {
    /// For connecting to one server.
    pub(crate) connect: Option<Duration>,
    /// For one answer of the server.
    pub(crate) statement: Option<Duration>,
    /// For a lock that another process holds.
    pub(crate) lock: Option<Duration>,
}

const CONNECT: Duration = Duration::from_secs(10);
const STATEMENT: Duration = Duration::from_mins(2);
const LOCK: Duration = Duration::from_mins(1);

/// The longest limit that the server takes.
const LONGEST: f64 = 2_147_483_647.0;

impl Limits {
    pub(super) fn new(settings: &Settings) -> Result<Self, LocationError> {
        let limit = |seconds: i64| u64::try_from(seconds).ok().filter(|&seconds| seconds > 0).map(Duration::from_secs);
        let connect = settings.parsed("connect_timeout", "a whole number of seconds", |value| value.parse().ok())?;
        let expected = "milliseconds, or a number with a unit, as `30s`";
        let or = |limit: Option<Duration>, default| Some(limit.unwrap_or(default)).filter(|limit| !limit.is_zero());
        Ok(Self {
            connect: connect.map_or(Some(CONNECT), limit),
            statement: or(settings.parsed("statement_timeout", expected, time)?, STATEMENT),
            lock: or(settings.parsed("lock_timeout", expected, time)?, LOCK),
        })
    }
}

/// A time as PostgreSQL writes it: milliseconds, or a number with a unit.
fn time(text: &str) -> Option<Duration> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let milliseconds = match unit.trim() {
        "" | "ms" => 1.0,
        "s" => 1e3,
        "min" => 6e4,
        "h" => 3.6e6,
        "d" => 8.64e7,
        _ => return None,
    };
    let time = (number.parse::<f64>().ok()? * milliseconds).ceil();
    (0.0..=LONGEST).contains(&time).then(|| Duration::from_secs_f64(time / 1e3))
}

/// A limit in words.
pub(crate) fn in_words(limit: Duration) -> String {
    format!("{} s", limit.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_in_postgresql() {
        let milliseconds = |text| time(text).map(|time| time.as_millis());
        assert_eq!(milliseconds("0"), Some(0));
        assert_eq!(milliseconds("1500"), Some(1500));
        assert_eq!(milliseconds("1.5 s"), Some(1500));
        assert_eq!(milliseconds("2min"), Some(120_000));
        assert_eq!(milliseconds("1h"), Some(3_600_000));
        for text in ["", "s", "-1", "5 years", "1e3", "30d"] {
            assert_eq!(time(text), None, "{text}");
        }
    }
}
