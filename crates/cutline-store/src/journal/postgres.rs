//! PostgreSQL: for workers on many machines.

use super::Journal;
use super::database::{Database, Dialect, Lock, OnRow, Row, Value};
use super::rows::BadRow;
use super::sql::{Sql, first_line};
use crate::StoreError;
use crate::location::Durability;
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::{FromSql, IsNull, ToSql, Type, private::BytesMut, to_sql_checked};
use postgres::{Client, NoTls, Statement};
use std::collections::HashMap;
use std::error::Error;

/// The key of the advisory lock for beginning campaigns: `CutL` in ASCII.
const STORE_LOCK: i64 = 0x4375_744c;

struct Postgres {
    client: Client,
    statements: HashMap<&'static str, Statement>,
    location: String,
}

/// Connects to the journal on a server; with `may_create`, creates it if there is none.
pub(crate) fn connect(
    url: &str,
    location: String,
    durability: Durability,
    may_create: bool,
) -> Result<Box<dyn Journal>, StoreError> {
    let client = Client::connect(url, NoTls).map_err(|error| store_error(&location, &error))?;
    let mut postgres = Postgres { client, statements: HashMap::new(), location };
    let synchronous = match durability {
        Durability::Full => "on",
        Durability::Normal => "off",
    };
    postgres.batch(&format!("SET synchronous_commit = {synchronous}; SET application_name = 'cutline'"))?;
    Ok(Box::new(Sql::new(postgres, may_create)?))
}

fn store_error(location: &str, error: &postgres::Error) -> StoreError {
    // The server's message comes with the error or as its source.
    let what = match (error.as_db_error(), error.source()) {
        (Some(reported), _) => first_line(&reported.message()),
        (None, Some(source)) => first_line(&format_args!("{error}: {source}")),
        (None, None) => first_line(error),
    };
    StoreError::Database { location: location.into(), what }
}

impl Postgres {
    fn failed(&self, error: &postgres::Error) -> StoreError {
        store_error(&self.location, error)
    }

    fn prepare(&mut self, statement: &'static str) -> Result<Statement, StoreError> {
        if let Some(prepared) = self.statements.get(statement) {
            return Ok(prepared.clone());
        }
        let prepared = self.client.prepare(statement).map_err(|error| store_error(&self.location, &error))?;
        self.statements.insert(statement, prepared.clone());
        Ok(prepared)
    }
}

impl Database for Postgres {
    fn execute(&mut self, statement: &'static str, values: &[Value<'_>]) -> Result<(), StoreError> {
        let prepared = self.prepare(statement)?;
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|value| value as _).collect();
        let done = self.client.execute(&prepared, &values);
        done.map(drop).map_err(|error| self.failed(&error))
    }

    fn query(
        &mut self,
        statement: &'static str,
        values: &[Value<'_>],
        on_row: &mut OnRow<'_>,
    ) -> Result<(), StoreError> {
        let prepared = self.prepare(statement)?;
        let location = self.location.clone();
        let mut rows = self.client.query_raw(&prepared, values).map_err(|error| store_error(&location, &error))?;
        while let Some(row) = rows.next().map_err(|error| store_error(&location, &error))? {
            on_row(&row).map_err(|what| StoreError::Damaged { location: location.clone(), what })?;
        }
        Ok(())
    }

    fn batch(&mut self, statements: &str) -> Result<(), StoreError> {
        self.client.batch_execute(statements).map_err(|error| self.failed(&error))
    }

    fn begin(&mut self, lock: Lock) -> Result<(), StoreError> {
        match lock {
            Lock::Store => self.batch(&format!("BEGIN; SELECT pg_advisory_xact_lock({STORE_LOCK})")),
            Lock::Campaign(id) => {
                self.batch(&format!("BEGIN; SELECT id FROM cutline_campaigns WHERE id = {id} FOR UPDATE"))
            }
        }
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.batch("COMMIT")
    }

    fn roll_back(&mut self) {
        // A server that cannot be reached any more rolls back by itself.
        drop(self.client.batch_execute("ROLLBACK"));
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

impl ToSql for Value<'_> {
    fn to_sql(&self, ty: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match *self {
            Value::Null => Ok(IsNull::Yes),
            Value::Integer(integer) => integer.to_sql(ty, out),
            Value::Real(real) => real.to_sql(ty, out),
            Value::Text(text) => text.to_sql(ty, out),
            Value::Bytes(bytes) => bytes.to_sql(ty, out),
        }
    }

    fn accepts(ty: &Type) -> bool {
        [Type::INT8, Type::FLOAT8, Type::TEXT, Type::BYTEA].contains(ty)
    }

    to_sql_checked!();
}

fn get<'a, T: FromSql<'a>>(row: &'a postgres::Row, column: usize) -> Result<Option<T>, BadRow> {
    row.try_get(column).map_err(|error| error.to_string())
}

impl Row for postgres::Row {
    fn integer(&self, column: usize) -> Result<Option<i64>, BadRow> {
        // Literals in a query are of type INT4.
        if self.columns().get(column).is_some_and(|column| *column.type_() == Type::INT4) {
            return Ok(get::<i32>(self, column)?.map(i64::from));
        }
        get(self, column)
    }

    fn real(&self, column: usize) -> Result<Option<f64>, BadRow> {
        get(self, column)
    }

    fn text(&self, column: usize) -> Result<Option<&str>, BadRow> {
        get(self, column)
    }

    fn bytes(&self, column: usize) -> Result<Option<&[u8]>, BadRow> {
        get(self, column)
    }
}
