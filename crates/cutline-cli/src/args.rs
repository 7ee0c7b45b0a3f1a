//! What can be said on the command line.

use clap::builder::{PossibleValuesParser, RangedU64ValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use cutline::{ALGORITHMS, Question};
use cutline_lab::paper::EXPERIMENTS;
use cutline_lab::{Noise, NoiseKind, Prior};
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

#[derive(Debug, Args)]
pub(crate) struct Plan {
    /// The arms, a CSV file with a header: a column `name` if there is one, all others numbers
    #[arg(value_name = "FEATURES.csv")]
    pub(crate) features: PathBuf,
    /// The threshold τ
    #[arg(long, value_name = "τ", allow_negative_numbers = true, value_parser = threshold)]
    pub(crate) threshold: f64,
    /// The precision ε: arms within ε of τ may be called either way
    #[arg(long, value_name = "ε", default_value_t = 0.0, allow_negative_numbers = true, value_parser = precision)]
    pub(crate) precision: f64,
    /// The standard deviation σ of a measurement
    #[arg(long, value_name = "σ", default_value_t = 1.0, allow_negative_numbers = true, value_parser = noise)]
    pub(crate) noise: f64,
    /// The budgets to try, ascending [default: some around where the target is met]
    #[arg(long, value_name = "T,T,…", value_parser = budgets)]
    pub(crate) budgets: Option<Budgets>,
    /// What θ is drawn from: `uniform` on [−1, 1], `normal:s` for N(0, s²I), or what a pilot leaves open, a CSV file
    /// with the columns `arm` (a name, or a row number from 0) and `reward`
    #[arg(long, value_name = "uniform|normal:s|PILOT.csv", default_value = "uniform", value_parser = belief)]
    pub(crate) prior: Belief,
    /// The failure probability to be reached
    #[arg(long, value_name = "P", default_value_t = 0.05, allow_negative_numbers = true, value_parser = target)]
    pub(crate) target: f64,
    /// The algorithms to compare
    #[arg(
        long,
        value_name = "NAME,NAME,…",
        value_delimiter = ',',
        default_value = "pivot,linear-apt,random",
        value_parser = PossibleValuesParser::new(plannable())
    )]
    pub(crate) algorithms: Vec<String>,
    #[command(flatten)]
    pub(crate) simulation: Simulation,
}

/// Budgets, ascending.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Budgets(pub(crate) Vec<u32>);

/// What `--prior` says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Belief {
    Prior(Prior),
    Pilot(PathBuf),
}

/// The algorithms that need to be told nothing: what `ucbe` is told is the truth, which no plan knows.
fn plannable() -> impl Iterator<Item = &'static str> {
    ALGORITHMS.iter().filter(|a| a.parameters().all(|p| p.default.is_some())).map(|a| a.name)
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

fn target(text: &str) -> Result<f64, String> {
    let target = number(text)?;
    let is_target = (1e-9..1.0).contains(&target);
    if is_target { Ok(target) } else { Err("it must be a number of at least 1e-9 and below 1".into()) }
}

fn budgets(text: &str) -> Result<Budgets, String> {
    let budget = |field: &str| field.trim().parse::<u32>().ok().filter(|budget| (1..=100_000_000).contains(budget));
    let budgets: Option<Vec<u32>> = text.split(',').map(budget).collect();
    let budgets = budgets.ok_or("budgets are whole numbers between 1 and 100000000, with commas between them")?;
    if budgets.is_sorted_by(|a, b| a < b) { Ok(Budgets(budgets)) } else { Err("budgets must ascend".into()) }
}

fn belief(text: &str) -> Result<Belief, String> {
    match text.split_once(':') {
        None if text == "uniform" => Ok(Belief::Prior(Prior::uniform())),
        None if text == "normal" => Err("say how far θ spreads: `normal:s`, as in `normal:0.5`".into()),
        Some(("normal", scale)) => Prior::normal(number(scale)?).map(Belief::Prior).map_err(|error| error.to_string()),
        _ => Ok(Belief::Pilot(text.into())),
    }
}

/// What all simulations take.
#[derive(Debug, Args)]
pub(crate) struct Simulation {
    /// How many runs [default: what the experiment says, 10,000 for the paper's; 1,000 for a plan]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 50))]
    pub(crate) runs: Option<u64>,
    /// How many threads [default: all cores]; results do not depend on it
    #[arg(long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=4096))]
    pub(crate) threads: Option<usize>,
    /// The seed of everything random [default: what the experiment says, 0 for the paper's and for a plan]
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
