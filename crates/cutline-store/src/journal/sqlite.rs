//! SQLite: a file, in write-ahead mode, so that readers never wait.

use super::Journal;
use super::database::{Database, Lock, OnRow, Row, Value};
use super::rows::Misfit;
use super::sql::{Sql, first_line};
use crate::StoreError;
use crate::location::Durability;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the header of a file of ours says: `CutL`.
const APPLICATION: u32 = 0x4375_744c;

/// How long to wait for others that are writing.
const PATIENCE: Duration = Duration::from_mins(2);

struct Sqlite {
    connection: Connection,
    location: String,
}

/// What a file is.
enum Kind {
    Missing,
    Empty,
    Ours,
    Foreign,
}

/// The journal in a file; `may_begin` says whether to make one where there is none.
pub(crate) fn connect(path: &Path, durability: Durability, may_begin: bool) -> Result<Box<dyn Journal>, StoreError> {
    let location = path.display().to_string();
    let failed = |error: &dyn std::fmt::Display| StoreError::Database {
        location: location.clone(),
        what: format!("cannot open it: {error}"),
    };
    let kind = kind(path).map_err(|error| failed(&error))?;
    match kind {
        Kind::Foreign => return Err(StoreError::Foreign(location)),
        Kind::Missing | Kind::Empty if !may_begin => return Err(StoreError::Missing(location)),
        _ => (),
    }
    let sqlite = Sqlite::open(path, durability, may_begin).or_else(|error| {
        // Write-ahead mode wants to write even to read. Where that cannot be, and nothing waits to be taken over, do without.
        if may_begin || wal(path).metadata().is_ok_and(|wal| wal.len() > 0) {
            return Err(error);
        }
        Sqlite::open_unchanging(path)
    })?;
    let journal = Sql::new(sqlite, may_begin)?;
    if matches!(kind, Kind::Missing)
        && let Some(directory) = path.parent()
    {
        // The file itself has to be found again after a loss of power.
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        File::open(directory).and_then(|directory| directory.sync_all()).map_err(|error| failed(&error))?;
    }
    Ok(Box::new(journal))
}

/// Looks at the first bytes without SQLite, which might change a file that is not ours.
fn kind(path: &Path) -> std::io::Result<Kind> {
    let mut file = match File::open(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Kind::Missing),
        file => file?,
    };
    let mut header = Vec::new();
    file.by_ref().take(100).read_to_end(&mut header)?;
    let application = header.get(68..72).map(|bytes| u32::from_be_bytes(bytes.try_into().expect("four bytes")));
    Ok(match application {
        _ if header.is_empty() => Kind::Empty,
        Some(APPLICATION) if header.starts_with(b"SQLite format 3\0") => Kind::Ours,
        _ => Kind::Foreign,
    })
}

/// The file in which events wait to be taken over.
fn wal(path: &Path) -> PathBuf {
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    wal.into()
}

/// Waits a little, so that among many writers nobody waits for long; false when that was tried often enough.
fn wait(tries: i32) -> bool {
    std::thread::sleep(Duration::from_millis(1));
    u128::try_from(tries).is_ok_and(|tries| tries < PATIENCE.as_millis())
}

impl Sqlite {
    fn open(path: &Path, durability: Durability, may_begin: bool) -> Result<Self, StoreError> {
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        flags.set(OpenFlags::SQLITE_OPEN_CREATE, may_begin);
        let mut sqlite = Self::connect(path.as_os_str(), path, flags)?;
        sqlite.prepare(durability, may_begin)?;
        Ok(sqlite)
    }

    /// To read what nobody can write to.
    fn open_unchanging(path: &Path) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        let (shown, path) = (path, std::path::absolute(path).unwrap_or_else(|_| path.into()));
        let mut uri = OsString::from("file:");
        // What has a meaning in a URI is written as its code.
        let escape = |c: char| if "%?#".contains(c) { format!("%{:02x}", u32::from(c)) } else { c.into() };
        uri.push(path.to_string_lossy().chars().map(escape).collect::<String>());
        uri.push("?immutable=1");
        Self::connect(&uri, shown, flags)
    }

    fn connect(name: &OsStr, path: &Path, flags: OpenFlags) -> Result<Self, StoreError> {
        let location = path.display().to_string();
        let failed = |error: rusqlite::Error| failed(&location, &error);
        let connection = Connection::open_with_flags(name, flags).map_err(failed)?;
        Ok(Self { connection, location })
    }

    fn prepare(&mut self, durability: Durability, may_begin: bool) -> Result<(), StoreError> {
        self.connection.busy_handler(Some(wait)).map_err(|error| self.failed(&error))?;
        self.connection.set_prepared_statement_cache_capacity(32);
        let synchronous = match durability {
            Durability::Full => "FULL",
            Durability::Normal => "NORMAL",
        };
        // In this order: our mark is in the file before anything else is.
        let is_new = !self.has_schema()? && may_begin;
        let mark = format!("PRAGMA application_id = {APPLICATION}; PRAGMA journal_mode = WAL;");
        let mark = if is_new { mark.as_str() } else { "" };
        let pragmas = format!("{mark} PRAGMA synchronous = {synchronous}; PRAGMA foreign_keys = ON;");
        // A change of the journal's mode is refused at once while others write, and nobody waits for them.
        let mut tries = 0;
        loop {
            match self.connection.execute_batch(&pragmas) {
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && wait(tries) => tries += 1,
                done => return done.map_err(|error| self.failed(&error)),
            }
        }
    }

    fn failed(&self, error: &rusqlite::Error) -> StoreError {
        failed(&self.location, error)
    }
}

