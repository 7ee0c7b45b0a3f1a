//! What `cutline plan` takes.

use super::{Simulation, noise, number, precision, threshold};
use clap::Args;
use clap::builder::PossibleValuesParser;
use cutline::ALGORITHMS;
use cutline_lab::{Prior, PriorError};
use std::path::PathBuf;

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
    match text.parse() {
        Ok(prior) => Ok(Belief::Prior(prior)),
        Err(PriorError::Unknown(path)) => Ok(Belief::Pilot(path.into())),
        Err(error) => Err(error.to_string()),
    }
}
