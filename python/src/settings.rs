//! The settings of a campaign from Python's keywords.

use crate::convert::{elements, integer, number, string};
use crate::errors::{input, store};
use cutline_store::{CampaignModel, Preparation, Settings};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Reads settings from the keywords of `cutline.Campaign`; `None` means the default.
pub(crate) fn settings(keywords: &Bound<'_, PyDict>) -> PyResult<Settings> {
    let get = |key: &str| Ok::<_, PyErr>(keywords.get_item(key)?.filter(|value| !value.is_none()));
    let need = |key: &str| get(key)?.ok_or_else(|| input(format!("`{key}` is missing")));
    let threshold = number(&need("threshold")?, "`threshold`")?;
    let budget = integer(&need("budget")?, "`budget`", 1, u32::MAX.into())?;
    let mut settings = Settings::new(threshold, u32::try_from(budget).expect("checked"));
    if let Some(precision) = get("precision")? {
        settings.precision = number(&precision, "`precision`")?;
    }
    if let Some(algorithm) = get("algorithm")? {
        settings.algorithm = Some(string(&algorithm, "`algorithm`")?);
    }
    if let Some(model) = get("model")? {
        let model = string(&model, "`model`")?;
        settings.model = Some(CampaignModel::named(&model).map_err(|error| store(&error.into()))?);
    }
    if let Some(estimator) = get("estimator")? {
        settings.estimator = Some(string(&estimator, "`estimator`")?);
    }
    if let Some(noise) = get("noise")? {
        settings.noise = Some(number(&noise, "`noise`")?);
    }
    if let Some(interval) = get("interval")? {
        settings.interval = string(&interval, "`interval`")?;
    }
    if let Some(confidence) = get("confidence")? {
        settings.delta = delta(number(&confidence, "`confidence`")?)?;
    }
    if let Some(criterion) = get("until_sure")? {
        settings.until_sure = Some(string(&criterion, "`until_sure`")?);
    }
    if let Some(steps) = get("prepare")? {
        settings.preparation = Some(preparation(&steps)?);
    }
    if let Some(seed) = get("seed")? {
        settings.seed = integer(&seed, "`seed`", 0, u64::MAX)?;
    }
    if let Some(parameters) = get("parameters")? {
        let parameters = parameters.cast::<PyDict>().map_err(|_| input("`parameters` must be a dict of numbers"))?;
        for (name, value) in parameters {
            let name = string(&name, "the name of a parameter")?;
            let setting = match name.as_str() {
                "noise" | "known_noise" => Some("noise"),
                "centre" | "intercept" => Some("prepare"),
                _ => None,
            };
            if let Some(setting) = setting {
                return Err(input(format!("set `{name}` with the keyword `{setting}`, not in `parameters`")));
            }
            let value = number(&value, &format!("the parameter `{name}`"))?;
            settings.parameters.insert(name, value);
        }
    }
    Ok(settings)
}

/// δ, given as 1 − δ.
fn delta(confidence: f64) -> PyResult<f64> {
    let message = || format!("`confidence` must be a number above 0 and below 1, not {confidence}");
    cutline::delta_of(confidence).map_err(|_| input(message()))
}

fn preparation(steps: &Bound<'_, PyAny>) -> PyResult<Preparation> {
    let mut preparation = Preparation::raw();
    for step in elements(steps, "`prepare`")? {
        match string(&step, "a step of `prepare`")?.as_str() {
            "standardise" => preparation.standardise = true,
            "intercept" => preparation.intercept = 1.0,
            "centre" => preparation.centre = true,
            other => {
                let message = "a step of `prepare` must be `standardise`, `intercept` or `centre`";
                return Err(input(format!("{message}, not `{other}`")));
            }
        }
    }
    Ok(preparation)
}
