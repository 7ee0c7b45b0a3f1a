//! Candidates from Parquet: columns are decoded in parallel, a few thousand rows at a time.

use super::DatasetError;
use super::layout::{Layout, Role};
use super::options::ReadOptions;
use super::raw::{RawCandidates, RowNumbers};
use super::table::{Cells, Table};
use super::values::{ColumnKind, Values};
use crate::input;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::SchemaDescriptor;
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The first bytes of a Parquet file.
pub(super) const MAGIC: &[u8] = b"PAR1";

/// The number of rows decoded at once: enough to be worth a task, few enough to stay in the cache.
const ROWS: usize = 4_096;

impl From<ParquetError> for DatasetError {
    fn from(error: ParquetError) -> Self {
        Self::Parquet(error.to_string())
    }
}

/// Candidates from a Parquet file whose features are all numbers.
pub(super) fn read(
    file: impl ChunkReader + 'static,
    columns: Option<&[String]>,
    id: Option<&str>,
) -> Result<RawCandidates, DatasetError> {
    undamaged(|| read_all(file, columns, id))
}

/// A table of any cells from a Parquet file.
pub(super) fn table(file: impl ChunkReader + 'static, options: &ReadOptions) -> Result<Table, DatasetError> {
    undamaged(|| read_table(file, options))
}

/// What `read` returns. The crate `parquet` panics on some damaged files; nothing that it had read is used then.
fn undamaged<T>(read: impl FnOnce() -> Result<T, DatasetError>) -> Result<T, DatasetError> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| Err(DatasetError::Parquet("it is damaged".into())))
}

/// The columns of a file.
fn layout(schema: &SchemaDescriptor, columns: Option<&[String]>, id: Option<&str>) -> Result<Layout, DatasetError> {
    let header = schema.root_schema().get_fields().iter().map(|field| field.name().to_owned()).collect();
    Layout::new(header, columns, id)
}

fn read_all(
    file: impl ChunkReader + 'static,
    columns: Option<&[String]>,
    id: Option<&str>,
) -> Result<RawCandidates, DatasetError> {
    let file = SerializedFileReader::new(file)?;
    let schema = file.metadata().file_metadata().schema_descr();
    let layout = layout(schema, columns, id)?;
    let columns = columns_to_read(schema, &layout, None)?;
    check_size(&file, columns.len())?;
    let mut candidates = RawCandidates::default();
    for group in 0..file.num_row_groups() {
        read_group(&*file.get_row_group(group)?, &columns, layout.features.len(), &mut candidates)?;
    }
    if candidates.rows.n_rows == 0 {
        return Err(DatasetError::Empty);
    }
    Ok(RawCandidates { columns: layout.features, ..candidates })
}

/// Refuses a file that decompresses to more than an input may have, or whose values take more.
fn check_size(file: &impl FileReader, n_columns: usize) -> Result<(), DatasetError> {
    let count = |number: i64| u64::try_from(number).unwrap_or(u64::MAX);
    let groups = file.metadata().row_groups();
    let bytes = groups.iter().map(|group| count(group.total_byte_size())).fold(0, u64::saturating_add);
    let rows = groups.iter().map(|group| count(group.num_rows())).fold(0, u64::saturating_add);
    let values = rows.saturating_mul((n_columns * size_of::<f64>()) as u64);
    Ok(input::check_size(bytes.max(values), true)?)
}

/// A column that is read.
struct Column {
    name: String,
    role: Role,
    /// Its position among the columns as stored.
    leaf: usize,
    kind: ColumnKind,
}

fn read_table(file: impl ChunkReader + 'static, options: &ReadOptions) -> Result<Table, DatasetError> {
    let file = SerializedFileReader::new(file)?;
    let schema = file.metadata().file_metadata().schema_descr();
    let layout = layout(schema, options.features.as_deref(), options.id.as_deref())?;
    let is_text = layout.text_features(options)?;
    let columns = columns_to_read(schema, &layout, Some(&is_text))?;
    check_size(&file, columns.len())?;
    let mut table = Table::default();
    let mut features = vec![Cells::default(); layout.features.len()];
    for group in 0..file.num_row_groups() {
        let group = file.get_row_group(group)?;
        let n_rows = rows_of(&*group)?;
        for column in &columns {
            let mut values = Values::new(group.get_column_reader(column.leaf)?, column.kind);
            let mut cells = Cells::default();
            for start in (0..n_rows).step_by(ROWS) {
                values.read(ROWS.min(n_rows - start))?;
                if let Some(position) = values.not_text() {
                    let row = (table.rows.n_rows + start + position) as u64 + 1;
                    return Err(DatasetError::NotUtf8 { row, column: column.name.clone() });
                }
                values.cells(&mut cells);
            }
            match column.role {
                Role::Feature(feature) => features[feature].append(cells),
                Role::Name => table.names.extend(cells.texts.into_iter().map(|(_, name)| name)),
                Role::None => (),
            }
        }
        (0..n_rows).for_each(|_| table.rows.push(table.rows.n_rows as u64 + 1));
    }
    if table.rows.n_rows == 0 {
        return Err(DatasetError::Empty);
    }
    Ok(Table { columns: layout.features.into_iter().zip(features).collect(), ..table })
}

