//! SQLite: a single file, in write-ahead mode, so that readers never wait.

use super::Journal;
use super::database::{Database, Dialect, Lock, OnRow, Row, Value};
use super::in_use::{Databases, Used};
use super::open_files::OpenFiles;
use super::rows::BadRow;
use super::sql::{Sql, first_line};
use crate::location::Durability;
use crate::{Interrupt, StoreError};
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, ToSql};
use std::cell::{Cell, RefCell};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The application id in the header of a store: `CutL` in ASCII.
const APPLICATION: u32 = 0x4375_744c;

/// How long to wait for other writers.
const MAX_WAIT: Duration = if cfg!(test) { Duration::from_millis(300) } else { Duration::from_mins(2) };

struct Sqlite {
    connection: Connection,
    location: String,
    interrupt: Interrupt,
    /// The database and its write-ahead log.
    files: OpenFiles,
    /// It is dropped after the connection.
    used: Option<Used>,
}

/// What is at a path.
enum FileKind {
    Missing,
    Empty,
    Store,
    Foreign,
}

/// Opens the journal in a file; with `may_create`, creates it if there is none.
pub(crate) fn connect(
    path: &Path,
    durability: Durability,
    interrupt: &Interrupt,
    may_create: bool,
) -> Result<Box<dyn Journal>, StoreError> {
    let location = path.display().to_string();
    let failed = |error: &dyn std::fmt::Display| StoreError::Database {
        location: location.clone(),
        what: format!("cannot open it: {error}"),
    };
    let open = || {
        Sqlite::open(path, durability, interrupt, may_create).or_else(|error| {
            // In write-ahead mode even reading needs write access. Without that, the file can still be read as immutable if its log is empty.
            if may_create || wal(path).metadata().is_ok_and(|wal| wal.len() > 0) {
                return Err(error);
            }
            Sqlite::open_immutable(path, interrupt)
        })
    };
    let databases = Databases::lock();
    let is_used = databases.has(path);
    let kind = if is_used { FileKind::Store } else { file_kind(path).map_err(|error| failed(&error))? };
    let (mut sqlite, used) = match kind {
        FileKind::Foreign => return Err(StoreError::Foreign(location)),
        FileKind::Missing | FileKind::Empty if !may_create => return Err(StoreError::Missing(location)),
        // Nobody looks at the new file before it is known to be used.
        FileKind::Missing | FileKind::Empty => (open()?, databases.enter(path)),
        FileKind::Store => {
            let used = databases.enter(path);
            (open()?, used)
        }
    };
    sqlite.used = Some(used);
    let journal = Sql::new(sqlite, may_create)?;
    if matches!(kind, FileKind::Missing)
        && let Some(directory) = path.parent()
    {
        // After a power failure, the new file must still have its name: sync the directory.
        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        File::open(directory).and_then(|directory| directory.sync_all()).map_err(|error| failed(&error))?;
    }
    Ok(Box::new(journal))
}

/// What is at a path. The header is read without SQLite, which might change a foreign file or create files beside it. To be called only if this
/// process does not use the file, see [`Databases`].
fn file_kind(path: &Path) -> std::io::Result<FileKind> {
    // Opening a pipe would wait for its writer.
    if path.metadata().is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        return Ok(FileKind::Foreign);
    }
    let mut file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(FileKind::Missing),
        file => file?,
    };
    let mut header = Vec::new();
    file.by_ref().take(100).read_to_end(&mut header)?;
    let application = header.get(68..72).map(|bytes| u32::from_be_bytes(bytes.try_into().expect("four bytes")));
    Ok(match application {
        _ if header.is_empty() || is_half_created(path, &header) => FileKind::Empty,
        Some(APPLICATION) if header.starts_with(b"SQLite format 3\0") => FileKind::Store,
        _ => FileKind::Foreign,
    })
}

