//! A journal in a database, SQLite or PostgreSQL.

use super::access;
use super::database::{Database, Dialect, Lock, Value};
use super::managing::{self, is_deleted};
use super::rows::{self, CampaignRow, Part, checksum, parts, record};
use super::{Beginning, Changes, Decide, Entry, Id, Journal, first_events, first_mark, numbered};
use crate::checksum::Checksum;
use crate::origin::{Authorship, StoredRequest};
use crate::{NewCampaign, StoreError, Token};
use cutline::Arm;
use cutline_campaign::{Candidates, Record, Settings, Time};
use serde::{Deserialize, Serialize};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The versions of the schema, each with the statements that lead to it from the one before.
const MIGRATIONS: [(i64, &str); 5] = [
    (1, include_str!("../../migrations/1.sql")),
    (2, include_str!("../../migrations/2.sql")),
    (3, include_str!("../../migrations/3.sql")),
    (4, include_str!("../../migrations/4.sql")),
    (5, include_str!("../../migrations/5.sql")),
];

const VERSION: &str = "SELECT version FROM cutline_schema";
pub(super) const ENTRIES: &str =
    "SELECT id, name, created, settings, n_arms, checksum FROM cutline_campaigns ORDER BY id";
const NEXT_ID: &str = "SELECT COALESCE(MAX(id), 0) + 1 FROM cutline_campaigns";
const BEGIN: &str = "INSERT INTO cutline_campaigns (id, name, created, settings, n_arms, checksum) \
                     VALUES ($1, $2, $3, $4, $5, $6)";
const ADD_ARMS: &str =
    "INSERT INTO cutline_arms (campaign, first, names, features, costs, checksum) VALUES ($1, $2, $3, $4, $5, $6)";
const CAMPAIGN: &str = "SELECT id, name, created, settings, n_arms, checksum FROM cutline_campaigns WHERE id = $1";
const ARMS: &str =
    "SELECT first, names, features, costs, checksum FROM cutline_arms WHERE campaign = $1 ORDER BY first";
/// The part with the arm `$2`.
const ONE_ARM: &str = "SELECT first, names, features, costs, checksum FROM cutline_arms \
                       WHERE campaign = $1 AND first <= $2 ORDER BY first DESC LIMIT 1";
/// The parts with the arms in the JSON array `$2`.
const SOME_ARMS_SQLITE: &str = "SELECT first, names, features, costs, checksum FROM cutline_arms \
                                WHERE campaign = $1 AND first IN (SELECT (SELECT MAX(part.first) \
                                FROM cutline_arms AS part WHERE part.campaign = $1 AND part.first <= asked.value) \
                                FROM json_each($2) AS asked) ORDER BY first";
const SOME_ARMS_POSTGRES: &str = "SELECT first, names, features, costs, checksum FROM cutline_arms \
                                  WHERE campaign = $1 AND first IN (SELECT (SELECT MAX(part.first) \
                                  FROM cutline_arms AS part WHERE part.campaign = $1 AND part.first <= asked.arm::BIGINT) \
                                  FROM json_array_elements_text($2::TEXT::JSON) AS asked (arm)) ORDER BY first";
const EVENTS: &str = "SELECT number, at, kind, ticket, arm, reward, worker, until, reason, counted, checksum \
                      FROM cutline_events WHERE campaign = $1 AND number >= $2 AND number < 9223372036854775807 \
                      ORDER BY number";
const ADD_EVENT: &str = "INSERT INTO cutline_events \
                         (campaign, number, at, kind, ticket, arm, reward, worker, until, reason, counted, checksum) \
                         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";

/// How many events are sent to a database together.
const EVENTS_AT_ONCE: usize = 256;

const ADD_HEAD: &str = "INSERT INTO cutline_events (campaign, number, at, kind, ticket, checksum) \
                        VALUES ($1, 9223372036854775807, 0, 'head', 0, 0)";
/// The number of the last event and the time, unless that is the time of this machine.
const HEAD_SQLITE: &str =
    "SELECT ticket, NULL FROM cutline_events WHERE campaign = $1 AND number = 9223372036854775807";
const HEAD_POSTGRES: &str = "SELECT ticket, (EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::BIGINT \
                             FROM cutline_events WHERE campaign = $1 AND number = 9223372036854775807";
const MOVE_HEAD: &str = "UPDATE cutline_events SET ticket = $1 WHERE campaign = $2 AND number = 9223372036854775807";

/// How often a transaction is tried that the database undoes because of another one.
pub(super) const CONFLICTS: u32 = 5;

