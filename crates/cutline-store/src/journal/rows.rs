//! Events, campaigns and candidates as rows of a database.

use super::database::{Row, Value};
use crate::checksum::Checksum;
use cutline_campaign::{Candidates, Event, Record, Time};

/// What is wrong with a row.
pub(super) type BadRow = String;

/// The columns that only some kinds of events have.
#[derive(Default)]
struct Columns<'a> {
    ticket: Option<u64>,
    arm: Option<u64>,
    reward: Option<f64>,
    worker: Option<&'a str>,
    until: Option<u64>,
    reason: Option<&'a str>,
    counted: Option<u64>,
}

fn columns(event: &Event) -> Columns<'_> {
    let blank = Columns::default();
    match *event {
        Event::Asked { ticket, arm, ref worker, until, replicate_of } => {
            let (arm, worker) = (Some(arm as u64), Some(worker.as_str()));
            Columns { ticket: Some(ticket), arm, worker, until: Some(until), counted: replicate_of, ..blank }
        }
        Event::Renewed { ticket, until } => Columns { ticket: Some(ticket), until: Some(until), ..blank },
        Event::Told { ticket, reward } => Columns { ticket: Some(ticket), reward: Some(reward), ..blank },
        Event::Failed { ticket, ref reason } | Event::Voided { ticket, ref reason } => {
            Columns { ticket: Some(ticket), reason: Some(reason), ..blank }
        }
        Event::Expired { ticket } => Columns { ticket: Some(ticket), ..blank },
        Event::Observed { arm, reward, is_counted } => {
            let (arm, counted) = (Some(arm as u64), Some(u64::from(is_counted)));
            Columns { arm, reward: Some(reward), counted, ..blank }
        }
        Event::Amended { ticket, reward, ref reason } => {
            Columns { ticket: Some(ticket), reward: Some(reward), reason: Some(reason), ..blank }
        }
        Event::Withdrawn { arm, ref reason } => Columns { arm: Some(arm as u64), reason: Some(reason), ..blank },
        Event::Restored { arm } => Columns { arm: Some(arm as u64), ..blank },
        Event::Added { first, n_arms } => Columns { arm: Some(first as u64), counted: Some(n_arms as u64), ..blank },
        Event::Changed { budget, ref change } => {
            Columns { counted: Some(budget.into()), reason: Some(change), ..blank }
        }
        ref other => unreachable!("{other:?} has no row"),
    }
}

/// The checksum of an event and all before it.
pub(super) fn checksum(before: Checksum, record: &Record) -> Checksum {
    let (kind, columns) = (record.event.name(), columns(&record.event));
    let numbers = [columns.ticket, columns.arm, columns.reward.map(f64::to_bits), columns.until, columns.counted];
    let sum = before.add(record.number).add(record.at).add_bytes(kind.as_bytes());
    let sum = numbers.iter().fold(sum, |sum, number| sum.add(u64::from(number.is_some())).add(number.unwrap_or(0)));
    [columns.worker, columns.reason].iter().fold(sum, |sum, text| sum.add_bytes(text.unwrap_or("").as_bytes()))
}

/// An event as the values that `sql.rs` inserts.
pub(super) fn values(campaign: i64, record: &Record, checksum: Checksum) -> [Value<'_>; 12] {
    let (kind, columns) = (record.event.name(), columns(&record.event));
    let integer = |value: Option<u64>| value.map_or(Value::Null, |value| Value::Integer(value.cast_signed()));
    [
        Value::Integer(campaign),
        Value::Integer(record.number.cast_signed()),
        Value::Integer(record.at.cast_signed()),
        Value::Text(kind),
        integer(columns.ticket),
        integer(columns.arm),
        columns.reward.map_or(Value::Null, Value::Real),
        columns.worker.map_or(Value::Null, Value::Text),
        integer(columns.until),
        columns.reason.map_or(Value::Null, Value::Text),
        integer(columns.counted),
        Value::Integer(checksum.to_stored()),
    ]
}

