//! Values and rows, between the journal and the crate `tokio-postgres`.

use super::super::database::{Row, Value};
use super::super::rows::BadRow;
use std::error::Error;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, private::BytesMut, to_sql_checked};

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

fn get<'a, T: FromSql<'a>>(row: &'a tokio_postgres::Row, column: usize) -> Result<Option<T>, BadRow> {
    row.try_get(column).map_err(|error| error.to_string())
}

impl Row for tokio_postgres::Row {
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
