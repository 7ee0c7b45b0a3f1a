//! `cutline add STORE CANDIDATES` and `cutline predict STORE CANDIDATES`

use super::{note_all, open, source, unreadable};
use crate::args;
use crate::args::Format;
use crate::failure::Failure;
use crate::print::{cell, json_rows, left, note, table};
use crate::table::{Column, Table};
use cutline::{Basis, Side, SpecError, Verdict};
use cutline_campaign::{Description, Encoding, TermsError};
use cutline_data::dataset;
use cutline_data::dataset::{Loaded, ReadOptions};
use cutline_report::{short, words};
use cutline_store::StoreError;
use serde::Serialize;
use std::collections::HashSet;
use std::io::Write;
use std::path::Path;

pub(crate) fn add(args: &args::Add) -> Result<(), Failure> {
    let mut campaign = open(&args.address)?;
    let description = campaign.description()?;
    let options = ReadOptions { cost: description.settings.cost.clone(), ..later_options(&args.reading)? };
    let more = later(description, &args.candidates, &options)?;
    if is_named(description) && !more.has_names {
        return Err(Failure::Usage(format!(
            "{}: there is no column `name`, and the candidates of the campaign have names; say with `--id` which column has them",
            args.candidates.display()
        )));
    }
    let more = more.candidates;
    let n_new = campaign.add(&more).map_err(|error| match error {
        StoreError::Terms(TermsError::Spec(SpecError::Learner(error))) => Failure::BudgetForAll(error),
        error => error.into(),
    })?;
    let n_known = more.n_arms() - n_new;
    let known = if n_known == 0 { String::new() } else { format!(", {n_known} known already") };
    let mut verdicts = campaign.verdicts()?;
    let n_arms = verdicts.len();
    let verdicts = verdicts.split_off(n_arms - n_new);
    let count = |side: Side| verdicts.iter().filter(|verdict| verdict.side == side).count();
    let sides: Vec<String> = Side::ALL.iter().map(|&side| format!("{} {}", count(side), side.name())).collect();
    let sides = if n_new == 0 { String::new() } else { format!(": {}", sides.join(", ")) };
    let noun = if n_new == 1 { "candidate" } else { "candidates" };
    note(&format!("{n_new} {noun} added{known}{sides}; {n_arms} candidates in all"));
    Ok(())
}

pub(crate) fn predict(args: &args::Predict) -> Result<(), Failure> {
    let mut campaign = open(&args.address)?;
    let description = campaign.description()?;
    let others = later(description, &args.candidates, &later_options(&args.reading)?)?.candidates;
    let known: HashSet<&String> = description.names.iter().collect();
    let n_known = others.names().iter().filter(|name| known.contains(name)).count();
    if n_known > 0 {
        let (are, their) = if n_known == 1 { ("is", "its") } else { ("are", "their") };
        note(&format!(
            "{n_known} of them {are} in the campaign; what is predicted follows from the features, without {their} own rewards, which are in \
             the verdicts of `cutline export --verdicts`"
        ));
    }
    let verdicts = campaign.predict(&others)?;
    print(others.names(), &verdicts, args.format)
}

/// How the candidates of a campaign that has begun are read: its columns are known.
fn later_options(reading: &args::Reading) -> Result<ReadOptions, Failure> {
    let options = reading.options();
    let given = [
        (options.features.is_some(), "features"),
        (!options.categories.is_empty(), "category"),
        (options.fills_missing, "missing"),
    ];
    match given.iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) => {
            Err(Failure::Usage(format!("the columns are read as when the campaign began; leave out `--{option}`")))
        }
        None => Ok(options),
    }
}

/// Whether the candidates of a campaign were given names, and not numbers from 0.
fn is_named(campaign: &Description) -> bool {
    campaign.names.iter().enumerate().any(|(number, name)| *name != number.to_string())
}

/// The candidates of a file, with the columns of a campaign that has begun; those without names are numbered on.
fn later(campaign: &Description, path: &Path, options: &ReadOptions) -> Result<Loaded, Failure> {
    let plain = || Encoding::numbers(&campaign.columns);
    let encoding = campaign.settings.encoding.clone().unwrap_or_else(plain);
    let mut loaded = dataset::load_encoded(&source(path)?, &encoding, options).map_err(unreadable(path))?;
    note_all(&loaded);
    if loaded.has_names {
        return Ok(loaded);
    }
    let first = campaign.names.len();
    let names = (first..first + loaded.candidates.n_arms()).map(|number| number.to_string()).collect();
    loaded.candidates = loaded.candidates.renamed(names).map_err(StoreError::from)?;
    Ok(loaded)
}

/// A verdict as a JSON object.
#[derive(Serialize)]
struct Row<'a> {
    arm: &'a str,
    side: &'static str,
    basis: Option<&'static str>,
    at_threshold: bool,
    mean: f64,
    lower: Option<f64>,
    upper: Option<f64>,
    doubt: f64,
    probability_above: f64,
}

fn print(names: &[String], verdicts: &[Verdict], format: Format) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let number = |of: fn(&Verdict) -> f64| Column::Number(verdicts.iter().map(|v| Some(of(v))).collect());
    match format {
        Format::Json => json_rows(
            &mut out,
            names.iter().zip(verdicts).map(|(name, verdict)| Row {
                arm: name,
                side: verdict.side.name(),
                basis: verdict.basis.map(Basis::name),
                at_threshold: verdict.is_at_threshold(),
                mean: verdict.mean,
                lower: Some(verdict.lower).filter(|end| end.is_finite()),
                upper: Some(verdict.upper).filter(|end| end.is_finite()),
                doubt: verdict.doubt,
                probability_above: verdict.probability_above(),
            }),
        )?,
        Format::Csv => Table::default()
            .with("arm", Column::Text(names.iter().cloned().map(Some).collect()))
            .with("side", Column::Text(verdicts.iter().map(|v| Some(v.side.name().into())).collect()))
            .with("mean", number(|v| v.mean))
            .with("lower", number(|v| v.lower))
            .with("upper", number(|v| v.upper))
            .with("doubt", number(|v| v.doubt))
            .with("at_threshold", Column::Whole(verdicts.iter().map(|v| Some(v.is_at_threshold().into())).collect()))
            .with("basis", Column::Text(verdicts.iter().map(|v| v.basis.map(|basis| basis.name().into())).collect()))
            .with("probability_above", number(Verdict::probability_above))
            .write_csv(&mut out)?,
        Format::Table => {
            let mut rows = left(table(&["candidate", "verdict", "mean", "interval", "doubt"]), &[1]);
            for (name, verdict) in names.iter().zip(verdicts) {
                let interval = format!("{} to {}", short(verdict.lower), short(verdict.upper));
                rows.add_row([
                    cell(name),
                    words::verdict(verdict),
                    short(verdict.mean),
                    interval,
                    short(verdict.doubt),
                ]);
            }
            writeln!(out, "{rows}")?;
        }
    }
    out.flush()?;
    Ok(())
}