/// Reads an event and its stored checksum from a row.
pub(super) fn record(row: &dyn Row) -> Result<(Record, Checksum), BadRow> {
    let whole = |column: usize, what: &str| {
        row.integer(column)?.map(i64::cast_unsigned).ok_or_else(|| format!("an event has no {what}"))
    };
    let number = whole(0, "number")?;
    let missing = |what: &str| format!("event {number} has no {what}");
    let ticket = || whole(3, "ticket");
    let arm = || usize::try_from(whole(4, "arm")?).map_err(|_| missing("arm"));
    let reward = || row.real(5)?.ok_or_else(|| missing("reward"));
    let text = |column, what| row.text(column)?.map(str::to_owned).ok_or_else(|| missing(what));
    let event = match row.text(2)? {
        Some("asked") => Event::Asked {
            ticket: ticket()?,
            arm: arm()?,
            worker: text(6, "worker")?,
            until: whole(7, "lease")?,
            replicate_of: row.integer(9)?.map(i64::cast_unsigned),
        },
        Some("renewed") => Event::Renewed { ticket: ticket()?, until: whole(7, "lease")? },
        Some("told") => Event::Told { ticket: ticket()?, reward: reward()? },
        Some("failed") => Event::Failed { ticket: ticket()?, reason: text(8, "reason")? },
        Some("expired") => Event::Expired { ticket: ticket()? },
        Some("observed") => Event::Observed { arm: arm()?, reward: reward()?, is_counted: whole(9, "count")? != 0 },
        Some("amended") => Event::Amended { ticket: ticket()?, reward: reward()?, reason: text(8, "reason")? },
        Some("voided") => Event::Voided { ticket: ticket()?, reason: text(8, "reason")? },
        Some("withdrawn") => Event::Withdrawn { arm: arm()?, reason: text(8, "reason")? },
        Some("restored") => Event::Restored { arm: arm()? },
        Some("added") => {
            let n_arms = usize::try_from(whole(9, "count")?).map_err(|_| missing("count"))?;
            Event::Added { first: arm()?, n_arms }
        }
        Some("changed") => {
            let budget = u32::try_from(whole(9, "budget")?).map_err(|_| missing("budget"))?;
            Event::Changed { budget, change: text(8, "change")? }
        }
        other => return Err(format!("event {number} has the unknown kind {other:?}")),
    };
    let checksum = row.integer(10)?.ok_or_else(|| missing("checksum"))?;
    Ok((Record { number, at: whole(1, "time")?, event }, Checksum::from_stored(checksum)))
}

/// A row of the table of campaigns.
pub(super) struct CampaignRow {
    pub(super) id: i64,
    pub(super) name: String,
    pub(super) created: Time,
    /// The settings and the names of the columns, as JSON.
    pub(super) settings: String,
    pub(super) n_arms: usize,
}

impl CampaignRow {
    fn checksum(&self) -> Checksum {
        let sum = Checksum::new().add(self.id.cast_unsigned()).add_bytes(self.name.as_bytes()).add(self.created);
        sum.add_bytes(self.settings.as_bytes()).add(self.n_arms as u64)
    }

    pub(super) fn values(&self) -> [Value<'_>; 6] {
        [
            Value::Integer(self.id),
            Value::Text(&self.name),
            Value::Integer(self.created.cast_signed()),
            Value::Text(&self.settings),
            Value::whole(self.n_arms),
            Value::Integer(self.checksum().to_stored()),
        ]
    }

