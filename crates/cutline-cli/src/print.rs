//! Output on stdout: tables, JSON and CSV; and messages on stderr.

use crate::args::Format;
use crate::compare::Outcome;
use crate::failure::Failure;
use crate::stopping;
use comfy_table::{CellAlignment, Table, presets};
use cutline_lab::{PublishedResult, Row};
use std::io::Write;

/// Prints the results of experiments in a format: tables with the published numbers and the `summary` below them, or JSON or CSV,
/// with the published numbers if `with_published`.
pub(crate) fn outcomes(
    outcomes: &[Outcome],
    format: Format,
    with_published: bool,
    summary: &[String],
) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let compared = || outcomes.iter().flat_map(Outcome::compared);
    match format {
        Format::Table => {
            for outcome in outcomes {
                writeln!(out, "\n{}", heading(outcome))?;
                writeln!(out, "{}", outcome_table(outcome))?;
                if stopping::is_in(outcome) {
                    writeln!(out, "{}\n{}", stopping::HEADING, stopping::table(outcome))?;
                }
                for line in outcome.theory() {
                    writeln!(out, "{line}")?;
                }
            }
            for line in summary {
                writeln!(out, "\n{line}")?;
            }
        }
        Format::Json if with_published => json(&mut out, &compared().collect::<Vec<_>>())?,
        Format::Json => json(&mut out, &outcomes.iter().flat_map(|outcome| &outcome.rows).collect::<Vec<_>>())?,
        Format::Csv => out.write_all(&csv(outcomes, with_published))?,
    }
    out.flush()?;
    Ok(())
}

/// Prints a message on stderr. If that fails, there is nowhere to report it.
pub(crate) fn note(message: &str) {
    drop(writeln!(std::io::stderr(), "{message}"));
}

pub(crate) fn json(out: &mut impl Write, value: &impl serde::Serialize) -> Result<(), Failure> {
    serde_json::to_writer_pretty(&mut *out, value).map_err(std::io::Error::from)?;
    writeln!(out)?;
    Ok(())
}

/// A description of the experiment in one line.
pub(crate) fn heading(outcome: &Outcome) -> String {
    let experiment = &outcome.experiment;
    let instance = match experiment.source().fixed() {
        None => "instances redrawn in every run",
        Some(_) if experiment.source().published_stream().is_some() => "the published instance",
        Some(_) => "one instance",
    };
    format!("{}: {} runs, seed {}, {instance}", experiment.name(), experiment.runs(), experiment.seed())
}

fn outcome_table(outcome: &Outcome) -> Table {
    let baseline = outcome.experiment.baseline().map(|position| outcome.experiment.entrants()[position].label());
    let has_published = !outcome.experiment.published().is_empty();
    let mut header: Vec<String> =
        ["algorithm", "T", "failure rate", "95 % interval", "wrong arms"].map(String::from).into();
    header.extend(baseline.map(|baseline| format!("Δ vs {baseline}")));
    if has_published {
        header.extend(["published as", "published", "z"].map(String::from));
    }
    let mut table = table(&header);
    for compared in outcome.compared() {
        let row = &compared.row;
        let mut cells = vec![
            row.algorithm.clone(),
            row.budget.to_string(),
            format!("{:.4}", row.failure_rate),
            format!("{:.4} – {:.4}", row.low, row.high),
            format!("{:.3}", row.mean_errors),
        ];
        if baseline.is_some() {
            cells.push(difference(row));
        }
        if has_published {
            cells.extend(published(&compared));
        }
        table.add_row(cells);
    }
    table
}

/// The difference to the baseline, with its interval.
pub(crate) fn difference(row: &Row) -> String {
    match &row.comparison {
        Some(c) if c.baseline == row.algorithm => "baseline".into(),
        Some(c) => format!("{:+.4} ({:+.4} – {:+.4})", c.difference, c.difference_low, c.difference_high),
        None => String::new(),
    }
}

fn published(compared: &PublishedResult) -> [String; 3] {
    match &compared.published {
        Some(cell) => {
            let mark = if cell.is_within() { "" } else { " out of band" };
            [cell.curve.clone(), format!("{:.4}", cell.published), format!("{:+.2}{mark}", cell.z)]
        }
        None => [const { String::new() }; 3],
    }
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

/// The rows as CSV, with the published numbers if `with_published`.
pub(crate) fn csv(outcomes: &[Outcome], with_published: bool) -> Vec<u8> {
    let mut header = vec![
        "experiment",
        "algorithm",
        "budget",
        "runs",
        "failures",
        "failure_rate",
        "low",
        "high",
        "mean_errors",
        "baseline",
        "difference",
        "difference_low",
        "difference_high",
    ];
    let with_stopping = outcomes.iter().any(stopping::is_in);
    if with_stopping {
        header.extend(stopping::COLUMNS);
    }
    if with_published {
        header.extend(["curve", "published", "z"]);
    }
    let fields = |row: &Row| {
        let mut fields = fields(row);
        if with_stopping {
            fields.extend(stopping::fields(row));
        }
        fields
    };
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut write = |record: &[String]| writer.write_record(record).expect("writing to memory does not fail");
    write(&header.iter().map(ToString::to_string).collect::<Vec<_>>());
    for outcome in outcomes {
        if with_published {
            for compared in outcome.compared() {
                let mut record = fields(&compared.row);
                record.extend(match compared.published {
                    Some(cell) => [cell.curve, cell.published.to_string(), cell.z.to_string()],
                    None => [const { String::new() }; 3],
                });
                write(&record);
            }
        } else {
            outcome.rows.iter().for_each(|row| write(&fields(row)));
        }
    }
    writer.into_inner().expect("writing to memory does not fail")
}

fn fields(row: &Row) -> Vec<String> {
    let mut fields = vec![
        row.experiment.clone(),
        row.algorithm.clone(),
        row.budget.to_string(),
        row.runs.to_string(),
        row.failures.to_string(),
        row.failure_rate.to_string(),
        row.low.to_string(),
        row.high.to_string(),
        row.mean_errors.to_string(),
    ];
    fields.extend(match &row.comparison {
        Some(c) => {
            [c.baseline.clone(), c.difference.to_string(), c.difference_low.to_string(), c.difference_high.to_string()]
        }
        None => [const { String::new() }; 4],
    });
    fields
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

/// A name for a cell of a table: without line breaks and other control characters.
pub(crate) fn cell(name: &str) -> String {
    name.replace(char::is_control, " ")
}

/// The first five of a list of names.
pub(crate) fn listed(names: &[String]) -> String {
    const MOST: usize = 5;
    let first: Vec<String> = names.iter().take(MOST).map(|name| format!("`{}`", cell(name))).collect();
    let more = if names.len() > MOST { ", …" } else { "" };
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

/// A number with four significant digits.
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
    fn numbers_have_four_significant_digits() {
        let numbers = [0.0, 1.0, -0.99996, 0.05, 1234.56, 999_999.0, 1e6, 0.00012346, 9.99996e-5, 5.92e-36];
        let expected =
            ["0", "1.000", "-1.000", "0.05000", "1235", "1.000e6", "1.000e6", "0.0001235", "0.0001000", "5.920e-36"];
        assert_eq!(numbers.map(short), expected);
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
