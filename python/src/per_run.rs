//! The results of every run as NumPy arrays.

use cutline_lab::PerRun;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The columns, as flat arrays; `cutline._per_run` gives them their shapes. `stops` are positions in `stop_names`.
pub(crate) fn to_dict(py: Python<'_>, results: PerRun) -> PyResult<Bound<'_, PyDict>> {
    let mut stop_names: Vec<&'static str> = Vec::new();
    let position = |name| {
        stop_names.iter().position(|known| *known == name).unwrap_or_else(|| {
            stop_names.push(name);
            stop_names.len() - 1
        })
    };
    let stops: Vec<usize> = results.stops.iter().map(|stop| stop.name()).map(position).collect();
    let columns = PyDict::new(py);
    columns.set_item("runs", PyArray1::from_vec(py, results.runs))?;
    columns.set_item("n_arms", PyArray1::from_vec(py, results.n_arms))?;
    columns.set_item("thresholds", PyArray1::from_vec(py, results.thresholds))?;
    columns.set_item("true_means", PyArray1::from_vec(py, results.true_means))?;
    columns.set_item("errors", PyArray1::from_vec(py, results.errors))?;
    columns.set_item("pulls", PyArray1::from_vec(py, results.pulls))?;
    columns.set_item("stops", PyArray1::from_vec(py, stops))?;
    columns.set_item("stop_names", stop_names)?;
    columns.set_item("arm_pulls", PyArray1::from_vec(py, results.arm_pulls))?;
    columns.set_item("means", PyArray1::from_vec(py, results.means))?;
    columns.set_item("above", PyArray1::from_vec(py, results.above))?;
    columns.set_item("n_settled", PyArray1::from_vec(py, results.n_settled))?;
    columns.set_item("settled_arms", PyArray1::from_vec(py, results.settled_arms))?;
    columns.set_item("settled_after", PyArray1::from_vec(py, results.settled_after))?;
    Ok(columns)
}
