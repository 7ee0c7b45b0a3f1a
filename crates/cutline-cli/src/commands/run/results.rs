//! The results of measurements: received from their threads, recorded in the store.

use super::Run;
use super::failures::Consequence;
use super::jobs::Message;
use super::process::{Control, MeasurementResult};
use super::unsaved::Reward;
use crate::failure::Failure;
use cutline_store::StoreError;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

/// Results that were received and are not yet recorded.
#[derive(Default)]
pub(super) struct Received {
    pub(super) rewards: Vec<Reward>,
    /// Failed tickets with the names of their candidates and the reasons.
    pub(super) failures: Vec<(u64, String, String)>,
    /// Tickets that were not measured.
    pub(super) unmeasured: Vec<u64>,
    pub(super) not_started: Option<std::io::Error>,
    /// Why a measurement could not be started for now.
    pub(super) shortage: Option<std::io::Error>,
    pub(super) is_interrupted: bool,
}

impl Run<'_> {
    /// Waits for a message, no longer than `timeout`, and takes all that have arrived.
    pub(super) fn receive(&mut self, timeout: Option<Duration>) {
        let first = match timeout {
            Some(timeout) => self.messages.recv_timeout(timeout),
            None => self.messages.recv().map_err(RecvTimeoutError::from),
        };
        let all: Vec<Message> = first.into_iter().chain(self.messages.try_iter()).collect();
        for message in all {
            let (ticket, result) = match message {
                Message::Done { ticket, result } => (ticket, result),
                Message::Interrupt if self.received.is_interrupted => {
                    self.running.send_all(Control::Kill);
                    continue;
                }
                Message::Interrupt => {
                    self.received.is_interrupted = true;
                    continue;
                }
            };
            let arm = self.running.remove(ticket);
            if !matches!(result, MeasurementResult::NoResources(_)) {
                self.shortages = 0;
            }
            match result {
                MeasurementResult::Reward(value) => self.received.rewards.push(Reward { ticket, arm, value }),
                MeasurementResult::Failed(reason) => self.received.failures.push((ticket, arm, reason)),
                MeasurementResult::Stopped => self.received.unmeasured.push(ticket),
                MeasurementResult::NotStarted(error) => {
                    self.received.unmeasured.push(ticket);
                    self.received.not_started = Some(error);
                }
                MeasurementResult::NoResources(error) => {
                    self.received.unmeasured.push(ticket);
                    self.received.shortage = Some(error);
                }
            }
        }
    }

    /// Records what was received.
    pub(super) fn record(&mut self) -> Result<(), Failure> {
        let rewards = std::mem::take(&mut self.received.rewards);
        if !rewards.is_empty() {
            let pairs: Vec<(u64, f64)> = rewards.iter().map(|reward| (reward.ticket, reward.value)).collect();
            let refused = self.campaign.tell(&pairs).inspect_err(|_| self.unsaved.add(&rewards))?;
            for (ticket, reward, error) in &refused {
                self.bar.note(&format!("the reward {reward} of ticket {ticket} was refused: {error}"));
            }
            self.measured += (rewards.len() - refused.len()) as u64;
            for reward in &rewards {
                for note in self.failures.succeeded(&reward.arm) {
                    self.bar.note(&note);
                }
            }
        }
        for (ticket, arm, reason) in std::mem::take(&mut self.received.failures) {
            self.campaign.fail(ticket, &reason)?;
            self.failed += 1;
            match self.failures.failed(&arm) {
                Consequence::GoOn => (),
                Consequence::Withdraw { failures } => {
                    let why = format!("{failures} failed tickets; the last one: {reason}");
                    match self.campaign.set_withdrawn(std::slice::from_ref(&arm), true, &why) {
                        // The token of a worker does not allow it. Whoever has another one may withdraw the candidate.
                        Err(error @ StoreError::Remote { status: 403, .. }) => {
                            self.failures.cannot_withdraw();
                            self.bar.note(&format!("`{arm}` should be withdrawn after {why}; {error}"));
                        }
                        done => {
                            done?;
                            if let Some(note) = self.failures.say(format!("`{arm}` is withdrawn after {why}")) {
                                self.bar.note(&note);
                            }
                        }
                    }
                }
                Consequence::GiveUp { tickets, restore } => {
                    self.campaign.set_withdrawn(&restore, false, "")?;
                    return Err(Failure::GaveUp { tickets, reason });
                }
            }
        }
        Ok(())
    }
}
