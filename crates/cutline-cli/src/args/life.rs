//! The arguments of the commands that change a campaign.

use super::campaign::CampaignAddress;
use super::new::until_sure;
use super::number::{Delta, budget, delta, noise, precision, threshold};
use super::{Format, Reading};
use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args};
use cutline::ALGORITHMS;
use cutline_campaign::CampaignModel;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Extend {
    #[command(flatten)]
    pub(crate) address: CampaignAddress,
    /// The new budget, counted from the beginning of the campaign; not below what is used of it
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = budget)]
    pub(crate) budget: u32,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("settings").required(true).multiple(true).args([
    "budget", "threshold", "precision", "noise", "confidence", "until_sure", "algorithm", "model",
]))]
pub(crate) struct Set {
    #[command(flatten)]
    pub(crate) address: CampaignAddress,
    /// The threshold τ
    #[arg(long, value_name = "τ", allow_negative_numbers = true, value_parser = threshold)]
    pub(crate) threshold: Option<f64>,
    /// The precision ε
    #[arg(long, value_name = "ε", allow_negative_numbers = true, value_parser = precision)]
    pub(crate) precision: Option<f64>,
    /// The budget, counted from the beginning of the campaign
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = budget)]
    pub(crate) budget: Option<u32>,
    /// The standard deviation σ of a measurement, or `estimated`
    #[arg(long, value_name = "σ", allow_negative_numbers = true, value_parser = noise_or_estimated)]
    pub(crate) noise: Option<Unset<f64>>,
    /// The probability that an interval contains the mean
    #[arg(long, value_name = "P", value_parser = delta)]
    pub(crate) confidence: Option<Delta>,
    /// When to end before the budget is used up, as in `cutline new`, or `never`
    #[arg(long, value_name = "STOP", value_parser = until_sure_or_never)]
    pub(crate) until_sure: Option<Unset<String>>,
    /// The algorithm, on the present model unless `--model` is given
    #[arg(
        long,
        value_name = "NAME",
        value_parser = PossibleValuesParser::new(ALGORITHMS.iter().map(|algorithm| algorithm.name))
    )]
    pub(crate) algorithm: Option<String>,
    /// How the means are explained, as in `cutline new`
    #[arg(
        long,
        value_name = "MODEL",
        value_parser = PossibleValuesParser::new(CampaignModel::ALL.iter().map(|model| model.name()))
    )]
    pub(crate) model: Option<String>,
}

/// The new value of a setting that may be left open.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unset<T>(pub(crate) Option<T>);

fn noise_or_estimated(text: &str) -> Result<Unset<f64>, String> {
    if text == "estimated" {
        return Ok(Unset(None));
    }
    noise(text).map(|noise| Unset(Some(noise))).map_err(|error| format!("{error}, or `estimated`"))
}

fn until_sure_or_never(text: &str) -> Result<Unset<String>, String> {
    if text == "never" { Ok(Unset(None)) } else { until_sure(text).map(|stop| Unset(Some(stop))) }
}

#[derive(Debug, Args)]
pub(crate) struct Add {
    #[command(flatten)]
    pub(crate) address: CampaignAddress,
    /// The new candidates, with the columns of the campaign's candidates; `-` is stdin. Without names they are numbered on
    #[arg(value_name = "CANDIDATES")]
    pub(crate) candidates: PathBuf,
    #[command(flatten)]
    pub(crate) reading: Reading,
}

#[derive(Debug, Args)]
pub(crate) struct Predict {
    #[command(flatten)]
    pub(crate) address: CampaignAddress,
    /// The candidates, with the columns of the campaign's candidates; `-` is stdin
    #[arg(value_name = "CANDIDATES")]
    pub(crate) candidates: PathBuf,
    #[command(flatten)]
    pub(crate) reading: Reading,
    /// How to print the verdicts
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Withdraw {
    #[command(flatten)]
    pub(crate) address: CampaignAddress,
    /// The names of the candidates
    #[arg(value_name = "CANDIDATE", required = true)]
    pub(crate) candidates: Vec<String>,
    /// Why they cannot be measured
    #[arg(long, value_name = "TEXT", default_value = "no reason given")]
    pub(crate) reason: String,
}

#[derive(Debug, Args)]
pub(crate) struct Restore {
    #[command(flatten)]
    pub(crate) address: CampaignAddress,
    /// The names of the candidates
    #[arg(value_name = "CANDIDATE", required = true)]
    pub(crate) candidates: Vec<String>,
}

#[derive(Debug, Args)]
#[command(override_usage = "cutline amend [OPTIONS] <STORE> <TICKET REWARD>...\n       \
                            cutline amend [OPTIONS] <STORE> --void <TICKET>...")]
pub(crate) struct Amend {
    #[command(flatten)]
    pub(crate) address: CampaignAddress,
    /// Tickets, each followed by its right reward: `3 0.71`; with `--void`, tickets. The rewards of replicates have the number of their
    /// ticket and the numbers after it
    #[arg(value_name = "TICKET REWARD", required = true, allow_negative_numbers = true)]
    pub(crate) rewards: Vec<String>,
    /// Take the rewards out and give their measurements back to the budget
    #[arg(long)]
    pub(crate) void: bool,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "no reason given")]
    pub(crate) reason: String,
}
