//! Begins, opens and restores campaigns; `cutline.Campaign` is constructed from the handle that these functions return.

use crate::convert::{elements, number, string, strings};
use crate::custom::{catch_exceptions, named_rule};
use crate::errors::{input, store};
use crate::events::from_dict;
use crate::interruptible::waits;
use crate::settings::{covariance, settings};
use cutline::rules::NamedRule;
use cutline_campaign::{AnyCampaign, CampaignHost, Candidates, Settings};
use cutline_store::{NewCampaign, OpenOptions, Store, StoreError};
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::Mutex;

/// A campaign on its way into a `Campaign`, which takes it out.
#[pyclass(frozen, module = "cutline._native")]
pub(crate) struct CampaignHandle {
    pub(crate) campaign: Mutex<Option<Box<dyn AnyCampaign>>>,
    /// The address of its store; `None` in memory.
    pub(crate) storage: Option<String>,
    /// What opens it again in another process; `None` in memory.
    pub(crate) access: Option<Access>,
    /// The custom rule, if it has one: as it is used, and as it was given.
    pub(crate) custom: Option<NamedRule>,
    pub(crate) rule: Option<Py<PyAny>>,
}

/// How a store is reached.
#[derive(Clone)]
pub(crate) struct Access {
    storage: String,
    /// The token for its server, if it was given here.
    token: Option<String>,
}

impl Access {
    /// Reads the arguments that say how a store is reached.
    fn new(storage: &Bound<'_, PyAny>, token: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let token = token.map(|token| string(token, "`token`")).transpose()?;
        Ok(Self { storage: string(storage, "`storage`")?, token })
    }

    /// The campaigns there; `rule` is the custom rule of those that are opened.
    pub(crate) fn open(&self, rule: Option<NamedRule>) -> Result<Box<dyn CampaignHost>, StoreError> {
        self.options().rule(rule).host(&self.storage)
    }

    /// Opens the store, and creates it if there is none; its waits end with a signal that raises an exception.
    fn create(&self) -> Result<Box<dyn CampaignHost>, StoreError> {
        self.options().create(true).host(&self.storage)
    }

    fn options(&self) -> OpenOptions {
        OpenOptions::new().interrupt(&waits()).token(self.token.as_deref())
    }

    /// Whether every call waits for a server over HTTP.
    pub(crate) fn is_http(&self) -> bool {
        self.storage.starts_with("http")
    }
}

/// The name of a custom rule, and the Python object.
type RuleArgument<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

fn custom_rule(rule: Option<&RuleArgument<'_>>) -> PyResult<Option<NamedRule>> {
    rule.map(|(name, rule)| named_rule(name, rule)).transpose()
}

impl CampaignHandle {
    fn new(
        campaign: Box<dyn AnyCampaign>,
        access: Option<Access>,
        custom: Option<NamedRule>,
        rule: Option<RuleArgument<'_>>,
    ) -> Self {
        let storage = access.as_ref().map(|access| access.storage.clone());
        let rule = rule.map(|(_, rule)| rule.unbind());
        Self { campaign: Mutex::new(Some(campaign)), storage, access, custom, rule }
    }
}

/// Validates arms. `features` may have any memory layout.
pub(crate) fn candidates(
    names: Option<&Bound<'_, PyAny>>,
    columns: &Bound<'_, PyAny>,
    features: Option<&PyReadonlyArray2<'_, f64>>,
    costs: Option<&Bound<'_, PyAny>>,
) -> PyResult<Candidates> {
    let columns = strings(columns, "the columns")?;
    let names = names.map_or(Ok(Vec::new()), |names| strings(names, "the names"))?;
    let n_columns = features.map_or(0, |features| features.shape()[1]);
    if columns.len() != n_columns {
        return Err(input(format!("there are {} column names, but {n_columns} columns", columns.len())));
    }
    let features = features.map_or_else(Vec::new, |features| features.as_array().iter().copied().collect());
    let candidates = Candidates::new(names, columns, features);
    let candidates = match costs {
        None => candidates,
        Some(costs) => {
            let costs = elements(costs, "the costs")?;
            let costs = costs.iter().map(|cost| number(cost, "a cost")).collect::<PyResult<_>>()?;
            candidates.and_then(|candidates| candidates.with_costs(costs))
        }
    };
    candidates.map_err(|error| store(&error.into()))
}

/// Begins a campaign; in memory if `storage` is `None`. Without a name it gets that in the address of a server.
#[pyfunction]
#[pyo3(signature = (names, columns, features, encoding, costs, name, storage, keywords, rule, token=None))]
pub(crate) fn begin(
    py: Python<'_>,
    names: Option<&Bound<'_, PyAny>>,
    columns: &Bound<'_, PyAny>,
    features: Option<PyReadonlyArray2<'_, f64>>,
    encoding: Option<&str>,
    costs: Option<&Bound<'_, PyAny>>,
    name: Option<&Bound<'_, PyAny>>,
    storage: Option<&Bound<'_, PyAny>>,
    keywords: &Bound<'_, PyDict>,
    rule: Option<RuleArgument<'_>>,
    token: Option<&Bound<'_, PyAny>>,
) -> PyResult<CampaignHandle> {
    let mut settings = settings(keywords)?;
    settings.encoding = encoding.map(serde_json::from_str).transpose().map_err(input)?;
    settings.custom_rule = custom_rule(rule.as_ref())?;
    let candidates = candidates(names, columns, features.as_ref(), costs)?;
    settings.covariance = covariance(keywords, &candidates)?;
    let name = name.map(|name| string(name, "`name`")).transpose()?;
    let access = storage.map(|storage| Access::new(storage, token)).transpose()?;
    let in_address = || access.as_ref().and_then(|access| Store::name_in(&access.storage));
    let name = name.or_else(in_address).unwrap_or_else(|| "campaign".into());
    let custom = settings.custom_rule.clone();
    let begin = || {
        let draft = NewCampaign::new(&name, settings, candidates)?;
        match &access {
            Some(access) => access.create()?.begin_new(draft),
            None => CampaignHost::begin_new(&Store::memory(), draft),
        }
    };
    let campaign = py.detach(|| catch_exceptions(begin))?;
    Ok(CampaignHandle::new(campaign.map_err(|error| store(&error))?, access, custom, rule))
}

