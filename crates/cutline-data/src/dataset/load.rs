//! Tables as people have them: CSV with any usual separator, gzip, Excel or Parquet, with categories and missing values.

use super::chunks::Chunks;
use super::costs::costs;
use super::kinds::{self, FileKind};
use super::options::{Note, ReadOptions};
use super::raw::RawCandidates;
use super::table::{Problems, Table};
use super::{DatasetError, csv, csv_table, encoding, excel, parquet};
use crate::input::{self, Limited};
use cutline_campaign::{Candidates, ColumnValues, Encoding};
use flate2::read::MultiGzDecoder;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

/// How much of a text is looked at to find its separator.
const BEGINNING: u64 = 1 << 16;

/// Where a table comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// The bytes of a file.
    Bytes(bytes::Bytes),
}

impl Source {
    /// The file at a path; `-` is stdin, which is read to its end.
    ///
    /// # Errors
    /// If stdin cannot be read.
    pub fn new(path: &Path) -> std::io::Result<Self> {
        if path != Path::new("-") {
            return Ok(Self::File(path.into()));
        }
        Ok(Self::Bytes(input::read_stdin()?.into()))
    }

    fn open(&self) -> std::io::Result<Box<dyn Read + Send + '_>> {
        Ok(match self {
            Self::File(path) => Box::new(Limited::new(input::open(path)?, false)),
            Self::Bytes(bytes) => Box::new(&bytes[..]),
        })
    }

    fn bytes(&self) -> std::io::Result<bytes::Bytes> {
        match self {
            Self::File(path) => Ok(input::read(path)?.into()),
            Self::Bytes(bytes) => Ok(bytes.clone()),
        }
    }

    fn is_called_parquet(&self) -> bool {
        let extension =
            |path: &Path| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"));
        matches!(self, Self::File(path) if extension(path))
    }
}

/// Candidates that were read from a table.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Loaded {
    /// The candidates, with the features of the encoding.
    pub candidates: Candidates,
    /// Whether the names are those of the table. Otherwise candidates are called by their number from 0.
    pub has_names: bool,
    /// How the columns became features; `None` if all are numbers and the names, if any, are in the column `name`.
    pub encoding: Option<Encoding>,
    /// What the owner of the table should know.
    pub notes: Vec<Note>,
}

/// Candidates from a table: CSV with commas, semicolons or tabs, plain or compressed with gzip; Excel (.xlsx); or Parquet. The kind of the
/// file and the separator are detected.
///
/// One row per candidate, below a header in CSV and Excel. The names, which must be distinct and printable, are in the column `id` of the
/// options, or else in the column `name`, in any case; without it, candidates are called by their number from 0. The features are those of
/// the options, or else all columns but the names. A column of text in which values repeat is a category; a first column without a name
/// that counts the rows is left out; both are [noted](Loaded::notes).
///
/// # Errors
/// If the file cannot be read or is not a table, has no candidate, has two columns of the same name or lacks a requested one; and, with all
/// such problems in one error, if values are missing, cells are not numbers, rows have too few or too many cells, a column of text is not
/// a category, or names are missing, not allowed or there twice.
pub fn load(source: &Source, options: &ReadOptions) -> Result<Loaded, DatasetError> {
    let costs = costs(source, options)?;
    let (raw, encoding, notes) = read(source, options)?;
    let has_names = !raw.names.is_empty();
    Ok(Loaded { candidates: with_costs(raw.named()?, costs)?, has_names, encoding, notes })
}

fn with_costs(candidates: Candidates, costs: Option<Vec<f64>>) -> Result<Candidates, DatasetError> {
    Ok(match costs {
        Some(costs) => candidates.with_costs(costs)?,
        None => candidates,
    })
}

/// As [`load`], for callers that can do without distinct names: candidates are called by their number from 0, and their labels, which may be
/// anything, are returned beside them.
///
/// # Errors
/// As [`load`], but for the names.
pub fn load_with_labels(source: &Source, options: &ReadOptions) -> Result<(Loaded, Vec<String>), DatasetError> {
    let costs = costs(source, options)?;
    let (raw, encoding, notes) = read(source, options)?;
    let (candidates, labels) = raw.numbered()?;
    Ok((Loaded { candidates: with_costs(candidates, costs)?, has_names: false, encoding, notes }, labels))
}

