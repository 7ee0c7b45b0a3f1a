//! Results next to published numbers.

use crate::metrics::Z_BAND;
use crate::{Experiment, Row, z_against};
use serde::Serialize;

/// A row with the published cell that it is compared with, if there is one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PublishedResult {
    /// The row.
    #[serde(flatten)]
    pub row: Row,
    /// The cell.
    #[serde(flatten)]
    pub published: Option<PublishedCell>,
}

/// A published cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PublishedCell {
    /// The name of the curve in the publication.
    pub curve: String,
    /// The published failure rate.
    pub published: f64,
    /// The z-score of the difference.
    pub z: f64,
}

impl PublishedCell {
    /// Whether the difference lies within its 99.9 % band.
    #[must_use]
    pub fn is_within(&self) -> bool {
        self.z.abs() <= Z_BAND
    }
}

/// Every row of an experiment, once per published curve that it is compared with, or once if there is none.
#[must_use]
pub fn compared(experiment: &Experiment, rows: &[Row]) -> Vec<PublishedResult> {
    let n_budgets = experiment.budgets().len();
    let mut compared = Vec::new();
    for (position, row) in rows.iter().enumerate() {
        let (entrant, column) = (position / n_budgets, position % n_budgets);
        let curves = experiment.published().iter().filter(|published| published.entrant() == entrant);
        let before = compared.len();
        compared.extend(curves.map(|published| {
            let cell = PublishedCell {
                curve: published.curve().into(),
                published: 1.0 - published.success()[column],
                z: z_against(published, column, row),
            };
            PublishedResult { row: row.clone(), published: Some(cell) }
        }));
        if compared.len() == before {
            compared.push(PublishedResult { row: row.clone(), published: None });
        }
    }
    compared
}

/// The number of published cells within their 99.9 % band, and the number of all.
#[must_use]
pub fn within_band(compared: &[PublishedResult]) -> (usize, usize) {
    let cells = compared.iter().filter_map(|compared| compared.published.as_ref());
    cells.fold((0, 0), |(within, all), cell| (within + usize::from(cell.is_within()), all + 1))
}
