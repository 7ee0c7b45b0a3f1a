//! What a reader is told about a table, and what it reports about it.

use super::error::shortened;
use std::fmt;

/// How a table of candidates is read. The default takes all columns but `name` as features, and refuses missing values.
///
/// | option | default | meaning |
/// |---|---|---|
/// | `features` | all columns but the names | the columns that are features, in this order |
/// | `categories` | columns of text in which values repeat | the columns that are categories |
/// | `id` | `name`, in any case | the column with the names of the candidates |
/// | `cost` | none | the column that says what a measurement of each candidate costs; it is not a feature |
/// | `fills_missing` | no | whether a missing value becomes the mean of its column, and a feature says where |
/// | `decimal_comma` | no | whether numbers in text are written as `0,5` |
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the table above says it")]
pub struct ReadOptions {
    pub features: Option<Vec<String>>,
    pub categories: Vec<String>,
    pub id: Option<String>,
    pub cost: Option<String>,
    pub fills_missing: bool,
    pub decimal_comma: bool,
}

impl ReadOptions {
    /// Whether all features must be numbers that are written with a point.
    pub(super) fn is_plain(&self) -> bool {
        self.categories.is_empty() && !self.fills_missing && !self.decimal_comma
    }
}

/// Something about a table that its owner should know.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Note {
    /// A column of text was taken as a category.
    Category {
        /// The column.
        column: String,
        /// Its levels.
        levels: Vec<String>,
    },
    /// The first column besides the names has no name and counts the rows, as pandas and R write it. It is left out.
    RowNumbers {
        /// The name of the column, if a program has made one up.
        column: String,
    },
    /// Missing values were filled in.
    Filled {
        /// The column.
        column: String,
        /// How many were missing.
        n_missing: usize,
        /// What they are now; `None` for a category, of which a missing value has no level.
        mean: Option<f64>,
    },
    /// Values of a category are not among its levels. They have no level.
    UnknownLevels {
        /// The column.
        column: String,
        /// The first unknown values.
        levels: Vec<String>,
        /// The number of rows concerned.
        n_rows: usize,
    },
    /// A column that looks like the names of the candidates is a feature.
    IdIsFeature {
        /// The column.
        column: String,
    },
    /// The file has several sheets, and only the first was read.
    Sheet {
        /// The name of the sheet.
        sheet: String,
        /// The number of sheets.
        n_sheets: usize,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Category { column, levels } => {
                write!(f, "column `{column}` is text: a category with the levels {}", quoted(levels, 8))
            }
            Self::RowNumbers { column } if column.is_empty() => {
                write!(f, "a column without a name counts the rows; it is left out")
            }
            Self::RowNumbers { column } => {
                write!(f, "the column `{column}` counts the rows; it is left out")
            }
            Self::Filled { column, n_missing, mean } => {
                let (values, own) = match n_missing {
                    1 => ("1 missing value".into(), "its"),
                    n => (format!("{n} missing values"), "their"),
                };
                match mean {
                    Some(mean) => write!(
                        f,
                        "{values} in column `{column}` became its mean, {mean}; `{column} missing` marks where"
                    ),
                    None => write!(f, "{values} in column `{column}` became a level of {own} own, `{column} missing`"),
                }
            }
            Self::UnknownLevels { column, levels, n_rows } => {
                let rows = if *n_rows == 1 { "1 row".into() } else { format!("{n_rows} rows") };
                let values = quoted(levels, 5);
                write!(
                    f,
                    "{rows} with a value of `{column}` that the campaign does not know, {values}: no level is set"
                )
            }
            Self::IdIsFeature { column } => {
                write!(f, "column `{column}` differs between all rows and is used as a feature, not as names")
            }
            Self::Sheet { sheet, n_sheets } => {
                write!(f, "the file has {n_sheets} sheets; only the first, `{sheet}`, is read")
            }
        }
    }
}

/// The first `most` of some values, in backticks.
fn quoted(values: &[String], most: usize) -> String {
    let mut quoted: Vec<String> = values.iter().take(most).map(|value| format!("`{}`", shortened(value))).collect();
    if values.len() > most {
        quoted.push(format!("{} more", values.len() - most));
    }
    quoted.join(", ")
}
