//! The arguments of `cutline report`.

use super::{CampaignAddress, Format};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Report {
    #[command(flatten)]
    pub(crate) address: CampaignAddress,
    /// Where to write the page
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    pub(crate) out: PathBuf,
    /// How to print the answer: a sentence, a JSON object, or CSV with one row
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}
