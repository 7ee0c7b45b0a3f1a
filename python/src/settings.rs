//! The settings of a campaign from Python's keywords.

use crate::arms::ArmNames;
use crate::convert::{elements, integer, number, string};
use crate::errors::{input, store};
use cutline::{Edge, Graph, Kernel};
use cutline_campaign::{CampaignCovariance, CampaignModel, Candidates, Change, Preparation, Settings};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Reads settings from the keywords of `cutline.Campaign`; `None` means the default.
pub(crate) fn settings(keywords: &Bound<'_, PyDict>) -> PyResult<Settings> {
    let get = |key: &str| Ok::<_, PyErr>(keywords.get_item(key)?.filter(|value| !value.is_none()));
    let need = |key: &str| get(key)?.ok_or_else(|| input(format!("`{key}` is missing")));
    let threshold = number(&need("threshold")?, "`threshold`")?;
    let mut settings = Settings::new(threshold, budget(&need("budget")?)?);
    if let Some(precision) = get("precision")? {
        settings.precision = number(&precision, "`precision`")?;
    }
    if let Some(algorithm) = get("algorithm")? {
        settings.algorithm = Some(string(&algorithm, "`algorithm`")?);
    }
    settings.model = get("model")?.map(|model| self::model(&model)).transpose()?;
    if let Some(estimator) = get("estimator")? {
        settings.estimator = Some(string(&estimator, "`estimator`")?);
    }
    if let Some(rewards) = get("rewards")? {
        settings.rewards = Some(string(&rewards, "`rewards`")?);
    }
    if let Some(noise) = get("noise")? {
        settings.noise = Some(number(&noise, "`noise`")?);
    }
    if let Some(interval) = get("interval")? {
        settings.interval = string(&interval, "`interval`")?;
    }
    if let Some(confidence) = get("confidence")? {
        settings.delta = delta(&confidence)?;
    }
    if let Some(criterion) = get("until_sure")? {
        settings.until_sure = Some(string(&criterion, "`until_sure`")?);
    }
    if let Some(steps) = get("prepare")? {
        settings.preparation = Some(preparation(&steps)?);
    }
    if let Some(cost) = get("cost")? {
        settings.cost = Some(string(&cost, "`cost`")?);
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

/// Reads the changes that `Campaign.set` makes. `None` means as it is, except for `noise` and `until_sure`: there the keyword is missing if it
/// stays as it is.
pub(crate) fn change(keywords: &Bound<'_, PyDict>) -> PyResult<Change> {
    let given = |key: &str| keywords.get_item(key);
    let get = |key: &str| Ok::<_, PyErr>(given(key)?.filter(|value| !value.is_none()));
    let number_or_none = |value: Bound<'_, PyAny>| (!value.is_none()).then(|| number(&value, "`noise`")).transpose();
    let text_or_none = |value: Bound<'_, PyAny>| (!value.is_none()).then(|| string(&value, "`until_sure`")).transpose();
    Ok(Change {
        budget: get("budget")?.map(|value| budget(&value)).transpose()?,
        threshold: get("threshold")?.map(|value| number(&value, "`threshold`")).transpose()?,
        precision: get("precision")?.map(|value| number(&value, "`precision`")).transpose()?,
        noise: given("noise")?.map(number_or_none).transpose()?,
        delta: get("confidence")?.map(|value| delta(&value)).transpose()?,
        until_sure: given("until_sure")?.map(text_or_none).transpose()?,
        algorithm: get("algorithm")?.map(|value| string(&value, "`algorithm`")).transpose()?,
        model: get("model")?.map(|value| model(&value)).transpose()?,
    })
}

/// How the means are related, by the keywords `kernel` and `length` or `graph`.
pub(crate) fn covariance(
    keywords: &Bound<'_, PyDict>,
    candidates: &Candidates,
) -> PyResult<Option<CampaignCovariance>> {
    let get = |key: &str| Ok::<_, PyErr>(keywords.get_item(key)?.filter(|value| !value.is_none()));
    match (get("kernel")?, get("length")?, get("graph")?) {
        (None, None, None) => Ok(None),
        (Some(_), _, Some(_)) => Err(input("`kernel` and `graph` do not go together; pass one of them")),
        (None, Some(_), _) => Err(input("`length` is the length of a kernel; pass `kernel=` too")),
        (Some(_), None, None) => Err(input("a kernel needs its length; pass `length=`")),
        (Some(kernel), Some(length), None) => {
            let kernel = Kernel::named(&string(&kernel, "`kernel`")?).map_err(|error| store(&error.into()))?;
            Ok(Some(CampaignCovariance::kernel(kernel, number(&length, "`length`")?)))
        }
        (None, None, Some(edges)) => {
            let names = ArmNames::new(candidates.names().to_vec());
            let edges = elements(&edges, "`graph`")?;
            let edges = edges.iter().map(|value| edge(value, &names)).collect::<PyResult<Vec<_>>>()?;
            let graph = Graph::new(candidates.n_arms(), &edges);
            Ok(Some(CampaignCovariance::graph(&graph.map_err(|error| store(&error.into()))?)))
        }
    }
}

/// Two arms and, optionally, the weight of the edge between them.
fn edge(value: &Bound<'_, PyAny>, names: &ArmNames) -> PyResult<Edge> {
    match &elements(value, "an edge of `graph`")?[..] {
        [one, other] => Ok((names.find(one)?, names.find(other)?, 1.0)),
        [one, other, weight] => Ok((names.find(one)?, names.find(other)?, number(weight, "the weight of an edge")?)),
        parts => {
            Err(input(format!("an edge of `graph` is two arms and optionally a weight, not {} values", parts.len())))
        }
    }
}

fn budget(value: &Bound<'_, PyAny>) -> PyResult<u32> {
    Ok(u32::try_from(integer(value, "`budget`", 1, u32::MAX.into())?).expect("checked"))
}

fn model(value: &Bound<'_, PyAny>) -> PyResult<CampaignModel> {
    CampaignModel::named(&string(value, "`model`")?).map_err(|error| store(&error.into()))
}

/// δ, given as 1 − δ.
fn delta(confidence: &Bound<'_, PyAny>) -> PyResult<f64> {
    let confidence = number(confidence, "`confidence`")?;
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
