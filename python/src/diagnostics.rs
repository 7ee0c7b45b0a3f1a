//! Diagnostics as a dict, with the keys of `cutline diagnose --format json`.

use cutline::diagnostics::{ArmFit, Conclusion, DesignShape, Diagnostics, LackOfFit, NoiseScaleEstimate};
use cutline::estimators::Explained;
use cutline_report::diagnosis;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// All diagnostics.
pub(crate) fn to_dict<'py>(
    py: Python<'py>,
    diagnostics: &Diagnostics,
    finding: Option<&str>,
    names: &[String],
) -> PyResult<Bound<'py, PyDict>> {
    let conclusion = diagnostics.conclusion;
    let missing = if let Conclusion::NotEnoughData(missing) = conclusion { Some(missing.name()) } else { None };
    let dict = PyDict::new(py);
    dict.set_item("conclusion", conclusion.name())?;
    dict.set_item("missing", missing)?;
    dict.set_item("sentence", diagnosis(finding, diagnostics))?;
    dict.set_item("model", diagnostics.model())?;
    dict.set_item("finding", finding)?;
    let learnt = diagnostics.learnt;
    dict.set_item("explained", learnt.map(|learnt| shares(py, &learnt.explained)).transpose()?)?;
    dict.set_item("noise", learnt.map(|learnt| learnt.noise))?;
    dict.set_item("spread", learnt.map(|learnt| learnt.spread))?;
    dict.set_item("pulls_per_arm", learnt.map(|learnt| learnt.pulls_per_arm()))?;
    dict.set_item("n_arms", diagnostics.n_arms)?;
    dict.set_item("n_pulled", diagnostics.arms.len())?;
    dict.set_item("pulls", diagnostics.pulls)?;
    dict.set_item("features", diagnostics.features.map(|matrix| shape(py, &matrix)).transpose()?)?;
    dict.set_item("design", diagnostics.design.map(|matrix| shape(py, &matrix)).transpose()?)?;
    dict.set_item("replicates", diagnostics.replicates.map(|noise| scale(py, &noise)).transpose()?)?;
    dict.set_item("residuals", diagnostics.residuals.map(|noise| scale(py, &noise)).transpose()?)?;
    dict.set_item("lack_of_fit", diagnostics.lack_of_fit.map(|test| lack_of_fit(py, &test)).transpose()?)?;
    let arms = diagnostics.arms.iter().map(|fit| arm(py, fit, &names[fit.arm])).collect::<PyResult<Vec<_>>>()?;
    dict.set_item("arms", arms)?;
    Ok(dict)
}

fn shares<'py>(py: Python<'py>, explained: &Explained) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("linear", explained.linear)?;
    dict.set_item("smooth", explained.smooth)?;
    dict.set_item("own", explained.own)?;
    Ok(dict)
}

fn shape<'py>(py: Python<'py>, shape: &DesignShape) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("dimension", shape.dimension)?;
    dict.set_item("rank", shape.rank)?;
    dict.set_item("condition", shape.condition)?;
    Ok(dict)
}

fn scale<'py>(py: Python<'py>, scale: &NoiseScaleEstimate) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("sigma", scale.sigma)?;
    dict.set_item("freedom", scale.freedom)?;
    Ok(dict)
}

fn lack_of_fit<'py>(py: Python<'py>, test: &LackOfFit) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("f", test.f)?;
    dict.set_item("freedom", test.freedom)?;
    dict.set_item("p_value", test.p_value)?;
    dict.set_item("misfit", test.misfit)?;
    dict.set_item("power", test.power)?;
    Ok(dict)
}

fn arm<'py>(py: Python<'py>, arm: &ArmFit, name: &str) -> PyResult<Bound<'py, PyDict>> {
    let test = arm.fit.and_then(|fit| fit.test);
    let dict = PyDict::new(py);
    dict.set_item("arm", arm.arm)?;
    dict.set_item("name", name)?;
    dict.set_item("pulls", arm.pulls)?;
    dict.set_item("mean", arm.mean)?;
    dict.set_item("fit", arm.fit.map(|fit| fit.mean))?;
    dict.set_item("leverage", arm.fit.map(|fit| fit.leverage))?;
    dict.set_item("t", test.map(|test| test.t))?;
    dict.set_item("p_value", test.map(|test| test.p_value))?;
    dict.set_item("holm", test.map(|test| test.holm))?;
    dict.set_item("disagrees", test.map(|test| test.disagrees()))?;
    Ok(dict)
}
