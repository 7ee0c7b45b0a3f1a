//! The database operations that a journal needs.

use super::Id;
use super::rows::BadRow;
use crate::StoreError;

/// A value of a statement.
#[derive(Clone, Copy, Debug)]
pub(super) enum Value<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
}

impl Value<'_> {
    /// A count or a position.
    pub(super) fn whole(number: usize) -> Self {
        Self::Integer((number as u64).cast_signed())
    }
}

/// A row of a result. Reading a column as another type than it has is an error.
pub(super) trait Row {
    fn integer(&self, column: usize) -> Result<Option<i64>, BadRow>;
    fn real(&self, column: usize) -> Result<Option<f64>, BadRow>;
    fn text(&self, column: usize) -> Result<Option<&str>, BadRow>;
    fn bytes(&self, column: usize) -> Result<Option<&[u8]>, BadRow>;
}

/// Called for every row of a result.
pub(super) type OnRow<'a> = dyn FnMut(&dyn Row) -> Result<(), BadRow> + 'a;

/// What a transaction excludes other writers from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lock {
    /// Writing to this campaign.
    Campaign(Id),
    /// Beginning campaigns and changing the schema.
    Store,
}

/// The two kinds of SQL.
#[derive(Clone, Copy, Debug)]
pub(super) enum Dialect {
    Sqlite,
    Postgres,
}

/// The database operations that a journal needs. Statements are prepared once; `$1`, `$2`, … must appear in that order in them,
/// because SQLite numbers them by their first appearance.
pub(super) trait Database: Send {
    fn execute(&mut self, statement: &'static str, values: &[Value<'_>]) -> Result<(), StoreError>;
    /// Runs a statement once per row of values, in their order.
    fn execute_all<const N: usize>(
        &mut self,
        statement: &'static str,
        rows: &[[Value<'_>; N]],
    ) -> Result<(), StoreError> {
        rows.iter().try_for_each(|values| self.execute(statement, values))
    }
    fn query(
        &mut self,
        statement: &'static str,
        values: &[Value<'_>],
        on_row: &mut OnRow<'_>,
    ) -> Result<(), StoreError>;
    /// Runs several statements without values.
    fn batch(&mut self, statements: &str) -> Result<(), StoreError>;
    /// Begins a transaction.
    fn begin(&mut self, lock: Lock) -> Result<(), StoreError>;
    /// Commits the transaction. Once this returns, its events may be acknowledged.
    fn commit(&mut self) -> Result<(), StoreError>;
    /// Rolls the transaction back. Errors are ignored, because the database rolls back by itself then.
    fn roll_back(&mut self);
    /// Whether the database has a schema of Cutline.
    fn has_schema(&mut self) -> Result<bool, StoreError>;
    fn dialect(&self) -> Dialect;
    /// The location for messages, without a password.
    fn location(&self) -> &str;
}
