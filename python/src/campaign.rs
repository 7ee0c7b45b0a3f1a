//! A campaign in Python's hands: any number of threads may use it, and none of them holds the interpreter while it works.

use crate::diagnostics;
use crate::errors::{input, store};
use crate::events::to_dict;
use crate::given::{self, each, number, shown, text, whole};
use crate::kept::Kept;
use crate::own::{is_asking, raising};
use crate::ticket::Ticket;
use crate::verdict::{Progress, Verdict};
use cutline_figure::VerdictFigure;
use cutline_store::StoreError;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString};
use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// How long a ticket of a campaign in a store is a worker's own, if it does not say.
const DAY: Duration = Duration::from_hours(24);

/// A campaign; `cutline.Campaign` is made of it.
#[pyclass(frozen, subclass, module = "cutline._native")]
pub(crate) struct Campaign {
    kept: Mutex<cutline_store::Campaign>,
    name: String,
    /// What its arms are called, and which is called what once somebody asks.
    names: Vec<String>,
    arms: OnceLock<HashMap<String, usize>>,
    storage: Option<String>,
    /// The rule of one's own, if it is played by one.
    rule: Option<Py<PyAny>>,
    worker: String,
}

impl Campaign {
    /// Does something with the campaign while the interpreter is free for others.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut cutline_store::Campaign) -> Result<T, StoreError> + Send,
    ) -> PyResult<T> {
        if is_asking() {
            // The campaign that asks would wait for itself.
            return Err(input("a rule cannot use campaigns within `choose`"));
        }
        // What a panic left is whole: a campaign that lost its state makes it anew.
        py.detach(|| raising(|| work(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))))?.map_err(store)
    }

    /// An arm, by its number or its name.
    fn arm(&self, arm: &Bound<'_, PyAny>) -> PyResult<usize> {
        let called = || self.names.iter().cloned().zip(0..).collect();
        given::arm(arm, |name| self.arms.get_or_init(called).get(name).copied())
    }
}

/// The number of a ticket.
fn ticket_number(ticket: &Bound<'_, PyAny>) -> PyResult<u64> {
    if let Ok(ticket) = ticket.cast::<Ticket>() {
        return Ok(ticket.get().number);
    }
    ticket.extract().map_err(|_| input(format!("a ticket is a `Ticket` or its number, not {}", shown(ticket))))
}

