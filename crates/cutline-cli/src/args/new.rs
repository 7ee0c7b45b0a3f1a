//! The arguments of `cutline new`, and those that `plan` and `diagnose` on a file share with it.

use super::number::{budget, length, number, threshold};
use super::{Changeable, Reading, TokenFile};
use clap::Args;
use clap::builder::PossibleValuesParser;
use cutline::{ALGORITHMS, IntervalKind, Kernel, RewardKind};
use cutline_campaign::{Change, Preparation};
use cutline_data::dataset::ReadOptions;
use serde::Serialize;
use serde_json::Value;
use std::path::PathBuf;

const ADVANCED: &str = "Advanced options";

#[derive(Debug, Args)]
pub(crate) struct New {
    /// Where to keep the campaign: a file or `sqlite:///FILE`, created if it is missing, an existing database,
    /// `postgresql://USER@HOST/DATABASE`, or a server of `cutline serve`, `http://HOST:PORT`
    #[arg(value_name = "STORE")]
    pub(crate) store: String,
    /// The arms, one row each: a CSV file with a header, plain or as `.gz`, an Excel file (.xlsx) or a Parquet file, or `-` for stdin. A
    /// column `name` holds their names; all other columns are features, numbers or categories
    #[arg(value_name = "CANDIDATES")]
    pub(crate) candidates: PathBuf,
    /// The threshold τ: the question is which arms have a mean above it
    #[arg(long, value_name = "τ", allow_negative_numbers = true, value_parser = threshold)]
    pub(crate) threshold: f64,
    /// The budget: how many measurements may be made, or with `--cost` what they may cost, a whole number
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = budget)]
    pub(crate) budget: u32,
    #[command(flatten)]
    pub(crate) options: CampaignOptions,
    /// The name of the campaign [default: the name of the candidates file, without its extension, or `campaign` for stdin]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) token: TokenFile,
    /// Earlier rewards, a CSV file with the columns `arm` (a name, or a row number from 0) and `reward`, or what `cutline export --events`
    /// writes as CSV or JSON
    #[arg(long, value_name = "REWARDS.csv")]
    pub(crate) observed: Option<PathBuf>,
    /// Count the earlier rewards towards the budget
    #[arg(long, requires = "observed")]
    pub(crate) count_observed: bool,
    /// The algorithm; see `cutline algorithms`. Without `--model` it runs on the model it was published with, `pivot`, `straddle` and
    /// `random-straddle` on `mixed` [default: `pivot`, or `apt` if the model is `independent`,
    /// or `easiest` with `--until-sure proved`]
    #[arg(
        long,
        value_name = "NAME",
        help_heading = ADVANCED,
        value_parser = PossibleValuesParser::new(ALGORITHMS.iter().map(|algorithm| algorithm.name))
    )]
    pub(crate) algorithm: Option<String>,
    /// The random seed
    #[arg(long, value_name = "S", default_value_t = 0, help_heading = ADVANCED)]
    pub(crate) seed: u64,
}

