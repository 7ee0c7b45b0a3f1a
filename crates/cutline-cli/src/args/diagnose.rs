//! The arguments of `cutline diagnose`.

use super::number::threshold;
use super::{CampaignOptions, Format, TokenFile};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    override_usage = "cutline diagnose [OPTIONS] <CANDIDATES> <REWARDS.csv>\n       cutline diagnose [OPTIONS] <STORE>"
)]
pub(crate) struct Diagnose {
    /// The arms, as in `cutline new`; or the STORE of a campaign, whose settings and rewards are then used
    #[arg(value_name = "CANDIDATES|STORE")]
    pub(crate) source: String,
    /// The rewards, a CSV file with one row per reward and the columns `arm` (a name, or a row number from 0) and `reward`, or what
    /// `cutline export --events` writes as CSV or JSON; not with a STORE
    #[arg(value_name = "REWARDS.csv")]
    pub(crate) rewards: Option<PathBuf>,
    /// With a STORE that has several campaigns: the name of the campaign
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) token: TokenFile,
    /// The threshold τ, from which the model measures rewards [default: the mean of the rewards]
    #[arg(long, value_name = "τ", allow_negative_numbers = true, value_parser = threshold)]
    pub(crate) threshold: Option<f64>,
    #[command(flatten)]
    pub(crate) options: CampaignOptions,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}
