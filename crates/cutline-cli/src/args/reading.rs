//! How a file of candidates is read: options of every command that reads one.

use clap::{Args, ValueEnum};
use cutline_data::dataset::ReadOptions;

const READING: &str = "Reading the candidates";

#[derive(Debug, Args)]
pub(crate) struct Reading {
    /// The columns that are features, as one line of CSV [default: all but the names]
    #[arg(long = "features", value_name = "COLUMN,COLUMN,…", help_heading = READING, value_parser = columns)]
    pub(crate) columns: Option<Columns>,
    /// The column with the names of the candidates [default: `name`, or row numbers from 0 without such a column]
    #[arg(long, value_name = "COLUMN", help_heading = READING)]
    pub(crate) id: Option<String>,
    /// A column that is a category: one feature per level, `COLUMN=LEVEL`; may be given several times [default: columns of text in
    /// which values repeat]
    #[arg(long, value_name = "COLUMN", help_heading = READING)]
    pub(crate) category: Vec<String>,
    /// What to do about missing values: `refuse` them, or replace them by the `mean` of their column and mark them in a feature
    /// `COLUMN missing`
    #[arg(long, value_name = "HOW", value_enum, default_value_t = Missing::Refuse, help_heading = READING)]
    missing: Missing,
    /// The decimal mark of numbers in text: `.` or `,`
    #[arg(long, value_name = "MARK", value_enum, default_value_t = Decimal::Point, help_heading = READING)]
    decimal: Decimal,
}

// Without descriptions, as the help of the options has them.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Missing {
    Refuse,
    Mean,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum Decimal {
    #[value(name = ".")]
    Point,
    #[value(name = ",")]
    Comma,
}

impl Reading {
    pub(crate) fn options(&self) -> ReadOptions {
        ReadOptions {
            features: self.columns.as_ref().map(|columns| columns.0.clone()),
            categories: self.category.clone(),
            id: self.id.clone(),
            cost: None,
            fills_missing: matches!(self.missing, Missing::Mean),
            decimal_comma: self.decimal == Decimal::Comma,
        }
    }
}

/// Names of columns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Columns(pub(crate) Vec<String>);

/// One line of CSV, so that a name may contain a comma.
fn columns(text: &str) -> Result<Columns, String> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).trim(csv::Trim::All).from_reader(text.as_bytes());
    let mut records = reader.records();
    let columns = records.next().transpose().map_err(|error| error.to_string())?;
    if records.next().is_some() {
        return Err("it must be one line".into());
    }
    Ok(Columns(columns.iter().flatten().map(str::to_owned).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_a_line_of_csv() {
        let read = |text| columns(text).unwrap().0;
        assert_eq!(read("a, b,\"c, \"\"d\"\"\""), ["a", "b", "c, \"d\""]);
        assert_eq!(read(""), [""; 0]);
        assert!(columns("a\nb").is_err());
    }
}
