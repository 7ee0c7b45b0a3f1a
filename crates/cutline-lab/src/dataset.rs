//! Features from CSV files: iris and wine, which come with the program, and any other; and measurements of their arms.

use cutline::{Arm, Arms, ArmsError};
use std::collections::HashMap;
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
    /// There is no row below the header of a pilot.
    #[error("there are no measurements: the file needs a header, `arm,reward`, and a row a measurement")]
    NoMeasurements,
    /// The header lacks a column.
    #[error("the header needs one column `{column}`, and has {found}")]
    Column {
        /// The column.
        column: &'static str,
        /// How many there are.
        found: usize,
    },
    /// An arm has no name.
    #[error("row {row}, column `name`: the name is missing")]
    NoName {
        /// The row of the file.
        row: u64,
    },
    /// Two arms have one name.
    #[error("row {row}, column `name`: `{name}` is the name of row {earlier} too")]
    SameName {
        /// The row of the file.
        row: u64,
        /// The row that had the name first.
        earlier: u64,
        /// The name.
        name: String,
    },
    /// There is no such arm.
    #[error("row {row}, column `arm`: there is no arm `{arm}`; {allowed}")]
    NoSuchArm {
        /// The row of the file.
        row: u64,
        /// What it says.
        arm: String,
        /// What it may say.
        allowed: String,
    },
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
/// If the file cannot be read, is ragged or empty, or a field is not a finite number.
pub fn features(csv: impl Read) -> Result<Arms, DatasetError> {
    Sheet::open(csv)?.arms().map(|(arms, _)| arms)
}

/// Arms and what they are called.
#[derive(Clone, Debug)]
pub struct Named {
    /// The arms.
    pub arms: Arms,
    /// Their names, all different, if they have any.
    pub names: Option<Vec<String>>,
}

/// As [`features`], with the names.
///
/// # Errors
/// As [`features`], and if there are two columns `name`, a name is missing or two arms have the same.
pub fn named(csv: impl Read) -> Result<Named, DatasetError> {
    let sheet = Sheet::open(csv)?;
    let columns = sheet.columns("name");
    if columns.len() > 1 {
        return Err(DatasetError::Column { column: "name", found: columns.len() });
    }
    let (arms, names) = sheet.arms()?;
    let mut seen = HashMap::new();
    for (row, name) in &names {
        if name.is_empty() {
            return Err(DatasetError::NoName { row: *row });
        }
        if let Some(&earlier) = seen.get(name) {
            return Err(DatasetError::SameName { row: *row, earlier, name: name.clone() });
        }
        seen.insert(name, *row);
    }
    let names = (!names.is_empty()).then(|| names.into_iter().map(|(_, name)| name).collect());
    Ok(Named { arms, names })
}

/// Measurements from CSV with the columns `arm` and `reward`, in any case; others are passed over.
///
/// An arm is its name if the arms have names, else its number: 1 for the first.
///
/// # Errors
/// If the file cannot be read, is ragged or empty or lacks a column, there is no such arm, or a reward is not a finite
/// number.
pub fn pilot(csv: impl Read, arms: &Named) -> Result<Vec<(Arm, f64)>, DatasetError> {
    let mut sheet = Sheet::open(csv)?;
    let [arm_column, reward_column] = ["arm", "reward"].map(|column| match sheet.columns(column)[..] {
        [position] => Ok(position),
        ref others => Err(DatasetError::Column { column, found: others.len() }),
    });
    let (arm_column, reward_column) = (arm_column?, reward_column?);
    let names = arms.names.iter().flatten().map(String::as_str).zip(0..).collect::<HashMap<_, Arm>>();
    let n_arms = arms.arms.n_arms();
    let mut measurements = Vec::new();
    while let Some((row, record)) = sheet.next()? {
        let text = &record[arm_column];
        let numbered = || text.parse::<Arm>().ok().filter(|number| (1..=n_arms).contains(number));
        let arm = if arms.names.is_some() { names.get(text).copied() } else { numbered().map(|number| number - 1) };
        let Some(arm) = arm else {
            let by_number = || format!("arms have numbers, 1 to {n_arms}, as the features have no column `name`");
            let allowed =
                if arms.names.is_some() { "it must be a name of the features' file".into() } else { by_number() };
            return Err(DatasetError::NoSuchArm { row, arm: text.into(), allowed });
        };
        measurements.push((arm, sheet.number(row, &record, reward_column)?));
    }
    if measurements.is_empty() { Err(DatasetError::NoMeasurements) } else { Ok(measurements) }
}

/// A CSV file with a header, read row by row.
struct Sheet<R> {
    reader: csv::Reader<R>,
    header: csv::StringRecord,
}

impl<R: Read> Sheet<R> {
    fn open(csv: R) -> Result<Self, DatasetError> {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(csv);
        let header = reader.headers()?.clone();
        if !header.is_empty() && header.iter().all(|field| field.parse::<f64>().is_ok()) {
            return Err(DatasetError::NoHeader);
        }
        if header.len() == 1 && header[0].contains([';', '\t', '|']) {
            return Err(DatasetError::Separator(header[0].into()));
        }
        Ok(Self { reader, header })
    }

