//! A measurement to make.

use crate::convert::{elements, integer, number, string};
use numpy::PyArray1;
use pyo3::prelude::*;

/// A measurement to make: an arm, and the ticket number to tell its reward with. It can be pickled.
#[pyclass(frozen, eq, module = "cutline")]
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ticket {
    pub(crate) number: u64,
    arm: usize,
    name: String,
    features: Vec<f64>,
    /// In milliseconds since 1970; `u64::MAX` for never.
    until: u64,
    pub(crate) replicates: u32,
    cost: Option<f64>,
}

impl From<cutline_campaign::Ticket> for Ticket {
    fn from(ticket: cutline_campaign::Ticket) -> Self {
        let cutline_campaign::Ticket { number, arm, name, features, until, replicates, cost, .. } = ticket;
        Self { number, arm, name, features, until, replicates, cost: cost.map(cutline::Amount::value) }
    }
}

#[pymethods]
impl Ticket {
    #[new]
    #[pyo3(signature = (ticket, arm, name, features, until, replicates=None, cost=None))]
    fn new(
        ticket: &Bound<'_, PyAny>,
        arm: &Bound<'_, PyAny>,
        name: &Bound<'_, PyAny>,
        features: &Bound<'_, PyAny>,
        until: Option<&Bound<'_, PyAny>>,
        replicates: Option<&Bound<'_, PyAny>>,
        cost: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let features = elements(features, "`features`")?;
        let arm = integer(arm, "`arm`", 0, u64::from(u32::MAX))?;
        let replicates = replicates.map_or(Ok(1), |value| integer(value, "`replicates`", 1, u64::from(u32::MAX)))?;
        Ok(Self {
            number: integer(ticket, "`ticket`", 1, u64::MAX)?,
            arm: usize::try_from(arm).expect("checked"),
            name: string(name, "`name`")?,
            features: features.iter().map(|value| number(value, "a feature")).collect::<PyResult<_>>()?,
            until: until.map_or(Ok(u64::MAX), |until| integer(until, "`until`", 0, u64::MAX))?,
            replicates: u32::try_from(replicates).expect("checked"),
            cost: cost.map(|cost| number(cost, "`cost`")).transpose()?,
        })
    }

    /// The ticket's number in its campaign, from 1.
    #[getter]
    fn ticket(&self) -> u64 {
        self.number
    }

    /// The arm to measure, as its position from 0; where names are numbers, `observe` takes the name instead.
    #[getter]
    fn arm(&self) -> usize {
        self.arm
    }

    /// The arm's name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// A copy of the arm's features, before any preparation; empty if the arms have none.
    #[getter]
    fn features<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.features)
    }

    /// When its lease ends and it may be given to another worker, in milliseconds since 1970; `None` if never.
    #[getter]
    fn until(&self) -> Option<u64> {
        (self.until < u64::MAX).then_some(self.until)
    }

    /// How many measurements of the arm to make. `tell` takes a list of their rewards.
    #[getter]
    fn replicates(&self) -> u32 {
        self.replicates
    }

    /// What its measurements cost, in all; `None` in a campaign without costs.
    #[getter]
    fn cost(&self) -> Option<f64> {
        self.cost
    }

    fn __hash__(&self) -> u64 {
        self.number
    }

    fn __repr__(&self) -> String {
        let replicates = if self.replicates > 1 { format!(", replicates={}", self.replicates) } else { String::new() };
        let cost = self.cost.map_or_else(String::new, |cost| format!(", cost={cost:?}"));
        format!("Ticket({}, arm={}, name={:?}{replicates}{cost})", self.number, self.arm, self.name)
    }

    fn __getnewargs__(&self) -> (u64, usize, &str, &[f64], Option<u64>, u32, Option<f64>) {
        (self.number, self.arm, &self.name, &self.features, self.until(), self.replicates, self.cost)
    }
}
