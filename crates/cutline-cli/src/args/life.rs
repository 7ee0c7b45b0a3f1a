//! The arguments of the commands that change a campaign.

use super::campaign::CampaignAddress;
use super::new::given;
use super::number::{budget, threshold};
use super::{Changeable, Format, Reading};
use clap::Args;
use clap::builder::PossibleValuesParser;
use cutline::ALGORITHMS;
use cutline_campaign::Change;
use serde::Serialize;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Extend {
    #[command(flatten)]
    pub(crate) address: CampaignAddress,
    /// The new budget, counted from the beginning of the campaign; not below what is used of it
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = budget)]
    pub(crate) budget: u32,
}

#[derive(Debug, Args, Serialize)]
pub(crate) struct Set {
    #[command(flatten)]
    #[serde(skip)]
    pub(crate) address: CampaignAddress,
    /// The threshold τ
    #[arg(long, value_name = "τ", allow_negative_numbers = true, value_parser = threshold)]
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
    /// The budget, counted from the beginning of the campaign
    #[arg(long, value_name = "T", allow_negative_numbers = true, value_parser = budget)]
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<u32>,
    /// The algorithm, on the present model unless `--model` is given
    #[arg(
        long,
        value_name = "NAME",
        value_parser = PossibleValuesParser::new(ALGORITHMS.iter().map(|algorithm| algorithm.name))
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    algorithm: Option<String>,
    #[command(flatten)]
    #[serde(flatten)]
    changeable: Changeable,
}

impl Set {
    /// The settings to change.
    pub(crate) fn change(&self) -> Change {
        given(self)
    }
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
