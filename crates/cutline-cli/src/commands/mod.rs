//! One function per command.

mod add;
mod algorithms;
mod amend;
mod ask;
mod check;
mod diagnose;
mod exact;
mod export;
mod list;
mod manage;
mod manual;
mod mcp;
mod new;
mod plan;
mod report;
mod reproduce;
#[cfg(unix)]
mod run;
mod serve;
mod set;
mod show;
mod simulate;
mod status;
mod status_text;
mod tell;
mod token;
mod withdraw;

pub(crate) use add::{add, predict};
pub(crate) use algorithms::algorithms;
pub(crate) use amend::amend;
pub(crate) use ask::ask;
pub(crate) use check::check;
pub(crate) use diagnose::diagnose;
pub(crate) use export::export;
pub(crate) use list::list;
pub(crate) use manage::{copy, delete, rename};
pub(crate) use manual::{completions, man};
pub(crate) use mcp::mcp;
pub(crate) use new::new;
pub(crate) use plan::plan;
pub(crate) use report::report;
pub(crate) use reproduce::reproduce;
#[cfg(unix)]
pub(crate) use run::{run, watchdog};
pub(crate) use serve::serve;
pub(crate) use set::{extend, set};
pub(crate) use show::show;
pub(crate) use simulate::simulate;
pub(crate) use status::status;
pub(crate) use tell::tell;
pub(crate) use token::token;
pub(crate) use withdraw::{restore, withdraw};

use crate::args::{CampaignAddress, Simulation, TokenFile};
use crate::failure::{Failure, note_hint};
use crate::output::{Inputs, Output, is_database};
use crate::print::{cell, note, shell};
use crate::results::Outcome;
use crate::threads::Pool;
use crate::{interrupt, progress, results, simulation_report as simulation};
use cutline_campaign::{AnyCampaign, CampaignHost, Candidates};
use cutline_data::dataset::{DatasetError, Loaded, ReadOptions, Source};
use cutline_data::rewards::RewardsError;
use cutline_data::{dataset, input};
use cutline_lab::figures::failure_figure;
use cutline_lab::{Experiment, SimulateOptions, Tally};
use cutline_store::{Interrupt, OpenOptions, Store, StoreError};
use indicatif::ProgressBar;
use std::collections::HashSet;
use std::path::Path;

/// Reads a CSV file, or stdin if it is `-`; `hint` is added to the error if it cannot be opened.
fn read<T>(
    path: &Path,
    hint: &'static str,
    parse: impl FnOnce(&[u8]) -> Result<T, RewardsError>,
) -> Result<T, Failure> {
    let bytes = if path == Path::new("-") { input::read_stdin() } else { input::read(path) };
    let bytes = bytes.map_err(|error| Failure::Read { path: path.into(), error, hint })?;
    parsed(path, parse(&bytes))
}

/// The content of a file, with its path in the error.
fn parsed<T>(path: &Path, found: Result<T, RewardsError>) -> Result<T, Failure> {
    found.map_err(|error| Failure::Csv { path: path.into(), error })
}

/// The candidates of a file, or of stdin if it is `-`. What their owner should know is noted on stderr.
fn candidates(path: &Path, options: &ReadOptions) -> Result<Loaded, Failure> {
    let loaded = dataset::load(&source(path)?, options).map_err(unreadable(path))?;
    note_all(&loaded);
    Ok(loaded)
}

/// The candidates of a file, and their labels, which may repeat or be missing.
fn labelled(path: &Path, options: &ReadOptions) -> Result<(Candidates, Vec<String>), Failure> {
    let (loaded, labels) = dataset::load_with_labels(&source(path)?, options).map_err(unreadable(path))?;
    note_all(&loaded);
    Ok((loaded.candidates, labels))
}

/// The file at a path, or stdin if it is `-`.
fn source(path: &Path) -> Result<Source, Failure> {
    Source::new(path).map_err(|error| unreadable(path)(error.into()))
}

fn note_all(loaded: &Loaded) {
    for read in &loaded.notes {
        let hint = note_hint(read).map_or_else(String::new, |hint| format!("; {hint}"));
        note(&format!("note: {}{hint}", read.to_string().replace(char::is_control, " ")));
    }
}

