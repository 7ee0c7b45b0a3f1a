//! The native base class of `cutline.Campaign`. Threads may share it; while Rust works, they are detached from the interpreter.

mod changes;
mod estimates;
mod record;
mod standing;
mod tickets;

use crate::arms::ArmNames;
use crate::convert::string;
use crate::custom::{catch_exceptions, is_choosing};
use crate::errors::{input, store};
use crate::handle::{Access, CampaignHandle};
use crate::interruptible::{Guard, InterruptibleMutex};
use crate::rewards::one_or_more;
use cutline::Arm;
use cutline::rules::NamedRule;
use cutline_campaign::{AnyCampaign, StoreError};
use pyo3::prelude::*;
use std::borrow::Cow;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The base class of `cutline.Campaign`.
#[pyclass(frozen, subclass, module = "cutline._native")]
pub(crate) struct Campaign {
    inner: InterruptibleMutex<Box<dyn AnyCampaign>>,
    name: String,
    /// Where arms are looked up. Arms can be added, also by other processes, so it is used through `arm_names`.
    names: Mutex<Arc<ArmNames>>,
    storage: Option<String>,
    /// How its store is reached; `None` in memory.
    access: Option<Access>,
    /// The custom rule, if it has one: as it is used, and as it was given.
    custom: Option<NamedRule>,
    rule: Option<Py<PyAny>>,
    /// The name of this machine, for the journal.
    machine: String,
    /// The process that made this object, and its name in the journal.
    first_process: u32,
    worker: String,
    /// The process that opened the connection to the store: not the first one after a fork.
    process: AtomicU32,
}

impl Campaign {
    /// Calls `work` with the campaign, detached from the interpreter so that other threads can run.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut dyn AnyCampaign) -> Result<T, StoreError> + Send,
    ) -> PyResult<T> {
        let mut locked = self.lock(py)?;
        let campaign = &mut **locked;
        py.detach(|| catch_exceptions(|| work(campaign)))?.map_err(|error| store(&error))
    }

    /// Locks the campaign, unless a rule is choosing: the campaign may be locked by its rule, so that would deadlock.
    fn lock(&self, py: Python<'_>) -> PyResult<Guard<'_, Box<dyn AnyCampaign>>> {
        if is_choosing() {
            return Err(input("a rule cannot use campaigns within `choose` or `learn`"));
        }
        let mut campaign = self.inner.lock(py)?;
        self.reopen_if_forked(py, &mut campaign)?;
        Ok(campaign)
    }

    /// Opens the campaign again in a process that was forked: the connection to the store is that of the parent.
    fn reopen_if_forked(&self, py: Python<'_>, campaign: &mut Box<dyn AnyCampaign>) -> PyResult<()> {
        let Some(access) = &self.access else { return Ok(()) };
        let process = std::process::id();
        if self.process.load(Ordering::Relaxed) == process {
            return Ok(());
        }
        let id = campaign.id();
        let open = || access.open(self.custom.clone())?.campaign_by_id(id);
        let reopened = py.detach(|| catch_exceptions(open))?.map_err(|error| store(&error))?;
        // To close the connection would end that of the parent.
        std::mem::forget(std::mem::replace(campaign, reopened));
        self.process.store(process, Ordering::Relaxed);
        Ok(())
    }

    /// The default for `worker` in `ask`: one per process, for a campaign that processes can share.
    fn worker(&self) -> Cow<'_, str> {
        if self.storage.is_none() || std::process::id() == self.first_process {
            return Cow::Borrowed(&self.worker);
        }
        Cow::Owned(worker(&self.machine, std::process::id()))
    }

    /// The names of all arms that there are now.
    fn arm_names(&self, py: Python<'_>) -> PyResult<Arc<ArmNames>> {
        self.with(py, |campaign| {
            campaign.state()?;
            let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
            // Arms are only ever added, so the names are the same if their number is.
            let known = &campaign.description()?.names;
            if names.as_slice().len() != known.len() {
                *names = Arc::new(ArmNames::new(known.clone()));
            }
            Ok(Arc::clone(&names))
        })
    }

    /// The arms that a Python value means, one or several.
    fn arms(&self, py: Python<'_>, arms: &Bound<'_, PyAny>) -> PyResult<Vec<Arm>> {
        let names = self.arm_names(py)?;
        one_or_more(arms, "the arms", |arm| names.find(arm))
    }
}

/// The name of a process in the journal.
fn worker(machine: &str, process: u32) -> String {
    format!("{machine}-{process}")
}

/// A reason for the journal; empty if there is none.
fn reason_text(reason: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
    reason.map_or(Ok(String::new()), |reason| string(reason, "`reason`"))
}

#[pymethods]
impl Campaign {
    #[new]
    fn new(py: Python<'_>, handle: &CampaignHandle, machine: String) -> PyResult<Self> {
        let taken = handle.campaign.lock().unwrap_or_else(PoisonError::into_inner).take();
        let campaign = taken.ok_or_else(|| input("this handle was used already"))?;
        let name = campaign.name().to_owned();
        let names = Mutex::new(Arc::new(ArmNames::new(Vec::new())));
        let (inner, storage, access) =
            (InterruptibleMutex::new(campaign), handle.storage.clone(), handle.access.clone());
        let first_process = std::process::id();
        let (worker, process) = (worker(&machine, first_process), AtomicU32::new(first_process));
        let rule = handle.rule.as_ref().map(|rule| rule.clone_ref(py));
        let custom = handle.custom.clone();
        Ok(Self { inner, name, names, storage, access, custom, rule, machine, first_process, worker, process })
    }

    /// The campaign's name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Its number in its store.
    #[getter(_id)]
    fn id(&self, py: Python<'_>) -> PyResult<i64> {
        self.with(py, |campaign| Ok(campaign.id()))
    }

    /// The address of its store; `None` in memory.
    #[getter]
    fn storage(&self) -> Option<&str> {
        self.storage.as_deref()
    }

    /// The custom rule, if it has one.
    #[getter]
    fn rule(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let Some(rule) = &self.rule else { return Ok(None) };
        // It may have been changed to a named algorithm.
        let is_custom = self.with(py, |campaign| {
            campaign.state()?;
            Ok(campaign.description()?.settings.custom_rule.is_some())
        })?;
        Ok(is_custom.then(|| rule.clone_ref(py)))
    }
}
