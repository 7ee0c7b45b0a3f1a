//! The counts of a range of runs. They are integers, so tallies add up exactly wherever they were counted.

use crate::errors::input;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The counts of some runs of an experiment. Tallies can be pickled, and those of one experiment that have no run in common add up to
/// the tally of all their runs, with `+` or `sum`. Adding others is an error.
#[pyclass(frozen, eq, module = "cutline")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tally(pub(crate) cutline_lab::Tally);

/// What can be added to a tally.
#[derive(FromPyObject)]
enum Summand<'py> {
    Tally(Bound<'py, Tally>),
    Number(i64),
}

#[pymethods]
impl Tally {
    #[new]
    fn new(counts: &[u8]) -> PyResult<Self> {
        let read = serde_json::from_slice(counts).map(Self);
        read.map_err(|_| {
            input("invalid counts for a tally, or those of an earlier version of Cutline; play the runs again")
        })
    }

    /// The runs that it counts: ascending pairs of the first run and the one after the last.
    #[getter]
    fn runs(&self) -> Vec<(u64, u64)> {
        self.0.runs().as_slice().iter().map(|runs| (runs.start, runs.end)).collect()
    }

    /// A hash of everything that determines the runs of its experiment. Tallies can be added only if it is the same.
    #[getter]
    fn fingerprint(&self) -> String {
        self.0.fingerprint().to_string()
    }

    /// The sum with another tally, or with 0, with which `sum` begins.
    fn __add__(&self, other: Summand<'_>) -> PyResult<Self> {
        let mut sum = self.0.clone();
        match other {
            Summand::Tally(other) => sum.merge(&other.get().0).map_err(input)?,
            Summand::Number(0) => (),
            Summand::Number(other) => return Err(input(format!("{other} cannot be added to a tally"))),
        }
        Ok(Self(sum))
    }

    fn __radd__(&self, other: Summand<'_>) -> PyResult<Self> {
        self.__add__(other)
    }

    fn __repr__(&self) -> String {
        format!("<Tally of {} runs>", self.0.runs().n_runs())
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>,)> {
        let counts = serde_json::to_vec(&self.0).map_err(input)?;
        Ok((PyBytes::new(py, &counts),))
    }
}
