//! From a table of cells to features: which columns are categories, what becomes of missing values, and what is wrong.

use super::DatasetError;
use super::error::shortened;
use super::options::{Note, ReadOptions};
use super::raw::RawCandidates;
use super::table::{Cells, Problems, Table};
use cutline::{ColumnValues, EncodedColumn, Encoding};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The most levels of a column that becomes a category by itself.
const MAX_LEVELS: usize = 50;

/// How many places of missing values a message names.
const MAX_PLACES: usize = 5;

/// What stands for a missing number, in lower case. In a category only an empty cell is missing.
const MISSING: [&str; 8] = ["", "na", "nan", "n/a", "#n/a", "<na>", "null", "none"];

pub(super) fn is_missing_number(text: &str) -> bool {
    text.len() <= 4 && MISSING.contains(&text.to_ascii_lowercase().as_str())
}

/// How the columns of a table become features.
pub(super) fn encoding(
    table: &Table,
    options: &ReadOptions,
    notes: &mut Vec<Note>,
    problems: &mut Problems,
) -> Encoding {
    let mut columns = Vec::new();
    for (name, cells) in &table.columns {
        let is_chosen = options.categories.contains(name);
        let values = if is_chosen || is_text(cells) {
            let (levels, n_missing) = levels(cells);
            if !is_chosen {
                check_levels(name, cells, &levels, problems);
                notes.push(Note::Category { column: name.clone(), levels: levels.clone() });
            }
            if n_missing > 0 && options.fills_missing {
                notes.push(Note::Filled { column: name.clone(), n_missing, mean: None });
            }
            ColumnValues::Category { levels, has_missing: n_missing > 0 && options.fills_missing }
        } else {
            numbers(name, cells, options, notes, problems)
        };
        columns.push(EncodedColumn { name: name.clone(), values });
    }
    Encoding { id: options.id.clone(), columns }
}

/// Whether a column holds text: no cell is a number, finite or not, with a point or with a comma.
fn is_text(cells: &Cells) -> bool {
    let is_number = |text: &str| text.parse::<f64>().is_ok() || text.replacen(',', ".", 1).parse::<f64>().is_ok();
    let is_text = |text: &str| !is_missing_number(text) && !is_number(text);
    cells.texts.len() == cells.numbers.len()
        && cells.texts.iter().any(|(_, text)| is_text(text))
        && cells.texts.iter().all(|(_, text)| is_missing_number(text) || !is_number(text))
}

/// The levels of a category, sorted, and the number of missing values.
fn levels(cells: &Cells) -> (Vec<String>, usize) {
    let mut levels = HashSet::new();
    let mut n_missing = 0;
    for (_, text) in &cells.texts {
        if text.is_empty() {
            n_missing += 1;
        } else {
            levels.insert(text);
        }
    }
    let levels: BTreeSet<&String> = levels.into_iter().collect();
    (levels.into_iter().cloned().collect(), n_missing)
}

/// Refuses a category that nobody chose and that has too many levels to be one.
fn check_levels(name: &str, cells: &Cells, levels: &[String], problems: &mut Problems) {
    let n_values = cells.texts.iter().filter(|(_, text)| !text.is_empty()).count();
    let is_distinct = levels.len() == n_values;
    if is_distinct || levels.len() > MAX_LEVELS {
        let (column, n_levels, first) = (name.to_owned(), levels.len(), shortened(&cells.texts[0].1));
        problems.push(0, || DatasetError::TextColumn { column, n_levels, is_distinct, first });
    }
}

/// What a column of numbers becomes.
fn numbers(
    name: &str,
    cells: &Cells,
    options: &ReadOptions,
    notes: &mut Vec<Note>,
    problems: &mut Problems,
) -> ColumnValues {
    let n_missing = cells.texts.iter().filter(|(_, text)| is_missing_number(text)).count();
    if n_missing == cells.numbers.len() {
        problems.push(0, || DatasetError::NoValues { column: name.into() });
        return ColumnValues::Number;
    }
    if n_missing == 0 || !options.fills_missing {
        return ColumnValues::Number;
    }
    let n = (cells.numbers.len() - cells.texts.len()) as f64;
    let mean = cells.numbers.iter().filter(|number| number.is_finite()).map(|number| number / n).sum();
    notes.push(Note::Filled { column: name.into(), n_missing, mean: Some(mean) });
    ColumnValues::Filled { mean }
}