/// Pairs of what `one` makes of the first and rewards: of two lists, or of two single values.
fn pairs<T>(
    first: &Bound<'_, PyAny>,
    rewards: &Bound<'_, PyAny>,
    what: &str,
    one: impl Fn(&Bound<'_, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<(T, f64)>> {
    let is_one =
        first.is_instance_of::<Ticket>() || first.is_instance_of::<PyString>() || first.is_instance_of::<PyInt>();
    if is_one || first.try_iter().is_err() {
        return Ok(vec![(one(first)?, number(rewards, "a reward")?)]);
    }
    let (all, rewards) = (each(first, what)?, each(rewards, "the rewards")?);
    if all.len() != rewards.len() {
        return Err(input(format!("there are {} {what}, but {} rewards", all.len(), rewards.len())));
    }
    all.iter().zip(&rewards).map(|(value, reward)| Ok((one(value)?, number(reward, "a reward")?))).collect()
}

#[pymethods]
impl Campaign {
    #[new]
    fn new(py: Python<'_>, kept: &Kept, worker: &str) -> PyResult<Self> {
        let taken = kept.campaign.lock().unwrap_or_else(PoisonError::into_inner).take();
        let campaign = taken.ok_or_else(|| input("somebody else holds this campaign"))?;
        let (name, names) = (campaign.name().to_owned(), campaign.arms().to_vec());
        let (storage, worker) = (kept.storage.clone(), worker.into());
        let rule = kept.rule.as_ref().map(|rule| rule.clone_ref(py));
        Ok(Self { kept: Mutex::new(campaign), name, names, arms: OnceLock::new(), storage, rule, worker })
    }

    /// The next measurement to make, or `None` when there is none: the budget is used, or every side is sure. With `n`, a list of
    /// up to that many.
    ///
    /// `worker` is who is to measure, for the journal. After `lease` seconds others may be asked for it: by default after a day in
    /// a store, and never in memory.
    ///
    /// >>> import cutline
    /// >>> campaign = cutline.Campaign([[0.0, 1.0], [2.0, 3.0]], threshold=0.5, budget=3, names=["a", "b"])
    /// >>> ticket = campaign.ask()
    /// >>> ticket.ticket, ticket.arm, ticket.name, ticket.features
    /// (1, 0, 'a', array([0., 1.]))
    /// >>> len(campaign.ask(8)), campaign.ask()
    /// (2, None)
    #[pyo3(signature = (n=None, *, worker=None, lease=None))]
    fn ask<'py>(
        &self,
        py: Python<'py>,
        n: Option<&Bound<'py, PyAny>>,
        worker: Option<&Bound<'py, PyAny>>,
        lease: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let count = n.map_or(Ok(1), |n| whole(n, "`n`", 0, u32::MAX.into()))?;
        let count = usize::try_from(count).expect("checked");
        let given = worker.map(|worker| text(worker, "`worker`")).transpose()?;
        let worker = given.as_deref().unwrap_or(&self.worker);
        let lease = match lease {
            Some(lease) => seconds(lease)?,
            // Who asks a campaign in memory is the one who will tell it.
            None if self.storage.is_none() => Duration::MAX,
            None => DAY,
        };
        let tickets = self.with(py, |campaign| campaign.ask(count, worker, lease))?;
        let mut tickets = tickets.into_iter().map(Ticket::from);
        if n.is_none() {
            return tickets.next().into_bound_py_any(py);
        }
        tickets.collect::<Vec<_>>().into_bound_py_any(py)
    }

    /// Takes the reward of a ticket, which is given itself or by its number; or of several, all of them or none. Says how many
    /// were new: a reward that was told before is fine.
    ///
    /// >>> import cutline
    /// >>> campaign = cutline.Campaign(3, threshold=0.5, budget=9)
    /// >>> campaign.tell(campaign.ask(), 0.7)
    /// 1
    /// >>> campaign.tell(campaign.ask(2), [0.1, 0.9])
    /// 2
    /// >>> campaign.tell(1, 0.7)
    /// 0
    /// >>> campaign.tell(1, 0.8)
    /// Traceback (most recent call last):
    ///     ...
    /// cutline._errors.RefusedError: ticket 1 already has the reward 0.7, so 0.8 is refused
    fn tell(&self, py: Python<'_>, ticket: &Bound<'_, PyAny>, reward: &Bound<'_, PyAny>) -> PyResult<u64> {
        let rewards = pairs(ticket, reward, "tickets", ticket_number)?;
        self.with(py, |campaign| campaign.tell(&rewards))
    }

    /// Gives a ticket back that will have no reward; its measurement is given back to the budget. Says whether it was out until now.
    #[pyo3(signature = (ticket, reason=None))]
    fn fail(&self, py: Python<'_>, ticket: &Bound<'_, PyAny>, reason: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        let ticket = ticket_number(ticket)?;
        let reason = reason.map_or(Ok(String::new()), |reason| text(reason, "`reason`"))?;
        self.with(py, |campaign| campaign.fail(ticket, &reason))
    }

    /// Gives tickets up, as when their worker is known to be gone; says how many were out. Their rewards may still come late.
    fn expire(&self, py: Python<'_>, tickets: &Bound<'_, PyAny>) -> PyResult<u64> {
        let tickets = each(tickets, "the tickets")?.iter().map(ticket_number).collect::<PyResult<Vec<_>>>()?;
        self.with(py, |campaign| campaign.expire(&tickets))
    }

    /// Takes a reward that nobody was asked for, as from measurements made before, or several; arms by number or by name. With
    /// `counted` they count towards the budget.
    ///
    /// >>> import cutline
    /// >>> campaign = cutline.Campaign(["a", "b"], threshold=0.5, budget=9)
    /// >>> campaign.observe(["a", "b", "a"], [0.7, 0.2, 0.9])
    /// >>> [verdict.pulls for verdict in campaign.verdicts]
    /// [2, 1]
    #[pyo3(signature = (arm, reward, *, counted=false))]
    fn observe(
        &self,
        py: Python<'_>,
        arm: &Bound<'_, PyAny>,
        reward: &Bound<'_, PyAny>,
        counted: bool,
    ) -> PyResult<()> {
        let rewards = pairs(arm, reward, "arms", |arm| self.arm(arm))?;
        self.with(py, |campaign| campaign.observe(&rewards, counted))
    }

    /// The verdict on every arm.
    #[getter]
    fn verdicts(&self, py: Python<'_>) -> PyResult<Vec<Verdict>> {
        let said = self.with(py, cutline_store::Campaign::verdicts)?;
        Ok(said.iter().enumerate().map(|(arm, said)| Verdict::new(arm, &self.names[arm], said)).collect())
    }

    /// How far it is.
    #[getter]
    fn progress(&self, py: Python<'_>) -> PyResult<Progress> {
        self.with(py, |campaign| {
            let state = campaign.state()?;
            let ending = state.stop_reason().map(cutline::StopReason::name);
            let cutline::campaign::Progress { budget, counted, uncounted, open: out, failed, expired, .. } =
                state.progress();
            Ok(Progress { budget, counted, uncounted, out, failed, expired, ending })
        })
    }

    /// The standard deviation of a measurement, given or estimated, and where it is known from.
    #[getter]
    fn noise(&self, py: Python<'_>) -> PyResult<(f64, &'static str)> {
        let noise = self.with(py, |campaign| Ok(campaign.state()?.noise()))?;
        Ok((noise.sigma, noise.source.name()))
    }

    /// What it is called.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Where it is kept; `None` if in memory.
    #[getter]
    fn storage(&self) -> Option<&str> {
        self.storage.as_deref()
    }

    /// The rule of one's own, if it is played by one.
    #[getter]
    fn rule(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.rule.as_ref().map(|rule| rule.clone_ref(py))
    }

    /// What its arms are called.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// What its features are called.
    #[getter]
    fn columns(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |campaign| Ok(campaign.columns().to_vec()))
    }

    /// The features as they were given, a row an arm; `None` if the arms have none.
    #[getter]
    fn features<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let candidates = self.with(py, cutline_store::Campaign::candidates)?;
        let (n_arms, dimension) = (candidates.n_arms(), candidates.columns().len());
        if dimension == 0 {
            return Ok(None);
        }
        Ok(Some(PyArray1::from_slice(py, candidates.features()).reshape([n_arms, dimension])?))
    }

    /// What happened after event number `after`, a dict an event.
    #[pyo3(signature = (after=None))]
    fn events<'py>(&self, py: Python<'py>, after: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyList>> {
        let after = after.map_or(Ok(0), |after| whole(after, "`after`", 0, u64::MAX))?;
        let records = self.with(py, |campaign| campaign.events(after))?;
        let events = records.iter().map(|record| to_dict(py, record)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, events)
    }

    /// Whether the rewards told so far bear out the model that means are linear in the prepared features, and how large the noise
    /// is: a dict whose `sentence` says it in words. docs/diagnostics.md says what each number means.
    fn diagnose<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = self.with(py, |campaign| Ok(campaign.state()?.reward_stats().diagnose()))?;
        diagnostics::to_dict(py, &found, &self.names)
    }

    /// The settings as JSON.
    fn _settings(&self, py: Python<'_>) -> PyResult<String> {
        let settings = self.with(py, |campaign| Ok(campaign.settings().clone()))?;
        serde_json::to_string(&settings).map_err(input)
    }

    /// The verdicts by column.
    fn _columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let said = self.with(py, cutline_store::Campaign::verdicts)?;
        let numbers = |of: fn(&cutline::Verdict) -> f64| PyArray1::from_iter(py, said.iter().map(of));
        let columns = PyDict::new(py);
        columns.set_item("name", &self.names)?;
        columns.set_item("side", said.iter().map(|said| said.side.name()).collect::<Vec<_>>())?;
        columns.set_item("mean", numbers(|said| said.mean))?;
        columns.set_item("lower", numbers(|said| said.lower))?;
        columns.set_item("upper", numbers(|said| said.upper))?;
        columns.set_item("pulls", PyArray1::from_iter(py, said.iter().map(|said| i64::from(said.pulls))))?;
        columns.set_item("doubt", numbers(|said| said.doubt))?;
        Ok(columns)
    }

    /// The figure of the verdicts, as SVG.
    fn _svg(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |campaign| {
            let state = campaign.state()?;
            let verdicts = state.verdicts();
            let terms = state.terms();
            let intervals = (terms.interval, terms.delta);
            Ok(VerdictFigure::new(&self.name, &self.names, &verdicts, terms.question, intervals).to_svg())
        })
    }
}

fn seconds(lease: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let seconds = Duration::try_from_secs_f64(number(lease, "`lease`")?).ok().filter(|lease| !lease.is_zero());
    seconds.ok_or_else(|| input(format!("`lease` must be a number of seconds above 0, not {}", shown(lease))))
}
