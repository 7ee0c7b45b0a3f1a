//! The arguments of `cutline plan`.

use super::number::{Budgets, budgets, number, target, threshold};
use super::{CampaignOptions, Simulation, TokenFile};
use clap::Args;
use clap::builder::PossibleValuesParser;
use cutline::{ALGORITHMS, Range};
use cutline_campaign::{Expectation, Prior, PriorError};
use std::num::NonZeroU32;
use std::path::PathBuf;

const EXPECTED: &str = "What you expect of the arms";
const ADVANCED: &str = "Advanced options";

#[derive(Debug, Args)]
pub(crate) struct Plan {
    /// The arms, as in `cutline new`; or the STORE of a campaign, whose settings and rewards are then used
    #[arg(value_name = "CANDIDATES|STORE")]
    pub(crate) source: String,
    /// With a STORE that has several campaigns: the name of the campaign
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) token: TokenFile,
    /// The threshold τ; needed unless the arms come from a STORE
    #[arg(long, value_name = "τ", allow_negative_numbers = true, value_parser = threshold)]
    pub(crate) threshold: Option<f64>,
    /// The share of arms that may be called wrongly, on average [default: 0.05]
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = target, conflicts_with = "target")]
    pub(crate) wrong: Option<f64>,
    /// In place of `--wrong`: the probability with which any arm at all may be called wrongly
    #[arg(long, value_name = "P", allow_negative_numbers = true, value_parser = target)]
    pub(crate) target: Option<f64>,
    /// The budgets to try, ascending [default: a range around the budget that is enough]
    #[arg(long, value_name = "T,T,…", value_parser = budgets)]
    pub(crate) budgets: Option<Budgets>,
    /// How many measurements are asked for at once, such as 96 for plates; budgets are multiples of it
    #[arg(long, value_name = "N", default_value_t = NonZeroU32::MIN)]
    pub(crate) batch: NonZeroU32,
    /// The share of the differences between the arms that the features explain [default: 0.7]
    #[arg(long, value_name = "P", help_heading = EXPECTED, allow_negative_numbers = true, value_parser = share)]
    pub(crate) explained: Option<f64>,
    /// The share of what the features explain that is linear in them; the rest is a smooth curve [default: 0.7]
    #[arg(long, value_name = "P", help_heading = EXPECTED, allow_negative_numbers = true, value_parser = share)]
    pub(crate) linear_share: Option<f64>,
    /// σ in units of the spread of the arms' true means [default: 0.5]
    #[arg(long, value_name = "R", help_heading = EXPECTED, allow_negative_numbers = true, value_parser = scale)]
    pub(crate) noise_ratio: Option<f64>,
    /// The standard deviation of the arms' true means [default: 1, or what `--noise` and `--noise-ratio` make it]
    #[arg(long, value_name = "S", help_heading = EXPECTED, allow_negative_numbers = true, value_parser = scale)]
    pub(crate) spread: Option<f64>,
    /// The share of the arms whose true mean is above the threshold [default: 0.5]
    #[arg(long, value_name = "P", help_heading = EXPECTED, allow_negative_numbers = true, value_parser = share)]
    pub(crate) above: Option<f64>,
    /// Learn all of that from rewards measured before: a CSV file with the columns `arm` (a name, or a row number from 0) and `reward`
    #[arg(
        long,
        value_name = "REWARDS.csv",
        help_heading = EXPECTED,
        conflicts_with_all = ["explained", "linear_share", "noise_ratio", "spread", "above"]
    )]
    pub(crate) pilot: Option<PathBuf>,
    /// Or draw means xᵀθ on the features as they are: `uniform` for θ uniform on [−1, 1], `normal:s` for N(0, s²I); σ is 1 without
    /// `--noise`
    #[arg(
        long,
        value_name = "uniform|normal:s",
        help_heading = EXPECTED,
        value_parser = prior,
        conflicts_with_all = ["explained", "linear_share", "noise_ratio", "spread", "above", "pilot"]
    )]
    pub(crate) prior: Option<Prior>,
    /// The algorithms to compare, each in a campaign of its own [default: that of `cutline new`]
    #[arg(
        long,
        value_name = "NAME,NAME,…",
        value_delimiter = ',',
        help_heading = ADVANCED,
        value_parser = PossibleValuesParser::new(plannable())
    )]
    pub(crate) algorithms: Option<Vec<String>>,
    #[command(flatten)]
    pub(crate) options: CampaignOptions,
    #[command(flatten)]
    pub(crate) simulation: Simulation,
}

impl Plan {
    /// What is expected of the arms whose means have this spread.
    pub(crate) fn expectation(&self, spread: f64, has_features: bool) -> Expectation {
        let usual = Expectation::default();
        Expectation {
            explained: if has_features { self.explained.unwrap_or(usual.explained) } else { 0.0 },
            linear_share: self.linear_share.unwrap_or(usual.linear_share),
            above: self.above.unwrap_or(usual.above),
            spread,
        }
    }
}

/// The algorithms whose parameters all have defaults: `ucbe` needs to know the truth, which no plan does.
fn plannable() -> impl Iterator<Item = &'static str> {
    ALGORITHMS.iter().filter(|a| a.parameters().all(|p| p.default.is_some())).map(|a| a.name)
}

fn share(text: &str) -> Result<f64, String> {
    let share = number(text)?;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err("it must be a number between 0 and 1".into()) }
}

fn scale(text: &str) -> Result<f64, String> {
    let scale = number(text)?;
    let is_scale = Range::NOISE_SCALE.contains(scale);
    if is_scale { Ok(scale) } else { Err("it must be a number between 1e-100 and 1e100".into()) }
}

fn prior(text: &str) -> Result<Prior, String> {
    text.parse().map_err(|error| match error {
        PriorError::Unknown(_) => {
            "it must be `uniform` or `normal:s`; a file of rewards is given with `--pilot`".into()
        }
        error => error.to_string(),
    })
}
