//! From a table of cells to features: which columns are categories, what becomes of missing values, and what is wrong.

use super::DatasetError;
use super::error::shortened;
use super::options::{Note, ReadOptions};
use super::raw::{RawCandidates, RowNumbers};
use super::table::{Cells, Problems, Table};
use cutline_campaign::{ColumnValues, EncodedColumn, Encoding};
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
pub(super) fn encoding_of(
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

/// Whether a column holds text: no cell is a number, or would be one in some other notation.
fn is_text(cells: &Cells) -> bool {
    let mut texts =
        cells.texts.iter().map(|(_, text)| text.as_str()).filter(|text| !is_missing_number(text)).peekable();
    cells.texts.len() == cells.numbers.len() && texts.peek().is_some() && !texts.any(looks_like_number)
}

/// Whether a text is a number that is not finite, or has commas, points or spaces among its digits, as `1.234,5`.
fn looks_like_number(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    let is_grouped = digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '.' | ' ' | '\'' | '\u{a0}'));
    is_grouped || text.parse::<f64>().is_ok() || text.replacen(',', ".", 1).parse::<f64>().is_ok()
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
        // Not each missing value is a problem of its own.
        return ColumnValues::Filled { mean: 0.0 };
    }
    if n_missing == 0 || !options.fills_missing {
        return ColumnValues::Number;
    }
    let n = (cells.numbers.len() - cells.texts.len()) as f64;
    let mean = cells.numbers.iter().filter(|number| number.is_finite()).map(|number| number / n).sum();
    notes.push(Note::Filled { column: name.into(), n_missing, mean: Some(mean) });
    ColumnValues::Filled { mean }
}

/// The features of a table by an encoding, which has the columns of the table in their order. `is_later` if another table gave
/// the encoding.
pub(super) fn features(
    table: Table,
    encoding: &Encoding,
    is_later: bool,
    notes: &mut Vec<Note>,
    problems: Problems,
) -> Result<RawCandidates, DatasetError> {
    let columns = encoding.features();
    let mut known = HashSet::new();
    if let Some(twice) = columns.iter().find(|&column| !known.insert(column)) {
        return Err(DatasetError::SameFeature(shortened(twice)));
    }
    let dimension = columns.len();
    let features = vec![0.0; table.rows.n_rows * dimension];
    let mut encoder = Encoder { rows: &table.rows, dimension, features, missing: MissingCells::default(), problems };
    let mut start = 0;
    for (number, (column, (_, cells))) in encoding.columns.iter().zip(&table.columns).enumerate() {
        let place = Place { number, start, name: &column.name };
        match &column.values {
            ColumnValues::Number => encoder.numbers(&place, cells, None),
            ColumnValues::Filled { mean } => encoder.numbers(&place, cells, Some(*mean)),
            ColumnValues::Category { levels, has_missing } => {
                notes.extend(encoder.category(&place, cells, levels, *has_missing));
            }
        }
        start += column.features().len();
    }
    let Encoder { features, missing, mut problems, .. } = encoder;
    missing.report(is_later, &mut problems);
    problems.check()?;
    Ok(RawCandidates { names: table.names, columns, features, rows: table.rows })
}

/// Where a column is in the table, where its features begin, and what it is called.
struct Place<'a> {
    number: usize,
    start: usize,
    name: &'a str,
}

/// Fills in the features, one column after another.
struct Encoder<'a> {
    rows: &'a RowNumbers,
    dimension: usize,
    features: Vec<f64>,
    missing: MissingCells,
    problems: Problems,
}

impl Encoder<'_> {
    /// A column of numbers; `mean` takes the place of those that are missing.
    fn numbers(&mut self, place: &Place<'_>, cells: &Cells, mean: Option<f64>) {
        let values = self.features.iter_mut().skip(place.start).step_by(self.dimension);
        values.zip(&cells.numbers).for_each(|(value, &number)| *value = number);
        for (arm, text) in &cells.texts {
            let row = self.rows.row(*arm);
            if !is_missing_number(text) {
                let (column, field) = (place.name.to_owned(), shortened(text));
                self.problems.push(row, || DatasetError::NotANumber { row, column, field });
            } else if let Some(mean) = mean {
                let value = arm * self.dimension + place.start;
                self.features[value..value + 2].copy_from_slice(&[mean, 1.0]);
            } else {
                self.missing.push(*arm, row, place);
            }
        }
    }

    /// A category; returns a note if values are not among its levels.
    fn category(&mut self, place: &Place<'_>, cells: &Cells, levels: &[String], has_missing: bool) -> Option<Note> {
        let by_level: HashMap<&str, usize> = levels.iter().map(String::as_str).zip(0..).collect();
        let (mut unknown, mut n_rows) = (BTreeSet::new(), 0);
        for (arm, text) in &cells.texts {
            let missing = has_missing.then_some(levels.len());
            let level = if text.is_empty() { missing } else { by_level.get(text.as_str()).copied() };
            if let Some(level) = level {
                self.features[arm * self.dimension + place.start + level] = 1.0;
            } else if text.is_empty() {
                self.missing.push(*arm, self.rows.row(*arm), place);
            } else {
                n_rows += 1;
                unknown.insert(text.clone());
            }
        }
        let levels = unknown.into_iter().collect();
        (n_rows > 0).then(|| Note::UnknownLevels { column: place.name.into(), levels, n_rows })
    }
}

/// The missing values that are refused.
#[derive(Default)]
struct MissingCells {
    n_missing: usize,
    arms: HashSet<usize>,
    columns: HashSet<usize>,
    /// The first places, by arm and column.
    places: BTreeMap<(usize, usize), (u64, String)>,
}

impl MissingCells {
    fn push(&mut self, arm: usize, row: u64, place: &Place<'_>) {
        self.n_missing += 1;
        self.arms.insert(arm);
        self.columns.insert(place.number);
        let key = (arm, place.number);
        if self.places.len() == MAX_PLACES && self.places.last_key_value().is_some_and(|(&last, _)| last < key) {
            return;
        }
        self.places.insert(key, (row, place.name.to_owned()));
        if self.places.len() > MAX_PLACES {
            self.places.pop_last();
        }
    }

    /// One problem for all of them.
    fn report(self, is_later: bool, problems: &mut Problems) {
        let Self { n_missing, arms, columns, places } = self;
        let (n_rows, n_columns) = (arms.len(), columns.len());
        let places: Vec<(u64, String)> = places.into_values().collect();
        if let Some(&(row, _)) = places.first() {
            problems.push(row, || DatasetError::Missing { n_missing, n_rows, n_columns, places, is_later });
        }
    }
}
