//! Durations as people write them: `90s`, `10m`, `2h`, `1d`.

use std::time::Duration;

/// The longest duration: ten years.
const MOST: u64 = 3650 * 24 * 3600;

/// Reads a duration: a whole number of seconds, minutes, hours or days.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || String::from("a duration is a whole number with a unit, as `90s`, `10m`, `2h` or `1d`");
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match &text[digits.len()..] {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        "d" => 24 * 3600,
        _ => return Err(wrong()),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    // What is too long for a number is too long for a duration.
    let seconds = digits.parse::<u64>().unwrap_or(u64::MAX).saturating_mul(unit);
    match seconds {
        0 => Err("it must be at least `1s`".into()),
        1..=MOST => Ok(Duration::from_secs(seconds)),
        _ => Err("it must be at most `3650d`".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::duration;
    use std::time::Duration;

    #[test]
    fn durations_are_read_as_people_write_them() {
        let read = |text| duration(text).unwrap();
        assert_eq!(read("90s"), Duration::from_secs(90));
        assert_eq!((read("10m"), read("2h"), read("1d")), ([600, 7200, 86400].map(Duration::from_secs)).into());
        assert_eq!(read("3650d"), Duration::from_hours(3650 * 24));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "s", "2", "2 h", " 2h", "2h ", "-2h", "+2h", "1.5h", "2H", "2h30m", "2w", "h2", "२h", "2µs"]
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
