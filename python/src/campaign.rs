//! The native base class of `cutline.Campaign`. Threads may share it; while Rust works, they are detached from the interpreter.

use crate::arms::ArmNames;
use crate::convert::{elements, integer, number, short_repr, string};
use crate::custom::{catch_exceptions, is_choosing};
use crate::diagnostics;
use crate::errors::{input, store};
use crate::events::to_dict;
use crate::handle::CampaignHandle;
use crate::interruptible::interruptible;
use crate::plan::{Planning, goal_of};
use crate::ticket::Ticket;
use crate::verdict::{Progress, Verdict};
use cutline::campaign::Request;
use cutline::{EstimatorKind, IntervalKind};
use cutline_figure::{VerdictFigure, model_interval_note};
use cutline_lab::{Plan, Standing};
use cutline_store::{CampaignModel, StoreError};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The default lease of a ticket of a campaign in a store.
const DAY: Duration = Duration::from_hours(24);

/// The most tickets that are asked for without looking for Ctrl-C, which costs the start of a thread.
const MAX_UNINTERRUPTED: usize = 16;

/// The base class of `cutline.Campaign`.
#[pyclass(frozen, subclass, module = "cutline._native")]
pub(crate) struct Campaign {
    inner: Mutex<cutline_store::Campaign>,
    name: String,
    names: ArmNames,
    storage: Option<String>,
    /// The custom rule, if it has one.
    rule: Option<Py<PyAny>>,
    /// The default for `worker` in `ask`.
    worker: String,
}

impl Campaign {
    /// Calls `work` with the campaign, detached from the interpreter so that other threads can run.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut cutline_store::Campaign) -> Result<T, StoreError> + Send,
    ) -> PyResult<T> {
        check_not_choosing()?;
        // A poisoned lock is harmless: a campaign that lost its state in a panic rebuilds it.
        let work = || work(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner));
        py.detach(|| catch_exceptions(work))?.map_err(|error| store(&error))
    }
}

impl Campaign {
    /// Asks for tickets in a way that Ctrl-C ends; then none is handed out.
    fn ask_many(
        &self,
        py: Python<'_>,
        count: usize,
        worker: &str,
        lease: Duration,
    ) -> PyResult<Vec<cutline_store::Ticket>> {
        let work = |is_interrupted: &AtomicBool| {
            catch_exceptions(|| {
                let mut campaign = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
                let lease = u64::try_from(lease.as_millis()).unwrap_or(u64::MAX);
                let request = Request::new(count, worker, lease);
                campaign.ask_unless(&request, &|| is_interrupted.load(Ordering::Relaxed))
            })
        };
        check_not_choosing()?;
        interruptible(py, work, || Ok(()))??.map_err(|error| store(&error))
    }
}

/// Refuses to use a campaign while a rule chooses: the campaign may be locked by its rule, so that would deadlock.
fn check_not_choosing() -> PyResult<()> {
    if is_choosing() { Err(input("a rule cannot use campaigns within `choose` or `learn`")) } else { Ok(()) }
}

/// The number of a ticket.
fn ticket_number(ticket: &Bound<'_, PyAny>) -> PyResult<u64> {
    if let Ok(ticket) = ticket.cast::<Ticket>() {
        return Ok(ticket.get().number);
    }
    ticket
        .extract()
        .map_err(|_| input(format!("a ticket must be a `Ticket` or its number, not {}", short_repr(ticket))))
}

