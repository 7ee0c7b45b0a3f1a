//! Features from a table in memory, such as a data frame. Its rows count from 0.

use super::DatasetError;
use super::encoding;
use super::layout::no_column;
use super::options::{Note, ReadOptions};
use super::table::{Cells, Problems, Table};
use cutline_campaign::Encoding;

/// The values of a column.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnCells {
    /// Numbers; NaN where one is missing.
    Numbers(Vec<f64>),
    /// Text; `None` where it is missing.
    Text(Vec<Option<String>>),
}

impl ColumnCells {
    fn cells(self) -> Cells {
        let mut cells = Cells::default();
        match self {
            Self::Numbers(numbers) => numbers.into_iter().for_each(|number| cells.push_number(number)),
            Self::Text(texts) => {
                for text in texts {
                    cells.push_text(text.unwrap_or_default().trim().into());
                }
            }
        }
        cells
    }
}

/// Features that were made of columns.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct EncodedFeatures {
    /// The names of the features.
    pub columns: Vec<String>,
    /// One row after another.
    pub features: Vec<f64>,
    /// How the columns became features.
    pub encoding: Encoding,
    /// What the owner of the table should know.
    pub notes: Vec<Note>,
}

/// The features of a table whose columns have the same length. Of the options, `features` and `decimal_comma` are not used, and the
/// categories must be columns of text.
///
/// # Errors
/// If values are missing, numbers are not finite, a column of text is not a category, or two features would have the same name.
pub fn encode(columns: Vec<(String, ColumnCells)>, options: &ReadOptions) -> Result<EncodedFeatures, DatasetError> {
    let table = table(columns);
    let (mut notes, mut problems) = (Vec::new(), Problems::default());
    let encoding = encoding::encoding_of(&table, options, &mut notes, &mut problems);
    let raw = encoding::features(table, &encoding, false, &mut notes, problems)?;
    Ok(EncodedFeatures { columns: raw.columns, features: raw.features, encoding, notes })
}

/// The features of a later table, as `encoding` made them of an earlier one; columns that it does not have are ignored, and its
/// categories must be columns of text.
///
/// # Errors
/// As [`encode`], and if a column is not there or a value is missing in a column that had no missing values in the earlier table.
pub fn encode_later(
    mut columns: Vec<(String, ColumnCells)>,
    encoding: &Encoding,
) -> Result<EncodedFeatures, DatasetError> {
    let mut chosen = Vec::new();
    for column in &encoding.columns {
        let position = columns.iter().position(|(name, _)| *name == column.name);
        let header = || columns.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        let position = position.ok_or_else(|| no_column(&column.name, &header()))?;
        chosen.push((column.name.clone(), std::mem::replace(&mut columns[position].1, ColumnCells::Text(Vec::new()))));
    }
    let mut notes = Vec::new();
    let raw = encoding::features(table(chosen), encoding, true, &mut notes, Problems::default())?;
    Ok(EncodedFeatures { columns: raw.columns, features: raw.features, encoding: encoding.clone(), notes })
}

fn table(columns: Vec<(String, ColumnCells)>) -> Table {
    let columns: Vec<(String, Cells)> = columns.into_iter().map(|(name, cells)| (name, cells.cells())).collect();
    let mut table = Table { columns, ..Table::default() };
    let n_rows = table.columns.first().map_or(0, |(_, cells)| cells.numbers.len());
    (0..n_rows as u64).for_each(|row| table.rows.push(row));
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_later_frame_has_the_features_of_the_first() {
        let text = |texts: &[&str]| {
            ColumnCells::Text(texts.iter().map(|&text| Some(text.to_owned()).filter(|text| !text.is_empty())).collect())
        };
        let first =
            vec![("c".into(), text(&["a", "b", "a"])), ("x".into(), ColumnCells::Numbers(vec![1.0, f64::NAN, 3.0]))];
        let options = ReadOptions { fills_missing: true, ..ReadOptions::default() };
        let refused = encode(first.clone(), &ReadOptions::default()).unwrap_err();
        assert_eq!(refused.to_string(), "row 1, column `x`: the value is missing");
        let encoded = encode(first, &options).unwrap();
        assert_eq!(encoded.columns, ["c=a", "c=b", "x", "x missing"]);
        assert_eq!(encoded.features, [1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 2.0, 1.0, 1.0, 0.0, 3.0, 0.0]);
        let later = vec![("x".into(), ColumnCells::Numbers(vec![7.0])), ("c".into(), text(&["b"]))];
        assert_eq!(encode_later(later.clone(), &encoded.encoding).unwrap().features, [0.0, 1.0, 7.0, 0.0]);
        let missing = encode_later(later[..1].to_vec(), &encoded.encoding).unwrap_err();
        assert_eq!(missing.to_string(), "there is no column `c`; the columns are `x`");
    }
}
