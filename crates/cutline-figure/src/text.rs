//! Text in figures: its width, how to make it fit, and how numbers are written (`0.05`, `400`, `10⁻⁴`, `2×10⁶`).
//!
//! Widths are measured with the font that [`crate::png()`] draws with, plus a reserve for the widest font of [`FAMILY`].

use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};

/// The fonts of an SVG, best first; the embedded one is in the list so that a PNG needs no system font.
pub(crate) const FAMILY: &str = "Helvetica, Arial, 'Noto Sans', 'DejaVu Sans', sans-serif";

/// The font inside the binary, free under the Apache licence.
pub(crate) const EMBEDDED: &[u8] = ttf_noto_sans::REGULAR;

/// `DejaVu` Sans, the widest of the family list, is about a tenth wider than the font we measure with.
const RESERVE: f64 = 1.1;

/// The width of a character that the font lacks: most likely it is a full-width one.
const UNKNOWN_EM: f64 = 1.0;

/// The width of a text at a font size, never too small for the fonts of [`FAMILY`].
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let Ok(font) = FontRef::new(EMBEDDED) else {
        return text.chars().map(|_| UNKNOWN_EM * size).sum();
    };
    let glyphs = font.charmap();
    let metrics = font.glyph_metrics(Size::new(1.0), LocationRef::default());
    let em = |character| {
        let glyph = glyphs.map(character)?;
        metrics.advance_width(glyph).map(f64::from)
    };
    let ems: f64 = text.chars().map(|c| em(c).unwrap_or(UNKNOWN_EM)).sum();
    ems * size * RESERVE
}

/// The text itself if it fits, otherwise its beginning and an ellipsis.
pub(crate) fn fit(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut start = String::new();
    let mut used = width("…", size);
    for character in text.chars() {
        used += width(character.encode_utf8(&mut [0; 4]), size);
        if used > room {
            break;
        }
        start.push(character);
    }
    format!("{}…", start.trim_end())
}

/// The text itself if it fits, otherwise its beginning and its end around an ellipsis: names often differ in their ends.
pub(crate) fn fit_ends(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let half = (room - width("…", size)) / 2.0;
    let (mut left, mut right) = (0.0, 0.0);
    let fits = |used: &mut f64, character: char| {
        *used += width(character.encode_utf8(&mut [0; 4]), size);
        *used <= half
    };
    let start: String = text.chars().take_while(|c| fits(&mut left, *c)).collect();
    let end: Vec<char> = text.chars().rev().take_while(|c| fits(&mut right, *c)).collect();
    let end: String = end.into_iter().rev().collect();
    format!("{}…{}", start.trim_end(), end.trim_start())
}

/// Breaks a text at spaces into at most `lines` lines; a line that does not fit ends in an ellipsis.
pub(crate) fn wrap(text: &str, size: f64, room: f64, lines: usize) -> Vec<String> {
    let mut done: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let longer = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
        let last = done.len() + 1 >= lines;
        if line.is_empty() || last || width(&longer, size) <= room {
            line = longer;
        } else {
            done.push(std::mem::replace(&mut line, word.to_owned()));
        }
    }
    if !line.is_empty() {
        done.push(line);
    }
    done.iter().map(|line| fit(line, size, room)).collect()
}

/// The label of a tick, with an exponent that is set smaller and higher if there is one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Label {
    /// The text on the line.
    pub(crate) base: String,
    /// The raised exponent.
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

    /// The exponent as text, with a true minus sign.
    pub(crate) fn exponent_text(&self) -> Option<String> {
        self.exponent.map(|e| true_minus(&e.to_string()))
    }

    fn raised(mantissa: &str, exponent: i32) -> Self {
        let base = if mantissa == "1" { "10".to_owned() } else { format!("{mantissa}×10") };
        Self { base, exponent: Some(exponent) }
    }
}