/// Candidates from a later table, with the features that `encoding` made of an earlier one; columns that it does not have are ignored. Of
/// the options only the decimal comma and the columns of costs and names are used; without the latter, that of the encoding.
///
/// A value of a category that is not among its levels has no level, which is [noted](Loaded::notes).
///
/// # Errors
/// As [`load`], and if a value is missing in a column that had no missing values in the earlier table.
pub fn load_encoded(source: &Source, encoding: &Encoding, options: &ReadOptions) -> Result<Loaded, DatasetError> {
    let is_category = |values: &ColumnValues| matches!(values, ColumnValues::Category { .. });
    let categories = encoding.columns.iter().filter(|column| is_category(&column.values));
    let options = ReadOptions {
        features: Some(encoding.columns.iter().map(|column| column.name.clone()).collect()),
        categories: categories.map(|column| column.name.clone()).collect(),
        id: options.id.clone().or_else(|| encoding.id.clone()),
        cost: options.cost.clone(),
        fills_missing: false,
        decimal_comma: options.decimal_comma,
    };
    let costs = costs(source, &options)?;
    let mut notes = Vec::new();
    let (table, problems) = table(source, &options, &mut notes)?;
    let raw = encoding::features(table, encoding, true, &mut notes, problems)?;
    let has_names = !raw.names.is_empty();
    let encoding = Some(encoding.clone()).filter(|encoding| !encoding.is_plain());
    Ok(Loaded { candidates: with_costs(raw.named()?, costs)?, has_names, encoding, notes })
}

/// Candidates as they were read, how their columns became features, and what to note.
type ReadResult = Result<(RawCandidates, Option<Encoding>, Vec<Note>), DatasetError>;

fn read(source: &Source, options: &ReadOptions) -> ReadResult {
    let mut notes = Vec::new();
    if options.is_plain() {
        match numbers(source, options) {
            // The file may still be a table, of which more is wrong than the first error says, or of which nothing is wrong.
            Err(error) if error.is_about_cells() => (),
            Err(error) => return Err(error),
            Ok(None) => (),
            Ok(Some(raw)) => {
                let raw = note_identifiers(without_costs(raw, options), options, &mut notes);
                let encoding = Encoding { id: options.id.clone(), ..Encoding::numbers(&raw.columns) };
                return Ok((raw, Some(encoding).filter(|encoding| !encoding.is_plain()), notes));
            }
        }
    }
    let (mut table, mut problems) = table(source, options, &mut notes)?;
    if options.features.is_none()
        && table.columns.first().is_some_and(|(name, cells)| counts_rows(name, &cells.numbers))
    {
        let (column, _) = table.columns.remove(0);
        notes.push(Note::RowNumbers { column });
    }
    table.columns.retain(|(column, _)| Some(column) != options.cost.as_ref());
    let encoding = encoding::encoding_of(&table, options, &mut notes, &mut problems);
    let raw = encoding::features(table, &encoding, false, &mut notes, problems)?;
    Ok((raw, Some(encoding).filter(|encoding| !encoding.is_plain()), notes))
}

/// The candidates of a file of numbers with commas or of a Parquet file of numbers, read in the fastest way; `None` if it is another file.
fn numbers(source: &Source, options: &ReadOptions) -> Result<Option<RawCandidates>, DatasetError> {
    let (columns, id) = (options.features.as_deref(), options.id.as_deref());
    match opened(source)? {
        Opened::Text(text, b',') => csv::read(text, columns, id, csv::BLOCK).map(Some),
        Opened::Parquet => match source {
            Source::File(path) => parquet::read(Chunks::new(input::open(path)?)?, columns, id).map(Some),
            Source::Bytes(bytes) => parquet::read(bytes.clone(), columns, id).map(Some),
        },
        _ => Ok(None),
    }
}

/// The same candidates without the column of costs.
fn without_costs(raw: RawCandidates, options: &ReadOptions) -> RawCandidates {
    match raw.columns.iter().position(|column| Some(column) == options.cost.as_ref()) {
        Some(position) => raw.without_column(position),
        None => raw,
    }
}

