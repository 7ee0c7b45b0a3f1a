//! Why a file of candidates was refused.

use cutline::CandidatesError;
use thiserror::Error;

/// Why a file was refused. Rows are lines of the file from 1, in Parquet rows from 1; columns are named as in the header.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// The file cannot be read.
    #[error("{0}")]
    Read(#[from] std::io::Error),
    /// The file is Parquet, but damaged or of an unsupported kind.
    #[error("the Parquet file cannot be read: {0}")]
    Parquet(String),
    /// A field is not UTF-8.
    #[error("row {row}, column `{column}`: the field is not UTF-8")]
    NotUtf8 {
        /// The row of the file.
        row: u64,
        /// The column's header, or its number in the header itself.
        column: String,
    },
    /// A row is longer or shorter than the header.
    #[error("row {row} has {found} fields, but the header has {expected}")]
    Ragged {
        /// The row of the file.
        row: u64,
        /// The length of the header.
        expected: usize,
        /// The length of the row.
        found: usize,
    },
    /// A quote is opened and not closed.
    #[error("row {row}: a quote is opened and never closed")]
    OpenQuote {
        /// The row of the file in which the quoted field begins.
        row: u64,
    },
    /// A row is too long.
    #[error("row {row} is longer than {} MB; is this a CSV file, and is every quote closed?", most >> 20)]
    LongRow {
        /// The row of the file.
        row: u64,
        /// The most bytes that a row may have.
        most: usize,
    },
    /// The fields are not separated by commas.
    #[error("the header is one field, `{0}`; fields must be separated by commas")]
    Separator(String),
    /// There is no row below the header.
    #[error("there are no arms: the file needs a header and one row per arm")]
    Empty,
    /// The first row is all numbers, so there is no header.
    #[error("row 1 must be a header, and it is all numbers")]
    NoHeader,
    /// There is no feature column.
    #[error("there are no features: all columns are names")]
    NoFeatures,
    /// Two columns have the same name.
    #[error("columns {first} and {second} are both called `{column}`; columns must differ")]
    SameColumn {
        /// Their name.
        column: String,
        /// The position of the first, from 1.
        first: usize,
        /// The position of the second.
        second: usize,
    },
    /// A requested feature is not a column of the file.
    #[error("there is no column `{column}`; {columns}")]
    NoColumn {
        /// The requested column.
        column: String,
        /// The columns that can be requested, as a sentence.
        columns: String,
    },
    /// A feature was requested twice.
    #[error("the feature `{0}` is requested twice")]
    RequestedTwice(String),
    /// The column of names was requested as a feature.
    #[error("the column `{0}` holds the names, and cannot be a feature")]
    NamesAsFeature(String),
    /// A field is not a finite number.
    #[error("row {row}, column `{column}`: `{field}` is not a finite number")]
    NotANumber {
        /// The row of the file.
        row: u64,
        /// The column's header.
        column: String,
        /// The field, or its beginning.
        field: String,
    },
    /// A value of a Parquet file is missing.
    #[error("row {row}, column `{column}`: the value is missing (null)")]
    Null {
        /// The row of the file.
        row: u64,
        /// The column's name.
        column: String,
    },
    /// A column of a Parquet file has a type that cannot be used.
    #[error("column `{column}` is of type {found}; {needed}")]
    Type {
        /// The column's name.
        column: String,
        /// Its type.
        found: String,
        /// What it must be.
        needed: &'static str,
    },
    /// An arm has no name.
    #[error("row {row}: the name is empty")]
    EmptyName {
        /// The row of the file.
        row: u64,
    },
    /// A name contains a control character, such as a newline.
    #[error("row {row}: the name {name:?} contains a control character, {character:?}")]
    ControlCharacter {
        /// The row of the file.
        row: u64,
        /// The name, or its beginning.
        name: String,
        /// The character.
        character: char,
    },
    /// A name is too long.
    #[error("row {row}: the name has {bytes} bytes; at most {most} are allowed")]
    LongName {
        /// The row of the file.
        row: u64,
        /// Its length.
        bytes: usize,
        /// The most that are allowed.
        most: usize,
    },
    /// Two arms have the same name.
    #[error("rows {first} and {second} have the same name, `{name}`; names must differ")]
    SameName {
        /// The name.
        name: String,
        /// The row of the first.
        first: u64,
        /// The row of the second.
        second: u64,
    },
    /// The candidates were refused for a reason that files cannot give rise to.
    #[error(transparent)]
    Candidates(#[from] CandidatesError),
}

/// A field as a message quotes it: only the beginning of a long one.
pub(super) fn shortened(field: &str) -> String {
    const MOST: usize = 80;
    if field.len() <= MOST { field.into() } else { format!("{}…", &field[..field.floor_char_boundary(MOST)]) }
}