/// The question and the method of a campaign: what `new`, `plan` and `diagnose` on a file have in common, with the same defaults.
/// [`CampaignOptions::given`] has those options that are settings, by their keys; the others are skipped.
#[derive(Debug, Args, Serialize)]
pub(crate) struct CampaignOptions {
    #[command(flatten)]
    #[serde(flatten)]
    pub(crate) changeable: Changeable,
    /// The kind of the rewards: `gaussian`, numbers with noise, `bernoulli`, 1 for pass and 0 for fail, or `count`, 0, 1, 2 and so on [default: `bernoulli` if the earlier
    /// rewards are all 0 or 1, otherwise `gaussian`]
    #[arg(
        long,
        value_name = "KIND",
        value_parser = PossibleValuesParser::new(RewardKind::ALL.iter().map(|kind| kind.name()))
    )]
    rewards: Option<String>,
    /// The smallest reward that is possible: smaller ones are refused. It makes it easier to prove that a candidate is above
    #[arg(long, value_name = "MIN", allow_negative_numbers = true, value_parser = threshold)]
    min: Option<f64>,
    /// The largest reward that is possible: larger ones are refused. It makes it easier to prove that a candidate is below
    #[arg(long, value_name = "MAX", allow_negative_numbers = true, value_parser = threshold)]
    max: Option<f64>,
    #[command(flatten)]
    #[serde(skip)]
    pub(crate) reading: Reading,
    /// The column that says what a measurement of each candidate costs: the budget is then in its unit, and `pivot` weighs information per
    /// cost. It is not a feature [default: every measurement costs 1]
    #[arg(long, value_name = "COLUMN")]
    pub(crate) cost: Option<String>,
    /// Means that are a smooth function of the features: those of similar arms are similar, by this kernel and `--length`; `matern52` is
    /// rougher than `rbf`. The weight of the prior is the parameter `lambda`
    #[arg(
        long,
        value_name = "KERNEL",
        requires = "length",
        conflicts_with = "graph",
        value_parser = PossibleValuesParser::new(Kernel::ALL.iter().map(|(name, _)| *name))
    )]
    #[serde(skip)]
    pub(crate) kernel: Option<String>,
    /// The distance over which the means change with `--kernel`, in units of the features as they are prepared: standard deviations, or
    /// with `--raw` the features' own units
    #[arg(long, value_name = "ℓ", requires = "kernel", allow_negative_numbers = true, value_parser = length)]
    #[serde(skip)]
    pub(crate) length: Option<f64>,
    /// Means that vary little along the edges of a graph, a CSV file with a header and the columns of two candidates, each a name or a row
    /// number from 0, and optionally the weight of the edge; the features are not used
    #[arg(long, value_name = "EDGES.csv")]
    #[serde(skip)]
    pub(crate) graph: Option<PathBuf>,
    /// A parameter of the algorithm, as in `lambda=0.1`; may be given several times
    #[arg(long, value_name = "NAME=VALUE", help_heading = ADVANCED, value_parser = parameter)]
    #[serde(skip)]
    pub(crate) parameter: Vec<(String, f64)>,
    /// How features and rewards are prepared for the linear model: `standardise` (each feature to mean 0 and standard deviation 1),
    /// `intercept` (an additional feature that is 1 for all arms), `centre` (τ is subtracted from the rewards), or `none`
    /// [default: `standardise,intercept,centre` with `--model linear`, otherwise `none`]
    #[arg(long, value_name = "STEP,STEP,…", help_heading = ADVANCED, value_parser = prepare)]
    #[serde(skip)]
    pub(crate) prepare: Option<Preparation>,
    /// Use features and rewards as they are: with `--model linear` the model of the LinearAPT paper; the same as `--prepare none`
    #[arg(long, help_heading = ADVANCED, conflicts_with = "prepare")]
    #[serde(skip)]
    pub(crate) raw: bool,
    /// With `--raw`: standardise the features all the same; without `--raw` this is the default of `--model linear`
    #[arg(long, help_heading = ADVANCED)]
    #[serde(skip)]
    pub(crate) standardise: bool,
    /// The intervals of the verdicts: `fixed` hold at one time, `anytime` at all times together, so they may be checked again and again
    /// [default: `fixed`]
    #[arg(
        long,
        value_name = "KIND",
        help_heading = ADVANCED,
        value_parser = PossibleValuesParser::new(IntervalKind::ALL.iter().map(|interval| interval.name()))
    )]
    interval: Option<String>,
}

fn parameter(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("it must be a name and a number, as in `lambda=0.1`")?;
    match name {
        "noise" | "known_noise" => Err("the noise is given with `--noise`".into()),
        "centre" | "intercept" => Err(format!("`{name}` is given with `--prepare`")),
        _ => Ok((name.into(), number(value)?)),
    }
}

/// The options of a command that are settings, by their keys.
pub(super) fn given(options: &impl Serialize) -> Change {
    match serde_json::to_value(options) {
        Ok(Value::Object(options)) => Change::from(options),
        other => unreachable!("options are an object, not {other:?}"),
    }
}

impl CampaignOptions {
    /// The settings that were given; null for those that were not.
    pub(crate) fn given(&self) -> Change {
        given(self)
    }

    /// How the file of candidates is read.
    pub(crate) fn read_options(&self) -> ReadOptions {
        ReadOptions { cost: self.cost.clone(), ..self.reading.options() }
    }

    /// How features and rewards are prepared; `None` if it was not given.
    pub(crate) fn preparation(&self) -> Option<Preparation> {
        let given = if self.raw { Some(Preparation::raw()) } else { self.prepare };
        if self.standardise { Some(Preparation { standardise: true, ..given.unwrap_or_default() }) } else { given }
    }
}

fn prepare(text: &str) -> Result<Preparation, String> {
    let mut preparation = Preparation::raw();
    if text == "none" {
        return Ok(preparation);
    }
    for step in text.split(',') {
        match step.trim() {
            "standardise" => preparation.standardise = true,
            "intercept" => preparation.intercept = 1.0,
            "centre" => preparation.centre = true,
            _ => return Err("it must be `none`, or some of `standardise`, `intercept` and `centre`".into()),
        }
    }
    Ok(preparation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_preparation() {
        assert_eq!(prepare("standardise,intercept,centre"), Ok(Preparation::default()));
        assert_eq!(prepare("none"), Ok(Preparation::raw()));
        assert_eq!(prepare("centre"), Ok(Preparation { centre: true, ..Preparation::raw() }));
        assert!(prepare("").is_err() && prepare("none,centre").is_err() && prepare("scale").is_err());
    }
}