/// Opens a campaign in a store; `token` is for a server. `id` is its number, if it was open before, and has precedence over the name.
#[pyfunction]
#[pyo3(signature = (storage, name, rule, token=None, id=None))]
pub(crate) fn find(
    py: Python<'_>,
    storage: &Bound<'_, PyAny>,
    name: Option<&Bound<'_, PyAny>>,
    rule: Option<RuleArgument<'_>>,
    token: Option<&Bound<'_, PyAny>>,
    id: Option<i64>,
) -> PyResult<CampaignHandle> {
    let access = Access::new(storage, token)?;
    let name = name.map(|name| string(name, "`name`")).transpose()?;
    let custom = custom_rule(rule.as_ref())?;
    let open = || {
        let host = access.open(custom.clone())?;
        match id {
            Some(id) => host.campaign_by_id(id),
            None => host.campaign(name.as_deref()),
        }
    };
    let campaign = py.detach(|| catch_exceptions(open))?;
    Ok(CampaignHandle::new(campaign.map_err(|error| store(&error))?, Some(access), custom, rule))
}

/// Restores a pickled campaign in memory from its settings as JSON (`Campaign._settings`), its arms and its events.
#[pyfunction]
#[pyo3(signature = (names, columns, features, name, settings, events, rule, costs=None))]
pub(crate) fn restore(
    py: Python<'_>,
    names: &Bound<'_, PyAny>,
    columns: &Bound<'_, PyAny>,
    features: Option<PyReadonlyArray2<'_, f64>>,
    name: &str,
    settings: &str,
    events: &Bound<'_, PyAny>,
    rule: Option<RuleArgument<'_>>,
    costs: Option<&Bound<'_, PyAny>>,
) -> PyResult<CampaignHandle> {
    let mut settings: Settings = serde_json::from_str(settings).map_err(input)?;
    settings.custom_rule = custom_rule(rule.as_ref())?;
    let candidates = candidates(Some(names), columns, features.as_ref(), costs)?;
    let events = elements(events, "the events")?.iter().map(from_dict).collect::<PyResult<Vec<_>>>()?;
    let custom = settings.custom_rule.clone();
    let restore = || {
        let draft = NewCampaign::continued(name, settings, candidates, events)?;
        CampaignHost::begin_new(&Store::memory(), draft)
    };
    let campaign = py.detach(|| catch_exceptions(restore))?;
    Ok(CampaignHandle::new(campaign.map_err(|error| store(&error))?, None, custom, rule))
}

/// The names of the campaigns in a store, oldest first.
#[pyfunction]
#[pyo3(signature = (storage, token=None))]
pub(crate) fn campaigns(
    py: Python<'_>,
    storage: &Bound<'_, PyAny>,
    token: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<String>> {
    let access = Access::new(storage, token)?;
    let summaries = py.detach(|| access.open(None)?.campaigns()).map_err(|error| store(&error))?;
    Ok(summaries.into_iter().map(|campaign| campaign.name).collect())
}

/// Gives a campaign in a store another name.
#[pyfunction]
#[pyo3(signature = (storage, name, new, token=None))]
pub(crate) fn rename(
    py: Python<'_>,
    storage: &Bound<'_, PyAny>,
    name: Option<&Bound<'_, PyAny>>,
    new: &Bound<'_, PyAny>,
    token: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let (access, new) = (Access::new(storage, token)?, string(new, "`new`")?);
    let name = name.map(|name| string(name, "`name`")).transpose()?;
    py.detach(|| access.open(None)?.rename(name.as_deref(), &new)).map_err(|error| store(&error))
}

/// Deletes a campaign in a store.
#[pyfunction]
#[pyo3(signature = (storage, name, token=None))]
pub(crate) fn delete(
    py: Python<'_>,
    storage: &Bound<'_, PyAny>,
    name: &Bound<'_, PyAny>,
    token: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let (access, name) = (Access::new(storage, token)?, string(name, "`name`")?);
    py.detach(|| access.open(None)?.delete(&name)).map_err(|error| store(&error))
}

/// Copies a campaign in a store to another name, in the same store or another.
#[pyfunction]
#[pyo3(signature = (storage, name, new, to, token=None))]
pub(crate) fn copy(
    py: Python<'_>,
    storage: &Bound<'_, PyAny>,
    name: Option<&Bound<'_, PyAny>>,
    new: &Bound<'_, PyAny>,
    to: Option<&Bound<'_, PyAny>>,
    token: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let (access, new) = (Access::new(storage, token)?, string(new, "`new`")?);
    let name = name.map(|name| string(name, "`name`")).transpose()?;
    let to = to.map(|to| Access::new(to, token)).transpose()?;
    let copy = || {
        let target = to.as_ref().map(Access::create).transpose()?;
        access.open(None)?.copy(name.as_deref(), target.as_deref(), &new).map(drop)
    };
    py.detach(copy).map_err(|error| store(&error))
}