/// The missing values that are refused.
#[derive(Default)]
struct Refused {
    n_missing: usize,
    rows: HashSet<usize>,
    columns: usize,
    /// The first places, by row and column.
    places: BTreeMap<(usize, usize), (u64, String)>,
}

impl Refused {
    fn push(&mut self, arm: usize, column: usize, place: (u64, &str)) {
        self.n_missing += 1;
        self.rows.insert(arm);
        if self.places.len() < MAX_PLACES || self.places.last_key_value().is_some_and(|(&last, _)| (arm, column) < last)
        {
            self.places.insert((arm, column), (place.0, place.1.to_owned()));
            if self.places.len() > MAX_PLACES {
                self.places.pop_last();
            }
        }
    }
}

/// The features of a table by an encoding, which has the columns of the table in their order. `is_later` if another table gave
/// the encoding.
pub(super) fn features(
    table: Table,
    encoding: &Encoding,
    is_later: bool,
    notes: &mut Vec<Note>,
    mut problems: Problems,
) -> Result<RawCandidates, DatasetError> {
    let columns = encoding.features();
    let mut known = HashSet::new();
    if let Some(twice) = columns.iter().find(|&column| !known.insert(column)) {
        return Err(DatasetError::SameFeature(shortened(twice)));
    }
    let (n_rows, dimension) = (table.rows.n_rows, columns.len());
    let mut features = vec![0.0; n_rows * dimension];
    let mut refused = Refused::default();
    let mut start = 0;
    for (position, (EncodedColumn { name, values }, (_, cells))) in
        encoding.columns.iter().zip(&table.columns).enumerate()
    {
        let n_before = refused.n_missing;
        let mut missing = |arm: usize| refused.push(arm, position, (table.rows.row(arm), name));
        match values {
            ColumnValues::Number | ColumnValues::Filled { .. } => {
                for (arm, &number) in cells.numbers.iter().enumerate() {
                    features[arm * dimension + start] = number;
                }
                for (arm, text) in &cells.texts {
                    match values {
                        _ if !is_missing_number(text) => {
                            let (row, column) = (table.rows.row(*arm), name.clone());
                            let field = shortened(text);
                            problems.push(row, || DatasetError::NotANumber { row, column, field });
                        }
                        ColumnValues::Filled { mean } => {
                            features[arm * dimension + start] = *mean;
                            features[arm * dimension + start + 1] = 1.0;
                        }
                        _ => missing(*arm),
                    }
                }
            }
            ColumnValues::Category { levels, has_missing } => {
                let by_level: HashMap<&str, usize> = levels.iter().map(String::as_str).zip(0..).collect();
                let (mut unknown, mut n_unknown) = (BTreeSet::new(), 0);
                for (arm, text) in &cells.texts {
                    let level = if text.is_empty() {
                        has_missing.then_some(levels.len())
                    } else {
                        by_level.get(text.as_str()).copied()
                    };
                    if let Some(level) = level {
                        features[arm * dimension + start + level] = 1.0;
                    } else if text.is_empty() {
                        missing(*arm);
                    } else {
                        n_unknown += 1;
                        unknown.insert(text.clone());
                    }
                }
                if n_unknown > 0 {
                    let levels = unknown.into_iter().collect();
                    notes.push(Note::UnknownLevels { column: name.clone(), levels, n_rows: n_unknown });
                }
            }
        }
        refused.columns += usize::from(refused.n_missing > n_before);
        start += encoding.columns[position].features().len();
    }
    if let Some((row, _)) = refused.places.values().next() {
        let (row, Refused { n_missing, rows, columns, places }) = (*row, refused);
        let (n_rows, places) = (rows.len(), places.into_values().collect());
        problems.push(row, || DatasetError::Missing { n_missing, n_rows, n_columns: columns, places, is_later });
    }
    problems.check()?;
    Ok(RawCandidates { names: table.names, columns, features, rows: table.rows })
}
