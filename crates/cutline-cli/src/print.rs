//! Output on stdout: tables, JSON and CSV; and messages on stderr.

use crate::failure::Failure;
use comfy_table::{CellAlignment, Table, presets};
use cutline::shown;
use cutline_data::spreadsheet;
use std::borrow::Cow;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether text in CSV is written as it is, for programs, and not so that a spreadsheet takes it for text.
static IS_PLAIN: AtomicBool = AtomicBool::new(false);

/// Writes text in CSV as it is from here on.
pub(crate) fn set_plain(is_plain: bool) {
    IS_PLAIN.store(is_plain, Ordering::Relaxed);
}

/// A field of CSV that may hold text of users.
pub(crate) fn csv_field(text: &str) -> Cow<'_, str> {
    if IS_PLAIN.load(Ordering::Relaxed) { text.into() } else { spreadsheet::quoted(text) }
}

/// Writes a record of CSV whose fields may hold text of users.
pub(crate) fn csv_record<S: AsRef<str>>(
    writer: &mut csv::Writer<impl Write>,
    fields: impl IntoIterator<Item = S>,
) -> std::io::Result<()> {
    for field in fields {
        writer.write_field(csv_field(field.as_ref()).as_bytes())?;
    }
    Ok(writer.write_record(None::<&[u8]>)?)
}

/// Prints a message on stderr. If that fails, there is nowhere to report it.
pub(crate) fn note(message: &str) {
    drop(writeln!(std::io::stderr(), "{}", shown(message)));
}

pub(crate) fn json(out: &mut impl Write, value: &impl serde::Serialize) -> Result<(), Failure> {
    serde_json::to_writer_pretty(&mut *out, value).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(())
}

/// A table whose columns are right-aligned, except for the first.
pub(crate) fn table<S: ToString>(header: &[S]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(header.iter().map(ToString::to_string));
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// The same table with these columns left-aligned.
pub(crate) fn left(mut table: Table, columns: &[usize]) -> Table {
    for &column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Left);
        }
    }
    table
}

/// A JSON array with one row per line.
pub(crate) fn json_rows<T: serde::Serialize>(
    out: &mut impl Write,
    rows: impl Iterator<Item = T>,
) -> Result<(), Failure> {
    let mut is_empty = true;
    for row in rows {
        out.write_all(if is_empty { b"[\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, &row).map_err(std::io::Error::from)?;
        is_empty = false;
    }
    out.write_all(if is_empty { b"[]\n" } else { b"\n]\n" })?;
    Ok(())
}

/// A name for a cell of a table: without line breaks and other control characters, and with hidden characters escaped.
pub(crate) fn cell(name: &str) -> String {
    shown(&name.replace(char::is_control, " ")).into_owned()
}

/// A text cut to a terminal of this many columns and lines, so that no line wraps and nothing scrolls away.
pub(crate) fn fitted(text: &str, columns: usize, lines: usize) -> String {
    let cut = |line: &str| {
        if line.chars().count() <= columns {
            return line.to_owned();
        }
        line.chars().take(columns.saturating_sub(1)).chain(['…']).collect()
    };
    text.lines().take(lines).map(|line| cut(line) + "\n").collect()
}

/// The first five of a list of names.
pub(crate) fn listed(names: &[String]) -> String {
    const MAX: usize = 5;
    let first: Vec<String> = names.iter().take(MAX).map(|name| format!("`{}`", cell(name))).collect();
    let more = if names.len() > MAX { ", …" } else { "" };
    format!("{}{more}", first.join(", "))
}

/// A word of a command line, quoted if a shell would change it.
pub(crate) fn shell(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:+,=@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_to_the_terminal() {
        assert_eq!(fitted("abcdef\nσσσ\nlast\n", 4, 2), "abc…\nσσσ\n");
        assert_eq!(fitted("abcd\n", 4, 9), "abcd\n");
    }

    #[test]
    fn a_shell_reads_quoted_words_back() {
        for word in ["a.db", "a b", "", "it's", "$HOME", "-x", "ü/ö.db", "a\"b"] {
            let script = format!("printf %s {}", shell(word));
            let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), word);
        }
        assert_eq!(shell("/data/a-b_1.db"), "/data/a-b_1.db");
    }
}
