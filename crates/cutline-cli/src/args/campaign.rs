//! The arguments of the commands for a campaign, except `new`, `run` and `report`.

use super::{Decimal, Format, duration};
use clap::builder::RangedU64ValueParser;
use clap::{ArgGroup, Args, ValueEnum};
use cutline_campaign::TicketId;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The store and the name of a campaign: arguments of every command for campaigns except `new`.
#[derive(Debug, Args)]
pub(crate) struct CampaignAddress {
    /// Where the campaign is: a file, `sqlite:///FILE`, `postgresql://USER@HOST/DATABASE`, or a server of `cutline serve`, `http://HOST:PORT` or
    /// `http://HOST:PORT/v1/campaigns/NAME`
    #[arg(value_name = "STORE")]
    pub(crate) store: String,
    /// The name of the campaign, if the store has several
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) token: TokenFile,
}

/// The token for a store on a server: an argument of every command that takes a store.
#[derive(Debug, Args)]
pub(crate) struct TokenFile {
    /// A file with the token for a server of `cutline serve` [default: the environment variable `CUTLINE_TOKEN`]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Ask {
    #[command(flatten)]
    pub(crate) address: CampaignAddress,
    /// How many measurements to ask for
    #[arg(short, value_name = "N", default_value_t = 1, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1_000_000))]
    pub(crate) n: usize,
    /// How many measurements of each candidate to hand out together, as one ticket with as many rewards
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) replicates: u32,
    /// First hand out the open tickets of this worker again, with a new lease, for example after a crash
    #[arg(long)]
    pub(crate) resume: bool,
    /// The name of the worker that will measure [default: the user's name]
    #[arg(long, value_name = "NAME", value_parser = worker)]
    pub(crate) worker: Option<String>,
    /// How long the measurements may take, as in `90s`, `10m`, `2h` or `1d`. After that they may be given to another
    /// worker; a late reward is still accepted
    #[arg(long, value_name = "DURATION", default_value = "1d", allow_hyphen_values = true, value_parser = duration)]
    pub(crate) lease: Duration,
    /// Exit with code 3 if the campaign has ended, and with code 4 if there is nothing to measure for now
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// How to print the tickets: a table, a JSON array with one object per line, or CSV
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// The name of a worker in the journal.
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
    pub(crate) address: CampaignAddress,
    /// Tickets, each followed by its reward, or by all its rewards if it is for replicates: `3 0.71 4 -0.2`; a single `-` is the same as `--file -`
    #[arg(value_name = "TICKET REWARD", allow_negative_numbers = true)]
    pub(crate) rewards: Vec<String>,
    /// Rewards from a CSV file with the columns `ticket` and `reward`; `-` is stdin. If it has a column `arm` too, as the output of
    /// `ask --format csv`, the arms must be those of the tickets
    #[arg(long, value_name = "REWARDS.csv")]
    pub(crate) file: Option<PathBuf>,
    /// The decimal mark of the rewards in the file: `.` or `,`
    #[arg(long, value_name = "MARK", value_enum, default_value_t = Decimal::Point)]
    pub(crate) decimal: Decimal,
    /// Report that the measurement of a ticket failed; it is returned to the budget
    #[arg(long, value_name = "TICKET")]
    pub(crate) fail: Option<TicketId>,
    /// Why it failed
    #[arg(long, value_name = "TEXT", default_value = "no reason given", conflicts_with_all = ["rewards", "file"])]
    pub(crate) reason: String,
}

#[derive(Debug, Args)]
pub(crate) struct Status {
    #[command(flatten)]
    pub(crate) address: CampaignAddress,
    /// Update every second until the campaign ends or Ctrl-C; if stdout is not a terminal, print one line per change
    #[arg(long, conflicts_with = "format")]
    pub(crate) watch: bool,
    /// How to print it; CSV is one row with the numbers for the whole campaign
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
    pub(crate) address: CampaignAddress,
    /// All events, one row per event
    #[arg(long)]
    pub(crate) events: bool,
    /// The verdicts, one row per arm
    #[arg(long)]
    pub(crate) verdicts: bool,
    /// The format of the file [default: that of the name given with `--out`, or csv]
    #[arg(long, value_enum)]
    pub(crate) format: Option<FileFormat>,
    /// Where to write it; `-` is stdout [default: stdout]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

impl Export {
    /// The file to write, unless it is stdout.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.out.as_deref().filter(|path| *path != Path::new("-"))
    }

    /// The format that was given, or that the name of the file ends with.
    pub(crate) fn format(&self) -> Result<FileFormat, String> {
        if let Some(format) = self.format {
            return Ok(format);
        }
        let ending = self.file().and_then(|path| path.extension()).unwrap_or_default().to_string_lossy().to_lowercase();
        match &*ending {
            "json" => Ok(FileFormat::Json),
            "parquet" | "pq" => Ok(FileFormat::Parquet),
            "xlsx" | "xls" | "ods" => Err(format!(
                "a .{ending} file cannot be written; write a .csv file, which spreadsheets open, or choose with `--format`"
            )),
            _ => Ok(FileFormat::Csv),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FileFormat {
    Csv,
    Json,
    Parquet,
}