/// Whether a database is what a loss of power left of its creation: its first sector was never written, and the rollback journal beside it
/// says that it was empty before. SQLite empties it again when it opens it.
fn is_half_created(path: &Path, header: &[u8]) -> bool {
    const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    let mut journal = Vec::new();
    let read = File::open(beside(path, "-journal")).and_then(|file| file.take(20).read_to_end(&mut journal));
    let is_empty = header.iter().all(|&byte| byte == 0);
    // The last four of these bytes are the number of pages before.
    is_empty && read.is_ok_and(|n| n == 20) && journal.starts_with(&MAGIC) && journal.ends_with(&[0; 4])
}

/// The write-ahead log of a database.
fn wal(path: &Path) -> PathBuf {
    beside(path, "-wal")
}

/// The file of SQLite beside a database with this ending.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// How often to look whether a wait was interrupted, in tries of a millisecond or more.
const LOOK: i32 = 16;

thread_local! {
    /// What may interrupt the present operation of this thread.
    static INTERRUPT: RefCell<Option<Interrupt>> = const { RefCell::new(None) };

    /// Whether that has ended the last wait of this thread.
    static WAS_INTERRUPTED: Cell<bool> = const { Cell::new(false) };
}

/// SQLite's busy handler. Waits one millisecond, without backing off, so that with many writers none is starved; returns false once
/// [`MAX_WAIT`] has passed since the first try, or the wait was interrupted.
fn wait(tries: i32) -> bool {
    thread_local! {
        /// When the present operation of this thread was first tried.
        static BEGUN: Cell<Option<Instant>> = const { Cell::new(None) };
    }
    let begun = BEGUN.get().filter(|_| tries > 0).unwrap_or_else(Instant::now);
    BEGUN.set(Some(begun));
    if tries % LOOK == LOOK - 1 {
        // Cloned: a handler of signals may use another store.
        let interrupt = INTERRUPT.with_borrow(Clone::clone);
        WAS_INTERRUPTED.set(interrupt.is_some_and(|interrupt| interrupt.ends(begun)));
        if WAS_INTERRUPTED.get() {
            return false;
        }
    }
    std::thread::sleep(Duration::from_millis(1));
    begun.elapsed() < MAX_WAIT
}

impl Sqlite {
    fn open(path: &Path, durability: Durability, interrupt: &Interrupt, may_create: bool) -> Result<Self, StoreError> {
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        flags.set(OpenFlags::SQLITE_OPEN_CREATE, may_create);
        let mut sqlite = Self::connect(path.as_os_str(), path, interrupt, flags)?;
        sqlite.prepare(durability, may_create)?;
        // The path as it was given leads to the database even if it is a link; the log lies beside the file itself.
        let given = std::path::absolute(path).unwrap_or_else(|_| path.into());
        let real = path.canonicalize().unwrap_or_else(|_| given.clone());
        sqlite.files = OpenFiles::new([given, wal(&real)]);
        Ok(sqlite)
    }

