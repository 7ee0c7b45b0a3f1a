//! Numbers and times as people read them.

use cutline::{Amount, grouped};
use cutline_campaign::now;
use cutline_campaign::{Standing, Time, from_rfc3339, rfc3339};
use cutline_report::{grouped_amount, short};

/// A time, and how long ago or ahead that is.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    /// By RFC 3339.
    pub(super) exact: String,
    /// For example `3 min ago` or `in 2 h`.
    pub(super) relative: String,
}

impl Moment {
    pub(super) fn new(at: Time) -> Self {
        let now = now();
        let relative = match at.checked_sub(now) {
            Some(ahead) if ahead > 0 => format!("in {}", duration(ahead)),
            _ if now - at < 10_000 => "just now".into(),
            _ => format!("{} ago", duration(now - at)),
        };
        Self { exact: rfc3339(at), relative }
    }

    /// A time by RFC 3339, as the API writes it.
    pub(super) fn parse(text: &str) -> Self {
        from_rfc3339(text).map_or_else(|| Self { exact: text.into(), relative: text.into() }, Self::new)
    }
}

/// A duration in milliseconds, roughly.
fn duration(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    match seconds {
        0..100 => format!("{seconds} s"),
        100..6000 => format!("{} min", (seconds + 30) / 60),
        6000..172_800 => format!("{} h", (seconds + 1800) / 3600),
        _ => format!("{} days", (seconds + 43_200) / 86_400),
    }
}

/// A number with four significant digits.
pub(super) fn number(value: f64) -> String {
    if value.is_finite() { short(value).replace('-', "−") } else { "–".into() }
}

/// A number that may be unknown.
pub(super) fn maybe(value: Option<f64>) -> String {
    value.map_or_else(|| "–".into(), number)
}

/// A number as it was entered.
pub(super) fn exact(value: f64) -> String {
    format!("{value}")
}

/// A whole number with its digits in groups of three.
pub(super) fn count(value: impl TryInto<u64>) -> String {
    value.try_into().map_or_else(|_| String::new(), grouped)
}

/// A probability.
pub(super) fn percent(value: f64) -> String {
    match 100.0 * value {
        0.0 => "0 %".into(),
        percent if percent < 0.01 => "< 0.01 %".into(),
        percent if percent < 1.0 => format!("{percent:.2} %"),
        percent => format!("{percent:.1} %"),
    }
}

/// How much of a budget is used: measurements or, where they have costs, what they cost.
pub(super) struct BudgetUse {
    used: f64,
    of: u32,
    pub(super) has_costs: bool,
}

impl BudgetUse {
    pub(super) fn new(standing: &Standing) -> Self {
        let used = standing.spent.map_or_else(|| standing.told.into(), Amount::value);
        Self { used, of: standing.budget, has_costs: standing.spent.is_some() }
    }

    pub(super) fn what(&self) -> &'static str {
        if self.has_costs { "Spent" } else { "Measured" }
    }

    pub(super) fn used(&self) -> f64 {
        self.used
    }

    pub(super) fn of(&self) -> u32 {
        self.of
    }

    /// `143 of 400`.
    pub(super) fn in_words(&self) -> String {
        let used = if self.has_costs {
            exact(self.used)
        } else {
            grouped_amount(Amount::new(self.used).unwrap_or(Amount::ZERO))
        };
        format!("{used} of {}", count(self.of))
    }
}

/// Rewards per hour, in the unit that fits.
pub(super) fn pace(per_hour: f64) -> String {
    match per_hour {
        pace if pace >= 7200.0 => format!("{} per second", number(pace / 3600.0)),
        pace if pace >= 120.0 => format!("{} per minute", number(pace / 60.0)),
        pace if pace >= 2.0 => format!("{} per hour", number(pace)),
        pace => format!("{} per day", number(pace * 24.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        let cases = [
            (0.0, "0"),
            (0.5, "0.5000"),
            (12.345_67, "12.35"),
            (-1.5, "−1.500"),
            (0.012_345, "0.01235"),
            (123_456.7, "123457"),
            (1e-9, "1.000e−9"),
            (f64::INFINITY, "–"),
        ];
        for (value, expected) in cases {
            assert_eq!(number(value), expected, "{value}");
        }
        assert_eq!((count(1_234_567_u32), count(999_usize)), ("1,234,567".into(), "999".into()));
        assert_eq!((percent(0.1234), percent(1e-6), percent(0.0)), ("12.3 %".into(), "< 0.01 %".into(), "0 %".into()));
    }

    #[test]
    fn durations_are_rough() {
        assert_eq!(duration(5_000), "5 s");
        assert_eq!(duration(600_000), "10 min");
        assert_eq!(duration(7_200_000), "2 h");
        assert_eq!(duration(10 * 86_400_000), "10 days");
        assert_eq!(Moment::parse("1970-01-01T00:00:00.000Z").exact, "1970-01-01T00:00:00.000Z");
    }
}
