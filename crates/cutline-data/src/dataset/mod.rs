//! Candidates from files, read on all threads: [`load`] takes tables as people have them, [`open`] files of numbers alone. Iris and
//! wine are built in.

mod blocks;
mod chunks;
mod costs;
mod csv;
mod csv_table;
mod encoding;
mod error;
mod excel;
mod fields;
mod frame;
mod kinds;
mod layout;
mod load;
mod options;
mod parquet;
mod raw;
mod table;
mod values;

pub use error::DatasetError;
pub use frame::{ColumnCells, EncodedFeatures, encode, encode_later};
pub use load::{Loaded, Source, load, load_encoded, load_with_labels};
pub use options::{Note, ReadOptions};

pub(crate) use blocks::{Block, Blocks};
pub(crate) use csv_table::separator;
pub(crate) use fields::{Rows, header, number, text};
pub(crate) use kinds::other_kind;

use crate::input::{self, Limited};
use cutline::Arms;
use cutline_campaign::Candidates;
use raw::RawCandidates;
use std::io::{Read, Seek};
use std::path::Path;

/// Candidates from a file: Parquet if it begins as such or is called `.parquet`, and CSV otherwise.
///
/// One row per candidate. The column `name`, in any case, holds the names, which must be distinct and printable; without it,
/// candidates are called by their number from 0. The features are `columns`, in that order, or else all columns but the names;
/// other columns are ignored. In CSV the first row is the header, which names the columns.
///
/// # Errors
/// If the file cannot be read, has no candidate, has two columns of the same name, lacks a requested column, or a feature is not a
/// finite number or a name is empty, too long, not printable or there twice. Errors name the row and the column.
pub fn open(path: &Path, columns: Option<&[String]>) -> Result<Candidates, DatasetError> {
    open_raw(path, columns)?.named()
}

/// Candidates and their labels, for callers that can do without distinct names. Candidates are called by their number from 0; the
/// labels are what the column `name` holds, which may be anything, and are empty without that column.
///
/// # Errors
/// As [`open`], but for the names.
pub fn open_with_labels(path: &Path) -> Result<(Candidates, Vec<String>), DatasetError> {
    open_raw(path, None)?.numbered()
}

fn open_raw(path: &Path, columns: Option<&[String]>) -> Result<RawCandidates, DatasetError> {
    let mut file = input::open(path)?;
    let mut start = Vec::new();
    file.by_ref().take(parquet::MAGIC.len() as u64).read_to_end(&mut start)?;
    if start == parquet::MAGIC || path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet")) {
        file.rewind()?;
        parquet::read(chunks::Chunks::new(file)?, columns, None)
    } else {
        csv::read(start.chain(Limited::new(file, false)), columns, None, csv::BLOCK)
    }
}

/// Candidates from CSV, as [`open`] reads them.
///
/// # Errors
/// As [`open`].
pub fn candidates(csv: impl Read + Send, columns: Option<&[String]>) -> Result<Candidates, DatasetError> {
    csv::read(csv, columns, None, csv::BLOCK)?.named()
}

/// Arms with features from CSV, as [`open`] reads them; names are ignored.
///
/// # Errors
/// As [`open`], but for the names, and if there are no features.
pub fn features(csv: impl Read + Send) -> Result<Arms, DatasetError> {
    let (candidates, _) = csv::read(csv, None, None, csv::BLOCK)?.numbered()?;
    Ok(with_features(candidates)?.arms())
}

