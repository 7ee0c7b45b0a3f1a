//! A table of typed columns, written as CSV, JSON or Parquet.

use crate::print::{csv_field, csv_record};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Stored, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::Type;
use std::io::{Error, Result, Write};
use std::sync::Arc;

/// The most rows of a Parquet row group.
const ROWS_PER_GROUP: usize = 1 << 18;

/// Columns of one length. A value may be missing.
#[derive(Debug, Default)]
pub(crate) struct Table {
    columns: Vec<(String, Column)>,
    n_rows: usize,
}

/// The values of a column.
#[derive(Debug)]
pub(crate) enum Column {
    /// Whole numbers.
    Whole(Vec<Option<i64>>),
    /// Numbers.
    Number(Vec<Option<f64>>),
    /// Text.
    Text(Vec<Option<String>>),
}

impl Column {
    fn len(&self) -> usize {
        match self {
            Self::Whole(values) => values.len(),
            Self::Number(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }
}

impl Table {
    /// The same table with one more column.
    ///
    /// # Panics
    /// If the column has another length than the others, or one of them has the same name.
    pub(crate) fn with(mut self, name: &str, column: Column) -> Self {
        assert!(self.columns.is_empty() || column.len() == self.n_rows, "the length of `{name}`");
        assert!(self.columns.iter().all(|(known, _)| known != name), "`{name}` twice");
        self.n_rows = column.len();
        self.columns.push((name.into(), column));
        self
    }

    /// The first columns' names, with which its CSV begins.
    pub(crate) fn header(&self) -> String {
        let names: Vec<&str> = self.columns.iter().take(3).map(|(name, _)| name.as_str()).collect();
        names.join(",")
    }

    /// CSV with a header. A missing value is an empty field. Text that a spreadsheet would take for a formula has an apostrophe in front,
    /// unless the user wants it plain.
    pub(crate) fn write_csv(&self, out: impl Write) -> Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        csv_record(&mut writer, self.columns.iter().map(|(name, _)| name))?;
        for row in 0..self.n_rows {
            for (_, column) in &self.columns {
                match column {
                    Column::Whole(values) => {
                        writer.write_field(values[row].map_or_else(String::new, |value| value.to_string()))
                    }
                    Column::Number(values) => {
                        writer.write_field(values[row].map_or_else(String::new, |value| format!("{value:?}")))
                    }
                    Column::Text(values) => {
                        writer.write_field(csv_field(values[row].as_deref().unwrap_or_default()).as_bytes())
                    }
                }?;
            }
            writer.write_record(None::<&[u8]>)?;
        }
        writer.flush()
    }

    /// A JSON array with one object per row, each on its own line. A value that is missing or not finite is `null`.
    pub(crate) fn write_json(&self, mut out: impl Write) -> Result<()> {
        out.write_all(b"[")?;
        for row in 0..self.n_rows {
            out.write_all(if row == 0 { b"\n" } else { b",\n" })?;
            for (position, (name, column)) in self.columns.iter().enumerate() {
                out.write_all(if position == 0 { b"{" } else { b"," })?;
                serde_json::to_writer(&mut out, name)?;
                out.write_all(b":")?;
                match column {
                    Column::Whole(values) => serde_json::to_writer(&mut out, &values[row]),
                    Column::Number(values) => serde_json::to_writer(&mut out, &values[row]),
                    Column::Text(values) => serde_json::to_writer(&mut out, &values[row]),
                }?;
            }
            out.write_all(b"}")?;
        }
        out.write_all(b"\n]\n")?;
        out.flush()
    }

    /// Parquet, compressed with Zstandard. A missing value is null.
    pub(crate) fn write_parquet(&self, out: impl Write + Send) -> Result<()> {
        self.parquet(out, ROWS_PER_GROUP).map_err(|error| match error {
            // Keeps the kind of the error, by which a closed pipe is recognised.
            ParquetError::External(error) => error.downcast::<Error>().map_or_else(Error::other, |error| *error),
            error => Error::other(error),
        })
    }

    fn parquet(&self, out: impl Write + Send, rows_per_group: usize) -> std::result::Result<(), ParquetError> {
        let fields = self.columns.iter().map(|(name, column)| {
            let (stored, logical) = match column {
                Column::Whole(_) => (Stored::INT64, None),
                Column::Number(_) => (Stored::DOUBLE, None),
                Column::Text(_) => (Stored::BYTE_ARRAY, Some(LogicalType::String)),
            };
            let field = Type::primitive_type_builder(name, stored).with_repetition(Repetition::OPTIONAL);
            Ok(Arc::new(field.with_logical_type(logical).build()?))
        });
        let fields = fields.collect::<std::result::Result<_, ParquetError>>()?;
        let schema = Type::group_type_builder("table").with_fields(fields).build()?;
        let compression = Compression::ZSTD(ZstdLevel::default());
        let properties = WriterProperties::builder().set_compression(compression).build();
        let mut writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
        for start in (0..self.n_rows).step_by(rows_per_group) {
            let rows = start..self.n_rows.min(start + rows_per_group);
            let mut group = writer.next_row_group()?;
            for (_, column) in &self.columns {
                let Some(writer) = group.next_column()? else { break };
                match column {
                    Column::Whole(values) => write_column::<Int64Type, _>(writer, &values[rows.clone()], |&v| v),
                    Column::Number(values) => write_column::<DoubleType, _>(writer, &values[rows.clone()], |&v| v),
                    Column::Text(values) => {
                        let bytes = |text: &String| ByteArray::from(text.as_str());
                        write_column::<ByteArrayType, _>(writer, &values[rows.clone()], bytes)
                    }
                }?;
            }
            group.close()?;
        }
        writer.close()?;
        Ok(())
    }
}

/// Writes a column of a row group: the values that are not missing, and for each row whether it has one.
fn write_column<T: DataType, V>(
    mut writer: SerializedColumnWriter<'_>,
    values: &[Option<V>],
    stored: impl Fn(&V) -> T::T,
) -> std::result::Result<(), ParquetError> {
    let present: Vec<T::T> = values.iter().flatten().map(stored).collect();
    let levels: Vec<i16> = values.iter().map(|value| value.is_some().into()).collect();
    writer.typed::<T>().write_batch(&present, Some(&levels), None)?;
    writer.close()
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::RowAccessor;

    fn table() -> Table {
        Table::default()
            .with("arm", Column::Whole(vec![Some(0), Some(-9), None, Some(i64::MAX)]))
            .with("mean, ±", Column::Number(vec![Some(0.1), None, Some(-2.5), Some(f64::NAN)]))
            .with("name", Column::Text(vec![Some("a,\"b\"\n".into()), Some("żółw".into()), Some(String::new()), None]))
    }

    fn text(write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn csv() {
        let expected = "arm,\"mean, ±\",name\n0,0.1,\"a,\"\"b\"\"\n\"\n-9,,żółw\n,-2.5,\n9223372036854775807,NaN,\n";
        assert_eq!(text(|out| table().write_csv(out)), expected);
        assert_eq!(text(|out| Table::default().with("a", Column::Whole(Vec::new())).write_csv(out)), "a\n");
    }

    #[test]
    fn json() {
        let expected = r#"[
{"arm":0,"mean, ±":0.1,"name":"a,\"b\"\n"},
{"arm":-9,"mean, ±":null,"name":"żółw"},
{"arm":null,"mean, ±":-2.5,"name":""},
{"arm":9223372036854775807,"mean, ±":null,"name":null}
]
"#;
        let json = text(|out| table().write_json(out));
        assert_eq!(json, expected);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap()[3]["arm"], i64::MAX);
        let empty = text(|out| Table::default().with("a", Column::Whole(Vec::new())).write_json(out));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&empty).unwrap(), serde_json::json!([]));
    }

    #[test]
    fn parquet_in_groups_of_any_size() {
        for rows_per_group in 1..5 {
            let mut out = Vec::new();
            table().parquet(&mut out, rows_per_group).unwrap();
            let reader = SerializedFileReader::new(bytes::Bytes::from(out)).unwrap();
            assert_eq!(reader.num_row_groups(), 4_usize.div_ceil(rows_per_group));
            let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(|row| row.unwrap()).collect();
            assert_eq!(rows.len(), 4);
            let whole: Vec<_> = rows.iter().map(|row| row.get_long(0).ok()).collect();
            assert_eq!(whole, [Some(0), Some(-9), None, Some(i64::MAX)]);
            let numbers: Vec<_> = rows.iter().map(|row| row.get_double(1).ok()).collect();
            assert_eq!(numbers[..3], [Some(0.1), None, Some(-2.5)]);
            assert!(numbers[3].unwrap().is_nan());
            let text: Vec<_> = rows.iter().map(|row| row.get_string(2).ok().map(String::as_str)).collect();
            assert_eq!(text, [Some("a,\"b\"\n"), Some("żółw"), Some(""), None]);
        }
    }

    /// What it writes is what the lab reads.
    #[test]
    fn candidates_go_out_and_come_back() {
        let features: Vec<f64> = (0..1_000).map(|arm| f64::from(arm).sqrt()).collect();
        let names: Vec<String> = (0..1_000).map(|arm| format!("arm, \"{arm}\"")).collect();
        let table = Table::default()
            .with("name", Column::Text(names.iter().cloned().map(Some).collect()))
            .with("x", Column::Number(features.iter().copied().map(Some).collect()));
        let directory = tempfile::tempdir().unwrap();
        for file in ["arms.csv", "arms.parquet"] {
            let path = directory.path().join(file);
            let out = std::fs::File::create(&path).unwrap();
            if file.ends_with("csv") { table.write_csv(out) } else { table.write_parquet(out) }.unwrap();
            let read = cutline_data::dataset::open(&path, None).unwrap();
            assert_eq!((read.names(), read.features()), (&names[..], &features[..]));
        }
    }

    #[test]
    fn a_reader_that_is_gone_is_known() {
        struct Gone;
        impl Write for Gone {
            fn write(&mut self, _: &[u8]) -> Result<usize> {
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> Result<()> {
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
        }
        let errors = [table().write_csv(Gone), table().write_json(Gone), table().write_parquet(Gone)];
        assert_eq!(errors.map(|error| error.unwrap_err().kind()), [std::io::ErrorKind::BrokenPipe; 3]);
    }
}
