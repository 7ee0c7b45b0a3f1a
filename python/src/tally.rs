//! The counts of a range of runs. They are integers, so tallies add up exactly wherever they were counted.

use crate::errors::input;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The counts of a range of runs. Tallies of disjoint ranges can be pickled, and add up to the tally of all their runs.
#[pyclass(frozen, eq, module = "cutline")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tally(pub(crate) cutline_lab::Tally);

#[pymethods]
impl Tally {
    #[new]
    fn new(counts: &[u8]) -> PyResult<Self> {
        serde_json::from_slice(counts).map(Self).map_err(|_| input("invalid counts for a tally"))
    }

    fn __add__(&self, other: &Self) -> PyResult<Self> {
        if !self.0.is_like(&other.0) {
            return Err(input("tallies of different experiments cannot be added"));
        }
        let mut sum = self.0.clone();
        sum += &other.0;
        Ok(Self(sum))
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>,)> {
        let counts = serde_json::to_vec(&self.0).map_err(input)?;
        Ok((PyBytes::new(py, &counts),))
    }
}
