//! Tickets, arms and rewards from Python: one of each, or lists of the same length.

use crate::convert::{elements, number, short_repr};
use crate::errors::input;
use crate::ticket::Ticket;
use cutline_campaign::{AnyCampaign, CampaignError, StoreError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyString};

/// The number of a ticket.
pub(crate) fn ticket_number(ticket: &Bound<'_, PyAny>) -> PyResult<u64> {
    if let Ok(ticket) = ticket.cast::<Ticket>() {
        return Ok(ticket.get().number);
    }
    let number = if ticket.is_instance_of::<PyBool>() { None } else { ticket.extract().ok() };
    number.ok_or_else(|| input(format!("a ticket must be a `Ticket` or its number, not {}", short_repr(ticket))))
}

/// One reward.
pub(crate) fn reward(value: &Bound<'_, PyAny>) -> PyResult<f64> {
    number(value, "a reward")
}

/// The rewards of one ticket: a number, or a list of those of its replicates.
pub(crate) fn replicates(value: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    // An array of one number also converts to a number, so the length is looked at first.
    let is_list = !value.is_instance_of::<PyString>() && (value.len().is_ok() || reward(value).is_err());
    if !is_list || value.try_iter().is_err() {
        return Ok(vec![reward(value)?]);
    }
    let rewards = elements(value, "the rewards")?.iter().map(reward).collect::<PyResult<Vec<_>>>()?;
    if rewards.is_empty() { Err(input("a ticket needs at least one reward")) } else { Ok(rewards) }
}

/// Pairs of tickets or arms with rewards, from two lists or from two single values. `convert` reads a ticket or an arm, `rewards_of` what
/// belongs to it.
pub(crate) fn pairs<T, R>(
    first: &Bound<'_, PyAny>,
    rewards: &Bound<'_, PyAny>,
    what: &str,
    convert: impl Fn(&Bound<'_, PyAny>) -> PyResult<T>,
    rewards_of: impl Fn(&Bound<'_, PyAny>) -> PyResult<R>,
) -> PyResult<Vec<(T, R)>> {
    if is_one(first) {
        return Ok(vec![(convert(first)?, rewards_of(rewards)?)]);
    }
    let (all, rewards) = (elements(first, what)?, elements(rewards, "the rewards")?);
    if all.len() != rewards.len() {
        return Err(input(format!("there are {} {what}, but {} rewards", all.len(), rewards.len())));
    }
    all.iter().zip(&rewards).map(|(value, reward)| Ok((convert(value)?, rewards_of(reward)?))).collect()
}

/// One ticket or arm, or a list of them.
pub(crate) fn one_or_more<T>(
    value: &Bound<'_, PyAny>,
    what: &str,
    convert: impl Fn(&Bound<'_, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    if is_one(value) { Ok(vec![convert(value)?]) } else { elements(value, what)?.iter().map(convert).collect() }
}

fn is_one(value: &Bound<'_, PyAny>) -> bool {
    let is_ticket_or_arm =
        value.is_instance_of::<Ticket>() || value.is_instance_of::<PyString>() || value.is_instance_of::<PyInt>();
    is_ticket_or_arm || value.try_iter().is_err()
}

/// Gives every replicate its own ticket: a list of rewards belongs to the ticket and those that were handed out together with it.
pub(crate) fn per_measurement(
    campaign: &mut dyn AnyCampaign,
    rewards: Vec<(u64, Vec<f64>)>,
) -> Result<Vec<(u64, f64)>, StoreError> {
    let mut single = Vec::with_capacity(rewards.len());
    for (ticket, rewards) in rewards {
        if let [reward] = rewards[..] {
            single.push((ticket, reward));
            continue;
        }
        let replicates = match &campaign.tickets(&[ticket])?[..] {
            [found] => found.replicates,
            // A ticket that does not exist is refused for its first reward.
            _ => rewards.len() as u64,
        };
        if rewards.len() as u64 > replicates {
            let replicates = usize::try_from(replicates).unwrap_or(usize::MAX);
            return Err(CampaignError::TooManyRewards { ticket, replicates, rewards: rewards.len() }.into());
        }
        single.extend((ticket..).zip(rewards));
    }
    Ok(single)
}
