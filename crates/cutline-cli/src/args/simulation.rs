//! The arguments of `cutline reproduce` and `cutline simulate`, and those that all simulations share.

use super::Format;
use clap::builder::{PossibleValuesParser, RangedU64ValueParser};
use clap::{Args, ValueEnum};
use cutline_lab::field;
use cutline_lab::paper::EXPERIMENTS;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Reproduce {
    /// Which experiments to run [default: the four of the LinearAPT paper]
    #[arg(value_name = "EXPERIMENT", value_parser = PossibleValuesParser::new(names()))]
    pub(crate) experiments: Vec<String>,
    /// Run the paper's four experiments and those of other papers
    #[arg(long, conflicts_with_all = ["experiments", "exact"])]
    pub(crate) all: bool,
    /// Print one row per algorithm and budget, with intervals, z-scores and what the theory says
    #[arg(long, conflicts_with = "exact")]
    pub(crate) verbose: bool,
    /// Which instances of the paper's experiments: the one the authors drew, or a new one in every run
    #[arg(long, value_enum, default_value_t = Instances::Published)]
    pub(crate) instances: Instances,
    /// Replay the authors' random stream: all 120 published cells must be reproduced to the last printed decimal
    #[arg(long, conflicts_with_all = ["runs", "seed", "instances", "out", "format"])]
    pub(crate) exact: bool,
    #[command(flatten)]
    pub(crate) simulation: Simulation,
}

/// The names of all experiments with published numbers.
fn names() -> impl Iterator<Item = &'static str> {
    EXPERIMENTS.iter().chain(field::EXPERIMENTS).map(|(name, _)| *name)
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
    /// Also write the results of every run to a file that ends in `.parquet` or `.csv`: one row per run, algorithm and budget
    #[arg(long, value_name = "FILE", conflicts_with = "resume")]
    pub(crate) per_run: Option<PathBuf>,
    /// Also draw the figure into a file that ends in `.pdf`, `.svg` or `.png`; with several variants, one file per variant
    #[arg(long, value_name = "FILE")]
    pub(crate) figure: Option<PathBuf>,
    /// Keep the finished runs in this file and, if it is there already, play only the others; the results are the same
    #[arg(long, value_name = "FILE")]
    pub(crate) resume: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) simulation: Simulation,
}

/// The options of all simulations.
#[derive(Debug, Args)]
pub(crate) struct Simulation {
    /// How many runs [default: the file's `runs` in `simulate` and `reproduce`, 100 in `plan`]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 50))]
    pub(crate) runs: Option<u64>,
    /// How many threads to use; results do not depend on it [default: one per core]
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=4096))]
    pub(crate) threads: Option<usize>,
    /// The random seed [default: the file's `seed` in `simulate`, otherwise 0]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// The directory for the report, the figures and `results.csv`
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub(crate) out: PathBuf,
    /// How to print the results
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}
