//! Why a file of candidates was refused.

use cutline_campaign::CandidatesError;
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
    /// The fields are not separated by commas, or where the separator is detected, neither by semicolons nor by tabs.
    #[error("the header is one field, `{0}`; fields must be separated by commas")]
    Separator(String),
    /// The file is of a kind that is no table.
    #[error("this is {0}, not a table; candidates are read from CSV, Excel (.xlsx) and Parquet files")]
    WrongKind(&'static str),
    /// The file is an Excel file, but damaged or empty.
    #[error("the Excel file cannot be read: {0}")]
    Excel(String),
    /// There is more than one problem.
    #[error("{}", several(.problems, *.n_more))]
    Several {
        /// The first problems, by row.
        problems: Vec<DatasetError>,
        /// The number of further problems.
        n_more: usize,
    },
    /// Values are missing.
    #[error("{}{}", missing(*.n_missing, *.n_rows, *.n_columns, .places), if *.is_later { LATER } else { "" })]
    Missing {
        /// How many are missing.
        n_missing: usize,
        /// The number of rows concerned.
        n_rows: usize,
        /// The number of columns concerned.
        n_columns: usize,
        /// The first places: rows and columns.
        places: Vec<(u64, String)>,
        /// Whether the columns had no missing values when the campaign began.
        is_later: bool,
    },
    /// A column of text has too many different values for a category.
    #[error(
        "column `{column}` is text, with {}; the first is `{first}`",
        if *.is_distinct { "a different value in every row".into() } else { format!("{n_levels} different values") }
    )]
    TextColumn {
        /// The column.
        column: String,
        /// The number of different values.
        n_levels: usize,
        /// Whether no value is there twice.
        is_distinct: bool,
        /// The first value.
        first: String,
    },
    /// All values of a column are missing.
    #[error("column `{column}` has no values")]
    NoValues {
        /// The column.
        column: String,
    },
    /// A chosen category is not among the chosen features.
    #[error("the category `{0}` is not one of the chosen features")]
    CategoryNotChosen(String),
    /// Two features would have the same name.
    #[error("two features would be called `{0}`; rename a column")]
    SameFeature(String),
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
    /// The column of costs was requested as a feature.
    #[error("the column `{0}` holds the costs, and cannot be a feature")]
    CostsAsFeature(String),
    /// A cost is missing, not a number, negative, 0, or too small or large to be counted.
    #[error(
        "row {row}, column `{column}`: {}",
        match field {
            Some(field) => format!("a cost must be a number between 1e-6 and 1e9, not `{field}`"),
            None => "the cost is missing".into(),
        }
    )]
    Cost {
        /// The row of the file.
        row: u64,
        /// The column's header.
        column: String,
        /// The field, or its beginning; `None` if it is missing.
        field: Option<String>,
    },
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
    /// Names are wrong, and another column may hold better ones.
    #[error("{error}")]
    NamesBesideId {
        /// What is wrong with them.
        error: Box<DatasetError>,
        /// The other column, which is called `id`, in any case.
        column: String,
    },
    /// The candidates were refused for a reason that files cannot give rise to.
    #[error(transparent)]
    Candidates(#[from] CandidatesError),
}

impl DatasetError {
    /// Whether it is about what the rows hold, so that other rows may have the same problem.
    pub(super) fn is_about_cells(&self) -> bool {
        matches!(
            self,
            Self::NotUtf8 { .. }
                | Self::Ragged { .. }
                | Self::OpenQuote { .. }
                | Self::NotANumber { .. }
                | Self::Null { .. }
                | Self::Type { .. }
        )
    }
}

/// Added to a message about missing values of a later file.
const LATER: &str = "; the campaign began without missing values there";

/// Several problems in one line: those of one kind together.
fn several(problems: &[DatasetError], n_more: usize) -> String {
    let mut described = Vec::new();
    let (mut numbers, mut names) = (Vec::new(), Vec::new());
    let is_number = |problem: &&DatasetError| matches!(problem, DatasetError::NotANumber { .. });
    let is_name = |problem: &&DatasetError| matches!(problem, DatasetError::SameName { .. });
    let (n_numbers, n_names) = (problems.iter().filter(is_number).count(), problems.iter().filter(is_name).count());
    for problem in problems {
        match problem {
            DatasetError::NotANumber { row, column, field } if n_numbers > 1 => {
                numbers.push(format!("`{field}` in row {row}, column `{}`", shortened(column)));
            }
            DatasetError::SameName { name, first, second } if n_names > 1 => {
                names.push(format!("`{name}` in rows {first} and {second}"));
            }
            other => described.push(other.to_string()),
        }
    }
    if !numbers.is_empty() {
        described.push(format!("not finite numbers: {}", numbers.join(", ")));
    }
    if !names.is_empty() {
        described.push(format!("names that are there twice: {}", names.join(", ")));
    }
    if n_more > 0 {
        described.push(format!("and {n_more} more problems"));
    }
    described.join("; ")
}

fn missing(n_missing: usize, n_rows: usize, n_columns: usize, places: &[(u64, String)]) -> String {
    let described: Vec<String> =
        places.iter().map(|(row, column)| format!("row {row}, column `{}`", shortened(column))).collect();
    if let ([place], 1) = (&described[..], n_missing) {
        return format!("{place}: the value is missing");
    }
    let count = |n: usize, what: &str| if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") };
    let more = if n_missing > places.len() { ", …" } else { "" };
    let (rows, columns) = (count(n_rows, "row"), count(n_columns, "column"));
    format!("{n_missing} values are missing, in {rows} and {columns}: {}{more}", described.join(", "))
}

/// A field as a message quotes it: only the beginning of a long one.
pub(super) fn shortened(field: &str) -> String {
    const MOST: usize = 80;
    if field.len() <= MOST { field.into() } else { format!("{}…", &field[..field.floor_char_boundary(MOST)]) }
}
