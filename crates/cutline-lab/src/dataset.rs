//! Features from CSV files: iris and wine, which come with the program, and any other.

use cutline::{Arms, ArmsError};
use std::io::Read;
use thiserror::Error;

/// Why a file of features was refused. Rows and columns count from 1, the header being row 1.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// The file cannot be read or is not UTF-8.
    #[error("{0}")]
    Csv(csv::Error),
    /// A row is longer or shorter than the header.
    #[error("row {row} has {found} fields, but the header has {expected}")]
    Ragged {
        /// The row of the file.
        row: u64,
        /// The length of the header.
        expected: u64,
        /// Its own length.
        found: u64,
    },
    /// The fields are separated by something else than commas.
    #[error("the header is one field, `{0}`; fields must be separated by commas")]
    Separator(String),
    /// There is no row below the header.
    #[error("there are no arms: the file needs a header and a row an arm")]
    Empty,
    /// The first row is made of numbers, so it is an arm and no header.
    #[error("row 1 must be a header, and it is all numbers")]
    NoHeader,
    /// There is no feature column.
    #[error("there are no features: all columns are names")]
    NoFeatures,
    /// A field is not a finite number.
    #[error("row {row}, column `{column}`: `{field}` is not a finite number")]
    NotANumber {
        /// The row of the file.
        row: u64,
        /// The column's header.
        column: String,
        /// The field.
        field: String,
    },
    /// The arms were refused.
    #[error(transparent)]
    Arms(#[from] ArmsError),
}

impl From<csv::Error> for DatasetError {
    fn from(error: csv::Error) -> Self {
        match error.kind() {
            csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
                let row = pos.as_ref().map_or(0, csv::Position::line);
                Self::Ragged { row, expected: *expected_len, found: *len }
            }
            _ => Self::Csv(error),
        }
    }
}

/// Iris: 150 arms, 4 features, unscaled.
///
/// # Panics
/// Never: the file is part of the program.
#[must_use]
pub fn iris() -> Arms {
    features(include_str!("../data/iris.csv").as_bytes()).expect("the file is part of the program")
}

/// Wine: 178 arms, 13 features, unscaled.
///
/// # Panics
/// Never: the file is part of the program.
#[must_use]
pub fn wine() -> Arms {
    features(include_str!("../data/wine.csv").as_bytes()).expect("the file is part of the program")
}

/// Features from CSV with a header: a row an arm; a column `name`, in any case, holds names and is passed over, all others numbers.
///
/// # Errors
/// If the file cannot be read, is ragged or empty, has no features, or a field is not a finite number.
pub fn features(csv: impl Read) -> Result<Arms, DatasetError> {
    let arms = named(csv)?.arms;
    if arms.dimension().is_none() { Err(DatasetError::NoFeatures) } else { Ok(arms) }
}

/// Arms and what they are called.
#[derive(Clone, Debug)]
pub struct Named {
    /// The arms.
    pub arms: Arms,
    /// Their names, from the first column `name`; empty if there is none.
    pub names: Vec<String>,
}

/// Features as [`features`] reads them, with the names; arms without features if there is no column but names.
///
/// # Errors
/// If the file cannot be read, is ragged or empty, or a field is not a finite number.
pub fn named(csv: impl Read) -> Result<Named, DatasetError> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(csv);
    let header = reader.headers()?.clone();
    let is_name = |&column: &usize| header[column].eq_ignore_ascii_case("name");
    let columns: Vec<usize> = (0..header.len()).filter(|column| !is_name(column)).collect();
    let name_column = (0..header.len()).find(is_name);
    if !header.is_empty() && header.iter().all(|field| field.parse::<f64>().is_ok()) {
        return Err(DatasetError::NoHeader);
    }
    if header.len() == 1 && header[0].contains([';', '\t', '|']) {
        return Err(DatasetError::Separator(header[0].into()));
    }
    let (mut names, mut values) = (Vec::new(), Vec::new());
    for record in reader.records() {
        let record = record?;
        names.extend(name_column.map(|column| record[column].to_owned()));
        for &column in &columns {
            let field = &record[column];
            match field.parse::<f64>() {
                Ok(value) if value.is_finite() => values.push(value),
                _ => {
                    let row = record.position().map_or(0, csv::Position::line);
                    return Err(DatasetError::NotANumber { row, column: header[column].into(), field: field.into() });
                }
            }
        }
    }
    if names.is_empty() && values.is_empty() {
        return Err(DatasetError::Empty);
    }
    let arms = match columns.len() {
        0 => Arms::without_features(names.len()),
        dimension => Arms::from_slice(&values, dimension),
    };
    Ok(Named { arms: arms?, names })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shapes_are_the_papers() {
        assert_eq!((iris().n_arms(), iris().dimension()), (150, Some(4)));
        assert_eq!((wine().n_arms(), wine().dimension()), (178, Some(13)));
        assert_eq!(wine().row(0).unwrap()[12], 1065.0);
    }

    #[test]
    fn names_are_no_features() {
        let arms = features("name,a,b\nx,1,2\ny,3,4\n".as_bytes()).unwrap();
        assert_eq!(arms.row(1), Some(vec![3.0, 4.0]));
    }

    #[test]
    fn names_are_kept_for_those_who_ask() {
        let read = |csv: &str| named(csv.as_bytes()).unwrap();
        let both = read("a,Name\n1, x \n3,y\n");
        assert_eq!((both.names, both.arms.dimension()), (vec!["x".into(), "y".into()], Some(1)));
        assert_eq!(read("a\n1\n").names, [""; 0]);
        let only = read("name\nx\ny\n");
        assert_eq!((only.names.len(), only.arms.n_arms(), only.arms.dimension()), (2, 2, None));
        assert!(matches!(named("name\n".as_bytes()), Err(DatasetError::Empty)));
    }

    #[test]
    fn bad_files_are_refused_with_the_place() {
        let message = |csv: &[u8]| features(csv).unwrap_err().to_string();
        assert_eq!(message(b"a,b\n1,2\n3,x\n"), "row 3, column `b`: `x` is not a finite number");
        assert_eq!(message(b"a,b\n1,inf\n"), "row 2, column `b`: `inf` is not a finite number");
        assert_eq!(message(b"a,b\n1,\n"), "row 2, column `b`: `` is not a finite number");
        assert_eq!(message(b"a,b\n1,2\n3\n"), "row 3 has 1 fields, but the header has 2");
        assert_eq!(message(b"a;b\n1;2\n"), "the header is one field, `a;b`; fields must be separated by commas");
        assert!(message(b"a,b\n1,\xff\n").contains("UTF-8"));
        assert!(message(b"").contains("no arms"));
        assert!(message(b"a,b\n").contains("no arms"));
        assert!(message(b"name\nx\n").contains("no features"));
    }
}