/// What an error means to people.
fn failed(location: &str, error: &rusqlite::Error) -> StoreError {
    let location = location.to_owned();
    let Some(code) = error.sqlite_error_code() else {
        return StoreError::Database { location, what: first_line(error) };
    };
    let what = match code {
        ErrorCode::DiskFull => "the disk is full; make room and do it again, nothing was lost".into(),
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => "the file or its directory cannot be written to".into(),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            format!("others kept it busy for {} seconds; try again", PATIENCE.as_secs())
        }
        ErrorCode::CannotOpen => "it cannot be opened; see whether its directory exists and can be written to".into(),
        ErrorCode::DatabaseCorrupt => return StoreError::Damaged { location, what: first_line(error) },
        ErrorCode::NotADatabase => return StoreError::Foreign(location),
        _ => first_line(error),
    };
    StoreError::Database { location, what }
}

impl Database for Sqlite {
    fn execute(&mut self, statement: &'static str, values: &[Value<'_>]) -> Result<(), StoreError> {
        let done = self
            .connection
            .prepare_cached(statement)
            .and_then(|mut prepared| prepared.execute(rusqlite::params_from_iter(values)));
        done.map(drop).map_err(|error| self.failed(&error))
    }

    fn query(
        &mut self,
        statement: &'static str,
        values: &[Value<'_>],
        on_row: &mut OnRow<'_>,
    ) -> Result<(), StoreError> {
        let mut run = || -> rusqlite::Result<Result<(), Misfit>> {
            let mut prepared = self.connection.prepare_cached(statement)?;
            let mut rows = prepared.query(rusqlite::params_from_iter(values))?;
            while let Some(row) = rows.next()? {
                if let Err(misfit) = on_row(row) {
                    return Ok(Err(misfit));
                }
            }
            Ok(Ok(()))
        };
        let done = run().map_err(|error| self.failed(&error))?;
        done.map_err(|what| StoreError::Damaged { location: self.location.clone(), what })
    }

    fn batch(&mut self, statements: &str) -> Result<(), StoreError> {
        self.connection.execute_batch(statements).map_err(|error| self.failed(&error))
    }

    /// SQLite has one lock for all that is written.
    fn begin(&mut self, lock: Lock) -> Result<(), StoreError> {
        match lock {
            Lock::Campaign(_) | Lock::Store => self.execute("BEGIN IMMEDIATE", &[]),
        }
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.execute("COMMIT", &[])
    }

    fn roll_back(&mut self) {
        if !self.connection.is_autocommit() {
            // SQLite may have rolled back by itself; in either case the transaction is over.
            drop(self.connection.execute_batch("ROLLBACK"));
        }
    }

    fn has_schema(&mut self) -> Result<bool, StoreError> {
        let mut found = false;
        let statement = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'cutline_schema'";
        self.query(statement, &[], &mut |_| {
            found = true;
            Ok(())
        })?;
        Ok(found)
    }

    fn clustered(&self) -> &'static str {
        "WITHOUT ROWID"
    }

    fn location(&self) -> &str {
        &self.location
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match *self {
            Value::Null => ValueRef::Null,
            Value::Integer(integer) => ValueRef::Integer(integer),
            Value::Real(real) => ValueRef::Real(real),
            Value::Text(text) => ValueRef::Text(text.as_bytes()),
            Value::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

/// The value of a column, if it is of the type wanted.
fn get<'a, T>(
    row: &'a rusqlite::Row<'_>,
    column: usize,
    of: impl FnOnce(ValueRef<'a>) -> Option<T>,
) -> Result<Option<T>, Misfit> {
    match row.get_ref(column).map_err(|error| error.to_string())? {
        ValueRef::Null => Ok(None),
        value => of(value).map(Some).ok_or_else(|| format!("column {column} holds {:?}", value.data_type())),
    }
}

impl Row for rusqlite::Row<'_> {
    fn integer(&self, column: usize) -> Result<Option<i64>, Misfit> {
        get(self, column, |value| value.as_i64().ok())
    }

    fn real(&self, column: usize) -> Result<Option<f64>, Misfit> {
        get(self, column, |value| value.as_f64().ok())
    }

    fn text(&self, column: usize) -> Result<Option<&str>, Misfit> {
        get(self, column, |value| value.as_str().ok())
    }

    fn bytes(&self, column: usize) -> Result<Option<&[u8]>, Misfit> {
        get(self, column, |value| value.as_blob().ok())
    }
}