/// Pairs of tickets or arms with rewards, from two lists or from two single values; `convert` reads a ticket or an arm.
fn pairs<T>(
    first: &Bound<'_, PyAny>,
    rewards: &Bound<'_, PyAny>,
    what: &str,
    convert: impl Fn(&Bound<'_, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<(T, f64)>> {
    let is_one =
        first.is_instance_of::<Ticket>() || first.is_instance_of::<PyString>() || first.is_instance_of::<PyInt>();
    if is_one || first.try_iter().is_err() {
        return Ok(vec![(convert(first)?, number(rewards, "a reward")?)]);
    }
    let (all, rewards) = (elements(first, what)?, elements(rewards, "the rewards")?);
    if all.len() != rewards.len() {
        return Err(input(format!("there are {} {what}, but {} rewards", all.len(), rewards.len())));
    }
    all.iter().zip(&rewards).map(|(value, reward)| Ok((convert(value)?, number(reward, "a reward")?))).collect()
}

#[pymethods]
impl Campaign {
    #[new]
    fn new(py: Python<'_>, handle: &CampaignHandle, worker: &str) -> PyResult<Self> {
        let taken = handle.campaign.lock().unwrap_or_else(PoisonError::into_inner).take();
        let campaign = taken.ok_or_else(|| input("this handle was used already"))?;
        let (name, names) = (campaign.name().to_owned(), ArmNames::new(campaign.arm_names().to_vec()));
        let (storage, worker) = (handle.storage.clone(), worker.into());
        let rule = handle.rule.as_ref().map(|rule| rule.clone_ref(py));
        Ok(Self { inner: Mutex::new(campaign), name, names, storage, rule, worker })
    }

    /// The next measurement to make, or `None` if there is none now: the budget is used up or assigned to open tickets, or all
    /// verdicts are certain enough. With `n`, a list of up to that many.
    ///
    /// `worker` names who measures, for the journal. After `lease` seconds the ticket may be given to another worker: by default
    /// after a day in a store, and never in memory.
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
        let count = n.map_or(Ok(1), |n| integer(n, "`n`", 0, u32::MAX.into()))?;
        let count = usize::try_from(count).expect("checked");
        let named = worker.map(|worker| string(worker, "`worker`")).transpose()?;
        let worker = named.as_deref().unwrap_or(&self.worker);
        let lease = match lease {
            Some(lease) => seconds(lease)?,
            // A campaign in memory has no other worker to give the ticket to.
            None if self.storage.is_none() => Duration::MAX,
            None => DAY,
        };
        let tickets = if count <= MAX_UNINTERRUPTED {
            self.with(py, |campaign| campaign.ask(count, worker, lease))?
        } else {
            self.ask_many(py, count, worker, lease)?
        };
        let mut tickets = tickets.into_iter().map(Ticket::from);
        if n.is_none() {
            return tickets.next().into_bound_py_any(py);
        }
        tickets.collect::<Vec<_>>().into_bound_py_any(py)
    }

    /// Records the reward of a ticket, which is a `Ticket` or its number; or the rewards of several tickets, all or none. Returns
    /// how many were new: telling the same reward again is fine.
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

    /// Marks a ticket as failed, so that its measurement returns to the budget. Returns whether the ticket was open.
    #[pyo3(signature = (ticket, reason=None))]
    fn fail(&self, py: Python<'_>, ticket: &Bound<'_, PyAny>, reason: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        let ticket = ticket_number(ticket)?;
        let reason = reason.map_or(Ok(String::new()), |reason| string(reason, "`reason`"))?;
        self.with(py, |campaign| campaign.fail(ticket, &reason))
    }

    /// Expires tickets, for instance because their worker is gone; returns how many were open. Their rewards may still arrive late.
    fn expire(&self, py: Python<'_>, tickets: &Bound<'_, PyAny>) -> PyResult<u64> {
        let tickets = elements(tickets, "the tickets")?.iter().map(ticket_number).collect::<PyResult<Vec<_>>>()?;
        self.with(py, |campaign| campaign.expire(&tickets))
    }

    /// Records one or several rewards without tickets, for instance from earlier measurements. With `counted` they count towards
    /// the budget.
    ///
    /// An arm is its name, or an integer. Where all names are numbers, as from the integer index of a data frame, an integer is a
    /// name; where none is, or the arms were given without names, it is a position from 0. Where only some names are numbers, an
    /// integer is an error unless both readings mean the same arm.
    ///
    /// >>> import cutline
    /// >>> campaign = cutline.Campaign(["a", "b"], threshold=0.5, budget=9)
    /// >>> campaign.observe(["a", "b", "a"], [0.7, 0.2, 0.9])
    /// >>> [verdict.pulls for verdict in campaign.verdicts]
    /// [2, 1]
    /// >>> campaign = cutline.Campaign(2, threshold=0.5, budget=9, names=[7, 8])
    /// >>> campaign.observe(8, 0.7)
    /// >>> campaign.observe(0, 0.7)
    /// Traceback (most recent call last):
    ///     ...
    /// cutline._errors.NotFoundError: there is no arm called `0`; the names of these arms are numbers, so an integer is a name, not a position
    #[pyo3(signature = (arm, reward, *, counted=false))]
    fn observe(
        &self,
        py: Python<'_>,
        arm: &Bound<'_, PyAny>,
        reward: &Bound<'_, PyAny>,
        counted: bool,
    ) -> PyResult<()> {
        let rewards = pairs(arm, reward, "arms", |arm| self.names.find(arm))?;
        self.with(py, |campaign| campaign.observe(&rewards, counted))
    }

    /// The verdict on every arm.
    #[getter]
    fn verdicts(&self, py: Python<'_>) -> PyResult<Vec<Verdict>> {
        let verdicts = self.with(py, cutline_store::Campaign::verdicts)?;
        let named = self.names.as_slice().iter().zip(&verdicts).enumerate();
        Ok(named.map(|(arm, (name, verdict))| Verdict::new(arm, name, verdict)).collect())
    }

    /// The progress: rewards counted, open tickets, and whether it has ended.
    #[getter]
    fn progress(slf: &Bound<'_, Self>) -> PyResult<Progress> {
        let (progress, ending) = slf.get().with(slf.py(), |campaign| {
            let state = campaign.state()?;
            Ok((state.progress(), state.stop_reason().map(cutline::StopReason::name)))
        })?;
        let cutline::campaign::Progress { budget, counted, uncounted, open: out, failed, expired, .. } = progress;
        let campaign = slf.clone().unbind();
        Ok(Progress { budget, counted, uncounted, out, failed, expired, ending, campaign })
    }

    /// How the campaign stands, as `cutline status --format json` says it: `above`, `below` and `undecided`; `wrong_calls`, the number to
    /// expect if every arm gets the side of its mean; `fit`, one word on whether the model fits, with `fit_p_value` and `fit_advice`;
    /// `may_stop`, whether every arm is decided; `remaining`, what is left of the budget; and `rest`, what that would still bring, or `None`
    /// if it takes long to compute: then see `plan`.
    ///
    /// >>> import cutline
    /// >>> campaign = cutline.Campaign(["a", "b"], threshold=0.0, budget=20, noise=1.0)
    /// >>> campaign.observe(["a", "b"] * 8, [1.0, -1.0] * 8, counted=True)
    /// >>> standing = campaign.standing
    /// >>> standing["above"], standing["below"], standing["may_stop"], standing["fit"], standing["remaining"]
    /// (1, 1, True, 'fits', 4)
    /// >>> standing["rest"]["measurements"]
    /// 4
    #[getter]
    pub(crate) fn standing<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let standing = self.with(py, |campaign| {
            let verdicts = campaign.verdicts()?;
            let standing = Standing::new(campaign.state()?, &verdicts);
            if !Plan::is_rest_quick(campaign.state()?) {
                return Ok(standing);
            }
            let arms = campaign.candidates()?.arms();
            Ok(standing.with_rest(campaign.state()?, arms))
        })?;
        let rest = standing.rest.as_ref().map(|rest| {
            let dict = PyDict::new(py);
            dict.set_item("measurements", rest.measurements)?;
            dict.set_item("runs", rest.runs)?;
            dict.set_item("wrong_calls", rest.wrong_calls)?;
            dict.set_item("wrong_calls_low", rest.wrong_calls_low)?;
            dict.set_item("wrong_calls_high", rest.wrong_calls_high)?;
            dict.set_item("undecided", rest.undecided)?;
            Ok::<_, PyErr>(dict)
        });
        let dict = PyDict::new(py);
        dict.set_item("above", standing.above)?;
        dict.set_item("below", standing.below)?;
        dict.set_item("undecided", standing.undecided)?;
        dict.set_item("wrong_calls", standing.wrong_calls)?;
        dict.set_item("fit", standing.fit.word)?;
        dict.set_item("fit_p_value", standing.fit.p_value)?;
        dict.set_item("fit_advice", &standing.fit.advice)?;
        dict.set_item("may_stop", standing.may_stop)?;
        dict.set_item("remaining", standing.remaining)?;
        dict.set_item("rest", rest.transpose()?)?;
        Ok(dict)
    }

    /// A plan for the rest of the campaign, for `plan`.
    fn _planning(
        &self,
        py: Python<'_>,
        wrong: Option<&Bound<'_, PyAny>>,
        target: Option<&Bound<'_, PyAny>>,
        runs: &Bound<'_, PyAny>,
        seed: &Bound<'_, PyAny>,
    ) -> PyResult<Planning> {
        let goal = goal_of(wrong, target)?;
        let runs = integer(runs, "`runs`", 1, 1 << 50)?;
        let seed = integer(seed, "`seed`", 0, u64::MAX)?;
        let planned = self.with(py, |campaign| {
            let arms = campaign.candidates()?.arms();
            let state = campaign.state()?;
            let progress = state.progress();
            let remaining = progress.budget.saturating_sub(progress.counted);
            Ok((Plan::rest_of(&self.name, arms, state, runs, seed), remaining))
        })?;
        let (plan, remaining) = planned;
        let plan = plan.map_err(input)?;
        Ok(Planning { plan: Plan { goal, ..plan }, remaining: Some(remaining) })
    }

    /// The standard deviation of a measurement, and its source: given, or what it is estimated from.
    #[getter]
    fn noise(&self, py: Python<'_>) -> PyResult<(f64, &'static str)> {
        let noise = self.with(py, |campaign| Ok(campaign.state()?.noise()))?;
        Ok((noise.sigma, noise.source.name()))
    }

    /// What the mixed model found: the shares of the differences between the arms that are `linear` and `smooth` in the features,
    /// and the `own` share that they do not explain. `None` for other models and before the first reward.
    ///
    /// >>> import cutline
    /// >>> campaign = cutline.Campaign([[float(i)] for i in range(20)], threshold=9.5, budget=99)
    /// >>> campaign.observe(list(range(20)) * 2, [i + e for e in (0.1, -0.1) for i in range(20)])
    /// >>> sum(campaign.explained.values()) > 0.999, campaign.explained["linear"] > 0.8
    /// (True, True)
    #[getter]
    fn explained(&self, py: Python<'_>) -> PyResult<Option<BTreeMap<&'static str, f64>>> {
        let explained = self.with(py, |campaign| Ok(campaign.state()?.explained()))?;
        Ok(explained.map(|shares| [("linear", shares.linear), ("smooth", shares.smooth), ("own", shares.own)].into()))
    }

    /// The same in words, with the noise: `features explain 71 % of the differences (linear 55 %, smooth 16 %), noise σ ≈ 4.4`.
    #[getter]
    fn finding(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.with(py, |campaign| Ok(cutline_store::finding(campaign.state()?)))
    }

    /// The number of wrong calls that the mixed model expects if every arm gets the side of its mean: the sum of the doubts. It is an
    /// expectation under the model, not a guarantee. `None` for other models and before the first reward.
    #[getter]
    fn expected_errors(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        self.with(py, |campaign| {
            let verdicts = campaign.verdicts()?;
            Ok(cutline_store::expected_errors(campaign.state()?, &verdicts))
        })
    }

    /// The model in one word: `"mixed"`, `"linear"` or `"independent"`.
    #[getter]
    fn model(&self, py: Python<'_>) -> PyResult<&'static str> {
        let estimator = self.with(py, |campaign| Ok(campaign.state()?.terms().spec.estimator()))?;
        Ok(CampaignModel::of(estimator).name())
    }

    /// The campaign's name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// The address of its store; `None` in memory.
    #[getter]
    fn storage(&self) -> Option<&str> {
        self.storage.as_deref()
    }

    /// The custom rule, if it has one.
    #[getter]
    fn rule(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.rule.as_ref().map(|rule| rule.clone_ref(py))
    }

    /// The names of the arms.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.names.as_slice().to_vec()
    }

    /// The names of the features.
    #[getter]
    fn columns(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |campaign| Ok(campaign.columns().to_vec()))
    }

    /// The features before any preparation, one row per arm; `None` if the arms have none.
    #[getter]
    fn features<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let candidates = self.with(py, cutline_store::Campaign::candidates)?;
        let (n_arms, dimension) = (candidates.n_arms(), candidates.columns().len());
        if dimension == 0 {
            return Ok(None);
        }
        Ok(Some(PyArray1::from_slice(py, candidates.features()).reshape([n_arms, dimension])?))
    }

    /// The events after event number `after`, one dict per event. Their `arm` is a position from 0.
    #[pyo3(signature = (after=None))]
    fn events<'py>(&self, py: Python<'py>, after: Option<&Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyList>> {
        let after = after.map_or(Ok(0), |after| integer(after, "`after`", 0, u64::MAX))?;
        let records = self.with(py, |campaign| campaign.events(after))?;
        let events = records.iter().map(|record| to_dict(py, record)).collect::<PyResult<Vec<_>>>()?;
        PyList::new(py, events)
    }

    /// What the rewards so far say about the arms: how much the features explain of their differences, how large the noise is, and
    /// whether a line would do. A dict whose `sentence` says it in words. docs/diagnostics.md explains each number.
    ///
    /// The linear model is tested as a campaign on it would fit it, or with `raw` on the features as they are, without an intercept.
    #[pyo3(signature = (*, raw=false))]
    fn diagnose<'py>(&self, py: Python<'py>, raw: bool) -> PyResult<Bound<'py, PyDict>> {
        let (diagnostics, finding) = self.with(py, |campaign| {
            let arms = if raw { Some(campaign.candidates()?.arms()) } else { None };
            let state = campaign.state()?;
            let mut diagnostics = state.diagnose();
            if let Some(arms) = arms {
                let learnt = diagnostics.learnt;
                diagnostics = state.reward_stats().with_arms(&arms).diagnose();
                diagnostics.learnt = learnt;
            }
            Ok((diagnostics, cutline_store::finding(state)))
        })?;
        diagnostics::to_dict(py, &diagnostics, finding.as_deref(), self.names.as_slice())
    }

    /// The settings that the campaign began with, as JSON.
    fn _first_settings(&self, py: Python<'_>) -> PyResult<String> {
        let settings = self.with(py, |campaign| Ok(campaign.first_settings().clone()))?;
        serde_json::to_string(&settings).map_err(input)
    }

    /// The settings as JSON.
    fn _settings(&self, py: Python<'_>) -> PyResult<String> {
        let settings = self.with(py, |campaign| Ok(campaign.settings().clone()))?;
        serde_json::to_string(&settings).map_err(input)
    }

    /// The verdicts by column.
    fn _columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let verdicts = self.with(py, cutline_store::Campaign::verdicts)?;
        let numbers = |of: fn(&cutline::Verdict) -> f64| PyArray1::from_iter(py, verdicts.iter().map(of));
        let columns = PyDict::new(py);
        columns.set_item("name", self.names.as_slice())?;
        columns.set_item("side", verdicts.iter().map(|verdict| verdict.side.name()).collect::<Vec<_>>())?;
        columns.set_item("mean", numbers(|verdict| verdict.mean))?;
        columns.set_item("lower", numbers(|verdict| verdict.lower))?;
        columns.set_item("upper", numbers(|verdict| verdict.upper))?;
        columns.set_item("pulls", PyArray1::from_iter(py, verdicts.iter().map(|verdict| i64::from(verdict.pulls))))?;
        columns.set_item("doubt", numbers(|verdict| verdict.doubt))?;
        Ok(columns)
    }

    /// The figure of the verdicts, as SVG.
    fn _svg(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |campaign| {
            let state = campaign.state()?;
            let verdicts = state.verdicts();
            let terms = state.terms();
            let intervals = (terms.interval, terms.delta);
            let mut figure =
                VerdictFigure::new(&self.name, self.names.as_slice(), &verdicts, terms.question, intervals);
            let is_posterior = terms.spec.estimator() == EstimatorKind::Mixed && terms.interval == IntervalKind::Fixed;
            if is_posterior {
                figure.note = Some(model_interval_note(terms.delta));
            }
            Ok(figure.to_svg())
        })
    }
}

fn seconds(lease: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let seconds = Duration::try_from_secs_f64(number(lease, "`lease`")?).ok().filter(|lease| !lease.is_zero());
    seconds.ok_or_else(|| input(format!("`lease` must be a number of seconds above 0, not {}", short_repr(lease))))
}
