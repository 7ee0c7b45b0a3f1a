//! Why a file of rewards was refused.

use crate::dataset::DatasetError;
use cutline_campaign::TicketId;
use thiserror::Error;

/// Why a file of rewards was refused. Rows count from 1, the header being row 1.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RewardsError {
    /// The file is not valid CSV, or a field is not a number.
    #[error(transparent)]
    Csv(#[from] DatasetError),
    /// The file is JSON, but not what `cutline export --events` writes.
    #[error("the JSON is not a list of exported events: {0}")]
    Json(String),
    /// The file is neither text nor JSON.
    #[error("this is {0}; rewards are read from CSV, or from exported events as CSV or JSON")]
    WrongKind(&'static str),
    /// A column is missing or occurs twice.
    #[error("{}", column_message(column, *.found, .header))]
    Column {
        /// The column.
        column: &'static str,
        /// How often it occurs.
        found: usize,
        /// The whole header.
        header: String,
    },
    /// There is no row below the header.
    #[error("there are no rewards: the file needs a header and one row per reward")]
    Empty,
    /// An arm is given neither by a known name nor by a row number.
    #[error("row {row}, column `{column}`: there is no arm `{arm}`; {}", allowed(*.n_arms, *.has_names, *.has_numbers))]
    NoArm {
        /// The row of the file.
        row: u64,
        /// The column.
        column: String,
        /// The field.
        arm: String,
        /// The number of arms.
        n_arms: usize,
        /// Whether arms may be given by name.
        has_names: bool,
        /// Whether arms may be given by number.
        has_numbers: bool,
    },
    /// Several arms have this name.
    #[error("row {row}, column `{column}`: `{arm}` is the name of {found} arms; use row numbers, or names that differ")]
    Ambiguous {
        /// The row of the file.
        row: u64,
        /// The column.
        column: String,
        /// The name.
        arm: String,
        /// How many arms have it.
        found: usize,
    },
    /// A ticket is not a whole number from 1.
    #[error("row {row}, column `ticket`: `{ticket}` is not a ticket; tickets are whole numbers from 1")]
    NotATicket {
        /// The row of the file.
        row: u64,
        /// The field.
        ticket: String,
    },
    /// A row names another arm than its ticket is for.
    #[error("row {row}: ticket {ticket} is for arm `{arm}`, not for `{found}`; nothing was recorded")]
    OtherArm {
        /// The row of the file.
        row: u64,
        /// The ticket.
        ticket: TicketId,
        /// The arm of the ticket.
        arm: String,
        /// The arm in the file.
        found: String,
    },
    /// A reward is too large.
    #[error("row {row}, column `reward`: `{reward}` must lie between -1e80 and 1e80")]
    TooLarge {
        /// The row of the file.
        row: u64,
        /// The reward.
        reward: String,
    },
}

fn column_message(column: &str, found: usize, header: &str) -> String {
    match found {
        0 if header.is_empty() => format!("there is no header; it must have a column `{column}`"),
        0 => format!("there is no column `{column}` in the header `{header}`"),
        _ => format!("there are {found} columns `{column}` in the header `{header}`; one is needed"),
    }
}

fn allowed(n_arms: usize, has_names: bool, has_numbers: bool) -> String {
    let names = "give one of the names in the features file";
    let last = n_arms - 1;
    match (has_names, has_numbers) {
        (true, true) => format!("{names}, or a row number from 0 to {last}"),
        (true, false) => format!("{names}; some of them are numbers, so that a number is a name and not a row"),
        _ => format!("give a row number from 0 to {last}"),
    }
}
