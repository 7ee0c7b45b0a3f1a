//! One entry of the list of settings: its key, the values that it takes, and whether it may change.

use crate::names::Named;
use crate::{Settings, SettingsError};
use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;

/// An entry of [`Settings::LIST`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Setting {
    /// Its key in JSON, which is also its name for users.
    pub key: &'static str,
    /// The values that it takes.
    pub kind: SettingKind,
    /// Whether it has no default.
    pub is_required: bool,
    /// Whether it may change in the course of a campaign.
    pub may_change: bool,
    /// The word by which texts, on the command line and in forms, ask for the default; in JSON that is null.
    pub unset_word: Option<&'static str>,
}

/// The values that a setting takes. Whether a value is in range is checked where settings become [terms](Settings::terms).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum SettingKind {
    /// A number.
    Number,
    /// A whole number.
    Whole {
        /// The smallest allowed.
        least: u64,
        /// The largest allowed.
        most: u64,
    },
    /// A name from a list, with the function that refuses all others.
    Name(fn(&str) -> Result<(), SettingsError>),
    /// Any text.
    Text,
    /// An object, with the function that reads it.
    Structure(fn(&Value) -> Result<(), serde_json::Error>),
}

/// Why a key or its value was refused.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SettingError {
    /// There is no setting with this key.
    #[error("unknown setting `{0}`")]
    Unknown(String),
    /// The setting has no default, and no value was given.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// The setting stays as it was when the campaign began.
    #[error("`{0}` cannot change in the course of a campaign")]
    Fixed(&'static str),
    /// The value has another type, or is a number that is not finite.
    #[error("`{key}` must be {expected}, not `{found}`")]
    Value {
        /// The setting.
        key: &'static str,
        /// What it takes.
        expected: String,
        /// What was given.
        found: String,
    },
    /// A text that should be a number is none.
    #[error("the {key} must be a number with a decimal point, not `{text}`")]
    Text {
        /// The setting.
        key: &'static str,
        /// What was given.
        text: String,
    },
    /// An object cannot be read.
    #[error("`{key}` cannot be understood: {why}")]
    Structure {
        /// The setting.
        key: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// The confidence 1 − δ is not a probability.
    #[error("`confidence` must be a number above 0 and below 1, not {0}")]
    Confidence(f64),
    /// Both δ and 1 − δ were given.
    #[error("`confidence` and `delta` say the same; give one of them")]
    ConfidenceAndDelta,
}

impl SettingKind {
    /// The name of one of these choices.
    pub(crate) const fn name<T: Named>() -> Self {
        Self::Name(|name| T::named(name).map(drop))
    }

    /// An object that is read as this type.
    pub(crate) const fn structure<T: DeserializeOwned>() -> Self {
        Self::Structure(|value| serde_json::from_value::<T>(value.clone()).map(drop))
    }

    /// Whether a user can give it as one short text.
    #[must_use]
    pub fn is_text(&self) -> bool {
        !matches!(self, Self::Structure(_))
    }

    fn expected(&self) -> String {
        match self {
            Self::Number => "a finite number".into(),
            Self::Whole { least, most } => format!("a whole number between {least} and {most}"),
            Self::Name(_) | Self::Text => "a text".into(),
            Self::Structure(_) => "an object".into(),
        }
    }
}

impl Setting {
    pub(crate) const fn new(key: &'static str, kind: SettingKind) -> Self {
        Self { key, kind, is_required: false, may_change: false, unset_word: None }
    }

    pub(crate) const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    pub(crate) const fn may_change(self) -> Self {
        Self { may_change: true, ..self }
    }

    pub(crate) const fn unset_by(self, word: &'static str) -> Self {
        Self { unset_word: Some(word), ..self }
    }

    /// The setting with this key.
    ///
    /// # Errors
    /// If there is none.
    pub fn of(key: &str) -> Result<&'static Self, SettingError> {
        let found = Settings::LIST.iter().find(|setting| setting.key == key);
        found.ok_or_else(|| SettingError::Unknown(key.into()))
    }

    /// Refuses a value of another type, and a name that is not in the list. Null is the default.
    pub(crate) fn check(&self, value: &Value) -> Result<(), SettingsError> {
        let is_of_type = match (&self.kind, value) {
            (_, Value::Null) | (SettingKind::Number, Value::Number(_)) | (SettingKind::Text, Value::String(_)) => true,
            (SettingKind::Whole { least, most }, value) => {
                value.as_u64().is_some_and(|number| (*least..=*most).contains(&number))
            }
            (SettingKind::Name(check), Value::String(name)) => return check(name),
            (SettingKind::Structure(read), value) => {
                let structure =
                    |error: serde_json::Error| SettingError::Structure { key: self.key, why: error.to_string() };
                return Ok(read(value).map_err(structure)?);
            }
            _ => false,
        };
        if is_of_type { Ok(()) } else { Err(self.refusal(value).into()) }
    }

    fn refusal(&self, value: &Value) -> SettingError {
        let found = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        SettingError::Value { key: self.key, expected: self.kind.expected(), found }
    }

    /// The value that a text means.
    pub(crate) fn read(&self, text: &str) -> Result<Value, SettingsError> {
        if self.unset_word == Some(text) {
            return Ok(Value::Null);
        }
        match self.kind {
            SettingKind::Number => {
                let number: f64 = text.parse().map_err(|_| SettingError::Text { key: self.key, text: text.into() })?;
                Ok(crate::change::number(number))
            }
            SettingKind::Whole { .. } => {
                text.parse::<u64>().map(Value::from).map_err(|_| self.refusal(&text.into()).into())
            }
            SettingKind::Name(_) | SettingKind::Text => Ok(text.into()),
            SettingKind::Structure(_) => Err(self.refusal(&text.into()).into()),
        }
    }
}
