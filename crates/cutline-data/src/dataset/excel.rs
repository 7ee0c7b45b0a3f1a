//! Tables from Excel files: the first sheet, with its header in the first row that is not empty.

use super::DatasetError;
use super::kinds::zip_kind;
use super::layout::{Layout, Role};
use super::options::{Note, ReadOptions};
use super::table::Table;
use crate::input;
use calamine::{Cell, Data, DataRef, Range, Reader, Xlsx};
use std::io::{Cursor, Read, Write};
use zip::ZipArchive;

/// The most cells of a sheet, and the most per cell that is not empty, if that is more.
const MAX_EMPTY: u64 = 10_000_000;
const MAX_EMPTY_SHARE: u64 = 100;

/// The table of a file, which is a zip archive.
pub(super) fn read(bytes: &[u8], options: &ReadOptions, notes: &mut Vec<Note>) -> Result<Table, DatasetError> {
    check_size(bytes)?;
    let mut book = Xlsx::new(Cursor::new(bytes)).map_err(|_| DatasetError::WrongKind(zip_kind(bytes)))?;
    let n_sheets = book.sheet_names().len();
    let sheet = book.sheet_names().first().cloned().ok_or_else(|| DatasetError::Excel("it has no sheets".into()))?;
    let range = cells(&mut book, &sheet)?;
    if n_sheets > 1 {
        notes.push(Note::Sheet { sheet, n_sheets });
    }
    table(&range, options)
}

/// Refuses an archive that decompresses to more than an input may have, whatever it says about itself.
fn check_size(bytes: &[u8]) -> Result<(), DatasetError> {
    // What is not an archive is recognised later.
    let Ok(mut archive) = ZipArchive::new(Cursor::new(bytes)) else { return Ok(()) };
    let mut total = ByteCount(0);
    for index in 0..archive.len() {
        let Ok(entry) = archive.by_index(index) else { continue };
        let left = input::max_size() - total.0;
        // An entry that is damaged is reported when it is used.
        drop(std::io::copy(&mut entry.take(left.saturating_add(1)), &mut total));
        input::check_size(total.0, true)?;
    }
    Ok(())
}

/// The number of bytes written to it.
struct ByteCount(u64);

impl Write for ByteCount {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The cells of a sheet as a rectangle, unless they are so far apart that it would be nearly empty and too large.
fn cells(book: &mut Xlsx<Cursor<&[u8]>>, sheet: &str) -> Result<Range<Data>, DatasetError> {
    let damaged = |error: calamine::XlsxError| DatasetError::Excel(error.to_string());
    let mut reader = book.worksheet_cells_reader(sheet).map_err(damaged)?;
    let mut cells = Vec::new();
    while let Some(cell) = reader.next_cell().map_err(damaged)? {
        if !matches!(cell.get_value(), DataRef::Empty) {
            cells.push(Cell::new(cell.get_position(), Data::from(cell.get_value().clone())));
        }
    }
    let (rows, columns): (Vec<u32>, Vec<u32>) = cells.iter().map(Cell::get_position).unzip();
    let extent = |positions: &[u32]| match (positions.iter().min(), positions.iter().max()) {
        (Some(&least), Some(&most)) => u64::from(most - least) + 1,
        _ => 0,
    };
    let (n_rows, n_columns) = (extent(&rows), extent(&columns));
    let n_cells = n_rows * n_columns;
    if n_cells > MAX_EMPTY.max(MAX_EMPTY_SHARE * cells.len() as u64) {
        let what = format!("its {} cells lie {n_rows} rows and {n_columns} columns apart", cells.len());
        return Err(DatasetError::Excel(what));
    }
    input::check_size(n_cells * size_of::<Data>() as u64, true)?;
    Ok(Range::from_sparse(cells))
}

fn table(range: &Range<Data>, options: &ReadOptions) -> Result<Table, DatasetError> {
    let first = range.start().map_or(0, |(row, _)| u64::from(row)) + 1;
    let is_blank = |row: &[Data]| row.iter().all(|cell| text(cell).is_empty());
    let mut rows = range.rows().zip(first..).filter(|(row, _)| !is_blank(row));
    let (header, _) = rows.next().ok_or(DatasetError::Empty)?;
    // Columns without a header and without a value are there because a cell was once formatted.
    let n_columns = range.width();
    let is_used = |column: usize| range.rows().any(|row| !text(&row[column]).is_empty());
    let used: Vec<usize> = (0..n_columns).filter(|&column| is_used(column)).collect();
    let header: Vec<String> = used.iter().map(|&column| text(&header[column])).collect();
    if header.iter().all(|field| field.parse::<f64>().is_ok()) {
        return Err(DatasetError::NoHeader);
    }
    let layout = Layout::new(header, options.features.as_deref(), options.id.as_deref())?;
    let is_text = layout.text_features(options)?;
    let mut table = Table {
        columns: layout.features.iter().map(|name| (name.clone(), <_>::default())).collect(),
        ..<_>::default()
    };
    for (row, number) in rows {
        table.rows.push(number);
        for (&column, role) in used.iter().zip(&layout.roles) {
            let cell = &row[column];
            match *role {
                Role::None => (),
                Role::Name => table.names.push(text(cell)),
                Role::Feature(feature) => match number_of(cell, options.decimal_comma).filter(|_| !is_text[feature]) {
                    Some(number) => table.columns[feature].1.push_number(number),
                    None => table.columns[feature].1.push_text(text(cell)),
                },
            }
        }
    }
    if table.rows.n_rows == 0 { Err(DatasetError::Empty) } else { Ok(table) }
}

/// The number that a cell holds. A date is its number of days, as Excel counts them.
fn number_of(cell: &Data, decimal_comma: bool) -> Option<f64> {
    match cell {
        Data::Int(number) => Some(*number as f64),
        Data::Float(number) => Some(*number),
        Data::DateTime(date) => Some(date.as_f64()),
        Data::String(text) => super::fields::finite(text.trim(), decimal_comma),
        _ => None,
    }
}

/// The text of a cell: a number as it would be written.
fn text(cell: &Data) -> String {
    match cell {
        Data::Empty => String::new(),
        Data::DateTime(date) => date.as_f64().to_string(),
        Data::Bool(flag) => flag.to_string(),
        cell => cell.to_string().trim().to_owned(),
    }
}
