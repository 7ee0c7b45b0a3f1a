//! The arguments of the commands for a store and the campaigns in it.

use super::number::{Delta, delta};
use super::{CampaignAddress, Format, TokenFile};
use clap::Args;
use clap_complete::Shell;

#[derive(Debug, Args)]
pub(crate) struct List {
    /// The store: a file, `sqlite:///FILE`, `postgresql://USER@HOST/DATABASE`, or a server of `cutline serve`, `http://HOST:PORT`
    #[arg(value_name = "STORE")]
    pub(crate) store: String,
    #[command(flatten)]
    pub(crate) token: TokenFile,
    /// How to print the list
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    #[command(flatten)]
    pub(crate) address: CampaignAddress,
    /// How to print the settings; JSON is what the store keeps, CSV is one row per setting
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct Rename {
    #[command(flatten)]
    pub(crate) address: CampaignAddress,
    /// The new name
    #[arg(value_name = "NEW")]
    pub(crate) new: String,
}

#[derive(Debug, Args)]
pub(crate) struct Delete {
    #[command(flatten)]
    pub(crate) address: CampaignAddress,
    /// The name of the campaign once more, in place of the question on the terminal
    #[arg(long, value_name = "NAME")]
    pub(crate) yes: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Copy {
    #[command(flatten)]
    pub(crate) address: CampaignAddress,
    /// The name of the copy
    #[arg(value_name = "NEW")]
    pub(crate) new: String,
    /// The store of the copy, created if it is a file that is missing [default: the same store]. The token for a server is that of
    /// `--token-file`, too
    #[arg(long, value_name = "STORE")]
    pub(crate) to: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) address: CampaignAddress,
    /// Exit with code 1 if a candidate is proved to be below, and with code 3 if none is but some are not proved to be above
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// Check these candidates only
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(crate) only: Vec<String>,
    /// Turn the bar round: check that the candidates are below it
    #[arg(long)]
    pub(crate) below: bool,
    /// Count verdicts that are likely by the model like proved ones
    #[arg(long)]
    pub(crate) likely: bool,
    /// The confidence of the verdicts [default: that of the campaign]
    #[arg(long, value_name = "P", value_parser = delta)]
    pub(crate) confidence: Option<Delta>,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub(crate) shell: Shell,
}
