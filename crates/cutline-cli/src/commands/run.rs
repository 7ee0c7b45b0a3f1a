//! `cutline run STORE --measure COMMAND`
//!
//! One thread owns the campaign; every measurement has a thread of its own that waits for its process and sends its result. Results
//! that arrive together are recorded in one transaction.

mod bar;
mod failures;
mod helper_thread;
mod identity;
mod jobs;
mod measure;
mod process;
mod reconnecting;
mod results;
mod shell_split;
mod summary;
mod tail;
mod unsaved;
mod watchdog;

pub(crate) use watchdog::watchdog;

use crate::failure::Failure;
use crate::print::note;
use crate::{args, interrupt};
use bar::Bar;
use cutline::StopReason;
use cutline_campaign::Ticket;
use cutline_store::{Interrupt, StoreError};
use failures::Failures;
use identity::Identity;
use jobs::{JobSettings, Jobs, Message};
use measure::MeasureCommand;
use process::{Control, GRACE};
use reconnecting::ReconnectingCampaign;
use results::Received;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use unsaved::UnsavedRewards;
use watchdog::Watchdog;

/// The lease of a ticket whose measurement has no time limit.
const DAY: Duration = Duration::from_hours(24);

/// How much longer a lease is than the longest measurement.
const MARGIN: Duration = Duration::from_mins(1);

/// How often to try again, each time after [`WAIT`], if no measurement can be started because the system allows no more processes or
/// threads.
const MAX_SHORTAGES: u32 = 5;

/// How long the measurements may take to end once they were killed. After that their tickets are returned all the same.
const MAX_ENDING: Duration = GRACE.saturating_mul(3);

/// How long to wait for the store after the first and after the second interruption.
const PATIENCE: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(1));

/// The shortest and the longest wait before asking again while the remaining budget is assigned to open tickets.
const WAIT: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

pub(crate) fn run(args: &args::Run) -> Result<ExitCode, Failure> {
    let measure = MeasureCommand::new(&args.measure, args.shell).map_err(|error| Failure::Usage(error.to_string()))?;
    let program = measure.program().to_owned();
    let waits = Interrupt::new();
    let identity = Identity::of_this_process(args.worker.as_deref());
    let campaign = ReconnectingCampaign::open(&args.address, identity, waits.clone())?;
    let unsaved = UnsavedRewards::new(&args.address.store, campaign.name());
    let (sender, messages) = channel();
    let mut interruptions = 0;
    interrupt::handle_with({
        let (sender, waits) = (sender.clone(), waits.clone());
        move || {
            interruptions += 1;
            // The first one asks the measurements to end, the second one kills them, the third one ends the program at once. A store that
            // does not answer gets little time after the first one, and less after the second.
            waits.shorten_waits(if interruptions == 1 { PATIENCE.0 } else { PATIENCE.1 });
            if interruptions > 2 || sender.send(Message::Interrupt).is_err() {
                std::process::exit(130);
            }
        }
    });
    let settings = JobSettings { measure, timeout: args.timeout, retries: args.retries, watchdog: Watchdog::start() };
    let mut run = Run {
        campaign,
        running: Jobs::new(settings, sender),
        messages,
        received: Received::default(),
        unsaved,
        jobs: args.jobs,
        lease: lease(args.timeout, args.retries),
        program,
        bar: Bar::new(),
        measured: 0,
        failed: 0,
        failures: Failures::new(args.give_up),
        shortages: 0,
    };
    let worked = run.work();
    // Whatever the outcome, no measurement is left running and no ticket is left open.
    let returned = run.end();
    run.bar.end();
    let is_deleted = |failure: &Failure| matches!(failure, Failure::Store(StoreError::Deleted));
    run.report_unsaved(worked.as_ref().err().or(returned.as_ref().err()).is_some_and(is_deleted));
    let is_unreachable =
        |failure: &Failure| waits.is_set() && matches!(failure, Failure::Store(error) if error.may_pass());
    let unreachable = match worked {
        Ok(Some(reason)) => {
            run.sum_up(reason)?;
            return Ok(ExitCode::SUCCESS);
        }
        Ok(None) => None,
        Err(failure) if is_unreachable(&failure) => Some(failure),
        Err(failure) => return Err(failure),
    };
    let n = match (returned, unreachable) {
        (Ok(n), None) => n,
        (Err(failure), _) if !is_unreachable(&failure) => return Err(failure),
        (Err(failure), _) | (Ok(_), Some(failure)) => {
            note(&format!(
                "interrupted; {}; open tickets return to the budget with the next `cutline run` on this machine, or when their leases end",
                failure.line()
            ));
            return Ok(ExitCode::from(130));
        }
    };
    let tickets = if n == 1 { "1 ticket was".into() } else { format!("{n} tickets were") };
    note(&format!("interrupted; {tickets} returned to the budget; run the same command again to continue"));
    Ok(ExitCode::from(130))
}

/// The lease of a ticket: long enough for all tries.
fn lease(timeout: Option<Duration>, retries: u32) -> Duration {
    timeout.map_or(DAY, |timeout| (timeout + 2 * GRACE).saturating_mul(retries + 1) + MARGIN)
}

