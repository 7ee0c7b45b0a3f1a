//! Names and numbers as they are shown to people. Characters that would not be seen, or would change how the rest is seen, are escaped.

use std::borrow::Cow;

/// Whether a character is invisible or changes the order or the lines of the text around it: direction marks and overrides, zero-width
/// characters, line and paragraph separators, fillers and tags. Control characters are not among them.
#[must_use]
pub fn is_hidden(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// The text with hidden characters written as `\u{202e}`.
///
/// ```
/// assert_eq!(cutline::shown("plain"), "plain");
/// assert_eq!(cutline::shown("gpj\u{202e}.exe"), "gpj\\u{202e}.exe");
/// ```
#[must_use]
pub fn shown(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return text.into();
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_hidden(character) { escaped.extend(character.escape_unicode()) } else { escaped.push(character) }
    }
    escaped.into()
}

/// The most characters of a name in a message.
const MAX_NAME: usize = 80;

/// A message in which names, which are in backticks or double quotes, are cut after 80 characters.
///
/// ```
/// let message = format!("there is no arm `{}`; give a row number", "x".repeat(1000));
/// assert_eq!(cutline::with_short_names(&message), format!("there is no arm `{}…`; give a row number", "x".repeat(80)));
/// ```
#[must_use]
pub fn with_short_names(message: &str) -> Cow<'_, str> {
    if message.chars().nth(MAX_NAME).is_none() {
        return message.into();
    }
    let mut cut = String::with_capacity(message.len());
    let mut rest = message;
    while let Some((before, quote)) = rest.find(['`', '"']).map(|at| (&rest[..=at], &rest[at..=at])) {
        cut.push_str(before);
        rest = &rest[before.len()..];
        let Some(end) = rest.find(quote) else { break };
        let name = &rest[..end];
        match name.char_indices().nth(MAX_NAME) {
            Some((at, _)) => cut.extend([&name[..at], "…"]),
            None => cut.push_str(name),
        }
        cut.push_str(quote);
        rest = &rest[end + 1..];
    }
    cut.push_str(rest);
    cut.into()
}

/// A whole number with commas.
///
/// ```
/// assert_eq!([999, 1000, 1_234_567].map(cutline::grouped), ["999", "1,000", "1,234,567"]);
/// ```
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number rounded to so many significant digits, without trailing zeros; very large and very small ones with an exponent.
///
/// ```
/// assert_eq!([0.0, 0.12345, -20.0, 1234.56, 1e-5].map(|x| cutline::rounded(x, 3)), ["0", "0.123", "-20", "1230", "1.00e-5"]);
/// ```
#[must_use]
pub fn rounded(number: f64, digits: usize) -> String {
    let scientific = format!("{number:.*e}", digits.saturating_sub(1));
    let rounded: f64 = scientific.parse().unwrap_or(number);
    if rounded == 0.0 || (1e-4..1e7).contains(&rounded.abs()) { rounded.to_string() } else { scientific }
}
