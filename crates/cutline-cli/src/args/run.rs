//! The arguments of `cutline run`.

use super::campaign::worker;
use super::{CampaignAddress, duration};
use clap::Args;
use clap::builder::RangedU64ValueParser;
use std::time::Duration;

#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) address: CampaignAddress,
    /// The command that measures an arm and prints its reward as the last line; `{name}`, `{ticket}`, `{index}` and
    /// `{features}` are replaced in its arguments
    #[arg(long, value_name = "COMMAND")]
    pub(crate) measure: String,
    /// Run the command with `sh`; the arm is then given only in `$CUTLINE_NAME` and the other environment variables
    #[arg(long)]
    pub(crate) shell: bool,
    /// How many measurements to run at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = RangedU64ValueParser::<usize>::new().range(1..=1024))]
    pub(crate) jobs: usize,
    /// How long a measurement may take, as in `90s`, `10m`, `2h` or `1d` [default: no limit; after a day its ticket may
    /// be given to another worker]
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) timeout: Option<Duration>,
    /// How often to try again when a measurement fails
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(crate) retries: u32,
    /// After how many failed tickets of the same candidate to withdraw it and go on with the others; 0 for never. If nothing can be measured,
    /// the run ends and the candidates are available again
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub(crate) give_up: u32,
    /// The name of this worker in the journal [default: the name of the machine]
    #[arg(long, value_name = "NAME", value_parser = worker)]
    pub(crate) worker: Option<String>,
}
