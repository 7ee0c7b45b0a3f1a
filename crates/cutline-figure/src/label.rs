//! Numbers as a reader of an axis wants them: `0.05`, `400`, `10⁻⁴`, `2×10⁶`.

/// The text of a tick, with an exponent that is set smaller and higher when there is one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Label {
    /// What stands on the line.
    pub(crate) base: String,
    /// What is raised.
    pub(crate) exponent: Option<i32>,
}

impl Label {
    /// A value with a fixed number of decimals, so that the labels of one axis are alike.
    pub(crate) fn fixed(value: f64, decimals: usize) -> Self {
        Self { base: true_minus(&format!("{value:.decimals$}")), exponent: None }
    }

    /// A value as a mantissa with a fixed number of decimals and a power of ten.
    pub(crate) fn power(value: f64, decimals: usize) -> Self {
        if value == 0.0 {
            return Self::fixed(value, 0);
        }
        let text = format!("{value:.decimals$e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        Self::raised(&true_minus(mantissa), exponent.parse().unwrap_or(0))
    }

    /// A whole number, in groups of three digits.
    pub(crate) fn whole(value: f64) -> Self {
        if value >= 1e9 { Self::budget(value) } else { Self { base: grouped(value), exponent: None } }
    }

    /// `m × 10ᵉ`, written out while it is short.
    pub(crate) fn scientific(mantissa: u8, exponent: i32) -> Self {
        if (-3..4).contains(&exponent) {
            let decimals = usize::try_from(-exponent).unwrap_or(0);
            return Self::fixed(f64::from(mantissa) * 10_f64.powi(exponent), decimals);
        }
        Self::raised(&mantissa.to_string(), exponent)
    }

    /// A budget: whole numbers as they are, long round ones with an exponent.
    pub(crate) fn budget(value: f64) -> Self {
        let exponent = floor_log10(value);
        if value >= 1e5 {
            let mantissa = value / 10_f64.powi(exponent);
            if ((mantissa * 100.0).round() - mantissa * 100.0).abs() < 1e-9 {
                return Self::raised(&format!("{}", (mantissa * 100.0).round() / 100.0), exponent);
            }
        }
        if value != 0.0 && value < 1e-3 {
            return Self::raised(&format!("{:.1}", value / 10_f64.powi(exponent)), exponent);
        }
        // Adding zero turns -0 into 0.
        Self { base: format!("{}", (value * 1e4).round() / 1e4 + 0.0), exponent: None }
    }

    /// The exponent in print, with a true minus sign.
    pub(crate) fn exponent_text(&self) -> Option<String> {
        self.exponent.map(|e| true_minus(&e.to_string()))
    }

    fn raised(mantissa: &str, exponent: i32) -> Self {
        let base = if mantissa == "1" { "10".to_owned() } else { format!("{mantissa}×10") };
        Self { base, exponent: Some(exponent) }
    }
}

/// A whole number with a comma before every three digits, `12,000`, until it is too long to read.
pub(crate) fn grouped(value: f64) -> String {
    if value >= 1e9 {
        return short(value);
    }
    let digits = format!("{value:.0}");
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A value in running text, to five digits or all before the point: `0.25`, `−3`, `1.5e9`.
pub(crate) fn short(value: f64) -> String {
    let exponent = floor_log10(value.abs());
    if !(-4..6).contains(&exponent) {
        let text = format!("{value:.4e}");
        let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
        let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
        return true_minus(&format!("{mantissa}e{power}"));
    }
    let decimals = usize::try_from(4 - exponent).unwrap_or(0);
    let text = format!("{value:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".to_owned() } else { true_minus(text) }
}

fn true_minus(text: &str) -> String {
    text.replace('-', "−")
}

/// The exponent e with 10ᵉ ≤ x < 10ᵉ⁺¹; 0 for what is not positive.
#[expect(clippy::cast_possible_truncation, reason = "the logarithm of a finite f64 lies between -324 and 309")]
pub(crate) fn floor_log10(x: f64) -> i32 {
    // The small nudge keeps an exact power of ten in its own decade.
    if x > 0.0 { (x.log10() + 1e-9).floor() as i32 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(label: &Label) -> String {
        label.base.clone() + &label.exponent_text().map_or(String::new(), |e| format!("^{e}"))
    }

    #[test]
    fn rates_are_decimals_until_they_are_small() {
        assert_eq!(text(&Label::scientific(5, -2)), "0.05");
        assert_eq!(text(&Label::scientific(1, 0)), "1");
        assert_eq!(text(&Label::scientific(1, -4)), "10^−4");
        assert_eq!(text(&Label::scientific(2, -6)), "2×10^−6");
        assert_eq!(text(&Label::fixed(0.8, 2)), "0.80");
    }

    #[test]
    fn budgets_stay_exact() {
        assert_eq!(text(&Label::budget(0.0)), "0");
        assert_eq!(text(&Label::budget(-0.0)), "0");
        assert_eq!(text(&Label::budget(40.0)), "40");
        assert_eq!(text(&Label::budget(12_345.0)), "12345");
        assert_eq!(text(&Label::budget(1e6)), "10^6");
        assert_eq!(text(&Label::budget(250_000.0)), "2.5×10^5");
        assert_eq!(text(&Label::budget(123_456.0)), "123456");
        assert_eq!(text(&Label::budget(0.5)), "0.5");
    }

    #[test]
    fn measured_values_have_true_signs_and_powers() {
        assert_eq!(text(&Label::fixed(-0.5, 1)), "−0.5");
        assert_eq!(text(&Label::power(-2.5e8, 1)), "−2.5×10^8");
        assert_eq!(text(&Label::power(1e-7, 0)), "10^−7");
        assert_eq!(text(&Label::power(0.0, 3)), "0");
    }

    #[test]
    fn whole_numbers_are_grouped() {
        let cases = [(0.0, "0"), (999.0, "999"), (1000.0, "1,000"), (123_456.0, "123,456"), (2e9, "2×10^9")];
        for (value, shown) in cases {
            assert_eq!(text(&Label::whole(value)), shown);
        }
    }

    #[test]
    fn values_in_a_sentence_are_short() {
        let cases = [(0.1 + 0.2, "0.3"), (-3.0, "−3"), (1500.0, "1500"), (-0.0, "0"), (1.5e9, "1.5e9"), (2e-9, "2e−9")];
        for (value, shown) in cases {
            assert_eq!(short(value), shown);
        }
        assert_eq!(short(123_456.0), "123456");
        assert_eq!((grouped(999_999_999.0), grouped(2.5e9)), ("999,999,999".into(), "2.5e9".into()));
    }
}
