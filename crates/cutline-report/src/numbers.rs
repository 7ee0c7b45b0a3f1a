//! Numbers as people read them.

use cutline::{Amount, grouped};

/// A number with four significant digits.
#[must_use]
pub fn short(number: f64) -> String {
    let scientific = format!("{number:.3e}");
    let exponent = scientific.rsplit('e').next().and_then(|exponent| exponent.parse::<i32>().ok());
    match exponent {
        _ if number == 0.0 => "0".into(),
        Some(exponent @ -4..=5) => format!("{number:.*}", usize::try_from(3 - exponent).unwrap_or(0)),
        _ => scientific,
    }
}

/// An amount with commas before the point: 1,812.5.
#[must_use]
pub fn grouped_amount(amount: Amount) -> String {
    let text = amount.to_string();
    let (whole, rest) = text.split_once('.').map_or((text.as_str(), None), |(whole, rest)| (whole, Some(rest)));
    let whole = grouped(whole.parse().unwrap_or(0));
    rest.map_or_else(|| whole.clone(), |rest| format!("{whole}.{rest}"))
}

/// A positive number with two significant digits, or all digits before the point.
pub(crate) fn two_digits(number: f64) -> String {
    let scientific = format!("{number:.1e}");
    let exponent = scientific.rsplit('e').next().and_then(|exponent| exponent.parse::<i32>().ok());
    match exponent {
        Some(exponent @ -4..=6) => format!("{number:.*}", usize::try_from(1 - exponent).unwrap_or(0)),
        _ => scientific,
    }
}

/// A number of milliseconds in its two largest units: `2d 2h`.
#[must_use]
pub fn span(milliseconds: u64) -> String {
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
    fn numbers_have_four_significant_digits() {
        let numbers = [0.0, 1.0, -0.99996, 0.05, 1234.56, 999_999.0, 1e6, 0.00012346, 9.99996e-5, 5.92e-36];
        let expected =
            ["0", "1.000", "-1.000", "0.05000", "1235", "1.000e6", "1.000e6", "0.0001235", "0.0001000", "5.920e-36"];
        assert_eq!(numbers.map(short), expected);
    }

    #[test]
    fn two_digits_are_enough_for_sigma() {
        let numbers = [4.4321, 0.0519, 1.0, 149.6, 12_345.0, 1e-7, 9.96, 3e12];
        assert_eq!(numbers.map(two_digits), ["4.4", "0.052", "1.0", "150", "12345", "1.0e-7", "10", "3.0e12"]);
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(grouped_amount(Amount::new(1812.5).unwrap()), "1,812.5");
    }

    #[test]
    fn spans_have_two_units_at_most() {
        let spans = [999, 59_000, 60_000, 61_000, 3_600_000, 7_140_000, 86_400_000, 180_000_000].map(span);
        assert_eq!(spans, ["0s", "59s", "1m", "1m 1s", "1h", "1h 59m", "1d", "2d 2h"]);
    }
}
