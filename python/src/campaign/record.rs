//! What a campaign consists of: settings, arms and events.

use super::Campaign;
use crate::convert::integer;
use crate::errors::input;
use crate::events::to_dict;
use cutline_campaign::Candidates;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

#[pymethods]
impl Campaign {
    /// The names of the arms.
    #[getter]
    fn names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |campaign| {
            campaign.state()?;
            Ok(campaign.description()?.names.clone())
        })
    }

    /// The names of the features.
    #[getter]
    fn columns(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |campaign| Ok(campaign.columns().to_vec()))
    }

    /// The features before any preparation, one row per arm; `None` if the arms have none.
    #[getter]
    fn features<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let candidates = self.with(py, |campaign| campaign.candidates())?;
        feature_array(py, &candidates)
    }

    /// What a measurement of each arm costs; `None` if all cost the same.
    #[getter]
    fn costs<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        let candidates = self.with(py, |campaign| campaign.candidates())?;
        Ok(candidates.costs().map(|costs| PyArray1::from_slice(py, costs)))
    }

    /// The events after event number `after`, one dict per event. Their `arm` is a position from 0.
    #[pyo3(signature = (after=None))]
    fn events<'py>(&self, py: Python<'py>, after: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyList>> {
        let after = after.map_or(Ok(0), |after| integer(after, "`after`", 0, u64::MAX))?;
        let records = self.with(py, |campaign| campaign.events(after))?;
        let events = records.iter().map(|record| to_dict(py, record)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, events)
    }

    /// Everything that `restore` needs, read at one time, except for the rule.
    fn _parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (settings, candidates, records) = self.with(py, |campaign| {
            let records = campaign.events(0)?;
            let candidates = campaign.candidates()?;
            Ok((campaign.description()?.first_settings.clone(), candidates, records))
        })?;
        let events = records.iter().map(|record| to_dict(py, record)).collect::<PyResult<Vec<_>>>()?;
        let parts = PyDict::new(py);
        parts.set_item("names", candidates.names())?;
        parts.set_item("columns", candidates.columns())?;
        parts.set_item("features", feature_array(py, &candidates)?)?;
        parts.set_item("costs", candidates.costs())?;
        parts.set_item("name", &self.name)?;
        parts.set_item("settings", serde_json::to_string(&settings).map_err(input)?)?;
        parts.set_item("events", events)?;
        Ok(parts)
    }

    /// The settings as JSON.
    fn _settings(&self, py: Python<'_>) -> PyResult<String> {
        let settings = self.with(py, |campaign| {
            campaign.state()?;
            Ok(campaign.description()?.settings.clone())
        })?;
        serde_json::to_string(&settings).map_err(input)
    }
}

/// Features as an array with one row per arm; `None` if the arms have none.
fn feature_array<'py>(py: Python<'py>, candidates: &Candidates) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
    let (n_arms, dimension) = (candidates.n_arms(), candidates.columns().len());
    if dimension == 0 {
        return Ok(None);
    }
    Ok(Some(PyArray1::from_slice(py, candidates.features()).reshape([n_arms, dimension])?))
}
