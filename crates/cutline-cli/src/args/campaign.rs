//! What the verbs of a campaign take; `new` is in a file of its own.

use super::{Format, duration};
use clap::builder::RangedU64ValueParser;
use clap::{ArgGroup, Args, ValueEnum};
use cutline::campaign::TicketId;
use cutline_store::{Campaign, Store, StoreError};
use std::path::PathBuf;
use std::time::Duration;

/// Which campaign is meant: what every verb but `new` takes.
#[derive(Debug, Args)]
pub(crate) struct Which {
    /// Where the campaign is: a file, `sqlite:///FILE` or `postgresql://USER@HOST/DATABASE`
    #[arg(value_name = "STORE")]
    pub(crate) store: String,
    /// Which campaign, if the store has several
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
}

impl Which {
    /// The campaign, as it is now.
    pub(crate) fn open(&self) -> Result<Campaign, StoreError> {
        Store::open(&self.store)?.campaign(self.name.as_deref())
    }
}

#[derive(Debug, Args)]
pub(crate) struct Ask {
    #[command(flatten)]
    pub(crate) which: Which,
    /// How many measurements
    #[arg(short, value_name = "N", default_value_t = 1, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1_000_000))]
    pub(crate) n: usize,
    /// Who is going to measure [default: the user's name]
    #[arg(long, value_name = "NAME", value_parser = worker)]
    pub(crate) worker: Option<String>,
    /// How long the measurements may take, as `90s`, `10m`, `2h` or `1d`. They are asked for again after that; a reward
    /// that comes late is still taken while the budget has room for it
    #[arg(long, value_name = "DURATION", default_value = "1d", allow_hyphen_values = true, value_parser = duration)]
    pub(crate) lease: Duration,
    /// End with 3 if there is nothing to measure any more, and with 4 if there is nothing for now
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// How to print them: a table, a JSON array with an object a line, or CSV
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// Who measures, as the journal names them.
pub(super) fn worker(text: &str) -> Result<String, String> {
    let is_name = (1..=200).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    if is_name { Ok(text.into()) } else { Err("a name has 1 to 200 characters, and no control characters".into()) }
}

#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("what").required(true).args(["rewards", "file", "fail"]),
    override_usage = "cutline tell [OPTIONS] <STORE> <TICKET REWARD>...\n       \
                      cutline tell [OPTIONS] <STORE> --file <REWARDS.csv>\n       \
                      cutline tell [OPTIONS] <STORE> --fail <TICKET>"
)]
pub(crate) struct Tell {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Tickets, each with its reward: `3 0.71 4 -0.2`; a single `-` is `--file -`
    #[arg(value_name = "TICKET REWARD", allow_negative_numbers = true)]
    pub(crate) rewards: Vec<String>,
    /// Rewards from a CSV file with the columns `ticket` and `reward`; `-` is stdin
    #[arg(long, value_name = "REWARDS.csv")]
    pub(crate) file: Option<PathBuf>,
    /// Give a ticket back that will have no reward; its measurement goes back to the budget
    #[arg(long, value_name = "TICKET")]
    pub(crate) fail: Option<TicketId>,
    /// Why it will have none
    #[arg(long, value_name = "TEXT", default_value = "no reason given", conflicts_with_all = ["rewards", "file"])]
    pub(crate) reason: String,
}

#[derive(Debug, Args)]
pub(crate) struct Status {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Look again every second until the campaign ends or Ctrl-C: on a terminal drawn anew, elsewhere a line a change
    #[arg(long, conflicts_with = "format")]
    pub(crate) watch: bool,
    /// How to print it; CSV has the numbers about all arms together in one row
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("what").required(true).args(["events", "verdicts"]),
    override_usage = "cutline export [OPTIONS] <STORE> <--events|--verdicts>"
)]
pub(crate) struct Export {
    #[command(flatten)]
    pub(crate) which: Which,
    /// Everything that happened, a row an event
    #[arg(long)]
    pub(crate) events: bool,
    /// What is said of the arms, a row an arm
    #[arg(long)]
    pub(crate) verdicts: bool,
    /// The format
    #[arg(long, value_enum, default_value_t = FileFormat::Csv)]
    pub(crate) format: FileFormat,
    /// Where to write it [default: stdout]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileFormat {
    Csv,
    Json,
    Parquet,
}
