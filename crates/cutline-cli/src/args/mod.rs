//! What can be said on the command line.

mod campaign;
mod duration;
mod new;
mod plan;
mod report;
#[cfg(unix)]
mod run;
mod simulation;

pub(crate) use campaign::{Ask, Export, FileFormat, Status, Tell, Which};
pub(crate) use duration::duration;
pub(crate) use new::New;
pub(crate) use plan::{Belief, Plan};
pub(crate) use report::Report;
#[cfg(unix)]
pub(crate) use run::Run;
pub(crate) use simulation::{Instances, Reproduce, Simulate, Simulation};

use clap::{Args, Parser, Subcommand, ValueEnum};
use cutline::Question;
use cutline_lab::{Noise, NoiseKind};
use std::path::PathBuf;

const NEW: &str = "\
Example:
  cutline new screen.db molecules.csv --threshold 0.5 --budget 400
  cutline ask screen.db -n 4
  cutline tell screen.db 1 0.71 2 0.34";

const ASK: &str = "\
Exit codes:
  0  tickets were printed, or there is nothing to measure
  1  it failed
  2  it was called wrongly
  3  with --exit-code: nothing any more; the budget is used or every side is sure
  4  with --exit-code: nothing for now; all that is left is out, ask again later";

const TELL: &str = "\
Examples:
  cutline tell screen.db 3 0.71 4 -0.2
  cutline tell screen.db --file rewards.csv
  cutline tell screen.db --fail 5 --reason 'sample lost'";

/// Finds which candidates clear the bar, on a budget of noisy measurements.
#[derive(Debug, Parser)]
#[command(name = "cutline", version, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run the LinearAPT paper's experiments and compare with its published numbers
    ///
    /// Prints a table for each experiment and writes `report.html`, `results.csv` and a figure each as SVG and PNG.
    Reproduce(Reproduce),
    /// Run an experiment from a TOML file
    ///
    /// Prints its results and writes `report.html`, `results.csv` and a figure as SVG and PNG. docs/experiments.md
    /// describes the file.
    Simulate(Simulate),
    /// Plan a budget before the first measurement: how many are needed on these features
    ///
    /// Plays campaigns on the features, with θ drawn from a prior in each, and names the smallest budget that meets the
    /// target. Prints what it expects and writes `report.html`, `results.csv` and a figure as SVG and PNG.
    /// docs/planning.md says how.
    Plan(Box<Plan>),
    /// Say whether rewards fit the linear model, and how large the noise is
    ///
    /// Compares replicates with the fit, for all arms together and for each, and ends with one sentence.
    /// docs/diagnostics.md says what each number means.
    Diagnose(Diagnose),
    /// Begin a campaign: real measurements of these candidates, on a budget
    ///
    /// Nothing is measured yet. `cutline ask` says what to measure next, `cutline tell` takes the rewards, and
    /// `cutline status` shows how far it is; any number of people and programs may do so at once, for days.
    #[command(after_help = NEW)]
    New(Box<New>),
    /// Say what to measure next, as tickets
    ///
    /// A ticket is one measurement of one arm: measure it and give its reward back with `cutline tell`. Rewards may come
    /// in any order, from several workers at once. When there is nothing to measure, it says why on stderr and prints no
    /// ticket; that is no failure, and the exit code is 0 unless `--exit-code` asks for another.
    #[command(after_help = ASK)]
    Ask(Ask),
    /// Give rewards for tickets, or give a ticket back
    ///
    /// All rewards are taken or none: if one is refused, the message says which and why. Telling the same reward again
    /// changes nothing, so whoever is not sure may repeat it; another reward for the same ticket is refused.
    #[command(after_help = TELL)]
    Tell(Tell),
    /// Measure: start a command for every ticket, until the budget is used or every side is sure
    ///
    /// The command prints the reward as its last line. It is told what to measure in its words, on stdin as JSON and in
    /// the environment. It may be killed and started again at any time, and others may work on the same campaign.
    /// docs/run.md says more.
    #[cfg(unix)]
    Run(Run),
    /// End what `run` has started when `run` itself is killed
    #[cfg(unix)]
    #[command(hide = true)]
    Guard,
    /// Show how far a campaign is: budget, tickets, verdicts, noise, pace
    Status(Status),
    /// Write a campaign's report: a page with the answer, the verdicts and how they came about
    ///
    /// Prints the answer in one sentence and writes `report.html`, which needs no other file, fits a phone and prints
    /// well. docs/report.md says what is on it.
    Report(Report),
    /// Write events or verdicts as CSV, JSON or Parquet
    ///
    /// Numbers are written so that they read back as they were. Arms are there by name and, as `index`, by row number
    /// from 0. In JSON, what is not finite is null: an interval is open there.
    Export(Export),
    /// List every algorithm with its rule, estimator, stop, parameters and paper
    Algorithms(Algorithms),
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "it must be a number".into())
}

fn threshold(text: &str) -> Result<f64, String> {
    let threshold = number(text)?;
    Question::new(threshold, 0.0).map(|_| threshold).map_err(|error| error.to_string())
}

fn precision(text: &str) -> Result<f64, String> {
    let precision = number(text)?;
    Question::new(0.0, precision).map(|_| precision).map_err(|error| error.to_string())
}

fn noise(text: &str) -> Result<f64, String> {
    let noise = number(text)?;
    Noise::new(NoiseKind::Gaussian, noise).map(|_| noise).map_err(|error| error.to_string())
}

#[derive(Debug, Args)]
pub(crate) struct Diagnose {
    /// The arms: a header and a row an arm; a column `name` holds names, all others are features
    #[arg(value_name = "FEATURES.csv")]
    pub(crate) features: PathBuf,
    /// The rewards: a header and a row a reward, with the columns `arm` (a name, or a row number from 0) and `reward`
    #[arg(value_name = "REWARDS.csv")]
    pub(crate) rewards: PathBuf,
    /// How to print what is found
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Algorithms {
    /// How to print them
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Table,
    Json,
    Csv,
}
