//! The native base class of `cutline.Campaign`. Threads may share it; while Rust works, they are detached from the interpreter.

use crate::arms::ArmNames;
use crate::convert::{elements, integer, number, short_repr, string};
use crate::custom::{catch_exceptions, is_choosing};
use crate::diagnostics;
use crate::errors::{input, store};
use crate::events::to_dict;
use crate::handle::{CampaignHandle, candidates};
use crate::interruptible::interruptible;
use crate::plan::{Planning, goal_of};
use crate::rewards::{one_or_more, pairs, per_measurement, replicates, reward, ticket_number};
use crate::settings::change;
use crate::ticket::Ticket;
use crate::verdict::{Progress, Verdict, columns};
use cutline::campaign::Request;
use cutline::{Arm, Candidates, EstimatorKind, IntervalKind};
use cutline_figure::{VerdictFigure, model_interval_note};
use cutline_lab::{Plan, Standing};
use cutline_store::{CampaignModel, StoreError};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
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
    /// Where arms are looked up. Arms can be added, also by other processes, so it is used through `arm_names`.
    names: Mutex<Arc<ArmNames>>,
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
    /// Asks for tickets. Ctrl-C ends a request for many; then none is handed out.
    fn request(&self, py: Python<'_>, request: &Request<'_>) -> PyResult<Vec<cutline_store::Ticket>> {
        if request.n <= MAX_UNINTERRUPTED {
            return self.with(py, |campaign| campaign.ask_unless(request, &|| false));
        }
        let work = |is_interrupted: &AtomicBool| {
            catch_exceptions(|| {
                let mut campaign = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
                campaign.ask_unless(request, &|| is_interrupted.load(Ordering::Relaxed))
            })
        };
        check_not_choosing()?;
        interruptible(py, work, || Ok(()))??.map_err(|error| store(&error))
    }

    /// The names of all arms that there are now.
    fn arm_names(&self, py: Python<'_>) -> PyResult<Arc<ArmNames>> {
        self.with(py, |campaign| {
            campaign.state()?;
            let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
            // Arms are only ever added, so the names are the same if their number is.
            if names.as_slice().len() != campaign.arm_names().len() {
                *names = Arc::new(ArmNames::new(campaign.arm_names().to_vec()));
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

/// A reason for the journal; empty if there is none.
fn reason_text(reason: Option<&Bound<'_, PyAny>>) -> PyResult<String> {
    reason.map_or(Ok(String::new()), |reason| string(reason, "`reason`"))
}

/// Refuses to use a campaign while a rule chooses: the campaign may be locked by its rule, so that would deadlock.
fn check_not_choosing() -> PyResult<()> {
    if is_choosing() { Err(input("a rule cannot use campaigns within `choose` or `learn`")) } else { Ok(()) }
}

#[pymethods]
impl Campaign {
    #[new]
    fn new(py: Python<'_>, handle: &CampaignHandle, worker: &str) -> PyResult<Self> {
        let taken = handle.campaign.lock().unwrap_or_else(PoisonError::into_inner).take();
        let campaign = taken.ok_or_else(|| input("this handle was used already"))?;
        let name = campaign.name().to_owned();
        let names = Mutex::new(Arc::new(ArmNames::new(campaign.arm_names().to_vec())));
        let (storage, worker) = (handle.storage.clone(), worker.into());
        let rule = handle.rule.as_ref().map(|rule| rule.clone_ref(py));
        Ok(Self { inner: Mutex::new(campaign), name, names, storage, rule, worker })
    }

    /// The next measurement to make, or `None` if there is none now: the budget is used up or assigned to open tickets, or all
    /// verdicts are certain enough. With `n`, a list of up to that many.
    ///
    /// With `replicates`, each ticket is for that many measurements of its arm, as far as the budget goes; `tell` takes a list of their
    /// rewards. With `resume`, a worker first gets its own open tickets again: after a crash, nothing is measured twice.
    ///
    /// `worker` names who measures; the default is another one in every process, so give it a name to `resume` in a later process. After
    /// `lease` seconds the ticket may be given to another worker: by default after a day in a store, and never in memory.
    ///
    /// >>> import cutline
    /// >>> campaign = cutline.Campaign([[0.0, 1.0], [2.0, 3.0]], threshold=0.5, budget=6, names=["a", "b"])
    /// >>> ticket = campaign.ask()
    /// >>> ticket.ticket, ticket.arm, ticket.name, ticket.features
    /// (1, 0, 'a', array([0., 1.]))
    /// >>> campaign.ask(resume=True) == ticket
    /// True
    /// >>> [ticket.replicates for ticket in campaign.ask(8, replicates=3)], campaign.ask()
    /// ([3, 2], None)
    #[pyo3(signature = (n=None, *, replicates=None, resume=false, worker=None, lease=None))]
    fn ask<'py>(
        &self,
        py: Python<'py>,
        n: Option<&Bound<'py, PyAny>>,
        replicates: Option<&Bound<'py, PyAny>>,
        resume: bool,
        worker: Option<&Bound<'py, PyAny>>,
        lease: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let count = n.map_or(Ok(1), |n| integer(n, "`n`", 0, u32::MAX.into()))?;
        let replicates = replicates.map_or(Ok(1), |value| integer(value, "`replicates`", 1, u32::MAX.into()))?;
        let named = worker.map(|worker| string(worker, "`worker`")).transpose()?;
        let worker = named.as_deref().unwrap_or(&self.worker);
        let lease = match lease {
            Some(lease) => seconds(lease)?,
            // A campaign in memory has no other worker to give the ticket to.
            None if self.storage.is_none() => Duration::MAX,
            None => DAY,
        };
        let lease = u64::try_from(lease.as_millis()).unwrap_or(u64::MAX);
        let request = Request::new(usize::try_from(count).expect("checked"), worker, lease);
        let request = Request { replicates: u32::try_from(replicates).expect("checked"), resume, ..request };
        let mut tickets = self.request(py, &request)?.into_iter().map(Ticket::from);
        if n.is_none() {
            return tickets.next().into_bound_py_any(py);
        }
        tickets.collect::<Vec<_>>().into_bound_py_any(py)
    }

    /// Records the reward of a ticket, which is a `Ticket` or its number; or the rewards of several tickets, all or none. For a ticket with
    /// replicates, a list of rewards is recorded. Returns how many rewards were new: telling the same reward again is fine.
    ///
    /// >>> import cutline
    /// >>> campaign = cutline.Campaign(3, threshold=0.5, budget=9)
    /// >>> campaign.tell(campaign.ask(), 0.7)
    /// 1
    /// >>> campaign.tell(campaign.ask(2), [0.1, 0.9])
    /// 2
    /// >>> campaign.tell(campaign.ask(replicates=3), [0.4, 0.6, 0.5])
    /// 3
    /// >>> campaign.tell(1, 0.7)
    /// 0
    /// >>> campaign.tell(1, 0.8)
    /// Traceback (most recent call last):
    ///     ...
    /// cutline._errors.RefusedError: ticket 1 already has the reward 0.7, so 0.8 is refused; correct it with `amend`
    fn tell(&self, py: Python<'_>, ticket: &Bound<'_, PyAny>, reward: &Bound<'_, PyAny>) -> PyResult<u64> {
        let rewards = pairs(ticket, reward, "tickets", ticket_number, replicates)?;
        self.with(py, |campaign| {
            let rewards = per_measurement(campaign, rewards)?;
            campaign.tell(&rewards)
        })
    }

    /// Corrects the reward of a ticket, or of several, all or none; both values stay in the journal. All verdicts follow as if the correct
    /// reward had been told. Returns how many rewards changed. Replicates have the numbers after that of their ticket, and a list of rewards
    /// corrects them all.
    ///
    /// >>> import cutline
    /// >>> campaign = cutline.Campaign(["a", "b"], threshold=0.5, budget=9)
    /// >>> ticket = campaign.ask()
    /// >>> campaign.tell(ticket, 70.0)
    /// 1
    /// >>> campaign.amend(ticket, 0.7, "mistyped")
    /// 1
    /// >>> campaign.verdicts[ticket.arm].mean
    /// 0.7
    #[pyo3(signature = (ticket, reward, reason=None))]
    fn amend(
        &self,
        py: Python<'_>,
        ticket: &Bound<'_, PyAny>,
        reward: &Bound<'_, PyAny>,
        reason: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<u64> {
        let rewards = pairs(ticket, reward, "tickets", ticket_number, replicates)?;
        let reason = reason_text(reason)?;
        self.with(py, |campaign| {
            let rewards = per_measurement(campaign, rewards)?;
            campaign.amend(&rewards, &reason)
        })
    }

    /// Declares the reward of a ticket void, or those of several, all or none: it no longer counts, and its measurement returns to the budget.
    /// Returns how many rewards changed. Replicates have the numbers after that of their ticket, and each is declared void on its own.
    ///
    /// >>> import cutline
    /// >>> campaign = cutline.Campaign(["a", "b"], threshold=0.5, budget=9)
    /// >>> campaign.tell(campaign.ask(2), [0.7, 0.2])
    /// 2
    /// >>> campaign.void(1, "wrong sample")
    /// 1
    /// >>> campaign.progress.counted, campaign.progress.voided
    /// (1, 1)
    #[pyo3(signature = (ticket, reason=None))]
    fn void(&self, py: Python<'_>, ticket: &Bound<'_, PyAny>, reason: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        let tickets = one_or_more(ticket, "the tickets", ticket_number)?;
        let reason = reason_text(reason)?;
        self.with(py, |campaign| campaign.void(&tickets, &reason))
    }

    /// Withdraws one or several arms that cannot be measured: they are never asked for again. Their verdicts stay, and say so. Arms are given
    /// as in `observe`. Returns how many were not withdrawn before.
    ///
    /// >>> import cutline
    /// >>> campaign = cutline.Campaign(["a", "b", "c"], threshold=0.5, budget=9)
    /// >>> campaign.withdraw(["a", "c"], "does not dissolve")
    /// 2
    /// >>> campaign.restore("c")
    /// 1
    /// >>> campaign.withdrawn
    /// {'a': 'does not dissolve'}
    /// >>> campaign.ask().name
    /// 'b'
    #[pyo3(signature = (arms, reason=None))]
    fn withdraw(&self, py: Python<'_>, arms: &Bound<'_, PyAny>, reason: Option<&Bound<'_, PyAny>>) -> PyResult<u64> {
        let (arms, reason) = (self.arms(py, arms)?, reason_text(reason)?);
        self.with(py, |campaign| campaign.withdraw(&arms, &reason))
    }

    /// Makes withdrawn arms available again; returns how many were withdrawn.
    fn restore(&self, py: Python<'_>, arms: &Bound<'_, PyAny>) -> PyResult<u64> {
        let arms = self.arms(py, arms)?;
        self.with(py, |campaign| campaign.restore(&arms))
    }

    /// The withdrawn arms by name, with the reasons.
    #[getter]
    fn withdrawn<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let withdrawn: Vec<(String, String)> = self.with(py, |campaign| {
            let arms: Vec<_> = campaign.state()?.withdrawn().map(|(arm, reason)| (arm, reason.to_owned())).collect();
            Ok(arms.into_iter().map(|(arm, reason)| (campaign.arm_names()[arm].clone(), reason)).collect())
        })?;
        let dict = PyDict::new(py);
        for (name, reason) in withdrawn {
            dict.set_item(name, reason)?;
        }
        Ok(dict)
    }

    /// Marks a ticket as failed, so that its measurement returns to the budget. Returns whether the ticket was open.
    #[pyo3(signature = (ticket, reason=None))]
    fn fail(&self, py: Python<'_>, ticket: &Bound<'_, PyAny>, reason: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        let ticket = ticket_number(ticket)?;
        let reason = reason_text(reason)?;
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
        let names = self.arm_names(py)?;
        let rewards = pairs(arm, reward, "arms", |arm| names.find(arm), self::reward)?;
        self.with(py, |campaign| campaign.observe(&rewards, counted))
    }

    /// The verdict on every arm.
    #[getter]
    fn verdicts(&self, py: Python<'_>) -> PyResult<Vec<Verdict>> {
        self.with(py, |campaign| {
            let verdicts = campaign.verdicts()?;
            let named = campaign.arm_names().iter().zip(&verdicts).enumerate();
            Ok(named.map(|(arm, (name, verdict))| Verdict::new(arm, name, verdict)).collect())
        })
    }

    /// The progress: rewards counted, open tickets, and whether it has ended.
    #[getter]
    fn progress(slf: &Bound<'_, Self>) -> PyResult<Progress> {
        let (progress, ending) = slf.get().with(slf.py(), |campaign| {
            let state = campaign.state()?;
            Ok((state.progress(), state.stop_reason().map(cutline::StopReason::name)))
        })?;
        Ok(Progress {
            budget: progress.budget,
            spent: progress.spending.map(|spending| spending.spent.value()),
            counted: progress.counted,
            uncounted: progress.uncounted,
            out: progress.open,
            failed: progress.failed,
            expired: progress.expired,
            voided: progress.voided,
            withdrawn: progress.withdrawn,
            ending,
            campaign: slf.clone().unbind(),
        })
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
    /// (1, 1, True, 'adapts', 4)
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
            if let Some(measurements) = rest.measurements {
                dict.set_item("measurements", measurements)?;
            }
            if let Some(spend) = rest.spend {
                dict.set_item("spend", spend)?;
            }
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
        if standing.has_costs {
            dict.set_item("remaining", standing.remaining.value())?;
        } else {
            dict.set_item("remaining", standing.remaining.whole_units())?;
        }
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
            let remaining = progress.remaining().whole_units();
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
    fn rule(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let Some(rule) = &self.rule else { return Ok(None) };
        // It may have been changed to a named algorithm.
        let is_custom = self.with(py, |campaign| {
            campaign.state()?;
            Ok(campaign.settings().custom_rule.is_some())
        })?;
        Ok(is_custom.then(|| rule.clone_ref(py)))
    }

    /// The names of the arms.
    #[getter]
    fn names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.with(py, |campaign| {
            campaign.state()?;
            Ok(campaign.arm_names().to_vec())
        })
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
        feature_array(py, &candidates)
    }

    /// What a measurement of each arm costs; `None` if all cost the same.
    #[getter]
    fn costs<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray1<f64>>>> {
        let candidates = self.with(py, cutline_store::Campaign::candidates)?;
        Ok(candidates.costs().map(|costs| PyArray1::from_slice(py, costs)))
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
        let (diagnostics, finding, names) = self.with(py, |campaign| {
            let arms = if raw { Some(campaign.candidates()?.arms()) } else { None };
            let state = campaign.state()?;
            let mut diagnostics = state.diagnose();
            if let Some(arms) = arms {
                let learnt = diagnostics.learnt;
                diagnostics = state.reward_stats().with_arms(&arms).diagnose();
                diagnostics.learnt = learnt;
            }
            let finding = cutline_store::finding(state);
            Ok((diagnostics, finding, campaign.arm_names().to_vec()))
        })?;
        diagnostics::to_dict(py, &diagnostics, finding.as_deref(), &names)
    }

    /// Everything that `restore` needs, read at one time, except for the rule.
    fn _parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (settings, candidates, records) = self.with(py, |campaign| {
            let records = campaign.events(0)?;
            Ok((campaign.first_settings().clone(), campaign.candidates()?, records))
        })?;
        let events = records.iter().map(|record| to_dict(py, record)).collect::<PyResult<Vec<_>>>()?;
        let parts = PyDict::new(py);
        parts.set_item("names", candidates.names())?;
        parts.set_item("columns", candidates.columns())?;
        parts.set_item("features", feature_array(py, &candidates)?)?;
        parts.set_item("costs", candidates.costs())?;
        parts.set_item("name", &self.name)?;
        parts.set_item("settings", serde_json::to_string(&settings).map_err(input)?)?;
        parts.set_item("events", events)?;
        Ok(parts)
    }

    /// The settings as JSON.
    fn _settings(&self, py: Python<'_>) -> PyResult<String> {
        let settings = self.with(py, |campaign| {
            campaign.state()?;
            Ok(campaign.settings().clone())
        })?;
        serde_json::to_string(&settings).map_err(input)
    }

    /// Changes the settings that the dict has; returns whether anything changed.
    fn _change(&self, py: Python<'_>, keywords: &Bound<'_, PyDict>) -> PyResult<bool> {
        let change = change(keywords)?;
        self.with(py, |campaign| campaign.change(&change))
    }

    /// Adds arms; returns how many are new.
    fn _add(
        &self,
        py: Python<'_>,
        names: Option<&Bound<'_, PyAny>>,
        columns: &Bound<'_, PyAny>,
        features: Option<PyReadonlyArray2<'_, f64>>,
        costs: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<usize> {
        let more = candidates(names, columns, features.as_ref(), costs)?;
        self.with(py, |campaign| campaign.add(&more))
    }

    /// The verdicts by column.
    fn _columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (names, verdicts) = self.with(py, |campaign| {
            let verdicts = campaign.verdicts()?;
            Ok((campaign.arm_names().to_vec(), verdicts))
        })?;
        columns(py, &names, &verdicts)
    }

    /// The verdicts, by column, that other arms would have, and how many of them are expected to be wrong.
    fn _predict<'py>(
        &self,
        py: Python<'py>,
        names: Option<&Bound<'py, PyAny>>,
        columns: &Bound<'py, PyAny>,
        features: Option<PyReadonlyArray2<'py, f64>>,
    ) -> PyResult<(Bound<'py, PyDict>, Option<f64>)> {
        let others = candidates(names, columns, features.as_ref(), None)?;
        let (verdicts, expected_errors) = self.with(py, |campaign| {
            let verdicts = campaign.predict(&others)?;
            let expected_errors = cutline_store::expected_errors(campaign.state()?, &verdicts);
            Ok((verdicts, expected_errors))
        })?;
        Ok((self::columns(py, others.names(), &verdicts)?, expected_errors))
    }

    /// The figure of the verdicts, as SVG.
    fn _svg(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |campaign| {
            let verdicts = campaign.verdicts()?;
            let names = campaign.arm_names().to_vec();
            let terms = campaign.state()?.terms();
            let intervals = (terms.interval, terms.delta);
            let mut figure = VerdictFigure::new(&self.name, &names, &verdicts, terms.question, intervals);
            let is_posterior = terms.spec.estimator() == EstimatorKind::Mixed && terms.interval == IntervalKind::Fixed;
            if is_posterior {
                figure.note = Some(model_interval_note(terms.delta));
            }
            Ok(figure.to_svg())
        })
    }
}

/// Features as an array with one row per arm; `None` if the arms have none.
fn feature_array<'py>(py: Python<'py>, candidates: &Candidates) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
    let (n_arms, dimension) = (candidates.n_arms(), candidates.columns().len());
    if dimension == 0 {
        return Ok(None);
    }
    Ok(Some(PyArray1::from_slice(py, candidates.features()).reshape([n_arms, dimension])?))
}

fn seconds(lease: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let seconds = Duration::try_from_secs_f64(number(lease, "`lease`")?).ok().filter(|lease| !lease.is_zero());
    seconds.ok_or_else(|| input(format!("`lease` must be a number of seconds above 0, not {}", short_repr(lease))))
}
