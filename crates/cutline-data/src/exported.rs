//! Rewards from the events that `cutline export --events` writes, as CSV or JSON.

use crate::dataset;
use crate::dataset::DatasetError;
use crate::rewards::{Lookup, RewardsError, column, each_row};
use cutline::Arm;
use cutline_campaign::{MAX_REWARD, TicketId};
use serde::Deserialize;
use std::collections::HashMap;

/// The columns by which a CSV file of events is recognised. A file of rewards may have a column `event` of its own.
const COLUMNS: [&str; 5] = ["number", "event", "ticket", "arm", "reward"];

/// One event, as far as it matters to rewards.
#[derive(Debug, Deserialize)]
struct ExportedEvent {
    event: String,
    ticket: Option<TicketId>,
    arm: Option<String>,
    reward: Option<f64>,
}

/// The rewards that stand after all events: those that were corrected have the last value, and those that are void are left out.
struct Standing<'a> {
    arms: &'a Lookup<'a>,
    rewards: Vec<Option<(Arm, f64)>>,
    /// The position of the reward of each ticket.
    tickets: HashMap<TicketId, usize>,
}

impl<'a> Standing<'a> {
    fn new(arms: &'a Lookup<'a>) -> Self {
        Self { arms, rewards: Vec::new(), tickets: HashMap::new() }
    }

    /// Adds the event in this row of the file.
    fn push(&mut self, event: &ExportedEvent, row: u64) -> Result<(), RewardsError> {
        let known = event.ticket.and_then(|ticket| self.tickets.get(&ticket).copied());
        match event.event.as_str() {
            "told" | "observed" | "amended" => {
                let arm = self.arms.find(event.arm.as_deref().unwrap_or_default(), row, "arm")?;
                let reward = event.reward.filter(|reward| reward.abs() <= MAX_REWARD).ok_or_else(|| {
                    let reward = event.reward.map_or_else(String::new, |reward| reward.to_string());
                    RewardsError::TooLarge { row, reward }
                })?;
                if let Some(position) = known {
                    self.rewards[position] = Some((arm, reward));
                } else {
                    event.ticket.map(|ticket| self.tickets.insert(ticket, self.rewards.len()));
                    self.rewards.push(Some((arm, reward)));
                }
            }
            "voided" => {
                if let Some(position) = known {
                    self.rewards[position] = None;
                }
            }
            _ => (),
        }
        Ok(())
    }

    fn finish(self) -> Result<Vec<(Arm, f64)>, RewardsError> {
        let rewards: Vec<(Arm, f64)> = self.rewards.into_iter().flatten().collect();
        if rewards.is_empty() { Err(RewardsError::Empty) } else { Ok(rewards) }
    }
}

/// The rewards of events in JSON. In messages, an event is a row from 1.
pub(crate) fn from_json(json: &[u8], arms: &Lookup<'_>) -> Result<Vec<(Arm, f64)>, RewardsError> {
    let events: Vec<ExportedEvent> =
        serde_json::from_slice(json).map_err(|error| RewardsError::Json(error.to_string()))?;
    let mut standing = Standing::new(arms);
    for (event, row) in events.iter().zip(1..) {
        standing.push(event, row)?;
    }
    standing.finish()
}

/// Whether a CSV file holds events.
pub(crate) fn is_exported(csv: &[u8]) -> Result<bool, RewardsError> {
    // The header may be followed by anything, which is read later.
    let end = csv.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(csv.len());
    let mut is_exported = false;
    each_row(&csv[..end], |row, fields| {
        let header = dataset::header(fields, row)?;
        is_exported = COLUMNS.iter().all(|name| header.iter().any(|column| column == name));
        Ok(())
    })?;
    Ok(is_exported)
}

/// The rewards of events in CSV.
pub(crate) fn from_csv(csv: &[u8], arms: &Lookup<'_>) -> Result<Vec<(Arm, f64)>, RewardsError> {
    let mut standing = Standing::new(arms);
    let mut header: Option<(Vec<String>, [usize; 4])> = None;
    each_row(csv, |row, fields| {
        let Some((header, [event, ticket, arm, reward])) = &header else {
            let names = dataset::header(fields, row)?;
            let [event, ticket] = [column(&names, "event")?, column(&names, "ticket")?];
            let [arm, reward] = [column(&names, "arm")?, column(&names, "reward")?];
            header = Some((names, [event, ticket, arm, reward]));
            return Ok(());
        };
        let (expected, found) = (header.len(), fields.len());
        if expected != found {
            return Err(DatasetError::Ragged { row, expected, found }.into());
        }
        let text = |column: usize| dataset::text(&fields[column], row, &header[column]);
        let number = |text: &str| dataset::number(text, row, "reward", false);
        let event = ExportedEvent {
            event: text(*event)?.into(),
            ticket: text(*ticket)?.parse().ok(),
            arm: Some(text(*arm)?.into()),
            reward: Some(text(*reward)?).filter(|text| !text.is_empty()).map(number).transpose()?,
        };
        standing.push(&event, row)
    })?;
    standing.finish()
}
