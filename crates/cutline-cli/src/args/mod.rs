//! What can be said on the command line.

mod campaign;
mod duration;
mod plan;
mod simulation;

pub(crate) use campaign::Which;
pub(crate) use duration::duration;
pub(crate) use plan::{Belief, Plan};
pub(crate) use simulation::{Instances, Reproduce, Simulate, Simulation};

use clap::{Args, Parser, Subcommand, ValueEnum};
use cutline::Question;
use cutline_lab::{Noise, NoiseKind};
use std::path::PathBuf;

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