struct Run<'a> {
    campaign: ReconnectingCampaign<'a>,
    running: Jobs,
    messages: Receiver<Message>,
    received: Received,
    unsaved: UnsavedRewards,
    jobs: usize,
    lease: Duration,
    program: String,
    bar: Bar,
    measured: u64,
    failed: u64,
    failures: Failures,
    /// How often in a row nothing could be started, without a result in between.
    shortages: u32,
}

impl Run<'_> {
    /// Measures until the campaign ends; the reason, or `None` if it was interrupted.
    fn work(&mut self) -> Result<Option<StopReason>, Failure> {
        self.campaign.return_tickets_of_ended_workers()?;
        let mut wait = WAIT.0;
        loop {
            let free = self.jobs - self.running.n_running();
            let mut timeout = None;
            if free > 0 {
                let tickets = self.campaign.ask(free, self.lease, |ticket| self.running.is_running(ticket))?;
                self.start(&tickets);
                wait = if tickets.is_empty() { (2 * wait).min(WAIT.1) } else { WAIT.0 };
                if tickets.len() < free {
                    match self.campaign.stop_reason()? {
                        Some(StopReason::Withdrawn)
                            if self.running.n_running() == 0 && self.failures.nothing_worked() =>
                        {
                            let (tickets, restore) = self.failures.give_up();
                            self.campaign.set_withdrawn(&restore, false, "")?;
                            let reason = "no candidate can be measured".into();
                            return Err(Failure::GaveUp { tickets, reason });
                        }
                        Some(reason) if self.running.n_running() == 0 => return Ok(Some(reason)),
                        Some(_) => (),
                        // The remaining budget is assigned to open tickets, of other workers or our own.
                        None => {
                            timeout = Some(wait);
                            self.campaign.return_tickets_of_ended_workers()?;
                        }
                    }
                }
            }
            self.bar.draw(&mut self.campaign, self.running.n_running())?;
            let interval = self.bar.interval();
            timeout = Some(timeout.map_or(interval, |timeout| timeout.min(interval)));
            if self.received.shortage.is_none() {
                self.receive(timeout);
            }
            self.record()?;
            if let Some(error) = self.received.not_started.take() {
                return Err(Failure::NotStarted { program: self.program.clone(), error });
            }
            if let Some(error) = self.received.shortage.take() {
                self.run_fewer(error)?;
            }
            if self.received.is_interrupted {
                return Ok(None);
            }
        }
    }

    /// Starts measurements, as many as the system allows.
    fn start(&mut self, tickets: &[Ticket]) {
        for ticket in tickets {
            if self.received.shortage.is_none() {
                self.received.shortage = self.running.start(ticket, self.campaign.columns()).err();
            }
            if self.received.shortage.is_some() {
                self.received.unmeasured.push(ticket.number);
            }
        }
    }

    /// Goes on with as many measurements at once as are running now: the system allows no more.
    fn run_fewer(&mut self, error: std::io::Error) -> Result<(), Failure> {
        let unmeasured = std::mem::take(&mut self.received.unmeasured);
        self.campaign.return_tickets(&unmeasured)?;
        let jobs = self.running.n_running().clamp(1, self.jobs);
        if jobs < self.jobs {
            self.bar
                .note(&format!("note: cannot run {} measurements at once: {error}; going on with {jobs}", self.jobs));
            self.jobs = jobs;
        }
        if self.running.n_running() == 0 {
            self.shortages += 1;
            if self.shortages > MAX_SHORTAGES {
                return Err(Failure::NoResources(error));
            }
            self.receive(Some(WAIT.1));
        }
        Ok(())
    }

    /// Ends the running measurements, records their results and returns the other tickets to the budget; the number of those.
    fn end(&mut self) -> Result<u64, Failure> {
        // From now on, an interruption counts as the second one.
        self.received.is_interrupted = true;
        self.running.send_all(Control::Terminate);
        let deadline = Instant::now() + MAX_ENDING;
        while self.running.n_running() > 0 && Instant::now() < deadline {
            self.receive(Some(deadline.saturating_duration_since(Instant::now())));
        }
        // A process that cannot be killed must not keep its ticket, or the program from ending.
        self.received.unmeasured.extend(self.running.tickets());
        let recorded = self.record();
        let unmeasured = std::mem::take(&mut self.received.unmeasured);
        let returned = self.campaign.return_tickets(&unmeasured)?;
        match recorded {
            // `work` has already reported this, or `run` ends for another reason.
            Ok(()) | Err(Failure::GaveUp { .. }) => Ok(returned),
            Err(failure) => Err(failure),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_longer_than_all_tries() {
        assert_eq!(lease(None, 1000), DAY);
        let timeout = Duration::from_secs(100);
        assert!(lease(Some(timeout), 2) >= 3 * (timeout + GRACE) + MARGIN);
        let most = Duration::from_hours(3650 * 24);
        assert!(lease(Some(most), 1000) > most);
    }
}