/// A journal in a database.
pub(super) struct Sql<D> {
    pub(super) database: D,
    /// The campaign that was read last, the number of its last event read, and the checksum there.
    position: Option<(Id, u64, Checksum)>,
    /// The time of the last reading of events, by the server.
    database_time: Option<Time>,
}

/// The content of the column `settings`.
#[derive(Serialize, Deserialize)]
struct StoredSettings {
    #[serde(flatten)]
    settings: Settings,
    columns: Vec<String>,
}

/// The first line of an error's message; some messages quote a whole statement.
pub(super) fn first_line(error: &impl std::fmt::Display) -> String {
    error.to_string().lines().next().unwrap_or_default().into()
}

/// Runs `work` in a transaction, which is rolled back if anything fails, and tried again if that was because of another transaction.
pub(super) fn transaction<D: Database, T>(
    database: &mut D,
    lock: Lock,
    mut work: impl FnMut(&mut D) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut tries = 0;
    loop {
        tries += 1;
        database.begin(lock)?;
        let done = work(database).and_then(|done| database.commit().map(|()| done));
        if done.is_err() {
            database.roll_back();
        }
        if !matches!(done, Err(StoreError::Conflict { .. })) || tries == CONFLICTS {
            return done;
        }
    }
}

/// The first column of the last row of a result.
pub(super) fn integer<D: Database>(
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
    /// A journal in a database. Its schema is migrated if it is old and, with `may_create`, created if there is none.
    pub(super) fn new(mut database: D, may_create: bool) -> Result<Self, StoreError> {
        let [.., (known, _)] = MIGRATIONS;
        if !database.has_schema()? {
            if !may_create {
                return Err(StoreError::Missing(database.location().into()));
            }
            transaction(&mut database, Lock::Store, |database| {
                // Another process may have created it in the meantime.
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
            return Err(damaged("it has no schema version", database.location()));
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
        Ok(Self { database, position: None, database_time: None })
    }

    fn damaged(&self, what: impl Into<String>) -> StoreError {
        StoreError::Damaged { location: self.database.location().into(), what: what.into() }
    }

    fn campaign(&mut self, id: Id) -> Result<CampaignRow, StoreError> {
        let mut found = None;
        self.database.query(CAMPAIGN, &[Value::Integer(id)], &mut |row| {
            found = Some(CampaignRow::read(row)?);
            Ok(())
        })?;
        match found {
            Some(row) if is_deleted(&row.name) => Err(StoreError::Deleted),
            found => found.ok_or_else(|| self.damaged("a campaign is missing")),
        }
    }

    /// The settings of a campaign, and the number of its arms.
    fn stored_settings(&mut self, id: Id) -> Result<(StoredSettings, usize), StoreError> {
        let CampaignRow { settings, n_arms, .. } = self.campaign(id)?;
        let settings =
            serde_json::from_str(&settings).map_err(|error| self.damaged(format!("its settings: {error}")))?;
        Ok((settings, n_arms))
    }

    /// The features of these arms, in their order, by one query. Each part is read once, however many of the arms it holds.
    fn features(&mut self, id: Id, arms: &[Arm]) -> Result<Vec<Vec<f64>>, StoreError> {
        if arms.is_empty() {
            return Ok(Vec::new());
        }
        let list = format!("{arms:?}");
        let (statement, wanted) = match (arms, self.database.dialect()) {
            (&[arm], _) => (ONE_ARM, Value::whole(arm)),
            (_, Dialect::Sqlite) => (SOME_ARMS_SQLITE, Value::Text(&list)),
            (_, Dialect::Postgres) => (SOME_ARMS_POSTGRES, Value::Text(&list)),
        };
        let mut found = vec![None; arms.len()];
        self.database.query(statement, &[Value::Integer(id), wanted], &mut |row| {
            let part = Part::read(row)?;
            let n_arms = part.n_arms();
            let dimension = part.features().len() / n_arms;
            for (&arm, found) in arms.iter().zip(&mut found) {
                if (part.first..part.first + n_arms).contains(&arm) {
                    let before = (arm - part.first) * dimension;
                    *found = Some(part.features().skip(before).take(dimension).collect());
                }
            }
            Ok(())
        })?;
        let missing =
            |(features, arm): (Option<_>, &Arm)| features.ok_or_else(|| self.damaged(format!("arm {arm} is missing")));
        found.into_iter().zip(arms).map(missing).collect()
    }

    /// The number of the last event; `None` if there is no such campaign. Also asks for the time.
    fn head(&mut self, id: Id) -> Result<Option<i64>, StoreError> {
        let statement = match self.database.dialect() {
            Dialect::Sqlite => HEAD_SQLITE,
            Dialect::Postgres => HEAD_POSTGRES,
        };
        let (mut head, mut time) = (None, None);
        self.database.query(statement, &[Value::Integer(id)], &mut |row| {
            head = row.integer(0)?;
            time = row.integer(1)?;
            Ok(())
        })?;
        self.database_time = time.map(i64::cast_unsigned);
        Ok(head)
    }

    /// The events after number `after`, each checked against the one before it.
    fn events(&mut self, id: Id, after: u64) -> Result<(Vec<Record>, Checksum), StoreError> {
        // The event before is read again for its checksum. If the one at the end of the last reading is known, it must be the same: a
        // backup may have been restored into the store.
        let known = self.position.filter(|&(at, last, _)| (at, last) == (id, after)).map(|(.., sum)| sum);
        let mut sum = if after == 0 { Some(Checksum::new()) } else { None };
        let from = if after == 0 { 1 } else { after };
        let mut records = Vec::new();
        let mut next = from;
        // The head is read before the events, because others may add events in between.
        let head = self.head(id)?;
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
                None if known.is_some_and(|known| known != stored) => {
                    return Err(format!("event {after} is another one than before"));
                }
                None => (),
            }
            sum = Some(stored);
            Ok(())
        })?;
        match sum {
            Some(sum) if head.is_some_and(|head| head.cast_unsigned() < next) => Ok((records, sum)),
            _ => {
                // Only a deleted campaign has no head.
                self.campaign(id)?;
                Err(self.damaged(format!("event {next} is missing")))
            }
        }
    }
}

