//! Numbers on the command line, each checked where it is parsed: a wrong one is an error of usage.

use cutline::Kernel;
use cutline_campaign::{MAX_REWARD, TermsError, TicketId, check_noise};

/// δ, given as the confidence 1 − δ.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub(crate) struct Delta(pub(crate) f64);

/// Budgets, ascending.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Budgets(pub(crate) Vec<u32>);

pub(super) fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "it must be a number".into())
}

pub(super) fn threshold(text: &str) -> Result<f64, String> {
    let threshold = number(text)?;
    if threshold.abs() <= MAX_REWARD { Ok(threshold) } else { Err(TermsError::Threshold(threshold).to_string()) }
}

pub(super) fn precision(text: &str) -> Result<f64, String> {
    let precision = number(text)?;
    let is_precision = (0.0..=MAX_REWARD).contains(&precision);
    if is_precision { Ok(precision) } else { Err(TermsError::Precision(precision).to_string()) }
}

pub(super) fn noise(text: &str) -> Result<f64, String> {
    let noise = number(text)?;
    check_noise(noise).map_err(|error| error.to_string())
}

pub(super) fn length(text: &str) -> Result<f64, String> {
    let length = number(text)?;
    if Kernel::LENGTH.contains(length) { Ok(length) } else { Err(format!("it must be a number {}", Kernel::LENGTH)) }
}

pub(super) fn delta(text: &str) -> Result<Delta, String> {
    cutline::delta_of(number(text)?).map(Delta).map_err(|_| "it must be a number above 0 and below 1".into())
}

/// The failure probability that a plan aims for.
pub(super) fn target(text: &str) -> Result<f64, String> {
    let target = number(text)?;
    let is_target = (1e-9..1.0).contains(&target);
    if is_target { Ok(target) } else { Err("it must be a number of at least 1e-9 and below 1".into()) }
}

/// A number of bytes: `1000`, `500MiB` or `16G`; units are powers of 1024.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let factor: Option<u64> = match text[digits.len()..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => Some(1),
        "k" | "kb" | "kib" => Some(1 << 10),
        "m" | "mb" | "mib" => Some(1 << 20),
        "g" | "gb" | "gib" => Some(1 << 30),
        "t" | "tb" | "tib" => Some(1 << 40),
        _ => None,
    };
    let size = digits.parse::<u64>().ok().zip(factor).and_then(|(number, factor)| number.checked_mul(factor));
    size.ok_or_else(|| "it must be a size in bytes, as in `500MiB` or `16GiB`".into())
}

/// A number of measurements, or of units of cost: a whole number, which may be written as `1e3`.
pub(crate) fn budget(text: &str) -> Result<u32, String> {
    let whole = text.parse::<u32>().ok().or_else(|| {
        let number = text.parse::<f64>().ok().filter(|number| number.fract() == 0.0)?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole and within the range")]
        (0.0..=f64::from(u32::MAX)).contains(&number).then_some(number as u32)
    });
    let message =
        || format!("a budget is a whole number of measurements, or of units of `--cost`, from 1 to {}", u32::MAX);
    whole.filter(|&budget| budget > 0).ok_or_else(message)
}

pub(super) fn budgets(text: &str) -> Result<Budgets, String> {
    let budget = |field: &str| budget(field.trim()).ok().filter(|budget| *budget <= 100_000_000);
    let budgets: Option<Vec<u32>> = text.split(',').map(budget).collect();
    let budgets = budgets.ok_or("budgets are whole numbers between 1 and 100000000, separated by commas")?;
    if budgets.is_sorted_by(|a, b| a < b) { Ok(Budgets(budgets)) } else { Err("budgets must ascend".into()) }
}

pub(crate) fn ticket_number(text: &str) -> Result<TicketId, String> {
    let ticket = text.parse().ok().filter(|&ticket| ticket > 0);
    ticket.ok_or_else(|| format!("`{text}` is not a ticket; tickets are whole numbers from 1"))
}

pub(crate) fn finite(text: &str) -> Result<f64, String> {
    let reward = text.parse().ok().filter(|reward: &f64| reward.is_finite());
    reward.ok_or_else(|| format!("`{text}` is not a reward; give a finite number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delta_is_one_minus_the_confidence() {
        let read = |text| delta(text).unwrap().0;
        assert_eq!((read("0.95"), read("0.9"), read("0.999999"), read("1e-3")), (0.05, 0.1, 1e-6, 0.999));
        for text in ["0", "1", "-0.5", "95", "nan", "inf", "x", ""] {
            assert!(delta(text).is_err(), "{text}");
        }
    }

    #[test]
    fn budgets_are_whole_numbers() {
        for (text, expected) in [("1", 1), ("400", 400), ("1e3", 1000), ("2.5e2", 250), ("4294967295", u32::MAX)] {
            assert_eq!(budget(text), Ok(expected), "{text}");
        }
        for text in ["0", "-5", "1.5", "1e-3", "1e10", "nan", "inf", "", "x", "4294967296"] {
            assert_eq!(
                budget(text).unwrap_err(),
                "a budget is a whole number of measurements, or of units of `--cost`, from 1 to 4294967295",
                "{text}"
            );
        }
    }

    #[test]
    fn budgets_ascend() {
        assert_eq!(budgets("10, 20,1e8"), Ok(Budgets(vec![10, 20, 100_000_000])));
        for text in ["", "0", "10,", "20,10", "10,10", "1.5", "100000001"] {
            assert!(budgets(text).is_err(), "{text}");
        }
    }
}
