//! Candidates from files, CSV and Parquet: names and features, read on all threads. Iris and wine come with the program.

mod blocks;
mod candidates;
mod chunks;
mod csv;
mod error;
mod fields;
mod layout;
mod parquet;
mod values;

pub use candidates::{Candidates, MOST_NAME, Named};
pub use error::DatasetError;

pub(crate) use blocks::{Block, Blocks};
pub(crate) use fields::{Rows, header, number, text};

use cutline::Arms;
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

/// Candidates from a file, Parquet if it begins as such or is called `.parquet`, and CSV otherwise.
///
/// A row is a candidate. The column `name`, in any case, holds the names; without it there are none. All other columns are
/// features, or those in `asked`, in that order; columns that are not asked for are passed over. In CSV the first row is the
/// header, which names the columns.
///
/// # Errors
/// If the file cannot be read, has no candidate, columns of the same name, not the columns that are asked for, or a feature
/// that is not a finite number. The names may be anything; see [`Candidates::with_distinct_names`].
pub fn open(path: &Path, asked: Option<&[String]>) -> Result<Candidates, DatasetError> {
    let mut file = File::open(path)?;
    let mut start = Vec::new();
    file.by_ref().take(parquet::MAGIC.len() as u64).read_to_end(&mut start)?;
    if start == parquet::MAGIC || path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet")) {
        file.rewind()?;
        parquet::read(file, asked)
    } else {
        candidates(start.chain(file), asked)
    }
}

/// Candidates from CSV, as [`open`] reads them.
///
/// # Errors
/// As [`open`].
pub fn candidates(csv: impl Read + Send, asked: Option<&[String]>) -> Result<Candidates, DatasetError> {
    csv::read(csv, asked, csv::BLOCK)
}

/// Iris: 150 arms, 4 features, unscaled.
///
/// # Panics
/// Never: the file is part of the program.
#[must_use]
pub fn iris() -> Arms {
    features(include_str!("../../data/iris.csv").as_bytes()).expect("the file is part of the program")
}

/// Wine: 178 arms, 13 features, unscaled.
///
/// # Panics
/// Never: the file is part of the program.
#[must_use]
pub fn wine() -> Arms {
    features(include_str!("../../data/wine.csv").as_bytes()).expect("the file is part of the program")
}

/// Features from CSV, as [`open`] reads them; names are passed over.
///
/// # Errors
/// As [`open`], and if there are no features.
pub fn features(csv: impl Read + Send) -> Result<Arms, DatasetError> {
    Ok(named(csv)?.with_features()?.arms)
}

/// Arms from CSV and their names, as [`open`] reads them; arms without features if there is no column but names.
///
/// # Errors
/// As [`open`].
pub fn named(csv: impl Read + Send) -> Result<Named, DatasetError> {
    candidates(csv, None)?.into_named()
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