    /// The columns of that name, in any case.
    fn columns(&self, name: &str) -> Vec<usize> {
        (0..self.header.len()).filter(|&column| self.header[column].eq_ignore_ascii_case(name)).collect()
    }

    /// The next row and its number in the file.
    fn next(&mut self) -> Result<Option<(u64, csv::StringRecord)>, DatasetError> {
        let mut record = csv::StringRecord::new();
        let is_there = self.reader.read_record(&mut record)?;
        Ok(is_there.then(|| (record.position().map_or(0, csv::Position::line), record)))
    }

    fn number(&self, row: u64, record: &csv::StringRecord, column: usize) -> Result<f64, DatasetError> {
        let field = &record[column];
        field.parse().ok().filter(|value: &f64| value.is_finite()).ok_or_else(|| DatasetError::NotANumber {
            row,
            column: self.header[column].into(),
            field: field.into(),
        })
    }

    /// The arms, and the rows and names of those that have one.
    fn arms(mut self) -> Result<(Arms, Vec<(u64, String)>), DatasetError> {
        let name = self.columns("name");
        let columns: Vec<usize> = (0..self.header.len()).filter(|column| !name.contains(column)).collect();
        let (mut values, mut names) = (Vec::new(), Vec::new());
        while let Some((row, record)) = self.next()? {
            for &column in &columns {
                values.push(self.number(row, &record, column)?);
            }
            if columns.is_empty() {
                return Err(DatasetError::NoFeatures);
            }
            names.extend(name.first().map(|&column| (row, record[column].to_owned())));
        }
        if values.is_empty() {
            return Err(DatasetError::Empty);
        }
        Ok((Arms::from_slice(&values, columns.len())?, names))
    }
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

    #[test]
    fn names_are_kept_and_have_to_differ() {
        let message = |csv: &[u8]| named(csv).unwrap_err().to_string();
        let arms = named("a,Name\n1,x\n2, y z \n".as_bytes()).unwrap();
        assert_eq!(arms.names, Some(vec!["x".to_owned(), "y z".to_owned()]));
        assert_eq!(named("a\n1\n2\n".as_bytes()).unwrap().names, None);
        assert_eq!(message(b"name,a\nx,1\n,2\n"), "row 3, column `name`: the name is missing");
        assert_eq!(message(b"name,a\nx,1\ny,2\nx,3\n"), "row 4, column `name`: `x` is the name of row 2 too");
        assert_eq!(message(b"name,a,NAME\nx,1,y\n"), "the header needs one column `name`, and has 2");
        assert_eq!(message(b"name,a\nx,1\nx,nan\n"), "row 3, column `a`: `nan` is not a finite number");
    }

    #[test]
    fn a_pilot_goes_by_name_or_by_number() {
        let by_name = named("name,a\n2,1\n1,2\nz,3\n".as_bytes()).unwrap();
        let by_number = named("a\n1\n2\n3\n".as_bytes()).unwrap();
        let csv = "day,Reward,ARM\nmon,0.5,2\ntue,-1e-3,1\nmon,2,2\n";
        assert_eq!(pilot(csv.as_bytes(), &by_name).unwrap(), [(0, 0.5), (1, -1e-3), (0, 2.0)]);
        assert_eq!(pilot(csv.as_bytes(), &by_number).unwrap(), [(1, 0.5), (0, -1e-3), (1, 2.0)]);
    }

    #[test]
    fn bad_pilots_are_refused_with_the_place() {
        let by_name = named("name,a\nx,1\ny,2\n".as_bytes()).unwrap();
        let by_number = named("a\n1\n2\n".as_bytes()).unwrap();
        let message = |csv: &[u8], arms: &Named| pilot(csv, arms).unwrap_err().to_string();
        let no_arm = |arm: &str| {
            let allowed = "arms have numbers, 1 to 2, as the features have no column `name`";
            format!("row 2, column `arm`: there is no arm `{arm}`; {allowed}")
        };
        for arm in ["0", "3", "-1", "1.0", "x", "", "99999999999999999999"] {
            assert_eq!(message(format!("arm,reward\n{arm},1\n").as_bytes(), &by_number), no_arm(arm));
        }
        assert_eq!(
            message(b"arm,reward\nx,1\nX,1\n", &by_name),
            "row 3, column `arm`: there is no arm `X`; it must be a name of the features' file"
        );
        assert_eq!(message(b"arm,reward\n1,inf\n", &by_number), "row 2, column `reward`: `inf` is not a finite number");
        assert_eq!(message(b"arm,value\n1,2\n", &by_number), "the header needs one column `reward`, and has 0");
        assert_eq!(message(b"arm,reward,arm\n1,2,1\n", &by_number), "the header needs one column `arm`, and has 2");
        assert_eq!(message(b"arm,reward\n1\n", &by_number), "row 2 has 1 fields, but the header has 2");
        assert_eq!(message(b"1,0.5\n", &by_number), "row 1 must be a header, and it is all numbers");
        assert!(message(b"arm,reward\n", &by_number).starts_with("there are no measurements"));
        assert!(message(b"arm,reward\n1,\xff\n", &by_number).contains("UTF-8"));
        assert_eq!(message(b"", &by_number), "the header needs one column `arm`, and has 0");
    }
}
