//! Rewards from CSV files: one row per reward, with its arm or its ticket.

mod error;
mod lookup;

pub use error::RewardsError;
pub(crate) use lookup::Lookup;

use crate::dataset::{Block, Blocks, DatasetError, Rows};
use crate::{dataset, exported, spreadsheet};
use cutline::Arm;
use cutline_campaign::{MAX_REWARD, TicketId};
use std::borrow::Cow;
use std::io::Read;

/// The number of bytes read at once.
const BLOCK: usize = 1 << 20;

/// Rewards from CSV with a header that has the columns `arm` and `reward`, in any case and order; other columns are ignored. Or from the
/// events of a campaign as `cutline export --events` writes them, as CSV or JSON: the rewards that were received, in their order, as they
/// were corrected.
///
/// An arm is given by one of `names`, which may be empty, or by its row number from 0. If any name is a whole number, arms can be
/// given by name only.
///
/// # Errors
/// If the file cannot be read, is ragged or empty, lacks a column, an arm is unknown or ambiguous, or a reward is not a number
/// within ±[`MAX_REWARD`], written with a comma if `decimal_comma`.
pub fn rewards(
    mut file: impl Read,
    n_arms: usize,
    names: &[String],
    decimal_comma: bool,
) -> Result<Vec<(Arm, f64)>, RewardsError> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(DatasetError::from)?;
    let arms = Lookup::new(n_arms, names);
    match dataset::other_kind(&bytes) {
        Some("JSON") => exported::from_json(&bytes, &arms),
        Some(kind) => Err(RewardsError::WrongKind(kind)),
        None if exported::is_exported(&bytes)? => exported::from_csv(&bytes, &arms),
        None => {
            let rows = read(&bytes, "arm", decimal_comma)?;
            rows.into_iter().map(|row| Ok((arms.find(&row.key, row.number, "arm")?, row.reward))).collect()
        }
    }
}

/// A reward in a file of rewards by ticket.
#[derive(Clone, Debug, PartialEq)]
pub struct TicketReward {
    /// The row of the file.
    pub row: u64,
    /// The ticket.
    pub ticket: TicketId,
    /// The arm, if the file has a column `arm` and the row says something there: to be compared with that of the ticket.
    pub arm: Option<String>,
    /// The reward.
    pub reward: f64,
}

/// Rewards from CSV with a header that has the columns `ticket` and `reward`, in any case and order, and perhaps `arm`; other columns are
/// ignored.
///
/// # Errors
/// If the file cannot be read, is ragged or empty, lacks a column, or a ticket or a reward is not a number within its range, written with a
/// comma if `decimal_comma`.
pub fn ticket_rewards(mut csv: impl Read, decimal_comma: bool) -> Result<Vec<TicketReward>, RewardsError> {
    let mut bytes = Vec::new();
    csv.read_to_end(&mut bytes).map_err(DatasetError::from)?;
    let by_ticket = |Row { number: row, key, arm, reward }| {
        let ticket = key.parse().ok().filter(|&ticket| ticket > 0);
        let ticket = ticket.ok_or(RewardsError::NotATicket { row, ticket: key })?;
        Ok(TicketReward { row, ticket, arm, reward })
    };
    read(&bytes, "ticket", decimal_comma)?.into_iter().map(by_ticket).collect()
}

/// Fails unless the arms that the rows name are those of their tickets, which `arm_of` knows. An arm is given as in [`rewards`].
///
/// # Errors
/// If a row names another arm, or one that does not exist.
pub fn check_arms(
    rows: &[TicketReward],
    names: &[String],
    n_arms: usize,
    arm_of: impl Fn(TicketId) -> Option<Arm>,
) -> Result<(), RewardsError> {
    if rows.iter().all(|row| row.arm.is_none()) {
        return Ok(());
    }
    let arms = Lookup::new(n_arms, names);
    for TicketReward { row, ticket, arm, .. } in rows {
        let (Some(field), Some(own)) = (arm, arm_of(*ticket)) else { continue };
        let name = names.get(own).map_or_else(|| own.to_string(), Clone::clone);
        let is_own = *field == name || spreadsheet::unquoted(field) == name;
        if !is_own && arms.find(field, *row, "arm")? != own {
            return Err(RewardsError::OtherArm { row: *row, ticket: *ticket, arm: name, found: field.clone() });
        }
    }
    Ok(())
}

