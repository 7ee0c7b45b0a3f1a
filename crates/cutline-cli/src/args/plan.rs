//! The arguments of `cutline plan`.

use super::Simulation;
use super::number::{Budgets, budgets, noise, precision, target, threshold};
use clap::Args;
use clap::builder::PossibleValuesParser;
use cutline::ALGORITHMS;
use cutline_lab::{Prior, PriorError};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Plan {
    /// The arms, a CSV file with a header: an optional column `name`, all other columns numbers
    #[arg(value_name = "FEATURES.csv")]
    pub(crate) features: PathBuf,
    /// The threshold τ
    #[arg(long, value_name = "τ", allow_negative_numbers = true, value_parser = threshold)]
    pub(crate) threshold: f64,
    /// The precision ε: arms within ε of τ may be classified either way
    #[arg(long, value_name = "ε", default_value_t = 0.0, allow_negative_numbers = true, value_parser = precision)]
    pub(crate) precision: f64,
    /// The standard deviation σ of a measurement
    #[arg(long, value_name = "σ", default_value_t = 1.0, allow_negative_numbers = true, value_parser = noise)]
    pub(crate) noise: f64,
    /// The budgets to try, ascending [default: a range around the budget that meets the target]
    #[arg(long, value_name = "T,T,…", value_parser = budgets)]
    pub(crate) budgets: Option<Budgets>,
    /// The distribution of θ: `uniform` on [−1, 1], `normal:s` for N(0, s²I), or the posterior after a pilot, a CSV file
    /// with the columns `arm` (a name, or a row number from 0) and `reward`
    #[arg(long, value_name = "uniform|normal:s|PILOT.csv", default_value = "uniform", value_parser = prior)]
    pub(crate) prior: PriorArg,
    /// The failure probability to aim for
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

/// The value of `--prior`: a distribution, or the file of a pilot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PriorArg {
    Prior(Prior),
    Pilot(PathBuf),
}

/// The algorithms whose parameters all have defaults: `ucbe` needs to know the truth, which no plan does.
fn plannable() -> impl Iterator<Item = &'static str> {
    ALGORITHMS.iter().filter(|a| a.parameters().all(|p| p.default.is_some())).map(|a| a.name)
}

fn prior(text: &str) -> Result<PriorArg, String> {
    match text.parse() {
        Ok(prior) => Ok(PriorArg::Prior(prior)),
        Err(PriorError::Unknown(path)) => Ok(PriorArg::Pilot(path.into())),
        Err(error) => Err(error.to_string()),
    }
}
