//! A journal in a database: one SQL text for SQLite and PostgreSQL.

use super::database::{Database, Lock, Value};
use super::rows::{self, Begun, Part, checksum, parts, record};
use super::{Decide, Entry, Id, Journal, first_events, numbered};
use crate::checksum::Checksum;
use crate::{Candidates, Draft, Settings, StoreError};
use cutline::Arm;
use cutline::campaign::Record;
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// What the schema is made of: what leads to each version from the one before.
const MIGRATIONS: [(i64, &str); 1] = [(1, include_str!("../../migrations/1.sql"))];

const VERSION: &str = "SELECT version FROM cutline_schema";
const ENTRIES: &str = "SELECT id, name, created, settings, n_arms, checksum FROM cutline_campaigns ORDER BY id";
const NEXT_ID: &str = "SELECT COALESCE(MAX(id), 0) + 1 FROM cutline_campaigns";
const BEGIN: &str = "INSERT INTO cutline_campaigns (id, name, created, settings, n_arms, checksum) \
                     VALUES ($1, $2, $3, $4, $5, $6)";
const ADD_ARMS: &str =
    "INSERT INTO cutline_arms (campaign, first, names, features, checksum) VALUES ($1, $2, $3, $4, $5)";
const ABOUT: &str = "SELECT id, name, created, settings, n_arms, checksum FROM cutline_campaigns WHERE id = $1";
const ARMS: &str = "SELECT first, names, features, checksum FROM cutline_arms WHERE campaign = $1 ORDER BY first";
const ARM: &str = "SELECT first, names, features, checksum FROM cutline_arms WHERE campaign = $1 AND first <= $2 \
                   ORDER BY first DESC LIMIT 1";
const EVENTS: &str = "SELECT number, at, kind, ticket, arm, reward, worker, until, reason, counted, checksum \
                      FROM cutline_events WHERE campaign = $1 AND number >= $2 AND number < 9223372036854775807 \
                      ORDER BY number";
const ADD_EVENT: &str = "INSERT INTO cutline_events \
                         (campaign, number, at, kind, ticket, arm, reward, worker, until, reason, counted, checksum) \
                         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";

const ADD_HEAD: &str = "INSERT INTO cutline_events (campaign, number, at, kind, ticket, checksum) \
                        VALUES ($1, 9223372036854775807, 0, 'head', 0, 0)";
const HEAD: &str = "SELECT ticket FROM cutline_events WHERE campaign = $1 AND number = 9223372036854775807";
const MOVE_HEAD: &str = "UPDATE cutline_events SET ticket = $1 WHERE campaign = $2 AND number = 9223372036854775807";

/// A journal in a database.
pub(super) struct Sql<D> {
    database: D,
    /// Of the campaign that was read last: its id, the number of its last event read, and the checksum there.
    position: Option<(Id, u64, Checksum)>,
}

/// What the column `settings` holds.
#[derive(Serialize, Deserialize)]
struct About {
    #[serde(flatten)]
    settings: Settings,
    columns: Vec<String>,
}

/// What an error says, in one line: some quote a whole statement.
pub(super) fn first_line(error: &impl std::fmt::Display) -> String {
    error.to_string().lines().next().unwrap_or_default().into()
}

/// Something to do within a transaction.
fn transaction<D: Database, T>(
    database: &mut D,
    lock: Lock,
    work: impl FnOnce(&mut D) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    database.begin(lock)?;
    let done = work(database).and_then(|done| database.commit().map(|()| done));
    if done.is_err() {
        database.roll_back();
    }
    done
}

