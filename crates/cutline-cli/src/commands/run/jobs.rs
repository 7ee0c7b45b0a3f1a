//! The running measurements, each with a thread of its own that reports the result.

use super::helper_thread::HelperThread;
use super::measure::{MeasureCommand, TicketInput};
use super::process::{self, Control, MeasurementResult};
use super::watchdog::Watchdog;
use cutline_campaign::Ticket;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// A message to the thread that owns the campaign.
#[derive(Debug)]
pub(super) enum Message {
    /// A measurement has ended.
    Done { ticket: u64, result: MeasurementResult },
    /// Ctrl-C or SIGTERM.
    Interrupt,
}

/// How measurements are made.
#[derive(Debug)]
pub(super) struct JobSettings {
    pub(super) measure: MeasureCommand,
    pub(super) timeout: Option<Duration>,
    pub(super) retries: u32,
    pub(super) watchdog: Watchdog,
}

/// The running measurements.
pub(super) struct Jobs {
    settings: Arc<JobSettings>,
    sender: Sender<Message>,
    running: BTreeMap<u64, Job>,
}

/// A running measurement.
struct Job {
    /// The name of the arm.
    arm: String,
    control: Sender<Control>,
}

impl Jobs {
    pub(super) fn new(settings: JobSettings, sender: Sender<Message>) -> Self {
        Self { settings: Arc::new(settings), sender, running: BTreeMap::new() }
    }

    /// Starts a measurement.
    ///
    /// # Errors
    /// If there cannot be another thread.
    pub(super) fn start(&mut self, ticket: &Ticket, columns: &[String]) -> std::io::Result<()> {
        let (number, input) = (ticket.number, TicketInput::new(ticket, columns));
        let thread = HelperThread::start()?;
        let (control, receiver) = channel();
        self.running.insert(number, Job { arm: ticket.name.clone(), control: control.clone() });
        let settings = Arc::clone(&self.settings);
        let report = Report { ticket: number, result: None, sender: self.sender.clone() };
        thread.run(move || {
            let mut report = report;
            report.result = Some(settings.measure(&input, &receiver, &control));
        });
        Ok(())
    }

    /// Removes a measurement that has ended; the name of its arm.
    pub(super) fn remove(&mut self, ticket: u64) -> String {
        self.running.remove(&ticket).map(|job| job.arm).unwrap_or_default()
    }

    /// Sends a message to all running measurements.
    pub(super) fn send_all(&self, message: Control) {
        for job in self.running.values() {
            // A measurement that has just ended receives nothing any more.
            let _ = job.control.send(message);
        }
    }

    /// The tickets of the running measurements.
    pub(super) fn tickets(&self) -> impl Iterator<Item = u64> + '_ {
        self.running.keys().copied()
    }

    pub(super) fn n_running(&self) -> usize {
        self.running.len()
    }

    pub(super) fn is_running(&self, ticket: u64) -> bool {
        self.running.contains_key(&ticket)
    }
}

/// Sends the result of a measurement when it is dropped, so that a result comes even if its thread panics.
struct Report {
    ticket: u64,
    result: Option<MeasurementResult>,
    sender: Sender<Message>,
}

impl Drop for Report {
    fn drop(&mut self) {
        let result = self.result.take().unwrap_or_else(|| MeasurementResult::Failed("the measurement panicked".into()));
        // If there is no receiver any more, the program is ending.
        drop(self.sender.send(Message::Done { ticket: self.ticket, result }));
    }
}

impl JobSettings {
    /// Measures until there is a reward or no try is left.
    fn measure(
        &self,
        input: &TicketInput,
        receiver: &Receiver<Control>,
        control: &Sender<Control>,
    ) -> MeasurementResult {
        let tries = self.retries + 1;
        let mut attempt = 1;
        loop {
            let command = self.measure.command(input);
            match process::measure(command, input.stdin.clone(), self.timeout, receiver, control, &self.watchdog) {
                MeasurementResult::Failed(_) if attempt < tries => attempt += 1,
                MeasurementResult::Failed(reason) if tries > 1 => {
                    return MeasurementResult::Failed(format!("after {tries} tries: {reason}"));
                }
                other => return other,
            }
        }
    }
}
