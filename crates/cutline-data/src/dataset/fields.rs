//! Splits rows of CSV into fields: RFC 4180, with LF or CRLF.
//!
//! The separator is a comma unless another one is chosen. A field that begins with a quote ends with one, and may hold separators,
//! newlines and quotes written twice; what follows the closing quote up to the separator belongs to it, and any other quote is an ordinary character. Empty lines are skipped. The
//! crate `csv` does the same, and the tests compare the two.

use super::DatasetError;
use memchr::{memchr, memchr_iter, memchr2};
use std::borrow::Cow;

/// Iterates over the rows of a text, which must begin at the start of a row.
pub(crate) struct Rows<'a> {
    rest: &'a [u8],
    /// The line that `rest` begins on.
    line: u64,
    separator: u8,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(text: &'a [u8], line: u64) -> Self {
        Self { rest: text, line, separator: b',' }
    }

    /// The same rows with another separator.
    pub(crate) fn separated_by(self, separator: u8) -> Self {
        Self { separator, ..self }
    }

    /// The rest of the text, and the line it begins on.
    pub(crate) fn rest(&self) -> (&'a [u8], u64) {
        (self.rest, self.line)
    }

    /// Replaces `fields` by the fields of the next row; returns the line on which the row begins.
    pub(crate) fn next(&mut self, fields: &mut Vec<Cow<'a, [u8]>>) -> Option<u64> {
        fields.clear();
        loop {
            match self.rest {
                [] => return None,
                [b'\n', rest @ ..] | [b'\r', b'\n', rest @ ..] => self.rest = rest,
                _ => break,
            }
            self.line += 1;
        }
        let line = self.line;
        loop {
            let (field, end, newlines) = field(self.rest, self.separator);
            fields.push(field);
            self.line += newlines;
            let is_last = self.rest.get(end) != Some(&self.separator);
            self.rest = self.rest.get(end + 1..).unwrap_or_default();
            if is_last {
                self.line += 1;
                return Some(line);
            }
        }
    }
}

/// The first field of a text without its quotes, the position of the separator or newline after it, and the number of newlines in it.
fn field(text: &[u8], separator: u8) -> (Cow<'_, [u8]>, usize, u64) {
    if text.first() == Some(&b'"') {
        let mut field = Vec::new();
        let mut start = 1;
        loop {
            let close = memchr(b'"', &text[start..]).map_or(text.len(), |found| start + found);
            field.extend_from_slice(&text[start..close]);
            if text.get(close + 1) != Some(&b'"') {
                let after = (close + 1).min(text.len());
                let end = end_of_plain(text, after, separator);
                let newlines = memchr_iter(b'\n', &text[..after]).count() as u64;
                field.extend_from_slice(without_return(text, after, end));
                return (Cow::Owned(field), end, newlines);
            }
            field.push(b'"');
            start = close + 2;
        }
    }
    let end = end_of_plain(text, 0, separator);
    (Cow::Borrowed(without_return(text, 0, end)), end, 0)
}

fn end_of_plain(text: &[u8], start: usize, separator: u8) -> usize {
    memchr2(separator, b'\n', &text[start..]).map_or(text.len(), |found| start + found)
}

/// `text[start..end]` without the CR of a CRLF.
fn without_return(text: &[u8], start: usize, end: usize) -> &[u8] {
    let field = &text[start..end];
    if text.get(end) == Some(&b'\n') { field.strip_suffix(b"\r").unwrap_or(field) } else { field }
}

/// A field as text, trimmed.
pub(crate) fn text<'a>(field: &'a [u8], row: u64, column: &str) -> Result<&'a str, DatasetError> {
    let text = std::str::from_utf8(field).map_err(|_| DatasetError::NotUtf8 { row, column: column.into() })?;
    Ok(text.trim())
}

/// A field as a finite number, written with a point or with a comma.
pub(crate) fn number(field: &str, row: u64, column: &str, decimal_comma: bool) -> Result<f64, DatasetError> {
    finite(field, decimal_comma).ok_or_else(|| {
        let field = super::error::shortened(field);
        DatasetError::NotANumber { row, column: column.into(), field }
    })
}

/// The finite number that a field holds, written with a point or with a comma. With a decimal comma, a field with a point is not a
/// number: the point may separate thousands.
pub(super) fn finite(field: &str, decimal_comma: bool) -> Option<f64> {
    let number: Option<f64> = match (decimal_comma, field.contains(','), field.contains('.')) {
        (true, true, false) => field.replacen(',', ".", 1).parse().ok(),
        (true, _, true) => None,
        _ => field.parse().ok(),
    };
    number.filter(|number| number.is_finite())
}

/// The fields of a header as text.
pub(crate) fn header(fields: &[Cow<'_, [u8]>], row: u64) -> Result<Vec<String>, DatasetError> {
    let columns = fields.iter().zip(1..);
    columns.map(|(field, number): (_, usize)| Ok(text(field, row, &number.to_string())?.to_owned())).collect()
}
