//! The events of a campaign as dicts, and back.

use crate::errors::input;
use cutline_campaign::{Event, Record};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An event as a dict: its number, its time in milliseconds since 1970, its kind, and the fields of that kind.
pub(crate) fn to_dict<'py>(py: Python<'py>, record: &Record) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("number", record.number)?;
    dict.set_item("at", record.at)?;
    dict.set_item("event", record.event.name())?;
    match &record.event {
        Event::Asked { ticket, arm, worker, until, replicate_of } => {
            dict.set_item("ticket", ticket)?;
            dict.set_item("arm", arm)?;
            dict.set_item("worker", worker)?;
            dict.set_item("until", until)?;
            if let Some(first) = replicate_of {
                dict.set_item("replicate_of", first)?;
            }
        }
        Event::Renewed { ticket, until } => {
            dict.set_item("ticket", ticket)?;
            dict.set_item("until", until)?;
        }
        Event::Told { ticket, reward } => {
            dict.set_item("ticket", ticket)?;
            dict.set_item("reward", reward)?;
        }
        Event::Failed { ticket, reason } | Event::Voided { ticket, reason } => {
            dict.set_item("ticket", ticket)?;
            dict.set_item("reason", reason)?;
        }
        Event::Expired { ticket } => dict.set_item("ticket", ticket)?,
        Event::Observed { arm, reward, is_counted } => {
            dict.set_item("arm", arm)?;
            dict.set_item("reward", reward)?;
            dict.set_item("is_counted", is_counted)?;
        }
        Event::Amended { ticket, reward, reason } => {
            dict.set_item("ticket", ticket)?;
            dict.set_item("reward", reward)?;
            dict.set_item("reason", reason)?;
        }
        Event::Withdrawn { arm, reason } => {
            dict.set_item("arm", arm)?;
            dict.set_item("reason", reason)?;
        }
        Event::Restored { arm } => dict.set_item("arm", arm)?,
        Event::Added { first, n_arms } => {
            dict.set_item("arm", first)?;
            dict.set_item("n_arms", n_arms)?;
        }
        Event::Changed { budget, change } => {
            dict.set_item("budget", budget)?;
            dict.set_item("change", change)?;
        }
        other => return Err(input(format!("unsupported event {other:?}"))),
    }
    Ok(dict)
}

/// The event that a dict holds.
pub(crate) fn from_dict(dict: &Bound<'_, PyAny>) -> PyResult<Record> {
    let kind: String = get(dict, "event")?;
    let event = match kind.as_str() {
        "asked" => Event::Asked {
            ticket: get(dict, "ticket")?,
            arm: get(dict, "arm")?,
            worker: get(dict, "worker")?,
            until: get(dict, "until")?,
            replicate_of: if dict.contains("replicate_of")? { Some(get(dict, "replicate_of")?) } else { None },
        },
        "renewed" => Event::Renewed { ticket: get(dict, "ticket")?, until: get(dict, "until")? },
        "told" => Event::Told { ticket: get(dict, "ticket")?, reward: get(dict, "reward")? },
        "failed" => Event::Failed { ticket: get(dict, "ticket")?, reason: get(dict, "reason")? },
        "expired" => Event::Expired { ticket: get(dict, "ticket")? },
        "observed" => Event::Observed {
            arm: get(dict, "arm")?,
            reward: get(dict, "reward")?,
            is_counted: get(dict, "is_counted")?,
        },
        "amended" => {
            Event::Amended { ticket: get(dict, "ticket")?, reward: get(dict, "reward")?, reason: get(dict, "reason")? }
        }
        "voided" => Event::Voided { ticket: get(dict, "ticket")?, reason: get(dict, "reason")? },
        "withdrawn" => Event::Withdrawn { arm: get(dict, "arm")?, reason: get(dict, "reason")? },
        "restored" => Event::Restored { arm: get(dict, "arm")? },
        "added" => Event::Added { first: get(dict, "arm")?, n_arms: get(dict, "n_arms")? },
        "changed" => Event::Changed { budget: get(dict, "budget")?, change: get(dict, "change")? },
        other => return Err(input(format!("unknown event `{other}`"))),
    };
    Ok(Record { number: get(dict, "number")?, at: get(dict, "at")?, event })
}

fn get<'py, T>(dict: &Bound<'py, PyAny>, key: &str) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py>,
{
    let value = dict.get_item(key).ok().and_then(|value| value.extract().ok());
    value.ok_or_else(|| input(format!("an event has no valid `{key}`")))
}
