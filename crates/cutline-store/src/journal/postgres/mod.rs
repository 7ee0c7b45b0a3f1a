//! PostgreSQL: for workers on many machines.

mod address;
mod connection;
mod message;
mod passfile;
mod tls;
mod values;

use super::Journal;
use super::database::{Database, Dialect, Lock, OnRow, Value};
use super::sql::{CONFLICTS, Sql};
use crate::location::Durability;
use crate::{Interrupt, StoreError};
use address::Limits;
pub(crate) use address::PostgresAddress;
use connection::{Connection, Failure};
use futures_util::TryStreamExt;
use futures_util::future::try_join_all;
use std::collections::HashMap;
use std::pin::pin;
use std::time::Duration;
use tokio_postgres::Statement;
use tokio_postgres::error::{DbError, Severity, SqlState};
use tokio_postgres::types::ToSql;

/// The key of the advisory lock for beginning campaigns: `CutL` in ASCII.
const STORE_LOCK: i64 = 0x4375_744c;

/// How much longer to wait for an answer than the server may take: it reports that its time is over itself, if it can.
const MARGIN: Duration = Duration::from_secs(5);

/// How long to wait for the end of a failed transaction. If it takes longer, the connection is closed, which ends it too.
const ROLL_BACK: Duration = Duration::from_secs(2);

struct Postgres {
    connection: Connection,
    statements: HashMap<&'static str, Statement>,
    location: String,
    limits: Limits,
    is_in_transaction: bool,
}

/// Connects to the journal on a server; with `may_create`, creates it if there is none.
pub(crate) fn connect(
    server: &PostgresAddress,
    interrupt: &Interrupt,
    may_create: bool,
) -> Result<Box<dyn Journal>, StoreError> {
    let (location, limits) = (server.to_string(), server.limits);
    let failed =
        |failure: Failure| StoreError::Database { location: location.clone(), what: message::of_connecting(&failure) };
    let connection = Connection::open(server, interrupt).map_err(failed)?;
    let mut postgres = Postgres { connection, statements: HashMap::new(), location, limits, is_in_transaction: false };
    let synchronous = match server.durability {
        Durability::Full => "on",
        Durability::Normal => "off",
    };
    // Journals are written and read under this isolation level, whatever the default of the server: each statement sees what others have
    // committed before it. The server's own keepalives end the transaction of a client whose machine has vanished.
    postgres.batch(&format!(
        "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED; SET synchronous_commit = {synchronous}; \
         SET lock_timeout = {}; SET tcp_keepalives_idle = 60; SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 6",
        milliseconds(limits.lock)
    ))?;
    Ok(Box::new(Sql::new(postgres, may_create)?))
}

/// A limit as the server takes it; 0 is none.
fn milliseconds(limit: Option<Duration>) -> u128 {
    limit.map_or(0, |limit| limit.as_millis())
}

/// Whether the server has undone the transaction because of another one, so that it can be tried again.
fn is_conflict(failure: &Failure) -> bool {
    let codes = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];
    matches!(failure, Failure::Server(error) if error.code().is_some_and(|code| codes.contains(code)))
}

/// Whether the server has refused an operation and goes on.
fn is_refused(failure: &Failure) -> bool {
    let severity = |error: &tokio_postgres::Error| error.as_db_error().and_then(DbError::parsed_severity);
    matches!(failure, Failure::Server(error) if severity(error) == Some(Severity::Error))
}

impl Postgres {
    fn failed(&self, failure: &Failure) -> StoreError {
        let (location, mut what) = (self.location.clone(), message::of_operation(failure, Some(&self.limits)));
        if is_conflict(failure) {
            return StoreError::Conflict { location, what };
        }
        if self.is_in_transaction && !is_refused(failure) {
            what.push_str("; nothing was saved");
        }
        StoreError::Database { location, what }
    }

    /// How long to wait for an answer.
    fn limit(&self) -> Option<Duration> {
        self.limits.statement.map(|limit| if self.is_in_transaction { limit + MARGIN } else { limit })
    }

    fn prepare(&mut self, statement: &'static str) -> Result<Statement, StoreError> {
        if let Some(prepared) = self.statements.get(statement) {
            return Ok(prepared.clone());
        }
        let prepared = self
            .connection
            .run(self.limit(), async |client, wait_limit| wait_limit.wait(client.prepare(statement)).await);
        let prepared = prepared.map_err(|failure| self.failed(&failure))?;
        self.statements.insert(statement, prepared.clone());
        Ok(prepared)
    }