/// Whether an argument that may name a file of candidates or a store names a store: a URL, a server, or a database of SQLite.
fn is_store(source: &str) -> bool {
    source.contains("://") || Store::is_remote(source) || is_database(source.as_ref())
}

/// The arguments that name a campaign on a command line, without a password.
fn reference(store: &str, name: Option<&str>) -> String {
    if let Some(address) = name.and_then(|name| Store::address_on_server(store, name)) {
        return shell(&address);
    }
    let store = if Store::redacted(store).is_some() { "STORE".into() } else { shell(store) };
    match name {
        Some(name) => format!("{store} --name {}", shell(name)),
        None => store,
    }
}

/// Refuses options that the campaign in a store decides.
fn refuse_options(given: &[String], allowed: &[&str]) -> Result<(), Failure> {
    match given.iter().find(|option| !allowed.contains(&option.as_str())) {
        None => Ok(()),
        Some(option) => Err(Failure::Usage(format!(
            "`--{}` is for candidates in a file; on a STORE the settings and the rewards are those of the campaign: leave it out",
            option.replace('_', "-")
        ))),
    }
}

/// Why the candidates of a file could not be read.
fn unreadable(path: &Path) -> impl Fn(DatasetError) -> Failure {
    |error| match error {
        DatasetError::Read(error) => Failure::Read { path: path.into(), error, hint: "" },
        error => refused(path)(error),
    }
}

/// Adds the path of the file to an error about its candidates.
fn refused(path: &Path) -> impl Fn(DatasetError) -> Failure {
    |error| Failure::Csv { path: path.into(), error: error.into() }
}

/// The campaign that the command line names.
fn open(address: &CampaignAddress) -> Result<Box<dyn AnyCampaign>, Failure> {
    open_named(&address.store, address.name.as_deref(), &address.token)
}

/// The campaign with this name in a store or on a server or, without a name, the only one.
fn open_named(store: &str, name: Option<&str>, token: &TokenFile) -> Result<Box<dyn AnyCampaign>, Failure> {
    let token = token_of(token)?;
    Ok(OpenOptions::new().token(token.as_deref()).host(store)?.campaign(name)?)
}

/// As [`open`], with this token; the interrupt can shorten its waits.
fn open_with(
    address: &CampaignAddress,
    token: Option<&str>,
    interrupt: &Interrupt,
) -> Result<Box<dyn AnyCampaign>, StoreError> {
    OpenOptions::new().interrupt(interrupt).token(token).host(&address.store)?.campaign(address.name.as_deref())
}

/// The campaign with this number, which was opened before: it may have another name by now, and another campaign its name.
fn reopen_with(
    address: &CampaignAddress,
    token: Option<&str>,
    interrupt: &Interrupt,
    id: i64,
) -> Result<Box<dyn AnyCampaign>, StoreError> {
    OpenOptions::new().interrupt(interrupt).token(token).host(&address.store)?.campaign_by_id(id)
}

/// The campaigns at the address that the command line names; waits for them end with an interruption.
fn open_host(address: &CampaignAddress) -> Result<Box<dyn CampaignHost>, Failure> {
    let token = token_of(&address.token)?;
    Ok(OpenOptions::new().interrupt(interrupt::waits()).token(token.as_deref()).host(&address.store)?)
}

/// The token in the file that the command line names.
fn token_of(TokenFile { token_file }: &TokenFile) -> Result<Option<String>, Failure> {
    let Some(path) = token_file else { return Ok(None) };
    let read = std::fs::read_to_string(path);
    read.map(Some).map_err(|error| Failure::Read { path: path.clone(), error, hint: "" })
}

/// The directory for the results of experiments of these names.
fn output(args: &Simulation, names: &[&str], inputs: Inputs) -> Result<Output, Failure> {
    let figures = file_names(names).into_iter().flat_map(|name| [format!("{name}.svg"), format!("{name}.png")]);
    let files: Vec<String> = figures.chain(["results.csv", "report.html"].map(String::from)).collect();
    Output::new(&args.out, &files, inputs)
}

