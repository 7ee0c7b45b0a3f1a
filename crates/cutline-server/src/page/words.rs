//! Numbers and times as people read them.

use crate::clock::{from_rfc3339, now, rfc3339};
use crate::summary::BudgetUse;
use cutline::grouped;
use cutline_campaign::Time;

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
    if !value.is_finite() {
        return "–".into();
    }
    let size = value.abs();
    if size == 0.0 {
        return "0".into();
    }
    if !(1e-4..1e7).contains(&size) {
        return format!("{value:.3e}");
    }
    let digits = (1..=9).find(|&digits| size < 10_f64.powi(digits)).unwrap_or(9);
    let leading = if size < 0.1 { 2 } else { 0 };
    let decimals = usize::try_from((4 - digits).max(0) + leading).unwrap_or(0);
    format!("{value:.decimals$}").replace('-', "−")
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

/// How much of a budget is used.
pub(super) fn progress(budget: &BudgetUse) -> String {
    let used = budget.spent.map_or_else(|| count(budget.told), exact);
    format!("{used} of {}", count(budget.of))
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

/// Why a campaign has ended, in words.
pub(super) fn ending(reason: &str) -> &'static str {
    match reason {
        "budget" => "the budget is used up",
        "confidence" => "every side is certain",
        "expected-errors" => "few enough wrong calls are expected",
        "settled" => "every side is settled",
        "withdrawn" => "every open arm is withdrawn",
        _ => "there is nothing more to measure",
    }
}

/// Where the noise comes from, in words.
pub(super) fn noise_source(name: &'static str) -> &'static str {
    match name {
        "model" => "learnt by the model",
        "replicates" => "from replicates",
        "residuals" => "from residuals",
        "rewards" => "from the spread of the rewards",
        "steps" => "from the steps between rewards",
        "bernoulli" => "the largest for pass or fail",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        let cases = [
            (0.0, "0"),
            (0.5, "0.500"),
            (12.345_67, "12.35"),
            (-1.5, "−1.500"),
            (0.012_345, "0.01235"),
            (123_456.7, "123457"),
            (1e-9, "1.000e-9"),
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
