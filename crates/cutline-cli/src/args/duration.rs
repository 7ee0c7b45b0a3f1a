//! Durations: `90s`, `10m`, `2h`, `1d`.

use std::time::Duration;

/// The longest duration: ten years.
const LONGEST: Duration = Duration::from_hours(3650 * 24);

/// Parses a duration: a whole number of seconds, minutes, hours or days.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    // `humantime` accepts sums and long names of units as well; here there is one spelling.
    let digits = text.strip_suffix(['s', 'm', 'h', 'd']).unwrap_or_default();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("a duration is a whole number with a unit, as in `90s`, `10m`, `2h` or `1d`".into());
    }
    match humantime::parse_duration(text) {
        Ok(Duration::ZERO) => Err("it must be at least `1s`".into()),
        Ok(duration) if duration <= LONGEST => Ok(duration),
        // The only error left is a number that is too large.
        Ok(_) | Err(_) => Err("it must be at most `3650d`".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::duration;
    use std::time::Duration;

    #[test]
    fn seconds_minutes_hours_and_days() {
        let read = |text| duration(text).unwrap();
        assert_eq!(read("90s"), Duration::from_secs(90));
        assert_eq!((read("10m"), read("2h"), read("1d")), ([600, 7200, 86400].map(Duration::from_secs)).into());
        assert_eq!(read("3650d"), Duration::from_hours(3650 * 24));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in
            ["", "s", "2", "2 h", " 2h", "2h ", "-2h", "+2h", "1.5h", "2H", "2h30m", "2w", "h2", "२h", "2µs", "2ms"]
        {
            assert!(duration(text).unwrap_err().starts_with("a duration is a whole number"), "{text}");
        }
        for text in ["0s", "0d", "000m"] {
            assert_eq!(duration(text).unwrap_err(), "it must be at least `1s`", "{text}");
        }
        for text in ["3651d", "315360001s", "99999999999999999999999s", "18446744073709551615d"] {
            assert_eq!(duration(text).unwrap_err(), "it must be at most `3650d`", "{text}");
        }
    }
}
