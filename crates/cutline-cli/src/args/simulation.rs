//! The arguments of `cutline reproduce` and `cutline simulate`, and those that all simulations share.

use super::Format;
use clap::builder::{PossibleValuesParser, RangedU64ValueParser};
use clap::{Args, ValueEnum};
use cutline_lab::paper::EXPERIMENTS;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Reproduce {
    /// Which experiments to run [default: all four]
    #[arg(value_name = "EXPERIMENT", value_parser = PossibleValuesParser::new(EXPERIMENTS.map(|(name, _)| name)))]
    pub(crate) experiments: Vec<String>,
    /// Which instances: the one the authors drew, or a new one in every run
    #[arg(long, value_enum, default_value_t = Instances::Published)]
    pub(crate) instances: Instances,
    /// Replay the authors' random stream: all 120 published cells must be reproduced to the last printed decimal
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
    /// How many runs [default: the file's `runs` in `simulate`, 10,000 in `reproduce`, 100 in `plan`]
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