/// A whole number with a comma before every three digits, `12,000`, until it is too long to read.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts and budgets")]
pub(crate) fn grouped(value: f64) -> String {
    if value >= 1e9 {
        return short(value);
    }
    cutline::grouped(value.round_ties_even() as u64)
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

/// The exponent e with 10ᵉ ≤ x < 10ᵉ⁺¹; 0 if x is not positive.
#[expect(clippy::cast_possible_truncation, reason = "the logarithm of a finite f64 lies between -324 and 309")]
pub(crate) fn floor_log10(x: f64) -> i32 {
    // The small nudge keeps an exact power of ten in its own decade.
    if x > 0.0 { (x.log10() + 1e-9).floor() as i32 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_letters_are_wider_than_narrow_ones() {
        assert!(width("mmm", 10.0) > 2.0 * width("iii", 10.0));
        assert!((width("ab", 20.0) - 2.0 * width("ab", 10.0)).abs() < 1e-9);
    }

    #[test]
    fn a_long_text_is_cut_to_its_room() {
        let long = "linear".repeat(50);
        let cut = fit(&long, 11.0, 100.0);
        assert!(cut.ends_with('…') && width(&cut, 11.0) <= 100.0 && width(&cut, 11.0) > 85.0);
        assert_eq!(fit("short", 11.0, 100.0), "short");
    }

    #[test]
    fn a_long_name_keeps_both_ends() {
        let cut = |k: u32| fit_ends(&format!("a long name of an arm, number {k}"), 11.0, 140.0);
        assert!(cut(7).starts_with("a long") && cut(7).ends_with("number 7") && cut(7) != cut(8));
        assert!(width(&cut(7), 11.0) <= 140.0 && width(&cut(7), 11.0) > 110.0);
        assert_eq!(fit_ends("short", 11.0, 100.0), "short");
    }

    #[test]
    fn wrapped_lines_fit_and_lose_nothing_while_there_is_room() {
        let text = "each rate is the share of 10,000 runs that ended with a wrong verdict";
        let lines = wrap(text, 10.0, 150.0, 9);
        assert!(lines.len() > 1 && lines.iter().all(|line| width(line, 10.0) <= 150.0));
        assert_eq!(lines.join(" "), text);
        let cut = wrap(text, 10.0, 150.0, 2);
        assert!(cut.len() == 2 && cut[1].ends_with('…') && width(&cut[1], 10.0) <= 150.0);
        assert!(wrap("  ", 10.0, 150.0, 2).is_empty());
    }

    fn written(label: &Label) -> String {
        label.base.clone() + &label.exponent_text().map_or(String::new(), |e| format!("^{e}"))
    }

    #[test]
    fn rates_are_decimals_until_they_are_small() {
        assert_eq!(written(&Label::scientific(5, -2)), "0.05");
        assert_eq!(written(&Label::scientific(1, 0)), "1");
        assert_eq!(written(&Label::scientific(1, -4)), "10^−4");
        assert_eq!(written(&Label::scientific(2, -6)), "2×10^−6");
        assert_eq!(written(&Label::fixed(0.8, 2)), "0.80");
    }

    #[test]
    fn budgets_stay_exact() {
        assert_eq!(written(&Label::budget(0.0)), "0");
        assert_eq!(written(&Label::budget(-0.0)), "0");
        assert_eq!(written(&Label::budget(40.0)), "40");
        assert_eq!(written(&Label::budget(12_345.0)), "12345");
        assert_eq!(written(&Label::budget(1e6)), "10^6");
        assert_eq!(written(&Label::budget(250_000.0)), "2.5×10^5");
        assert_eq!(written(&Label::budget(123_456.0)), "123456");
        assert_eq!(written(&Label::budget(0.5)), "0.5");
    }

    #[test]
    fn measured_values_have_true_signs_and_powers() {
        assert_eq!(written(&Label::fixed(-0.5, 1)), "−0.5");
        assert_eq!(written(&Label::power(-2.5e8, 1)), "−2.5×10^8");
        assert_eq!(written(&Label::power(1e-7, 0)), "10^−7");
        assert_eq!(written(&Label::power(0.0, 3)), "0");
    }

    #[test]
    fn whole_numbers_are_grouped() {
        let cases = [(0.0, "0"), (999.0, "999"), (1000.0, "1,000"), (123_456.0, "123,456"), (2e9, "2×10^9")];
        for (value, expected) in cases {
            assert_eq!(written(&Label::whole(value)), expected);
        }
    }

    #[test]
    fn values_in_a_sentence_are_short() {
        let cases = [(0.1 + 0.2, "0.3"), (-3.0, "−3"), (1500.0, "1500"), (-0.0, "0"), (1.5e9, "1.5e9"), (2e-9, "2e−9")];
        for (value, expected) in cases {
            assert_eq!(short(value), expected);
        }
        assert_eq!(short(123_456.0), "123456");
        assert_eq!((grouped(999_999_999.0), grouped(2.5e9)), ("999,999,999".into(), "2.5e9".into()));
    }
}