    pub(super) fn read(row: &dyn Row) -> Result<Self, BadRow> {
        let missing = || "a campaign lacks a column";
        let campaign = Self {
            id: row.integer(0)?.ok_or_else(missing)?,
            name: row.text(1)?.ok_or_else(missing)?.to_owned(),
            created: row.integer(2)?.ok_or_else(missing)?.cast_unsigned(),
            settings: row.text(3)?.ok_or_else(missing)?.to_owned(),
            n_arms: row.integer(4)?.and_then(|n_arms| usize::try_from(n_arms).ok()).ok_or_else(missing)?,
        };
        if row.integer(5)?.map(Checksum::from_stored) == Some(campaign.checksum()) {
            Ok(campaign)
        } else {
            Err(format!("the campaign `{}` has changed", campaign.name))
        }
    }
}

/// The number of features in a part: 256 KB of them.
const FEATURES_PER_PART: usize = 1 << 15;

/// Consecutive candidates, stored in one row.
pub(super) struct Part {
    /// The number of the first.
    pub(super) first: usize,
    /// One line per candidate.
    pub(super) names: String,
    features: Vec<u8>,
    /// What measurements cost; `None` without costs.
    costs: Option<Vec<u8>>,
}

/// The candidates in parts; the first of them has the number `offset`.
pub(super) fn parts(offset: usize, candidates: &Candidates) -> impl Iterator<Item = Part> + '_ {
    let dimension = candidates.columns().len();
    let arms = (FEATURES_PER_PART / dimension.max(16)).max(1);
    (0..candidates.n_arms()).step_by(arms).map(move |first| {
        let last = (first + arms).min(candidates.n_arms());
        let features = candidates.features()[first * dimension..last * dimension].iter();
        Part {
            first: offset + first,
            names: candidates.names()[first..last].join("\n"),
            features: bytes(features),
            costs: candidates.costs().map(|costs| bytes(costs[first..last].iter())),
        }
    })
}

fn bytes<'a>(numbers: impl Iterator<Item = &'a f64>) -> Vec<u8> {
    numbers.flat_map(|number| number.to_le_bytes()).collect()
}

fn numbers(bytes: &[u8]) -> impl ExactSizeIterator<Item = f64> + '_ {
    bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes))
}

impl Part {
    fn checksum(&self) -> Checksum {
        let sum = Checksum::new().add(self.first as u64);
        let sum = sum.add_bytes(self.names.as_bytes()).add_bytes(&self.features);
        // Without costs it is that of earlier versions.
        self.costs.iter().fold(sum, |sum, costs| sum.add_bytes(costs))
    }

    pub(super) fn values(&self, campaign: i64) -> [Value<'_>; 6] {
        [
            Value::Integer(campaign),
            Value::whole(self.first),
            Value::Text(&self.names),
            Value::Bytes(&self.features),
            self.costs.as_ref().map_or(Value::Null, |costs| Value::Bytes(costs)),
            Value::Integer(self.checksum().to_stored()),
        ]
    }

    /// Reads a part from a row.
    pub(super) fn read(row: &dyn Row) -> Result<Self, BadRow> {
        let first = row.integer(0)?.and_then(|first| usize::try_from(first).ok());
        let first = first.ok_or("a part of the arms has no number")?;
        let missing = || format!("the arms from {first} on are missing");
        let names = row.text(1)?.ok_or_else(missing)?.to_owned();
        let (features, costs) = (row.bytes(2)?.ok_or_else(missing)?.to_owned(), row.bytes(3)?.map(ToOwned::to_owned));
        let part = Self { first, names, features, costs };
        if row.integer(4)?.map(Checksum::from_stored) == Some(part.checksum()) {
            Ok(part)
        } else {
            Err(format!("the arms from {first} on have changed"))
        }
    }

    pub(super) fn n_arms(&self) -> usize {
        self.names.split('\n').count()
    }

    /// The features of all candidates of the part, row after row.
    pub(super) fn features(&self) -> impl ExactSizeIterator<Item = f64> + '_ {
        numbers(&self.features)
    }

    /// What measurements of the candidates of the part cost.
    pub(super) fn costs(&self) -> Option<impl ExactSizeIterator<Item = f64> + '_> {
        self.costs.as_deref().map(numbers)
    }
}