/// The same candidates, if they have features.
///
/// # Errors
/// If they have none.
pub fn with_features(candidates: Candidates) -> Result<Candidates, DatasetError> {
    if candidates.has_features() { Ok(candidates) } else { Err(DatasetError::NoFeatures) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_not_features() {
        let arms = features("name,a,b\nx,1,2\ny,3,4\n".as_bytes()).unwrap();
        assert_eq!(arms.row(1), Some(vec![3.0, 4.0]));
    }

    #[test]
    fn labels_may_repeat_and_be_missing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("arms.csv");
        let read = |csv: &str| {
            std::fs::write(&path, csv).unwrap();
            open_with_labels(&path)
        };
        let (both, labels) = read("a,Name\n1, x \n3,x\n").unwrap();
        assert_eq!((labels, both.columns().len()), (vec!["x".into(), "x".into()], 1));
        assert_eq!(both.names(), ["0", "1"]);
        assert_eq!(read("a\n1\n").unwrap().1, [""; 0]);
        let (only, labels) = read("name\nx\n\ny\n").unwrap();
        assert_eq!((labels.len(), only.n_arms(), only.arms().dimension()), (2, 2, None));
        assert_eq!(read("name\nx\n\n\r\n\"\"\n").unwrap().1, ["x", ""], "blank lines are not arms");
        assert!(matches!(read("name\n"), Err(DatasetError::Empty)));
    }

    #[test]
    fn bad_files_are_refused_with_row_and_column() {
        let none = "there are no arms: the file needs a header and one row per arm";
        let separator = |header| format!("the header is one field, `{header}`; fields must be separated by commas");
        let latin = "the field is not UTF-8";
        for (csv, expected) in [
            (&b"a,b\n1,2\n3,x\n"[..], "row 3, column `b`: `x` is not a finite number"),
            (b"a,b\n1,inf\n", "row 2, column `b`: `inf` is not a finite number"),
            (b"a,b\n1,NaN\n", "row 2, column `b`: `NaN` is not a finite number"),
            (b"a,b\n-1e400,2\n", "row 2, column `a`: `-1e400` is not a finite number"),
            (b"a,b\n1,\n", "row 2, column `b`: `` is not a finite number"),
            (b"a,b\n1,2\n,2\n", "row 3, column `a`: `` is not a finite number"),
            (b"a,b\n1,true\n", "row 2, column `b`: `true` is not a finite number"),
            (b"a,b\n\n\n\"1\n\",2\n3,x\n", "row 6, column `b`: `x` is not a finite number"),
            (b"a,b\n1,2\n3\n", "row 3 has 1 fields, but the header has 2"),
            (b"a,b\n1,2\n3,4,5", "row 3 has 3 fields, but the header has 2"),
            (b"a,b\n1,2\n3,\"4\n5,6\n", "row 3: a quote is opened and never closed"),
            (b"a;b\n1;2\n", &separator("a;b")),
            (b"a\tb\n1\t2\n", &separator("a\tb")),
            (b"a,b\n1,\xff\n", &format!("row 2, column `b`: {latin}")),
            (b"name,b\nx,1\ncaf\xe9,1\n", &format!("row 3, column `name`: {latin}")),
            (b"a,\xff\n1,2\n", &format!("row 1, column `2`: {latin}")),
            (b"", none),
            (b"\xef\xbb\xbf", none),
            (b"\r\n\r\n", none),
            (b"a,b\n", none),
            (b"a,b", none),
            (b"1,2\n3,4\n", "row 1 must be a header, and it is all numbers"),
            (b"a,b,a\n1,2,3\n", "columns 1 and 3 are both called `a`; columns must differ"),
            (b"name,b,NAME\nx,2,y\n", "columns 1 and 3 are both called `NAME`; columns must differ"),
            (b"name\nx\n", "there are no features: all columns are names"),
        ] {
            assert_eq!(features(csv).unwrap_err().to_string(), expected);
        }
        let long = format!("a\n{}\n", "é".repeat(100));
        assert_eq!(
            features(long.as_bytes()).unwrap_err().to_string(),
            format!("row 2, column `a`: `{}…` is not a finite number", "é".repeat(40))
        );
    }

    fn chosen(csv: &str, columns: &[&str]) -> Result<Candidates, DatasetError> {
        candidates(csv.as_bytes(), Some(&columns.iter().map(ToString::to_string).collect::<Vec<_>>()))
    }

    #[test]
    fn features_are_the_chosen_columns_in_their_order() {
        let csv = "note,b,Name,a\nany \u{1},1,x,2\n\"thing, or\nnone\",3,y,4\n";
        let swapped = chosen(csv, &["a", "b"]).unwrap();
        assert_eq!((swapped.columns(), swapped.features()), (&["a".into(), "b".into()][..], &[2.0, 1.0, 4.0, 3.0][..]));
        assert_eq!(swapped.names(), ["x", "y"]);
        let none = chosen(csv, &[]).unwrap();
        assert_eq!((none.n_arms(), none.features().len()), (2, 0));
        assert_eq!(none.arms().dimension(), None);
        let message = |names: &[&str]| chosen(csv, names).unwrap_err().to_string();
        assert_eq!(message(&["a", "A"]), "there is no column `A`; the columns are `note`, `b`, `a`");
        assert_eq!(message(&["a", "b", "a"]), "the feature `a` is requested twice");
        assert_eq!(message(&["name"]), "the column `Name` holds the names, and cannot be a feature");
        assert_eq!(message(&["a", "note"]), "row 2, column `note`: `any \u{1}` is not a finite number");
        let message = chosen("name\nx\n", &["a"]).unwrap_err().to_string();
        assert_eq!(message, "there is no column `a`; the file has no columns but the names");
        assert_eq!(
            chosen("a\n1\n", &["name"]).unwrap_err().to_string(),
            "there is no column `name`; the columns are `a`"
        );
    }

    #[test]
    fn names_are_distinct_and_printable() {
        let long = "é".repeat(Candidates::MAX_NAME_BYTES / 2);
        let checked = |csv: &str| candidates(csv.as_bytes(), None);
        let good = format!("name,a\n{long},1\nx,2\nX,3\n");
        assert_eq!(checked(&good).unwrap().names(), [long.as_str(), "x", "X"]);
        assert_eq!(checked("a\n1\n1\n").unwrap().n_arms(), 2);
        for (csv, expected) in [
            ("name,a\nx,1\n\ny,2\nx,3\n", "rows 2 and 5 have the same name, `x`; names must differ"),
            ("name,a\nx,1\n x ,3\n", "rows 2 and 3 have the same name, `x`; names must differ"),
            ("name,a\nx,1\n  ,2\n", "row 3: the name is empty"),
            ("name\nx\n\"\"\n", "row 3: the name is empty"),
            ("name\nx\n\"y\nz\"\n", "row 3: the name \"y\\nz\" contains a control character, '\\n'"),
            ("name\nx\ny\0z\n", "row 3: the name \"y\\0z\" contains a control character, '\\0'"),
            (&format!("name\n{long}x\n"), "row 2: the name has 1001 bytes; at most 1000 are allowed"),
        ] {
            assert_eq!(checked(csv).unwrap_err().to_string(), expected);
        }
    }
}
