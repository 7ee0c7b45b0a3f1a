//! Text in CSV files that people open in a spreadsheet.
//!
//! A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a formula, which may call other programs, and it skips white space
//! before it. Such text gets an apostrophe in front, as OWASP recommends ("CSV injection"); text that begins with apostrophes and would be
//! such text without them gets one more, so that [`unquoted`] gives back what [`quoted`] was given. Numbers are left alone.

use std::borrow::Cow;

/// Whether a spreadsheet may take text that begins with this character for a formula.
fn begins_formula(first: char) -> bool {
    matches!(first, '=' | '+' | '-' | '@' | '\t' | '\r' | '\n' | '＝' | '＋' | '－' | '＠')
}

/// Whether text would begin a formula without the apostrophes in front of it.
fn is_formula(text: &str) -> bool {
    text.trim_start_matches('\'').starts_with(begins_formula)
}

/// The text as a cell that is no formula.
#[must_use]
pub fn quoted(text: &str) -> Cow<'_, str> {
    let is_number = || text.parse::<f64>().is_ok_and(f64::is_finite);
    if is_formula(text) && !is_number() { format!("'{text}").into() } else { text.into() }
}

/// The text of a cell that [`quoted`] may have written.
#[must_use]
pub fn unquoted(cell: &str) -> &str {
    if is_formula(cell) { cell.strip_prefix('\'').unwrap_or(cell) } else { cell }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_become_text_and_come_back() {
        for (text, cell) in [
            ("=1+1", "'=1+1"),
            ("+cmd", "'+cmd"),
            ("-e", "'-e"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("\r=1", "'\r=1"),
            ("＝1", "'＝1"),
            ("'=1", "''=1"),
            ("''=1", "'''=1"),
            ("-2+3+cmd|' /C calc'!A0", "'-2+3+cmd|' /C calc'!A0"),
        ] {
            assert_eq!(quoted(text), cell);
            assert_eq!(unquoted(cell), text);
        }
        for text in ["", "a", "a=b", "'tis", "'", "''", "-5", "+1.5e3", "1", "ü", " =1", "'a"] {
            assert_eq!((quoted(text).as_ref(), unquoted(text)), (text, text));
        }
        assert_eq!([quoted("-inf"), quoted("+nan"), quoted("'-5")], ["'-inf", "'+nan", "''-5"]);
    }
}