/// The cells of a table, and what is wrong with its rows.
pub(super) fn table(
    source: &Source,
    options: &ReadOptions,
    notes: &mut Vec<Note>,
) -> Result<(Table, Problems), DatasetError> {
    match opened(source)? {
        Opened::Text(text, separator) => csv_table::read(text, separator, options, csv::BLOCK),
        Opened::Excel => Ok((excel::read(&source.bytes()?, options, notes)?, Problems::default())),
        Opened::Parquet => {
            let table = match source {
                Source::File(path) => parquet::table(Chunks::new(input::open(path)?)?, options),
                Source::Bytes(bytes) => parquet::table(bytes.clone(), options),
            };
            Ok((table?, Problems::default()))
        }
    }
}

/// A source whose kind is known.
enum Opened<'a> {
    /// Text, and its separator.
    Text(Box<dyn Read + Send + 'a>, u8),
    Parquet,
    Excel,
}

fn opened(source: &Source) -> Result<Opened<'_>, DatasetError> {
    let (start, file) = beginning(source.open()?, kinds::LENGTH as u64)?;
    let whole = Box::new(Cursor::new(start.clone()).chain(file));
    match kinds::kind(&start) {
        _ if source.is_called_parquet() => Ok(Opened::Parquet),
        FileKind::Parquet => Ok(Opened::Parquet),
        FileKind::Zip => Ok(Opened::Excel),
        FileKind::Gzip => {
            let (start, text) = beginning(Box::new(Limited::new(MultiGzDecoder::new(whole), true)), BEGINNING)?;
            match kinds::kind(&start) {
                FileKind::Text => Ok(text_after(start, text)),
                FileKind::Other(what) => Err(DatasetError::WrongKind(what)),
                _ => Err(DatasetError::WrongKind("a compressed file that is not text")),
            }
        }
        FileKind::Other(what) => Err(DatasetError::WrongKind(what)),
        FileKind::Text => {
            let (start, text) = beginning(whole, BEGINNING)?;
            Ok(text_after(start, text))
        }
    }
}

/// The first bytes of a stream, up to `length`, and the rest of it.
fn beginning(
    mut stream: Box<dyn Read + Send + '_>,
    length: u64,
) -> std::io::Result<(Vec<u8>, Box<dyn Read + Send + '_>)> {
    let mut start = Vec::new();
    stream.by_ref().take(length).read_to_end(&mut start)?;
    Ok((start, stream))
}

fn text_after<'a>(start: Vec<u8>, rest: Box<dyn Read + Send + 'a>) -> Opened<'a> {
    let separator = csv_table::separator(&start, start.len() as u64 == BEGINNING);
    Opened::Text(Box::new(Cursor::new(start).chain(rest)), separator)
}

/// Leaves out a first column, besides the names, that has no name and counts the rows, and notes a feature `id` that may be meant as names.
fn note_identifiers(raw: RawCandidates, options: &ReadOptions, notes: &mut Vec<Note>) -> RawCandidates {
    let (n_rows, dimension) = (raw.rows.n_rows, raw.columns.len());
    if options.features.is_some() || dimension == 0 {
        return raw;
    }
    let values = |column: usize| raw.features.iter().skip(column).step_by(dimension).copied();
    if raw.names.is_empty()
        && let Some(column) = raw.columns.iter().position(|column| column.eq_ignore_ascii_case("id"))
    {
        let distinct: std::collections::HashSet<u64> = values(column).map(f64::to_bits).collect();
        if distinct.len() == n_rows && n_rows > 1 {
            notes.push(Note::IdIsFeature { column: raw.columns[column].clone() });
        }
    }
    if is_unnamed(&raw.columns[0]) && counts_rows(&raw.columns[0], &values(0).collect::<Vec<_>>()) {
        notes.push(Note::RowNumbers { column: raw.columns[0].clone() });
        return raw.without_column(0);
    }
    raw
}

/// Whether a program has named a column because it had no name.
fn is_unnamed(column: &str) -> bool {
    column.is_empty() || column == "Unnamed: 0"
}

/// Whether an unnamed column counts the rows: 0, 1, 2, … or from another whole number.
fn counts_rows(name: &str, numbers: &[f64]) -> bool {
    is_unnamed(name)
        && numbers.first().is_some_and(|first| first.fract() == 0.0)
        && numbers.windows(2).all(|pair| pair[1] == pair[0] + 1.0)
}