/// The columns to read; an error if one has a type that cannot be read. With `is_text`, features may be text, and those that it marks
/// are read as text.
fn columns_to_read(
    schema: &SchemaDescriptor,
    layout: &Layout,
    is_text: Option<&[bool]>,
) -> Result<Vec<Column>, DatasetError> {
    let mut columns = Vec::new();
    for leaf in 0..schema.num_columns() {
        let position = schema.get_column_root_idx(leaf);
        let (role, name) = (layout.roles[position], &layout.header[position]);
        let column = schema.column(leaf);
        let kind = match role {
            Role::None => continue,
            Role::Name => ColumnKind::of_names(&column),
            Role::Feature(feature) if is_text.is_some_and(|is_text| is_text[feature]) => ColumnKind::of_names(&column),
            Role::Feature(_) => ColumnKind::of_numbers(&column).or_else(|found| match is_text {
                Some(_) => ColumnKind::of_names(&column),
                None => Err(found),
            }),
        };
        let needed = match (role, is_text) {
            (Role::Name, _) => "names must be text",
            (_, None) => "features must be numbers",
            (_, Some(_)) => "features must be numbers or text",
        };
        let kind = kind.map_err(|found| DatasetError::Type { column: name.clone(), found, needed })?;
        columns.push(Column { name: name.clone(), role, leaf, kind });
    }
    Ok(columns)
}

/// The number of rows of a row group.
fn rows_of(group: &dyn RowGroupReader) -> Result<usize, DatasetError> {
    usize::try_from(group.metadata().num_rows()).map_err(|error| DatasetError::Parquet(error.to_string()))
}

/// Adds the candidates of one row group.
fn read_group(
    group: &dyn RowGroupReader,
    columns: &[Column],
    dimension: usize,
    candidates: &mut RawCandidates,
) -> Result<(), DatasetError> {
    let n_rows = rows_of(group)?;
    let open = |column: &Column| Ok(Values::new(group.get_column_reader(column.leaf)?, column.kind));
    let mut values = columns.iter().map(open).collect::<Result<Vec<_>, ParquetError>>()?;
    let mut done = 0;
    while done < n_rows {
        let n = ROWS.min(n_rows - done);
        let first = candidates.rows.n_rows as u64 + 1;
        let decode = |(column, values): (&Column, &mut Values)| decode(column, values, n, first).err();
        let errors: Vec<_> = columns.par_iter().zip(&mut values).filter_map(decode).collect();
        // Report the first error of the file: by row, then by column.
        if let Some((_, error)) = errors.into_iter().min_by_key(|&(row, _)| row) {
            return Err(error);
        }
        let start = candidates.features.len();
        candidates.features.resize(start + n * dimension, 0.0);
        let rows = &mut candidates.features[start..];
        for (column, values) in columns.iter().zip(&mut values) {
            match column.role {
                Role::Feature(feature) => {
                    for (row, &value) in rows.chunks_exact_mut(dimension).zip(values.numbers()) {
                        row[feature] = value;
                    }
                }
                Role::Name => candidates.names.append(values.names()),
                Role::None => (),
            }
        }
        let mut numbers = RowNumbers::default();
        (first..first + n as u64).for_each(|row| numbers.push(row));
        candidates.rows.append(&numbers);
        done += n;
    }
    Ok(())
}

/// Decodes the next `n` values of a column. An error comes with its row.
fn decode(column: &Column, values: &mut Values, n: usize, first: u64) -> Result<(), (u64, DatasetError)> {
    values.read(n).map_err(|error| (first, error.into()))?;
    let row = |position: usize| first + position as u64;
    let name = || column.name.clone();
    let null = values.null().map(|position| (row(position), DatasetError::Null { row: row(position), column: name() }));
    // Nulls have no value, so only before the first null is the position of a value that of its row.
    let end = values.null().unwrap_or(n);
    let bad = values.numbers().iter().take(end).position(|value| !value.is_finite()).map(|position| {
        let field = values.numbers()[position].to_string();
        (row(position), DatasetError::NotANumber { row: row(position), column: name(), field })
    });
    let not_text = values.not_text().filter(|&position| position < end);
    let not_text =
        not_text.map(|position| (row(position), DatasetError::NotUtf8 { row: row(position), column: name() }));
    bad.or(not_text).or(null).map_or(Ok(()), Err)
}