    fn run_batch(&mut self, statements: &str, limit: Option<Duration>) -> Result<(), Failure> {
        self.connection.run(limit, async |client, wait_limit| wait_limit.wait(client.batch_execute(statements)).await)
    }
}

impl Database for Postgres {
    fn execute(&mut self, statement: &'static str, values: &[Value<'_>]) -> Result<(), StoreError> {
        let prepared = self.prepare(statement)?;
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
        let done = self
            .connection
            .run(self.limit(), async |client, wait_limit| wait_limit.wait(client.execute(&prepared, &values)).await);
        done.map(drop).map_err(|failure| self.failed(&failure))
    }

    /// All are sent before the first answer is awaited, so that the way to the server and back counts once.
    fn execute_all<const N: usize>(
        &mut self,
        statement: &'static str,
        rows: &[[Value<'_>; N]],
    ) -> Result<(), StoreError> {
        let prepared = self.prepare(statement)?;
        let done = self.connection.run(self.limit(), async |client, wait_limit| {
            let answers = rows.iter().map(|values| client.execute_raw(&prepared, values));
            wait_limit.wait(try_join_all(answers)).await
        });
        done.map(drop).map_err(|failure| self.failed(&failure))
    }

    fn query(
        &mut self,
        statement: &'static str,
        values: &[Value<'_>],
        on_row: &mut OnRow<'_>,
    ) -> Result<(), StoreError> {
        let prepared = self.prepare(statement)?;
        // The limit is for each row, because a long journal on a slow line takes its time.
        let done = self.connection.run(self.limit(), async |client, wait_limit| {
            let mut rows = pin!(wait_limit.wait(client.query_raw(&prepared, values)).await?);
            while let Some(row) = wait_limit.wait(rows.try_next()).await? {
                if let Err(bad_row) = on_row(&row) {
                    return Ok(Err(bad_row));
                }
            }
            Ok(Ok(()))
        });
        let read = done.map_err(|failure| self.failed(&failure))?;
        read.map_err(|what| StoreError::Damaged { location: self.location.clone(), what })
    }

    fn batch(&mut self, statements: &str) -> Result<(), StoreError> {
        self.run_batch(statements, self.limit()).map_err(|failure| self.failed(&failure))
    }

    fn begin(&mut self, lock: Lock) -> Result<(), StoreError> {
        let lock = match lock {
            Lock::Store => format!("SELECT pg_advisory_xact_lock({STORE_LOCK})"),
            Lock::Campaign(id) => format!("SELECT id FROM cutline_campaigns WHERE id = {id} FOR UPDATE"),
        };
        let limit = milliseconds(self.limits.statement);
        let statements = format!("BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = {limit}; {lock}");
        let mut tries = 0;
        loop {
            tries += 1;
            self.is_in_transaction = true;
            match self.batch(&statements) {
                Err(StoreError::Conflict { .. }) if tries < CONFLICTS => self.roll_back(),
                Err(error) => {
                    self.roll_back();
                    return Err(error);
                }
                Ok(()) => return Ok(()),
            }
        }
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        let done = self.run_batch("COMMIT", self.limit());
        let done = done.map_err(|failure| {
            if is_refused(&failure) || matches!(failure, Failure::Closed) {
                return self.failed(&failure);
            }
            let what = message::of_operation(&failure, Some(&self.limits));
            StoreError::Unconfirmed { location: self.location.clone(), what }
        });
        self.is_in_transaction = done.is_err();
        done
    }

    fn roll_back(&mut self) {
        // A server that cannot be reached any more rolls back by itself.
        if std::mem::take(&mut self.is_in_transaction) {
            drop(self.run_batch("ROLLBACK", Some(ROLL_BACK)));
        }
    }

    fn has_schema(&mut self) -> Result<bool, StoreError> {
        let mut found = false;
        self.query("SELECT 1 WHERE to_regclass('cutline_schema') IS NOT NULL", &[], &mut |_| {
            found = true;
            Ok(())
        })?;
        Ok(found)
    }

    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn location(&self) -> &str {
        &self.location
    }
}
