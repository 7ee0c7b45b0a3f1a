//! Columns of data frames as features: categories, missing values, and what is to be noted about them.

use crate::errors::input;
use cutline_campaign::Encoding;
use cutline_data::dataset::{ColumnCells, DatasetError, ReadOptions, encode, encode_later};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1};
use pyo3::prelude::*;

/// The names of the features, one row of them per arm, the encoding as JSON (`None` if all columns are numbers), and notes.
type Encoded<'py> = (Vec<String>, Bound<'py, PyArray2<f64>>, Option<String>, Vec<String>);

/// The features of columns, which are arrays of numbers with NaN where a value is missing, or lists of text with `None`. With `encoding`,
/// those that it made of an earlier table.
#[pyfunction]
pub(crate) fn encode_columns<'py>(
    py: Python<'py>,
    columns: Vec<(String, Bound<'py, PyAny>)>,
    categories: Vec<String>,
    id: Option<String>,
    fills_missing: bool,
    encoding: Option<&str>,
) -> PyResult<Encoded<'py>> {
    let cells = |(name, values): (String, Bound<'py, PyAny>)| -> PyResult<(String, ColumnCells)> {
        let cells = match values.extract::<PyReadonlyArray1<'_, f64>>() {
            Ok(numbers) => ColumnCells::Numbers(numbers.as_array().iter().copied().collect()),
            Err(_) => ColumnCells::Text(values.extract()?),
        };
        Ok((name, cells))
    };
    let columns = columns.into_iter().map(cells).collect::<PyResult<Vec<_>>>()?;
    let options = ReadOptions { categories, id, fills_missing, ..ReadOptions::default() };
    let encoded = match encoding {
        None => encode(columns, &options),
        Some(json) => {
            let encoding: Encoding = serde_json::from_str(json).map_err(input)?;
            encode_later(columns, &encoding)
        }
    };
    let encoded = encoded.map_err(|error| refused(&error))?;
    let dimension = encoded.columns.len();
    let n_arms = encoded.features.len() / dimension.max(1);
    let features = PyArray1::from_vec(py, encoded.features).reshape([n_arms, dimension])?;
    let json = (!encoded.encoding.is_plain()).then(|| serde_json::to_string(&encoded.encoding)).transpose();
    let notes = encoded.notes.iter().map(ToString::to_string).collect();
    Ok((encoded.columns, features, json.map_err(input)?, notes))
}

/// The exception for an error of a table. Its rows are positions, whatever the index of the frame holds.
fn refused(error: &DatasetError) -> PyErr {
    let rows = "rows are positions from 0";
    let hint = match error {
        DatasetError::Missing { is_later: false, .. } => {
            Some(format!("{rows}; fill them in, or pass `missing=\"mean\"`"))
        }
        DatasetError::Missing { .. } | DatasetError::NotANumber { .. } | DatasetError::Several { .. } => {
            Some(rows.into())
        }
        DatasetError::TextColumn { column, .. } => Some(format!(
            "pass `id=\"{column}\"` if it names the arms, `categories=[\"{column}\"]` if it is a category, or choose other columns with \
             `features=`"
        )),
        DatasetError::NoValues { .. } => Some("choose other columns with `features=`".into()),
        _ => None,
    };
    match hint {
        Some(hint) => input(format!("{error}; {hint}")),
        None => input(error),
    }
}
