//! Tickets: asks for measurements, and takes their rewards.

use super::{Campaign, reason_text};
use crate::convert::{elements, integer, number, short_repr, string};
use crate::custom::catch_exceptions;
use crate::errors::{input, store};
use crate::handle::Access;
use crate::interruptible::attempt;
use crate::rewards::{pairs, replicates, reward, ticket_number};
use crate::ticket::Ticket;
use cutline_campaign::{AnyCampaign, Operation, Request, StoreError};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyList;
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The default lease of a ticket of a campaign in a store.
const DAY: Duration = Duration::from_hours(24);

/// The most tickets that are asked for without looking for Ctrl-C, which costs the start of a thread.
const MAX_UNINTERRUPTED: usize = 16;

impl Campaign {
    /// Asks for tickets. Ctrl-C ends a request for many; then none is handed out, or those that were are expired again.
    fn request(&self, py: Python<'_>, request: &Request<'_>) -> PyResult<Vec<cutline_campaign::Ticket>> {
        // A server may keep us waiting for a single ticket.
        let is_local = !self.access.as_ref().is_some_and(Access::is_http);
        if is_local && request.n <= MAX_UNINTERRUPTED {
            return self.with(py, |campaign| campaign.ask_unless(request, &|| false));
        }
        let mut locked = self.lock(py)?;
        let campaign = &mut **locked;
        let work = |is_interrupted: &AtomicBool| {
            catch_exceptions(|| campaign.ask_unless(request, &|| is_interrupted.load(Ordering::Relaxed)))
        };
        let (asked, outcome) = attempt(py, work, || Ok(()));
        // Tickets that the worker had before stay open: it may resume them again.
        if let (Err(_), Ok(Ok(tickets)), false) = (&outcome, &asked, request.resume) {
            let tickets: Vec<_> = tickets.iter().map(|ticket| (ticket.number, ticket.replicates)).collect();
            // If it fails, the leases end on their own.
            drop(py.detach(|| take_back(campaign, &tickets)));
        }
        outcome?;
        asked?.map_err(|error| store(&error))
    }

    /// The tickets that the keywords of `ask` ask for; of `n` only the number.
    fn asked(
        &self,
        py: Python<'_>,
        n: u64,
        replicates: Option<&Bound<'_, PyAny>>,
        resume: bool,
        worker: Option<&Bound<'_, PyAny>>,
        lease: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<impl Iterator<Item = Ticket>> {
        let replicates = replicates.map_or(Ok(1), |value| integer(value, "`replicates`", 1, u32::MAX.into()))?;
        let worker = worker.map_or_else(|| Ok(self.worker()), |worker| string(worker, "`worker`").map(Cow::Owned))?;
        let lease = match lease {
            Some(lease) => seconds(lease)?,
            // A campaign in memory has no other worker to give the ticket to.
            None if self.storage.is_none() => Duration::MAX,
            None => DAY,
        };
        let lease = u64::try_from(lease.as_millis()).unwrap_or(u64::MAX);
        let request = Request::new(usize::try_from(n).expect("checked"), &worker, lease);
        let request = Request { replicates: u32::try_from(replicates).expect("checked"), resume, ..request };
        Ok(self.request(py, &request)?.into_iter().map(Ticket::from))
    }
}

#[pymethods]
impl Campaign {
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
        let mut tickets = self.asked(py, count, replicates, resume, worker, lease)?;
        if n.is_none() {
            return tickets.next().into_bound_py_any(py);
        }
        let tickets: Vec<Ticket> = tickets.collect();
        let numbers: Vec<_> = tickets.iter().map(|ticket| (ticket.number, ticket.replicates)).collect();
        let tickets = tickets.into_bound_py_any(py)?;
        // To make so many objects takes a moment too. Whoever is interrupted now does not get them.
        if numbers.len() > MAX_UNINTERRUPTED
            && let Err(interrupt) = py.check_signals()
        {
            if !resume {
                self.with(py, |campaign| take_back(campaign, &numbers))?;
            }
            return Err(interrupt);
        }
        Ok(tickets)
    }

    /// Asks for up to `n` tickets and appends them to `tickets`: whatever interrupts the caller next, it knows which tickets it has.
    fn _ask_into(&self, py: Python<'_>, tickets: &Bound<'_, PyList>, n: u32) -> PyResult<()> {
        self.asked(py, n.into(), None, false, None, None)?.try_for_each(|ticket| tickets.append(ticket))
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
        self.with(py, |campaign| Ok(campaign.submit(Operation::Tell(rewards).into())?.n_events))
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
}

/// Expires tickets, given by their numbers and the numbers of their replicates.
fn take_back(campaign: &mut dyn AnyCampaign, tickets: &[(u64, u32)]) -> Result<(), StoreError> {
    let tickets: Vec<u64> = tickets.iter().flat_map(|&(first, n)| first..first + u64::from(n)).collect();
    campaign.expire(&tickets).map(drop)
}

fn seconds(lease: &Bound<'_, PyAny>) -> PyResult<Duration> {
    let seconds = Duration::try_from_secs_f64(number(lease, "`lease`")?).ok().filter(|lease| !lease.is_zero());
    seconds.ok_or_else(|| input(format!("`lease` must be a number of seconds above 0, not {}", short_repr(lease))))
}