/// The first row's first column.
fn integer<D: Database>(
    database: &mut D,
    statement: &'static str,
    values: &[Value<'_>],
) -> Result<Option<i64>, StoreError> {
    let mut found = None;
    database.query(statement, values, &mut |row| {
        found = row.integer(0)?;
        Ok(())
    })?;
    Ok(found)
}

impl<D: Database> Sql<D> {
    /// A journal in a database, whose schema is brought up to date; `may_begin` says whether one may be begun.
    pub(super) fn new(mut database: D, may_begin: bool) -> Result<Self, StoreError> {
        let [.., (known, _)] = MIGRATIONS;
        if !database.has_schema()? {
            if !may_begin {
                return Err(StoreError::Missing(database.location().into()));
            }
            transaction(&mut database, Lock::Store, |database| {
                // Somebody else may have been faster.
                if database.has_schema()? {
                    return Ok(());
                }
                database.batch(
                    "CREATE TABLE cutline_schema (version BIGINT NOT NULL); INSERT INTO cutline_schema VALUES (0)",
                )?;
                migrate(database, 0)
            })?;
        }
        let damaged = |what: &str, location: &str| StoreError::Damaged { location: location.into(), what: what.into() };
        let Some(found) = integer(&mut database, VERSION, &[])? else {
            return Err(damaged("it has no version", database.location()));
        };
        if found > known {
            return Err(StoreError::Newer { location: database.location().into(), found, known });
        }
        if found < known {
            transaction(&mut database, Lock::Store, |database| {
                let found = integer(database, VERSION, &[])?.unwrap_or(known);
                migrate(database, found)
            })?;
        }
        Ok(Self { database, position: None })
    }

    fn damaged(&self, what: impl Into<String>) -> StoreError {
        StoreError::Damaged { location: self.database.location().into(), what: what.into() }
    }

    fn campaign(&mut self, id: Id) -> Result<Begun, StoreError> {
        let mut found = None;
        self.database.query(ABOUT, &[Value::Integer(id)], &mut |row| {
            found = Some(Begun::of(row)?);
            Ok(())
        })?;
        found.ok_or_else(|| self.damaged("a campaign is gone"))
    }

    fn about(&mut self, id: Id) -> Result<(About, usize), StoreError> {
        let Begun { about, n_arms, .. } = self.campaign(id)?;
        let about = serde_json::from_str(&about).map_err(|error| self.damaged(format!("its settings: {error}")))?;
        Ok((about, n_arms))
    }

    /// The events after number `after`, each checked against the one before it.
    fn events(&mut self, id: Id, after: u64) -> Result<(Vec<Record>, Checksum), StoreError> {
        // Where the last reading ended is known; elsewhere the event before is read again for its checksum.
        let known = self.position.filter(|&(at, last, _)| (at, last) == (id, after)).map(|(.., sum)| sum);
        let mut sum = if after == 0 { Some(Checksum::new()) } else { known };
        let from = if sum.is_some() { after + 1 } else { after };
        let mut records = Vec::new();
        let mut next = from;
        // Before the events: others may add some in between.
        let head = integer(&mut self.database, HEAD, &[Value::Integer(id)])?;
        self.database.query(EVENTS, &[Value::Integer(id), Value::Integer(from.cast_signed())], &mut |row| {
            let (record, stored) = record(row)?;
            if record.number != next {
                return Err(format!("event {next} is missing"));
            }
            next += 1;
            match sum {
                Some(before) if checksum(before, &record) != stored => {
                    return Err(format!("event {} or one before it has changed", record.number));
                }
                Some(_) => records.push(record),
                None => (),
            }
            sum = Some(stored);
            Ok(())
        })?;
        match sum {
            Some(sum) if head.is_some_and(|head| head.cast_unsigned() < next) => Ok((records, sum)),
            _ => Err(self.damaged(format!("event {next} is missing"))),
        }
    }
}

/// Takes a schema from a version to the newest.
fn migrate(database: &mut impl Database, from: i64) -> Result<(), StoreError> {
    for (version, statements) in MIGRATIONS.into_iter().filter(|&(version, _)| version > from) {
        database.batch(&statements.replace("{clustered}", database.clustered()))?;
        database.execute("UPDATE cutline_schema SET version = $1", &[Value::Integer(version)])?;
    }
    Ok(())
}

/// Writes events, the checksum before them being `sum`; says which was the last, and the checksum there.
fn append(
    database: &mut impl Database,
    id: Id,
    mut sum: Checksum,
    records: impl Iterator<Item = Record>,
) -> Result<Option<(u64, Checksum)>, StoreError> {
    let mut last = None;
    for record in records {
        sum = checksum(sum, &record);
        database.execute(ADD_EVENT, &rows::values(id, &record, sum))?;
        last = Some((record.number, sum));
    }
    if let Some((number, _)) = last {
        database.execute(MOVE_HEAD, &[Value::Integer(number.cast_signed()), Value::Integer(id)])?;
    }
    Ok(last)
}

impl<D: Database> Journal for Sql<D> {
    fn entries(&mut self) -> Result<Vec<Entry>, StoreError> {
        let mut entries = Vec::new();
        self.database.query(ENTRIES, &[], &mut |row| {
            let Begun { id, name, created, .. } = Begun::of(row)?;
            entries.push(Entry { id, name, created });
            Ok(())
        })?;
        Ok(entries)
    }

    fn begin(&mut self, draft: &Draft) -> Result<Id, StoreError> {
        let Draft { name, at, settings, candidates, .. } = draft;
        let about = About { settings: settings.clone(), columns: candidates.columns().to_vec() };
        let about = serde_json::to_string(&about).expect("settings are numbers and texts");
        let mut begun = Begun { id: 0, name: name.clone(), created: *at, about, n_arms: candidates.n_arms() };
        self.position = None;
        transaction(&mut self.database, Lock::Store, |database| {
            let mut is_taken = false;
            database.query(ENTRIES, &[], &mut |row| {
                is_taken |= row.text(1)? == Some(name.as_str());
                Ok(())
            })?;
            if is_taken {
                return Err(StoreError::NameTaken(name.clone()));
            }
            begun.id = integer(database, NEXT_ID, &[])?.unwrap_or(1);
            database.execute(BEGIN, &begun.values())?;
            database.execute(ADD_HEAD, &[Value::Integer(begun.id)])?;
            for part in parts(candidates) {
                database.execute(ADD_ARMS, &part.values(begun.id))?;
            }
            append(database, begun.id, Checksum::new(), first_events(draft))?;
            Ok(begun.id)
        })
    }

    fn settings(&mut self, id: Id) -> Result<Settings, StoreError> {
        Ok(self.about(id)?.0.settings)
    }

    fn candidates(&mut self, id: Id) -> Result<Candidates, StoreError> {
        let (About { columns, .. }, n_arms) = self.about(id)?;
        let (mut names, mut features) = (Vec::new(), Vec::new());
        self.database.query(ARMS, &[Value::Integer(id)], &mut |row| {
            let part = Part::of(row)?;
            if part.first != names.len() {
                return Err(format!("the arms from {} on are missing", names.len()));
            }
            names.extend(part.names.split('\n').map(str::to_owned));
            features.extend(part.features());
            Ok(())
        })?;
        if names.len() != n_arms {
            return Err(self.damaged(format!("it has {} of {n_arms} arms", names.len())));
        }
        Candidates::new(names, columns, features).map_err(|error| self.damaged(error.to_string()))
    }

    fn row(&mut self, id: Id, arm: Arm) -> Result<Vec<f64>, StoreError> {
        let mut found = None;
        self.database.query(ARM, &[Value::Integer(id), Value::whole(arm)], &mut |row| {
            let part = Part::of(row)?;
            let dimension = part.features().len() / part.names.split('\n').count();
            found = Some(part.features().skip((arm - part.first) * dimension).take(dimension).collect());
            Ok(())
        })?;
        found.ok_or_else(|| self.damaged(format!("arm {arm} is missing")))
    }

    fn read(&mut self, id: Id, after: u64) -> Result<Vec<Record>, StoreError> {
        let (records, sum) = self.events(id, after)?;
        self.position = Some((id, after + records.len() as u64, sum));
        Ok(records)
    }

    fn write(&mut self, id: Id, after: u64, decide: &mut Decide<'_>) -> Result<(), StoreError> {
        self.database.begin(Lock::Campaign(id))?;
        let written = self.events(id, after).and_then(|(records, sum)| {
            let last = after + records.len() as u64;
            // A rule of one's own may unwind; the transaction is not left open then.
            let decided = catch_unwind(AssertUnwindSafe(|| decide(records))).unwrap_or_else(|payload| {
                self.database.roll_back();
                resume_unwind(payload)
            });
            let added = append(&mut self.database, id, sum, numbered(last, decided?))?;
            self.database.commit()?;
            let (last, sum) = added.unwrap_or((last, sum));
            Ok((id, last, sum))
        });
        match written {
            Ok(position) => {
                self.position = Some(position);
                Ok(())
            }
            Err(error) => {
                self.database.roll_back();
                Err(error)
            }
        }
    }
}