/// A row with a reward: its number, the text of its key, the arm or the ticket, and that of a column `arm` beside it.
struct Row {
    number: u64,
    key: String,
    arm: Option<String>,
    reward: f64,
}

/// Rewards with their keys, in the column `key`.
fn read(csv: &[u8], key: &'static str, decimal_comma: bool) -> Result<Vec<Row>, RewardsError> {
    let mut columns = None;
    let mut rewards = Vec::new();
    each_row(csv, |row, fields| {
        if let Some(columns) = &columns {
            rewards.push(reward(fields, row, columns, decimal_comma)?);
        } else {
            columns = Some(Columns::new(dataset::header(fields, row)?, key)?);
        }
        Ok(())
    })?;
    match columns {
        None => Err(Columns::new(Vec::new(), key).map_or_else(|error| error, |_| RewardsError::Empty)),
        Some(_) if rewards.is_empty() => Err(RewardsError::Empty),
        Some(_) => Ok(rewards),
    }
}

/// Calls `take` with every row of a CSV file, the header included, and the line that it begins on. The separator is detected.
pub(crate) fn each_row(
    csv: &[u8],
    mut take: impl FnMut(u64, &[Cow<'_, [u8]>]) -> Result<(), RewardsError>,
) -> Result<(), RewardsError> {
    let beginning = &csv[..csv.len().min(BLOCK)];
    let separator = dataset::separator(beginning, beginning.len() < csv.len());
    let mut blocks = Blocks::new(csv, BLOCK)?.separated_by(separator);
    while let Some(block) = blocks.next() {
        let Block { text, line } = block?;
        let (mut rows, mut fields) = (Rows::new(&text, line).separated_by(separator), Vec::new());
        while let Some(row) = rows.next(&mut fields) {
            take(row, &fields)?;
        }
    }
    Ok(())
}

/// The header, and the positions of the key, the reward and the arm in a row.
struct Columns {
    header: Vec<String>,
    key: usize,
    reward: usize,
    arm: Option<usize>,
}

impl Columns {
    fn new(header: Vec<String>, key: &'static str) -> Result<Self, RewardsError> {
        let (key, reward, arm) = (column(&header, key)?, column(&header, "reward")?, column(&header, "arm").ok());
        Ok(Self { header, key, reward, arm })
    }
}

/// The position of the only column with this name.
pub(crate) fn column(header: &[String], column: &'static str) -> Result<usize, RewardsError> {
    let is_it = |field: &String| field.eq_ignore_ascii_case(column);
    let found = header.iter().filter(|field| is_it(field)).count();
    match header.iter().position(is_it) {
        Some(position) if found == 1 => Ok(position),
        _ => Err(RewardsError::Column { column, found, header: header.join(",") }),
    }
}

fn reward(fields: &[Cow<'_, [u8]>], row: u64, columns: &Columns, decimal_comma: bool) -> Result<Row, RewardsError> {
    let header = &columns.header;
    let (expected, found) = (header.len(), fields.len());
    if expected != found {
        return Err(DatasetError::Ragged { row, expected, found }.into());
    }
    let field = |column: usize| dataset::text(&fields[column], row, &header[column]);
    let key = field(columns.key)?.to_owned();
    let arm = columns.arm.map(field).transpose()?.filter(|arm| !arm.is_empty()).map(str::to_owned);
    let field = field(columns.reward)?;
    let reward = dataset::number(field, row, &header[columns.reward], decimal_comma)?;
    if reward.abs() > MAX_REWARD {
        return Err(RewardsError::TooLarge { row, reward: field.into() });
    }
    Ok(Row { number: row, key, arm, reward })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(csv: &[u8], names: &[&str]) -> Result<Vec<(Arm, f64)>, RewardsError> {
        rewards(csv, 3, &names.iter().map(ToString::to_string).collect::<Vec<_>>(), false)
    }

    #[test]
    fn arms_are_names_or_numbers() {
        let expected = vec![(0, 1.5), (2, -2.0), (0, 0.0)];
        assert_eq!(read(b"arm,reward\n0,1.5\n2,-2\n0,0\n", &[]).unwrap(), expected);
        assert_eq!(read(b"Reward, when , ARM\n1.5,x,a\n-2,y,2\n0,z,a\n", &["a", "b", "c"]).unwrap(), expected);
        assert_eq!(read(b"arm,reward\n1,5\n", &["3", "2", "1"]).unwrap(), [(2, 5.0)], "numbers that are names");
        assert_eq!(
            read(b"\xef\xbb\xbfarm,reward\r\n\r\n1,5\r\n", &[]).unwrap(),
            [(1, 5.0)],
            "as spreadsheets write it"
        );
        assert_eq!(read(b"arm,reward\n1,1e80\n1,-1e80\n", &[]).unwrap(), [(1, MAX_REWARD), (1, -MAX_REWARD)]);
    }

    /// What `cutline export --events` writes: rewards stand as they were corrected, and what is void is left out.
    #[test]
    fn rewards_from_exported_events() {
        let header = "number,at,event,ticket,arm,index,reward,worker,until,reason,counted";
        let csv = format!(
            "{header}\n1,t,observed,,b,1,0.5,,,,0\n2,t,asked,1,a,0,,w,t,,\n3,t,asked,2,\"c, d\",2,,w,t,,\n4,t,told,1,a,0,1.5,,,,1\n\
             5,t,told,2,\"c, d\",2,7.0,,,,1\n6,t,amended,1,a,0,-2.5,,,typo,\n7,t,failed,3,b,1,,,,lost,\n8,t,voided,2,\"c, d\",2,,,,,\n"
        );
        let names = ["a", "b", "c, d"];
        let expected = vec![(1, 0.5), (0, -2.5)];
        assert_eq!(read(csv.as_bytes(), &names).unwrap(), expected);
        let json = r#"[
{"number":1,"at":"t","event":"observed","ticket":null,"arm":"b","index":1,"reward":0.5},
{"number":2,"at":"t","event":"told","ticket":1,"arm":"a","index":0,"reward":1.5},
{"number":3,"at":"t","event":"amended","ticket":1,"arm":"a","index":0,"reward":-2.5},
{"number":4,"at":"t","event":"added","ticket":null,"arm":null,"index":null,"reward":null}
]"#;
        assert_eq!(read(json.as_bytes(), &names).unwrap(), expected);
        let message = |file: &[u8]| read(file, &names).unwrap_err().to_string();
        assert!(
            message(b"[{\"a\": 1}]").starts_with("the JSON is not a list of exported events: missing field `event`")
        );
        assert_eq!(message(format!("{header}\n").as_bytes()), message(b"arm,reward\n"));
        assert!(message(csv.replace(",b,", ",x,").as_bytes()).starts_with("row 2, column `arm`: there is no arm `x`"));
        assert!(
            message(csv.replace("-2.5", "oops").as_bytes())
                .starts_with("row 7, column `reward`: `oops` is not a finite number")
        );
        assert_eq!(
            message(b"%PDF-1.4"),
            "this is a PDF file; rewards are read from CSV, or from exported events as CSV or JSON"
        );
    }

    #[test]
    fn the_separator_is_detected() {
        assert_eq!(read(b"arm;reward\n0;1.5\n", &[]).unwrap(), [(0, 1.5)]);
        let told = TicketReward { row: 2, ticket: 3, arm: None, reward: 1.5 };
        assert_eq!(ticket_rewards(&b"ticket\treward\n3\t1.5\n"[..], false).unwrap(), [told]);
    }

    #[test]
    fn a_decimal_comma_is_read_if_it_is_expected() {
        let by_arm = |csv: &[u8], decimal_comma| rewards(csv, 3, &[], decimal_comma);
        assert_eq!(by_arm(b"arm;reward\n0;-1,5\n1;2\n", true).unwrap(), [(0, -1.5), (1, 2.0)]);
        assert!(by_arm(b"arm;reward\n0;-1,5\n", false).is_err());
        assert!(by_arm(b"arm;reward\n0;1.5\n", true).is_err(), "the point may separate thousands");
        let told = ticket_rewards(&b"ticket;reward\n3;0,25\n"[..], true).unwrap();
        assert_eq!(told, [TicketReward { row: 2, ticket: 3, arm: None, reward: 0.25 }]);
    }

    #[test]
    fn arms_beside_tickets_must_be_theirs() {
        let names = ["a", "-b", "2"].map(String::from);
        let check = |csv: &str| {
            let rows = ticket_rewards(csv.as_bytes(), false).unwrap();
            check_arms(&rows, &names, 3, |ticket| usize::try_from(ticket - 1).ok().filter(|&arm| arm < 3))
                .map_err(|error| error.to_string())
        };
        assert_eq!(check("ticket,arm,reward\n1,a,1\n2,'-b,1\n2,-b,1\n3,2,1\n3,,1\n9,a,1\n"), Ok(()));
        assert_eq!(check("ticket,reward\n1,1\n"), Ok(()));
        assert_eq!(
            check("ticket,arm,reward\n1,a,1\n1,-b,1\n").unwrap_err(),
            "row 3: ticket 1 is for arm `a`, not for `-b`; nothing was recorded"
        );
        assert!(
            check("ticket,arm,reward\n1,x,1\n").unwrap_err().starts_with("row 2, column `arm`: there is no arm `x`")
        );
    }

    #[test]
    fn rewards_by_ticket() {
        let read = |csv: &str| ticket_rewards(csv.as_bytes(), false);
        let told = |row, ticket, reward| TicketReward { row, ticket, arm: None, reward };
        assert_eq!(read("Reward,note,TICKET\n-0.5,x,3\n1e3,y,1\n").unwrap(), [told(2, 3, -0.5), told(3, 1, 1000.0)]);
        let message = |csv: &str| read(csv).unwrap_err().to_string();
        for bad in ["0", "-1", "1.5", "x", "", "99999999999999999999"] {
            let expected = format!("row 3, column `ticket`: `{bad}` is not a ticket; tickets are whole numbers from 1");
            assert_eq!(message(&format!("ticket,reward\n1,1\n{bad},1\n")), expected);
        }
        assert_eq!(message("ticket,reward\n1,nan\n"), "row 2, column `reward`: `nan` is not a finite number");
        assert_eq!(message("arm,reward\n1,1\n"), "there is no column `ticket` in the header `arm,reward`");
    }

    #[test]
    fn bad_files_are_refused_with_row_and_column() {
        let message = |csv: &[u8], names: &[&str]| read(csv, names).unwrap_err().to_string();
        let names = ["a", "b", "b"];
        for (csv, names, expected) in [
            (&b"arm,reward\n0,1\n1,x\n"[..], &[][..], "row 3, column `reward`: `x` is not a finite number"),
            (b"arm,reward\n0,NaN\n", &[], "row 2, column `reward`: `NaN` is not a finite number"),
            (b"arm,reward\n0,-inf\n", &[], "row 2, column `reward`: `-inf` is not a finite number"),
            (b"arm,reward\n0,\n", &[], "row 2, column `reward`: `` is not a finite number"),
            (b"arm,reward\n0,1e81\n", &[], "row 2, column `reward`: `1e81` must lie between -1e80 and 1e80"),
            (b"arm,reward\n0,\xff\n", &[], "row 2, column `reward`: the field is not UTF-8"),
            (b"arm,reward\n\n\"0\n", &[], "row 3: a quote is opened and never closed"),
            (b"arm,reward\n0,1\n2\n", &[], "row 3 has 1 fields, but the header has 2"),
            (b"arm,reward\n3,1\n", &[], "row 2, column `arm`: there is no arm `3`; give a row number from 0 to 2"),
            (b"arm,reward\n-1,1\n", &[], "row 2, column `arm`: there is no arm `-1`; give a row number from 0 to 2"),
            (
                b"arm,reward\nc,1\n",
                &names,
                "row 2, column `arm`: there is no arm `c`; give one of the names in the features file, or a row number \
                 from 0 to 2",
            ),
            (
                b"arm,reward\n0,1\n",
                &["1", "2", "3"],
                "row 2, column `arm`: there is no arm `0`; give one of the names in the features file; some of them are numbers, so that a \
                 number is a name and not a row",
            ),
            (
                b"arm,reward\nb,1\n",
                &names,
                "row 2, column `arm`: `b` is the name of 2 arms; use row numbers, or names that differ",
            ),
            (b"arm,rewards\n", &[], "there is no column `reward` in the header `arm,rewards`"),
            (b"arm,arm,reward\n", &[], "there are 2 columns `arm` in the header `arm,arm,reward`; one is needed"),
            (b"", &[], "there is no header; it must have a column `arm`"),
            (b"arm,reward\n", &[], "there are no rewards: the file needs a header and one row per reward"),
        ] {
            assert_eq!(message(csv, names), expected);
        }
    }
}
