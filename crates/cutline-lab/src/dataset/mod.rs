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
        assert_eq!(read("name\nx\n\n\r\ny\n").names, ["x", "y"], "blank lines are no arms");
        assert!(matches!(named("name\n".as_bytes()), Err(DatasetError::Empty)));
    }

    #[test]
    fn bad_files_are_refused_with_the_place() {
        let none = "there are no arms: the file needs a header and a row an arm";
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

    fn asked(csv: &str, asked: &[&str]) -> Result<Candidates, DatasetError> {
        candidates(csv.as_bytes(), Some(&asked.iter().map(ToString::to_string).collect::<Vec<_>>()))
    }

    #[test]
    fn features_are_those_asked_for_in_their_order() {
        let csv = "note,b,Name,a\nany \u{1},1,x,2\n\"thing, or\nnone\",3,y,4\n";
        let chosen = asked(csv, &["a", "b"]).unwrap();
        assert_eq!((chosen.columns(), chosen.features()), (&["a".into(), "b".into()][..], &[2.0, 1.0, 4.0, 3.0][..]));
        assert_eq!(chosen.names(), ["x", "y"]);
        let none = asked(csv, &[]).unwrap();
        assert_eq!((none.n_arms(), none.features().len()), (2, 0));
        assert_eq!(none.into_named().unwrap().arms.dimension(), None);
        let message = |names: &[&str]| asked(csv, names).unwrap_err().to_string();
        assert_eq!(message(&["a", "A"]), "there is no column `A`; the columns are `note`, `b`, `a`");
        assert_eq!(message(&["a", "b", "a"]), "the feature `a` is asked for twice");
        assert_eq!(message(&["name"]), "the column `Name` holds the names, and cannot be a feature");
        assert_eq!(message(&["a", "note"]), "row 2, column `note`: `any \u{1}` is not a finite number");
        let message = asked("name\nx\n", &["a"]).unwrap_err().to_string();
        assert_eq!(message, "there is no column `a`; the columns are none but names");
        assert_eq!(
            asked("a\n1\n", &["name"]).unwrap_err().to_string(),
            "there is no column `name`; the columns are `a`"
        );
    }

    #[test]
    fn names_that_are_kept_differ_and_are_fit_to_print() {
        let long = "é".repeat(MOST_NAME / 2);
        let checked = |csv: &str| candidates(csv.as_bytes(), None)?.with_distinct_names();
        let good = format!("name,a\n{long},1\nx,2\nX,3\n");
        assert_eq!(checked(&good).unwrap().names(), [long.as_str(), "x", "X"]);
        assert_eq!(checked("a\n1\n1\n").unwrap().n_arms(), 2);
        for (csv, expected) in [
            ("name,a\nx,1\n\ny,2\nx,3\n", "rows 2 and 5 have the same name, `x`; names must differ"),
            ("name,a\nx,1\n x ,3\n", "rows 2 and 3 have the same name, `x`; names must differ"),
            ("name,a\nx,1\n  ,2\n", "row 3: the name is empty"),
            ("name\nx\n\"\"\n", "row 3: the name is empty"),
            ("name\nx\n\"y\nz\"\n", "row 3: the name \"y\\nz\" has a control character, '\\n', in it"),
            ("name\nx\ny\0z\n", "row 3: the name \"y\\0z\" has a control character, '\\0', in it"),
            (&format!("name\n{long}x\n"), "row 2: the name has 1001 bytes; at most 1000 are allowed"),
        ] {
            assert_eq!(checked(csv).unwrap_err().to_string(), expected);
        }
    }
}
