//! A database, as far as a journal needs one.

use super::Id;
use super::rows::Misfit;
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
    /// A number of things that fit in memory.
    pub(super) fn whole(number: usize) -> Self {
        Self::Integer((number as u64).cast_signed())
    }
}

/// A row of an answer. A column of another type does not fit.
pub(super) trait Row {
    fn integer(&self, column: usize) -> Result<Option<i64>, Misfit>;
    fn real(&self, column: usize) -> Result<Option<f64>, Misfit>;
    fn text(&self, column: usize) -> Result<Option<&str>, Misfit>;
    fn bytes(&self, column: usize) -> Result<Option<&[u8]>, Misfit>;
}

/// What to do with a row.
pub(super) type OnRow<'a> = dyn FnMut(&dyn Row) -> Result<(), Misfit> + 'a;

/// What a transaction keeps others from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lock {
    /// Writing to a campaign.
    Campaign(Id),
    /// Beginning campaigns and changing the schema.
    Store,
}

/// A database, as far as a journal needs one. Statements are prepared once; `$1`, `$2`, … have to come in that order in them, as
/// SQLite counts them by where they first appear.
pub(super) trait Database: Send {
    fn execute(&mut self, statement: &'static str, values: &[Value<'_>]) -> Result<(), StoreError>;
    fn query(
        &mut self,
        statement: &'static str,
        values: &[Value<'_>],
        on_row: &mut OnRow<'_>,
    ) -> Result<(), StoreError>;
    /// Several statements without values.
    fn batch(&mut self, statements: &str) -> Result<(), StoreError>;
    fn begin(&mut self, lock: Lock) -> Result<(), StoreError>;
    fn commit(&mut self) -> Result<(), StoreError>;
    /// Ends a transaction that came to nothing; what fails here cannot be helped.
    fn roll_back(&mut self);
    /// Whether there is a schema of ours.
    fn has_schema(&mut self) -> Result<bool, StoreError>;
    /// What a table is called that keeps its rows by their key.
    fn clustered(&self) -> &'static str;
    /// Where it is, as people may read it.
    fn location(&self) -> &str;
}
