//! What can be said on the command line.

use clap::builder::{PossibleValuesParser, RangedU64ValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use cutline_lab::paper::EXPERIMENTS;
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
    /// Say whether rewards fit the linear model, and how large the noise is
    ///
    /// Compares replicates with the fit, for all arms together and for each, and ends with one sentence.
    /// docs/diagnostics.md says what each number means.
    Diagnose(Diagnose),
    /// List every algorithm with its rule, estimator, stop, parameters and paper
    Algorithms(Algorithms),
}

#[derive(Debug, Args)]
pub(crate) struct Reproduce {
    /// Which experiments; all four if none is named
    #[arg(value_name = "EXPERIMENT", value_parser = PossibleValuesParser::new(EXPERIMENTS.map(|(name, _)| name)))]
    pub(crate) experiments: Vec<String>,
    /// Which instances: the one the authors drew, or one drawn anew in every run
    #[arg(long, value_enum, default_value_t = Instances::Published)]
    pub(crate) instances: Instances,
    /// Replay the authors' own random stream: all 120 published cells must come out to all printed decimals
    #[arg(long, conflicts_with_all = ["runs", "seed", "instances", "out", "format"])]
    pub(crate) exact: bool,
    #[command(flatten)]
    pub(crate) simulation: Simulation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Instances {
    Published,
    Redrawn,
    Both,
}

#[derive(Debug, Args)]
pub(crate) struct Simulate {
    /// The experiment, a TOML file
    #[arg(value_name = "FILE.toml")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) simulation: Simulation,
}

/// What all simulations take.
#[derive(Debug, Args)]
pub(crate) struct Simulation {
    /// How many runs [default: what the experiment says, 10,000 for the paper's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 50))]
    pub(crate) runs: Option<u64>,
    /// How many threads [default: all cores]; results do not depend on it
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=4096))]
    pub(crate) threads: Option<usize>,
    /// The seed of everything random [default: what the experiment says, 0 for the paper's]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// Where to write the report, the figures and `results.csv`
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) out: PathBuf,
    /// How to print results
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
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
