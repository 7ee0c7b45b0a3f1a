//! The settings of a campaign from Python's keywords.

use crate::arms::ArmNames;
use crate::convert::{elements, integer, number, string};
use crate::errors::{input, store};
use cutline::{Edge, Graph, Kernel};
use cutline_campaign::{
    CampaignCovariance, Candidates, Change, Preparation, Setting, SettingKind, SettingValue, Settings,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Keywords that are not settings by themselves: [`preparation`], [`covariance`] and [`parameters`] read them.
const READ_APART: [&str; 5] = ["prepare", "kernel", "length", "graph", "parameters"];

/// Reads settings from the keywords of `cutline.Campaign`; `None` means the default.
pub(crate) fn settings(keywords: &Bound<'_, PyDict>) -> PyResult<Settings> {
    let get = |key: &str| Ok::<_, PyErr>(keywords.get_item(key)?.filter(|value| !value.is_none()));
    let mut settings = change(keywords)?.settings().map_err(|error| store(&error.into()))?;
    settings.preparation = get("prepare")?.map(|steps| preparation(&steps)).transpose()?;
    settings.parameters = get("parameters")?.map(|values| parameters(&values)).transpose()?.unwrap_or_default();
    Ok(settings)
}

/// Reads the settings among some keywords by their keys; `None` means the default.
pub(crate) fn change(keywords: &Bound<'_, PyDict>) -> PyResult<Change> {
    let mut values = Map::new();
    for (key, value) in keywords {
        let key = string(&key, "a keyword")?;
        if !READ_APART.contains(&key.as_str()) {
            let setting = Setting::of(&key).map_err(|error| store(&error.into()))?;
            values.insert(key, setting_value(setting, &value)?);
        }
    }
    Ok(values.into())
}

/// The value of a setting in JSON.
fn setting_value(setting: &Setting, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let what = format!("`{}`", setting.key);
    Ok(match setting.kind {
        _ if value.is_none() => Value::Null,
        SettingKind::Number => number(value, &what)?.json(),
        SettingKind::Whole { least, most } => integer(value, &what, least, most)?.into(),
        _ => string(value, &what)?.into(),
    })
}

/// The parameters of the algorithm.
fn parameters(values: &Bound<'_, PyAny>) -> PyResult<BTreeMap<String, f64>> {
    let values = values.cast::<PyDict>().map_err(|_| input("`parameters` must be a dict of numbers"))?;
    let mut parameters = BTreeMap::new();
    for (name, value) in values {
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
        parameters.insert(name, value);
    }
    Ok(parameters)
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