    /// Opens a file for reading without locks or a log, for which nobody may write to it meanwhile.
    fn open_immutable(path: &Path, interrupt: &Interrupt) -> Result<Self, StoreError> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.into());
        let mut uri = OsString::from("file:");
        // Characters with a meaning in URIs are escaped.
        let escape = |c: char| if "%?#".contains(c) { format!("%{:02x}", u32::from(c)) } else { c.into() };
        uri.push(absolute.to_string_lossy().chars().map(escape).collect::<String>());
        uri.push("?immutable=1");
        Self::connect(&uri, path, interrupt, flags)
    }

    fn connect(name: &OsStr, path: &Path, interrupt: &Interrupt, flags: OpenFlags) -> Result<Self, StoreError> {
        let location = path.display().to_string();
        let failed = |error: rusqlite::Error| store_error(&location, &error);
        let connection = Connection::open_with_flags(name, flags).map_err(failed)?;
        Ok(Self { connection, location, interrupt: interrupt.clone(), files: OpenFiles::new([]), used: None })
    }

    fn prepare(&mut self, durability: Durability, may_create: bool) -> Result<(), StoreError> {
        self.connection.busy_handler(Some(wait)).map_err(|error| self.failed(&error))?;
        self.connection.set_prepared_statement_cache_capacity(32);
        let synchronous = match durability {
            Durability::Full => "FULL",
            Durability::Normal => "NORMAL",
        };
        // The application id is written first, so that a store whose creation was interrupted is recognised as one.
        let is_new = !self.has_schema()? && may_create;
        let creation = format!("PRAGMA application_id = {APPLICATION}; PRAGMA journal_mode = WAL;");
        let creation = if is_new { creation.as_str() } else { "" };
        let pragmas = format!("{creation} PRAGMA synchronous = {synchronous}; PRAGMA foreign_keys = ON;");
        // SQLite refuses to change the journal mode while others write, without calling the busy handler.
        let mut tries = 0;
        self.allow_interrupt();
        loop {
            match self.connection.execute_batch(&pragmas) {
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && wait(tries) => tries += 1,
                done => return done.map_err(|error| self.failed(&error)),
            }
        }
    }

    /// The waits of the next operation on this thread can be interrupted.
    fn allow_interrupt(&self) {
        INTERRUPT.set(Some(self.interrupt.clone()));
        WAS_INTERRUPTED.set(false);
    }

    fn failed(&self, error: &rusqlite::Error) -> StoreError {
        if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && WAS_INTERRUPTED.take() {
            let what = "interrupted while waiting for other processes".into();
            return StoreError::Database { location: self.location.clone(), what };
        }
        store_error(&self.location, error)
    }
}

/// Turns an error of SQLite into a message for users.
fn store_error(location: &str, error: &rusqlite::Error) -> StoreError {
    let location = location.to_owned();
    let Some(code) = error.sqlite_error_code() else {
        return StoreError::Database { location, what: first_line(error) };
    };
    let what = match code {
        ErrorCode::DiskFull => "the disk is full; make room and try again, nothing was lost".into(),
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => "the file or its directory cannot be written to".into(),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            format!("other processes kept it busy for {} seconds; try again", MAX_WAIT.as_secs())
        }
        ErrorCode::CannotOpen => "it cannot be opened; check that its directory exists and can be written to".into(),
        ErrorCode::DatabaseCorrupt => return StoreError::Damaged { location, what: first_line(error) },
        ErrorCode::NotADatabase => return StoreError::Foreign(location),
        _ => first_line(error),
    };
    StoreError::Database { location, what }
}

