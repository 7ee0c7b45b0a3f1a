//! Campaigns begun, found again and taken up: what `cutline.Campaign` is made of.

use crate::errors::{input, store};
use crate::events::from_dict;
use crate::given::{each, text, texts};
use crate::settings::settings;
use cutline::rules::NamedRule;
use cutline_store::{Campaign, Candidates, NewCampaign, Settings, Store};
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Mutex;

/// A campaign that nobody holds yet.
#[pyclass(frozen, module = "cutline._native")]
pub(crate) struct Kept {
    pub(crate) campaign: Mutex<Option<Campaign>>,
    /// Where it is kept; none if in memory.
    pub(crate) storage: Option<String>,
    /// The rule of one's own, if it is played by one.
    pub(crate) rule: Option<Py<PyAny>>,
}

/// A rule of one's own, with what it is called.
type Given<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

/// The same as the engine has it.
fn own(given: Option<&Given<'_>>) -> PyResult<Option<NamedRule>> {
    given.map(|(name, rule)| crate::own::own(name, rule)).transpose()
}

impl Kept {
    fn new(campaign: Campaign, storage: Option<String>, rule: Option<Given<'_>>) -> Self {
        Self { campaign: Mutex::new(Some(campaign)), storage, rule: rule.map(|(_, rule)| rule.unbind()) }
    }
}

/// The arms as the store has them. Any order of the numbers in memory will do.
pub(crate) fn candidates(
    names: Option<&Bound<'_, PyAny>>,
    columns: &Bound<'_, PyAny>,
    features: Option<&PyReadonlyArray2<'_, f64>>,
) -> PyResult<Candidates> {
    let columns = texts(columns, "the columns")?;
    let names = names.map_or(Ok(Vec::new()), |names| texts(names, "the names"))?;
    let n_columns = features.map_or(0, |features| features.shape()[1]);
    if columns.len() != n_columns {
        return Err(input(format!("there are {} names of columns, but {n_columns} columns", columns.len())));
    }
    let features = features.map_or_else(Vec::new, |features| features.as_array().iter().copied().collect());
    Candidates::new(names, columns, features).map_err(|error| store(error.into()))
}

/// Begins a campaign, in memory if there is no storage.
#[pyfunction]
pub(crate) fn begin(
    py: Python<'_>,
    names: Option<&Bound<'_, PyAny>>,
    columns: &Bound<'_, PyAny>,
    features: Option<PyReadonlyArray2<'_, f64>>,
    name: &Bound<'_, PyAny>,
    storage: Option<&Bound<'_, PyAny>>,
    keywords: &Bound<'_, PyDict>,
    rule: Option<Given<'_>>,
) -> PyResult<Kept> {
    let mut settings = settings(keywords)?;
    settings.custom_rule = own(rule.as_ref())?;
    let candidates = candidates(names, columns, features.as_ref())?;
    let name = text(name, "`name`")?;
    let storage = storage.map(|storage| text(storage, "`storage`")).transpose()?;
    let campaign = py.detach(|| {
        let draft = NewCampaign::new(&name, settings, candidates)?;
        storage.as_deref().map_or_else(|| Ok(Store::memory()), Store::create)?.begin_new(draft)
    });
    Ok(Kept::new(campaign.map_err(store)?, storage, rule))
}

/// Finds a campaign in a store.
#[pyfunction]
pub(crate) fn find(
    py: Python<'_>,
    storage: &Bound<'_, PyAny>,
    name: Option<&Bound<'_, PyAny>>,
    rule: Option<Given<'_>>,
) -> PyResult<Kept> {
    let storage = text(storage, "`storage`")?;
    let name = name.map(|name| text(name, "`name`")).transpose()?;
    let own = own(rule.as_ref())?;
    let campaign = py.detach(|| Store::open(&storage)?.campaign_with_rule(name.as_deref(), own));
    Ok(Kept::new(campaign.map_err(store)?, Some(storage), rule))
}

/// Takes up a campaign in memory from what `Campaign._settings`, its arms and its events say.
#[pyfunction]
pub(crate) fn restore(
    py: Python<'_>,
    names: &Bound<'_, PyAny>,
    columns: &Bound<'_, PyAny>,
    features: Option<PyReadonlyArray2<'_, f64>>,
    name: &str,
    settings: &str,
    events: &Bound<'_, PyAny>,
    rule: Option<Given<'_>>,
) -> PyResult<Kept> {
    let mut settings: Settings = serde_json::from_str(settings).map_err(input)?;
    settings.custom_rule = own(rule.as_ref())?;
    let candidates = candidates(Some(names), columns, features.as_ref())?;
    let events = each(events, "the events")?.iter().map(from_dict).collect::<PyResult<Vec<_>>>()?;
    let campaign = py.detach(|| {
        let mut draft = NewCampaign::new(name, settings, candidates)?;
        draft.extend(events)?;
        Store::memory().begin_new(draft)
    });
    Ok(Kept::new(campaign.map_err(store)?, None, rule))
}

/// The names of the campaigns in a store, in the order they were begun.
#[pyfunction]
pub(crate) fn campaigns(py: Python<'_>, storage: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let storage = text(storage, "`storage`")?;
    let listed = py.detach(|| Store::open(&storage)?.campaigns()).map_err(store)?;
    Ok(listed.into_iter().map(|campaign| campaign.name).collect())
}
