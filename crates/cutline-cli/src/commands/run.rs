//! `cutline run STORE --measure COMMAND`
//!
//! One thread owns the campaign; every measurement has a thread of its own that waits for its process and sends a message when it
//! has ended. What ends together is told in one go.

mod bar;
mod crew;
mod guard;
mod identity;
mod kept;
mod measure;
mod process;
mod tail;
mod words;

pub(crate) use guard::guard;

use crate::failure::Failure;
use crate::print::note;
use crate::{args, interrupt};
use bar::Bar;
use crew::{Executor, How, Message};
use cutline::{Side, StopReason};
use cutline_store::StoreError;
use guard::Guard;
use identity::Identity;
use kept::Kept;
use measure::Measure;
use process::{GRACE, Measured, News};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// The lease of a ticket whose measurement may take as long as it likes.
const DAY: Duration = Duration::from_hours(24);

/// What a lease has over the longest measurement.
const MARGIN: Duration = Duration::from_mins(1);

/// After how many failed tickets in a row the command is taken to be broken.
const MOST_FAILURES: u32 = 5;

/// How long to wait before asking again when all is out with others: more and more, within these.
const WAIT: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

pub(crate) fn run(args: &args::Run) -> Result<ExitCode, Failure> {
    let measure = Measure::new(&args.measure, args.shell).map_err(|error| Failure::Usage(error.to_string()))?;
    let program = measure.program().to_owned();
    let kept = Kept::open(&args.which, Identity::own(args.worker.as_deref()))?;
    let (sender, messages) = channel();
    let mut interruptions = 0;
    interrupt::instead({
        let sender = sender.clone();
        move || {
            interruptions += 1;
            // The first asks the measurements to end and the second kills them; the third ends whatever happens.
            if interruptions > 2 || sender.send(Message::Interrupt).is_err() {
                std::process::exit(130);
            }
        }
    });
    let how = How { measure, timeout: args.timeout, retries: args.retries, guard: Guard::start() };
    let mut run = Run {
        kept,
        crew: Executor::new(how, sender),
        messages,
        heard: Heard::default(),
        jobs: args.jobs,
        lease: lease(args.timeout, args.retries),
        program,
        bar: Bar::new(),
        measured: 0,
        failed: 0,
        failed_in_a_row: 0,
    };
    let worked = run.work();
    // However it ended, nothing is left running or out.
    let given_back = run.end();
    run.bar.end();
    if let Some(ending) = worked? {
        run.sum_up(ending)?;
        return Ok(ExitCode::SUCCESS);
    }
    let n = given_back?;
    note(&format!("interrupted; {n} tickets were given back, and the same command goes on from here"));
    Ok(ExitCode::from(130))
}

/// How long a ticket is ours: long enough for all tries.
fn lease(timeout: Option<Duration>, retries: u32) -> Duration {
    timeout.map_or(DAY, |timeout| (timeout + 2 * GRACE).saturating_mul(retries + 1) + MARGIN)
}

struct Run<'a> {
    kept: Kept<'a>,
    crew: Executor,
    messages: Receiver<Message>,
    heard: Heard,
    jobs: usize,
    lease: Duration,
    program: String,
    bar: Bar,
    measured: u64,
    failed: u64,
    failed_in_a_row: u32,
}

/// What was heard and not yet written down.
#[derive(Default)]
struct Heard {
    rewards: Vec<(u64, f64)>,
    failures: Vec<(u64, String)>,
    /// Tickets that were not measured.
    unmeasured: Vec<u64>,
    not_started: Option<std::io::Error>,
    is_interrupted: bool,
}

