//! `cutline algorithms`

use crate::args::{Algorithms, Format};
use crate::failure::Failure;
use crate::print::json;
use cutline::{ALGORITHMS, Algorithm};
use cutline_lab::{ORACLE, oracle_spec};
use serde::Serialize;
use std::io::Write;

/// The stop of every algorithm; campaigns and experiments can add a confidence stop.
const STOP: &str = "budget";

/// An algorithm as it is listed: an object of JSON.
#[derive(Serialize)]
struct AlgorithmEntry {
    name: &'static str,
    about: &'static str,
    rule: &'static str,
    estimator: &'static str,
    stop: &'static str,
    parameters: Vec<Parameter>,
    paper: &'static str,
}

#[derive(Serialize)]
struct Parameter {
    name: &'static str,
    about: &'static str,
    default: Option<f64>,
    range: String,
}

impl From<&Algorithm> for AlgorithmEntry {
    fn from(algorithm: &Algorithm) -> Self {
        let parameter = |p: &cutline::Parameter| Parameter {
            name: p.name,
            about: p.about,
            default: p.default,
            range: p.range.to_string(),
        };
        Self {
            name: algorithm.name,
            about: algorithm.about,
            rule: algorithm.rule,
            estimator: algorithm.estimator.name(),
            stop: STOP,
            parameters: algorithm.parameters().map(parameter).collect(),
            paper: algorithm.paper,
        }
    }
}

pub(crate) fn algorithms(args: &Algorithms) -> Result<(), Failure> {
    let mut listed: Vec<AlgorithmEntry> = ALGORITHMS.iter().map(AlgorithmEntry::from).collect();
    let (name, about, paper) = ORACLE;
    let custom = AlgorithmEntry::from(oracle_spec().algorithm());
    listed.push(AlgorithmEntry { name, about, rule: "tracking", paper, ..custom });
    let mut out = std::io::stdout().lock();
    match args.format {
        Format::Json => json(&mut out, &listed)?,
        Format::Csv => csv(&mut out, &listed)?,
        Format::Table => {
            for algorithm in &listed {
                describe(&mut out, algorithm)?;
            }
        }
    }
    out.flush()?;
    Ok(())
}

fn describe(out: &mut impl Write, algorithm: &AlgorithmEntry) -> Result<(), Failure> {
    let AlgorithmEntry { name, about, rule, estimator, stop, parameters, paper } = algorithm;
    writeln!(out, "{name}\n    {about}")?;
    writeln!(out, "    rule: {rule}, estimator: {estimator}, stop: {stop}")?;
    for Parameter { name, about, default, range } in parameters {
        let default = default.map_or("no default".into(), |default| format!("default {default}"));
        writeln!(out, "    `{name}`: {about}; a number {range}, {default}")?;
    }
    writeln!(out, "    {paper}\n")?;
    Ok(())
}

/// A column of CSV: its key and its field.
type CsvColumn = (&'static str, fn(&AlgorithmEntry) -> String);

const CSV_COLUMNS: [CsvColumn; 7] = [
    ("name", |entry| entry.name.into()),
    ("about", |entry| entry.about.into()),
    ("rule", |entry| entry.rule.into()),
    ("estimator", |entry| entry.estimator.into()),
    ("stop", |entry| entry.stop.into()),
    ("parameters", |entry| entry.parameters.iter().map(|parameter| parameter.name).collect::<Vec<_>>().join(" ")),
    ("paper", |entry| entry.paper.into()),
];

fn csv(out: &mut impl Write, listed: &[AlgorithmEntry]) -> Result<(), Failure> {
    let mut writer = csv::Writer::from_writer(out);
    let failed = |error: csv::Error| Failure::from(std::io::Error::from(error));
    writer.write_record(CSV_COLUMNS.map(|(key, _)| key)).map_err(failed)?;
    for entry in listed {
        writer.write_record(CSV_COLUMNS.map(|(_, field)| field(entry))).map_err(failed)?;
    }
    writer.flush()?;
    Ok(())
}
