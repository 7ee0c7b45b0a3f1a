//! The arguments of `cutline report`.

use super::{CampaignAddress, Format};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct Report {
    #[command(flatten)]
    pub(crate) address: CampaignAddress,
    /// Where to write the page
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    pub(crate) out: PathBuf,
    /// The order of the verdicts on the page, on each side: highest mean first, by name, or largest doubt first; or the undecided arms
    /// before the others
    #[arg(long, value_enum, value_name = "ORDER", default_value_t = Sort::Mean)]
    pub(crate) sort: Sort,
    /// How to print the answer: a sentence, a JSON object, or CSV with one row
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// The order of the verdicts on a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Sort {
    Mean,
    Undecided,
    Name,
    Doubt,
}