impl Run<'_> {
    /// Measures until the campaign ends; why it did, or `None` if it was interrupted.
    fn work(&mut self) -> Result<Option<StopReason>, Failure> {
        self.kept.give_back_of_gone()?;
        let mut wait = WAIT.0;
        loop {
            let free = self.jobs - self.crew.n_working();
            let mut patience = None;
            if free > 0 {
                let tickets = self.kept.ask(free, self.lease, |ticket| self.crew.works_on(ticket))?;
                for ticket in &tickets {
                    self.crew.start(ticket, self.kept.columns());
                }
                wait = if tickets.is_empty() { (2 * wait).min(WAIT.1) } else { WAIT.0 };
                if tickets.len() < free {
                    match self.kept.stop_reason()? {
                        Some(ending) if self.crew.n_working() == 0 => return Ok(Some(ending)),
                        Some(_) => (),
                        // The rest is out, with others or with ourselves.
                        None => {
                            patience = Some(wait);
                            self.kept.give_back_of_gone()?;
                        }
                    }
                }
            }
            self.bar.draw(&mut self.kept, self.crew.n_working())?;
            if self.bar.is_seen() {
                patience = Some(patience.map_or(bar::EVERY, |patience| patience.min(bar::EVERY)));
            }
            self.hear(patience);
            self.write()?;
            if let Some(error) = self.heard.not_started.take() {
                return Err(Failure::NotStarted { program: self.program.clone(), error });
            }
            if self.heard.is_interrupted {
                return Ok(None);
            }
        }
    }

    /// Waits for a message, no longer than `patience`, and takes all there are.
    fn hear(&mut self, patience: Option<Duration>) {
        let first = match patience {
            Some(patience) => self.messages.recv_timeout(patience),
            None => self.messages.recv().map_err(RecvTimeoutError::from),
        };
        let all: Vec<Message> = first.into_iter().chain(self.messages.try_iter()).collect();
        for message in all {
            let (ticket, measured) = match message {
                Message::Done { ticket, measured } => (ticket, measured),
                Message::Interrupt if self.heard.is_interrupted => {
                    self.crew.order(News::Kill);
                    continue;
                }
                Message::Interrupt => {
                    self.heard.is_interrupted = true;
                    continue;
                }
            };
            self.crew.dismiss(ticket);
            match measured {
                Measured::Reward(reward) => self.heard.rewards.push((ticket, reward)),
                Measured::Failed(reason) => self.heard.failures.push((ticket, reason)),
                Measured::Stopped => self.heard.unmeasured.push(ticket),
                Measured::NotStarted(error) => {
                    self.heard.unmeasured.push(ticket);
                    self.heard.not_started = Some(error);
                }
            }
        }
    }

    /// Writes down what was heard.
    fn write(&mut self) -> Result<(), Failure> {
        let rewards = std::mem::take(&mut self.heard.rewards);
        if !rewards.is_empty() {
            let told = self.kept.tell(&rewards).inspect_err(|_| self.save(&rewards))?;
            for (ticket, reward, refusal) in &told {
                self.bar.note(&format!("the reward {reward} of ticket {ticket} was refused: {refusal}"));
            }
            self.measured += (rewards.len() - told.len()) as u64;
            self.failed_in_a_row = 0;
        }
        let mut last = String::new();
        for (ticket, reason) in std::mem::take(&mut self.heard.failures) {
            self.kept.fail(ticket, &reason)?;
            self.failed += 1;
            self.failed_in_a_row += 1;
            last = reason;
        }
        match self.failed_in_a_row {
            tickets if tickets >= MOST_FAILURES && !last.is_empty() => Err(Failure::GaveUp { tickets, reason: last }),
            _ => Ok(()),
        }
    }

    /// The store is away: at least somebody is told of the rewards.
    fn save(&self, rewards: &[(u64, f64)]) {
        let Self { kept, bar, .. } = self;
        for (ticket, reward) in rewards {
            bar.note(&format!("not written down: `cutline tell {} {ticket} {reward}`", shown(kept.which())));
        }
    }

    /// Ends what is under way, writes down what became of it and gives back the rest; how many tickets those were.
    fn end(&mut self) -> Result<u64, Failure> {
        // From now on, another interruption is the second.
        self.heard.is_interrupted = true;
        self.crew.order(News::End);
        while self.crew.n_working() > 0 {
            self.hear(None);
        }
        let written = self.write();
        let unmeasured = std::mem::take(&mut self.heard.unmeasured);
        let given_back = self.kept.give_back(&unmeasured)?;
        match written {
            // That the command is broken was said, or is not the reason to end.
            Ok(()) | Err(Failure::GaveUp { .. }) => Ok(given_back),
            Err(failure) => Err(failure),
        }
    }

    /// Says what came out.
    fn sum_up(&mut self, ending: StopReason) -> Result<(), StoreError> {
        let progress = self.kept.progress()?;
        let sides = self.kept.sides()?;
        let count = |side: &Side| format!("{} {}", sides.iter().filter(|other| *other == side).count(), side.name());
        let sides: Vec<String> = Side::ALL.iter().map(count).collect();
        let why = match ending {
            StopReason::Budget => "the budget is used",
            StopReason::Confidence => "every side is sure",
            other => other.name(),
        };
        let (measured, failed) = (self.measured, self.failed);
        note(&format!("measured {measured}, {failed} failed; {} of {} in all", progress.counted, progress.budget));
        note(&format!("{}; ended because {why}", sides.join(", ")));
        note(&format!("see what came out with `cutline report {}`", shown(self.kept.which())));
        Ok(())
    }
}

/// How to name the campaign on a command line, without a password.
fn shown(which: &args::Which) -> String {
    let store = match which.store.split_once("://").and_then(|(_, rest)| rest.split_once('@')) {
        Some((login, _)) if login.contains(':') => "STORE",
        _ => which.store.as_str(),
    };
    match &which.name {
        Some(name) => format!("{store} --name '{name}'"),
        None => store.into(),
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

    #[test]
    fn passwords_are_not_shown() {
        let shown = |store: &str, name: Option<&str>| {
            shown(&args::Which { store: store.into(), name: name.map(str::to_owned) })
        };
        assert_eq!(shown("a b.db", None), "a b.db");
        assert_eq!(shown("postgresql://me@h/db", Some("x y")), "postgresql://me@h/db --name 'x y'");
        assert_eq!(shown("postgresql://me:secret@h:5432/db", None), "STORE");
    }
}
