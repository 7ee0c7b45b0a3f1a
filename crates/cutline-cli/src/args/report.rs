//! The arguments of `cutline report`.

use super::{CampaignAddress, Format};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use cutline_report::Sort;
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
    #[arg(long, value_name = "ORDER", default_value = "mean", value_parser = sort())]
    pub(crate) sort: Sort,
    /// How to print the answer: a sentence, a JSON object, or CSV with one row
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// The order with a name.
fn sort() -> impl TypedValueParser<Value = Sort> {
    let named =
        |name: String| Sort::ALL.iter().find(|(known, _)| *known == name).map_or(Sort::default(), |(_, sort)| *sort);
    PossibleValuesParser::new(Sort::ALL.map(|(name, _)| name)).map(named)
}
