//! What stdout gets: tables for people, JSON and CSV for programs.

use crate::failure::Failure;
use comfy_table::{CellAlignment, Table, presets};
use std::io::Write;

/// Says something on stderr. If nobody can hear it, there is nobody to tell that either.
pub(crate) fn note(message: &str) {
    drop(writeln!(std::io::stderr(), "{message}"));
}

pub(crate) fn json(out: &mut impl Write, value: &impl serde::Serialize) -> Result<(), Failure> {
    serde_json::to_writer_pretty(&mut *out, value).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(())
}

/// A table whose columns but the first are right-aligned.
pub(crate) fn table<S: ToString>(header: &[S]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(header.iter().map(ToString::to_string));
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// The same table with these columns left-aligned, as text is.
pub(crate) fn left(mut table: Table, columns: &[usize]) -> Table {
    for &column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Left);
        }
    }
    table
}

/// An array of JSON with a row a line.
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

/// A name in a cell of a table, whatever it contains.
pub(crate) fn cell(name: &str) -> String {
    name.replace(char::is_control, " ")
}

/// The first of some names.
pub(crate) fn listed(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{}`", cell(name))).collect();
    let more = if names.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// A word of a command, quoted if a shell would read it otherwise.
pub(crate) fn shell(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:+,=@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Four significant digits.
pub(crate) fn short(number: f64) -> String {
    let scientific = format!("{number:.3e}");
    let exponent = scientific.rsplit('e').next().and_then(|exponent| exponent.parse::<i32>().ok());
    match exponent {
        _ if number == 0.0 => "0".into(),
        Some(exponent @ -4..=5) => format!("{number:.*}", usize::try_from(3 - exponent).unwrap_or(0)),
        _ => scientific,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let numbers = [0.0, 1.0, -0.99996, 0.05, 1234.56, 999_999.0, 1e6, 0.00012346, 9.99996e-5, 5.92e-36];
        let expected =
            ["0", "1.000", "-1.000", "0.05000", "1235", "1.000e6", "1.000e6", "0.0001235", "0.0001000", "5.920e-36"];
        assert_eq!(numbers.map(short), expected);
    }

    #[test]
    fn words_survive_a_shell() {
        for word in ["a.db", "a b", "", "it's", "$HOME", "-x", "ü/ö.db", "a\"b"] {
            let script = format!("printf %s {}", shell(word));
            let output = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), word);
        }
        assert_eq!(shell("/data/a-b_1.db"), "/data/a-b_1.db");
    }
}