/// Runs experiments one after another, each on all threads.
fn play(experiments: Vec<Experiment>, pool: &Pool) -> Result<Vec<Outcome>, Failure> {
    let bar = progress::bar(experiments.iter().map(pulls).fold(0, u64::saturating_add));
    let mut outcomes = Vec::new();
    for experiment in experiments {
        let tally = tally(&experiment, pool, &bar)?;
        outcomes.push(Outcome::new(experiment, &tally));
    }
    bar.finish_and_clear();
    Ok(outcomes)
}

/// Plays all runs of an experiment on all threads.
fn tally(experiment: &Experiment, pool: &Pool, bar: &ProgressBar) -> Result<Tally, Failure> {
    bar.set_message(cell(experiment.name()));
    let pulls_per_run = experiment.pulls_per_run();
    let watch = |runs: u64| bar.inc(runs * pulls_per_run);
    let options = SimulateOptions { watch: &watch, ..SimulateOptions::default() };
    Ok(pool.install(|| cutline_lab::simulate(experiment, 0..experiment.runs(), options))?.tally)
}

/// The pulls of all runs.
fn pulls(experiment: &Experiment) -> u64 {
    experiment.runs().saturating_mul(experiment.pulls_per_run())
}

/// Writes the report, the figures and the table.
fn write(outcomes: &[Outcome], output: &Output, summary: &[String]) -> Result<(), Failure> {
    let mut files = Vec::new();
    let mut drawings = Vec::new();
    let names: Vec<&str> = outcomes.iter().map(|outcome| outcome.experiment.name()).collect();
    for (outcome, name) in outcomes.iter().zip(file_names(&names)) {
        let svg = failure_figure(&outcome.experiment, &outcome.rows).to_svg();
        files.extend(pictures(&name, &svg)?);
        drawings.push(svg);
    }
    files.push(("results.csv".into(), results::csv(outcomes, true)));
    files.push(("report.html".into(), simulation::page(outcomes, &drawings, summary)?.into_bytes()));
    output.write(&files)
}

/// A drawing as SVG and PNG, in files of that name.
fn pictures(name: &str, svg: &str) -> Result<[(String, Vec<u8>); 2], Failure> {
    let png = cutline_figure::png(svg, 2.0).map_err(|error| Failure::Figure { name: name.into(), error })?;
    Ok([(format!("{name}.svg"), svg.as_bytes().to_vec()), (format!("{name}.png"), png)])
}

/// The file names of experiments. They differ, on file systems that ignore case too.
pub(crate) fn file_names(names: &[&str]) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut unused = |name: &&str| {
        let first = file_name(name);
        let numbered = (2..).map(|number| format!("{first}-{number}"));
        let mut candidates = std::iter::once(first.clone()).chain(numbered);
        candidates.find(|name| taken.insert(name.to_lowercase())).unwrap_or_default()
    };
    names.iter().map(&mut unused).collect()
}

/// A file name that is valid on any file system.
pub(crate) fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let mut name: String = name.chars().map(plain).collect();
    name.truncate(name.floor_char_boundary(200));
    if name.trim_matches('.').is_empty() { "experiment".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::{file_name, file_names, reference};

    #[test]
    fn file_names_differ() {
        let names = ["a b", "a-b", "A-b", "a-b-2", "c"];
        assert_eq!(file_names(&names), ["a-b", "a-b-2", "A-b-3", "a-b-2-2", "c"]);
    }

    #[test]
    fn a_reference_is_quoted_and_has_no_password() {
        assert_eq!(reference("a b.db", None), "'a b.db'");
        assert_eq!(reference("postgresql://me@h/db", Some("x y")), "postgresql://me@h/db --name 'x y'");
        assert_eq!(reference("http://h:80/", Some("x y")), "'http://h:80/v1/campaigns/x%20y'");
        for address in ["postgresql://me:SECRET@h:5432/db", "postgresql://h?password=SECRET", "host=h password=SECRET"]
        {
            assert_eq!(reference(address, None), "STORE");
        }
    }

    #[test]
    fn names_become_file_names() {
        assert_eq!(file_name("uniform-d5"), "uniform-d5");
        assert_eq!(file_name("../../etc/passwd x"), "..-..-etc-passwd-x");
        assert_eq!(file_name(".."), "experiment");
        assert_eq!(file_name(""), "experiment");
        assert_eq!(file_name(&"𝒳".repeat(200)), "𝒳".repeat(50), "file systems count bytes");
    }
}
