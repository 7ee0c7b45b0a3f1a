//! Changes of settings and candidates in the course of a campaign. The settings and the number of candidates that a campaign began with are
//! stored once; events change them.

use crate::{Change, Event, Settings};
use serde_json::{Map, Value};

/// What a campaign has after all its events: its settings, and the number of candidates that were added.
#[derive(Clone, Debug, PartialEq)]
pub struct Revised {
    /// The settings after all changes.
    pub settings: Settings,
    /// How many candidates were added.
    pub n_added: usize,
}

impl Revised {
    /// The settings and the number of added candidates after these events of a campaign that began with `first`.
    ///
    /// # Errors
    /// If an event cannot be understood: which one, in words.
    pub fn new<'a>(first: &Settings, events: impl Iterator<Item = &'a Event>) -> Result<Self, String> {
        let mut revised = Self { settings: first.clone(), n_added: 0 };
        for event in events {
            match event {
                Event::Added { n_arms, .. } => {
                    let n_added = revised.n_added.checked_add(*n_arms);
                    revised.n_added = n_added.ok_or_else(|| format!("{n_arms} arms were added"))?;
                }
                Event::Changed { change, .. } => {
                    let refused = |error: &dyn std::fmt::Display| format!("a change of its settings: {error}");
                    let change: Change = serde_json::from_str(change).map_err(|error| refused(&error))?;
                    revised.settings = change.merged(&revised.settings).map_err(|error| refused(&error))?;
                }
                _ => (),
            }
        }
        // A campaign that was changed to a named algorithm needs its custom rule no more.
        let algorithm = revised.settings.algorithm.as_deref();
        let is_named =
            algorithm != first.algorithm.as_deref() && algorithm.is_some_and(|name| cutline::algorithm(name).is_some());
        if is_named {
            revised.settings.custom_rule = None;
        }
        Ok(revised)
    }
}

/// The keys in which `new` differs from `old`, with their new values, as JSON; `None` if there are none.
#[must_use]
pub fn settings_change(old: &Settings, new: &Settings) -> Option<String> {
    let (old, mut changed) = (old.object(), new.object());
    for key in old.keys() {
        changed.entry(key.clone()).or_insert(Value::Null);
    }
    changed.retain(|key, value| old.get(key).unwrap_or(&Value::Null) != value);
    (!changed.is_empty()).then(|| Value::Object(changed).to_string())
}

/// Which settings a change changed, and their new values, for a log. Texts are without quotation marks.
#[must_use]
pub fn changed_settings(change: &str) -> Vec<(String, String)> {
    let text = |value: Value| match value {
        Value::String(text) => text,
        Value::Null => "none".into(),
        other => other.to_string(),
    };
    let object = serde_json::from_str::<Map<String, Value>>(change).unwrap_or_default();
    object.into_iter().map(|(key, value)| (key, text(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EarlyStop;
    use cutline::StopCriterion;

    #[test]
    fn a_change_names_only_what_differs() {
        let old = Settings { until_sure: Some(EarlyStop::Sure(StopCriterion::Evidence)), ..Settings::new(0.5, 40) };
        assert_eq!(settings_change(&old, &old), None);
        let new = Settings { budget: 60, until_sure: None, noise: Some(0.25), ..old.clone() };
        let text = settings_change(&old, &new).unwrap();
        assert_eq!(text, r#"{"budget":60,"noise":0.25,"until_sure":null}"#);
        let events = [Event::Changed { budget: 60, change: text.clone() }, Event::Added { first: 2, n_arms: 3 }];
        let revised = Revised::new(&old, events.iter()).unwrap();
        assert_eq!((revised.settings, revised.n_added), (new, 3));
        let named = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let expected = [named("budget", "60"), named("noise", "0.25"), named("until_sure", "none")];
        assert_eq!(changed_settings(&text), expected);
    }

    #[test]
    fn more_arms_than_can_be_counted_are_damage() {
        let events = [1, usize::MAX].map(|n_arms| Event::Added { first: 2, n_arms });
        let refused = Revised::new(&Settings::new(0.5, 40), events.iter()).map(|revised| revised.n_added);
        assert_eq!(refused, Err(format!("{} arms were added", usize::MAX)));
    }

    #[test]
    fn a_change_that_cannot_be_read_is_damage() {
        for bad in ["", "[]", r#"{"budget":"many"}"#, r#"{"colour":1}"#] {
            let event = Event::Changed { budget: 60, change: bad.into() };
            assert!(Revised::new(&Settings::new(0.5, 40), [event].iter()).is_err(), "{bad}");
        }
    }
}