impl Database for Sqlite {
    fn execute(&mut self, statement: &'static str, values: &[Value<'_>]) -> Result<(), StoreError> {
        self.allow_interrupt();
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
        self.allow_interrupt();
        let mut run = || -> rusqlite::Result<Result<(), BadRow>> {
            let mut prepared = self.connection.prepare_cached(statement)?;
            let mut rows = prepared.query(rusqlite::params_from_iter(values))?;
            while let Some(row) = rows.next()? {
                if let Err(bad_row) = on_row(row) {
                    return Ok(Err(bad_row));
                }
            }
            Ok(Ok(()))
        };
        let done = run().map_err(|error| self.failed(&error))?;
        done.map_err(|what| StoreError::Damaged { location: self.location.clone(), what })
    }

    fn batch(&mut self, statements: &str) -> Result<(), StoreError> {
        self.allow_interrupt();
        self.connection.execute_batch(statements).map_err(|error| self.failed(&error))
    }

    /// SQLite has one lock for all writers.
    fn begin(&mut self, lock: Lock) -> Result<(), StoreError> {
        match lock {
            Lock::Campaign(_) | Lock::Store => self.execute("BEGIN IMMEDIATE", &[]),
        }
    }

    /// The files are checked before, so that nothing is written to a store that was moved away, and after, because they may vanish in
    /// between: a commit that was acknowledged must be in the file at this path.
    fn commit(&mut self) -> Result<(), StoreError> {
        self.files.check(&self.location)?;
        self.execute("COMMIT", &[])?;
        self.files.check(&self.location)
    }

    fn roll_back(&mut self) {
        if !self.connection.is_autocommit() {
            // If this fails, SQLite has rolled back by itself.
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

    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
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

/// The value of a column, `None` if it is null; an error if `convert` does not accept its type.
fn get<'a, T>(
    row: &'a rusqlite::Row<'_>,
    column: usize,
    convert: impl FnOnce(ValueRef<'a>) -> Option<T>,
) -> Result<Option<T>, BadRow> {
    match row.get_ref(column).map_err(|error| error.to_string())? {
        ValueRef::Null => Ok(None),
        value => convert(value).map(Some).ok_or_else(|| format!("column {column} holds {:?}", value.data_type())),
    }
}

impl Row for rusqlite::Row<'_> {
    fn integer(&self, column: usize) -> Result<Option<i64>, BadRow> {
        get(self, column, |value| value.as_i64().ok())
    }

    fn real(&self, column: usize) -> Result<Option<f64>, BadRow> {
        get(self, column, |value| value.as_f64().ok())
    }

    fn text(&self, column: usize) -> Result<Option<&str>, BadRow> {
        get(self, column, |value| value.as_str().ok())
    }

    fn bytes(&self, column: usize) -> Result<Option<&[u8]>, BadRow> {
        get(self, column, |value| value.as_blob().ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// However few tries there were: under load, a try takes longer than it says.
    #[test]
    fn waiting_ends_after_a_time() {
        assert!((0..20).any(|_| wait(0) && wait(1)), "on a busy machine, the second try may come too late");
        std::thread::sleep(MAX_WAIT);
        assert!(!wait(2));
        assert!(wait(0), "the next operation begins anew");
    }

    #[test]
    fn a_store_that_stays_busy_is_reported() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("screen.db");
        let interrupt = Interrupt::new();
        drop(connect(&path, Durability::Normal, &interrupt, true).unwrap());
        let mut holding = Sqlite::open(&path, Durability::Normal, &interrupt, false).unwrap();
        let mut waiting = Sqlite::open(&path, Durability::Normal, &interrupt, false).unwrap();
        holding.begin(Lock::Store).unwrap();
        let begun = Instant::now();
        let refused = waiting.begin(Lock::Store).unwrap_err().to_string();
        assert!(begun.elapsed() >= MAX_WAIT && refused.contains("other processes kept it busy"), "{refused}");
        holding.roll_back();
        waiting.begin(Lock::Store).unwrap();
    }

    #[test]
    fn a_wait_is_interrupted() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("screen.db");
        let (shortened, calls) = (Interrupt::new(), Arc::new(AtomicU32::new(0)));
        let counter = Arc::clone(&calls);
        let polled = Interrupt::polled(move || counter.fetch_add(1, Ordering::Relaxed) > 0);
        drop(connect(&path, Durability::Normal, &shortened, true).unwrap());
        let mut holding = Sqlite::open(&path, Durability::Normal, &Interrupt::new(), false).unwrap();
        let mut others =
            [&shortened, &polled].map(|interrupt| Sqlite::open(&path, Durability::Normal, interrupt, false).unwrap());
        shortened.shorten_waits(Duration::ZERO);
        holding.begin(Lock::Store).unwrap();
        for waiting in &mut others {
            let refused = waiting.begin(Lock::Store).unwrap_err();
            assert!(
                refused.may_pass() && refused.to_string().ends_with("interrupted while waiting for other processes"),
                "{refused}"
            );
        }
        assert_eq!(calls.load(Ordering::Relaxed), 2, "it was asked until it said so");
        holding.roll_back();
        for waiting in &mut others {
            waiting.begin(Lock::Store).unwrap();
            waiting.roll_back();
        }
    }
}