/// Migrates a schema from a version to the newest.
fn migrate(database: &mut impl Database, from: i64) -> Result<(), StoreError> {
    for (version, statements) in MIGRATIONS.into_iter().filter(|&(version, _)| version > from) {
        let clustered = match database.dialect() {
            Dialect::Sqlite => "WITHOUT ROWID",
            Dialect::Postgres => "",
        };
        database.batch(&statements.replace("{clustered}", clustered))?;
        database.execute("UPDATE cutline_schema SET version = $1", &[Value::Integer(version)])?;
    }
    Ok(())
}

/// Writes events; `sum` is the checksum before them. Returns the number of the last event and the checksum there.
fn append(
    database: &mut impl Database,
    id: Id,
    mut sum: Checksum,
    mut records: impl Iterator<Item = Record>,
) -> Result<Option<(u64, Checksum)>, StoreError> {
    let mut last = None;
    loop {
        let some = records.by_ref().take(EVENTS_AT_ONCE).map(|record| {
            sum = checksum(sum, &record);
            (record, sum)
        });
        let some: Vec<(Record, Checksum)> = some.collect();
        let Some((record, sum)) = some.last() else { break };
        last = Some((record.number, *sum));
        let rows: Vec<_> = some.iter().map(|(record, sum)| rows::values(id, record, *sum)).collect();
        database.execute_all(ADD_EVENT, &rows)?;
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
            let CampaignRow { id, name, created, .. } = CampaignRow::read(row)?;
            if !is_deleted(&name) {
                entries.push(Entry { id, name, created });
            }
            Ok(())
        })?;
        Ok(entries)
    }

    fn begin(&mut self, new: &NewCampaign) -> Result<Id, StoreError> {
        let NewCampaign { name, created, first_settings: settings, candidates, .. } = new;
        let settings = StoredSettings { settings: settings.clone(), columns: candidates.columns().to_vec() };
        let settings = serde_json::to_string(&settings).expect("settings are numbers and texts");
        let n_arms = candidates.n_arms() - new.n_added;
        let mut row = CampaignRow { id: 0, name: name.clone(), created: *created, settings, n_arms };
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
            row.id = integer(database, NEXT_ID, &[])?.unwrap_or(1);
            database.execute(BEGIN, &row.values())?;
            database.execute(ADD_HEAD, &[Value::Integer(row.id)])?;
            for part in parts(0, candidates) {
                database.execute(ADD_ARMS, &part.values(row.id))?;
            }
            append(database, row.id, Checksum::new(), first_events(new))?;
            access::add_beginning(database, row.id, &first_mark(new))?;
            Ok(row.id)
        })
    }

    fn beginning(&mut self, id: Id) -> Result<Beginning, StoreError> {
        let (StoredSettings { settings, .. }, n_arms) = self.stored_settings(id)?;
        Ok(Beginning { settings, n_arms })
    }

    fn candidates(&mut self, id: Id) -> Result<Candidates, StoreError> {
        let (StoredSettings { columns, .. }, n_arms) = self.stored_settings(id)?;
        let (mut names, mut features, mut costs) = (Vec::new(), Vec::new(), None);
        self.database.query(ARMS, &[Value::Integer(id)], &mut |row| {
            let part = Part::read(row)?;
            if part.first != names.len() {
                return Err(format!("the arms from {} on are missing", names.len()));
            }
            names.extend(part.names.split('\n').map(str::to_owned));
            features.extend(part.features());
            if let Some(part_costs) = part.costs() {
                costs.get_or_insert_with(Vec::new).extend(part_costs);
            }
            Ok(())
        })?;
        if names.len() < n_arms {
            return Err(self.damaged(format!("it has {} of {n_arms} arms", names.len())));
        }
        let candidates = Candidates::new(names, columns, features);
        let with_costs = |candidates: Candidates| match costs {
            Some(costs) => candidates.with_costs(costs),
            None => Ok(candidates),
        };
        candidates.and_then(with_costs).map_err(|error| self.damaged(error.to_string()))
    }

    fn read(&mut self, id: Id, after: u64) -> Result<Vec<Record>, StoreError> {
        let (records, sum) = self.events(id, after)?;
        self.position = Some((id, after + records.len() as u64, sum));
        Ok(records)
    }

    fn write(&mut self, id: Id, after: u64, decide: &mut Decide<'_>) -> Result<Vec<Vec<f64>>, StoreError> {
        self.database.begin(Lock::Campaign(id))?;
        let written = self.events(id, after).and_then(|(records, sum)| {
            let last = after + records.len() as u64;
            // A custom rule may unwind; the transaction must not be left open then.
            let decided =
                catch_unwind(AssertUnwindSafe(|| decide(records, self.database_time))).unwrap_or_else(|payload| {
                    self.database.roll_back();
                    resume_unwind(payload)
                });
            let Changes { events, added, features_of, marks } = decided?;
            if let Some((first, candidates)) = &added {
                for part in parts(*first, candidates) {
                    self.database.execute(ADD_ARMS, &part.values(id))?;
                }
            }
            let features = self.features(id, &features_of)?;
            let added = append(&mut self.database, id, sum, numbered(last, events))?;
            access::add_marks(&mut self.database, id, last, &marks)?;
            self.database.commit()?;
            let (last, sum) = added.unwrap_or((last, sum));
            Ok(((id, last, sum), features))
        });
        match written {
            Ok((position, features)) => {
                self.position = Some(position);
                Ok(features)
            }
            Err(error) => {
                self.database.roll_back();
                Err(error)
            }
        }
    }

    fn database_time(&self) -> Option<Time> {
        self.database_time
    }

    fn rename(&mut self, id: Id, name: &str) -> Result<(), StoreError> {
        managing::rename(&mut self.database, id, name)
    }

    fn delete(&mut self, id: Id) -> Result<(), StoreError> {
        self.position = None;
        managing::delete(&mut self.database, id)
    }

    fn read_some(&mut self, id: Id, after: u64, most: usize) -> Result<Vec<Record>, StoreError> {
        let records = access::events(&mut self.database, id, after, most)?;
        if records.is_empty() {
            // Only a deleted campaign has no row.
            self.campaign(id)?;
        }
        Ok(records)
    }

    fn name(&mut self, id: Id) -> Result<Option<String>, StoreError> {
        Ok(access::name(&mut self.database, id)?.filter(|name| !is_deleted(name)))
    }

    fn activity(&mut self) -> Result<Vec<(Id, u64, Option<Time>)>, StoreError> {
        access::activity(&mut self.database)
    }

    fn request(&mut self, campaign: Option<Id>, key: &str) -> Result<Option<StoredRequest>, StoreError> {
        access::request(&mut self.database, campaign, key)
    }

    fn forget_requests(&mut self, before: Time) -> Result<(), StoreError> {
        access::forget_requests(&mut self.database, before)
    }

    fn authors(&mut self, id: Id, first: u64, last: u64) -> Result<Vec<Authorship>, StoreError> {
        access::authors(&mut self.database, id, first, last)
    }

    fn tokens(&mut self) -> Result<Vec<Token>, StoreError> {
        access::tokens(&mut self.database)
    }

    fn add_token(&mut self, token: &Token) -> Result<(), StoreError> {
        access::add_token(&mut self.database, token)
    }

    fn revoke_token(&mut self, name: &str, now: Time) -> Result<(), StoreError> {
        access::revoke_token(&mut self.database, name, now)
    }
}
