//! The column of a table that says what a measurement of each candidate costs.

use super::DatasetError;
use super::encoding::is_missing_number;
use super::error::shortened;
use super::load::{Source, table};
use super::options::ReadOptions;
use cutline::Amount;

/// What measurements of the candidates cost, by the column that the options name; `None` if they name none.
///
/// # Errors
/// If the column is also to be a feature or is not there, or a cost is missing or not a number between 1e-6 and 1e9.
pub(super) fn costs(source: &Source, options: &ReadOptions) -> Result<Option<Vec<f64>>, DatasetError> {
    let Some(column) = &options.cost else { return Ok(None) };
    let mut features = options.features.iter().flatten().chain(&options.categories);
    if features.any(|feature| feature == column) {
        return Err(DatasetError::CostsAsFeature(shortened(column)));
    }
    let only = ReadOptions {
        features: Some(vec![column.clone()]),
        id: options.id.clone(),
        decimal_comma: options.decimal_comma,
        ..ReadOptions::default()
    };
    let (table, mut problems) = table(source, &only, &mut Vec::new())?;
    let Some((_, cells)) = table.columns.into_iter().next() else { return Err(DatasetError::Empty) };
    let mut texts = cells.texts.iter().peekable();
    for (arm, &cost) in cells.numbers.iter().enumerate() {
        let text = texts.next_if(|(row, _)| *row == arm).map(|(_, text)| text);
        if text.is_none() && Amount::new(cost).is_some() {
            continue;
        }
        let field = text.map_or_else(|| cost.to_string(), |text| shortened(text));
        let field = Some(field).filter(|field| !is_missing_number(field));
        let row = table.rows.row(arm);
        problems.push(row, || DatasetError::Cost { row, column: shortened(column), field });
    }
    problems.check()?;
    Ok(Some(cells.numbers))
}
