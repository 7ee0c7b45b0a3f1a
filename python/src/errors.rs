//! Errors as Python has them: the classes of `cutline._errors`, with the messages that all of Cutline has.

use cutline::campaign::CampaignError;
use cutline_store::StoreError;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// A class of `cutline._errors`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ErrorKind {
    /// What was given cannot be.
    Input,
    /// There is no such thing.
    NotFound,
    /// The campaign does not allow it any more.
    Refused,
    /// The store failed.
    Storage,
}

impl ErrorKind {
    fn class(self) -> &'static str {
        match self {
            Self::Input => "InputError",
            Self::NotFound => "NotFoundError",
            Self::Refused => "RefusedError",
            Self::Storage => "StorageError",
        }
    }

    /// An exception of this kind. What the message quotes may have line breaks; the message has none.
    pub(crate) fn error(self, message: impl std::fmt::Display) -> PyErr {
        let escaped = |c: char| if c.is_control() { c.escape_default().collect() } else { String::from(c) };
        let message: String = message.to_string().chars().map(escaped).collect();
        Python::attach(|py| {
            let class = py.import("cutline._errors").and_then(|module| module.getattr(self.class()));
            match class.and_then(|class| Ok(class.cast_into::<PyType>()?)) {
                Ok(class) => PyErr::from_type(class, (message,)),
                Err(error) => error,
            }
        })
    }
}

/// What was given cannot be.
pub(crate) fn input(message: impl std::fmt::Display) -> PyErr {
    ErrorKind::Input.error(message)
}

/// What a store or a campaign says, in words that fit Python.
pub(crate) fn store(error: StoreError) -> PyErr {
    let kind = match &error {
        StoreError::CampaignError(refusal) => refusal_kind(refusal),
        StoreError::NoCampaign { .. } | StoreError::NoCampaigns(_) | StoreError::Missing(_) => ErrorKind::NotFound,
        StoreError::Candidates(_)
        | StoreError::Terms(_)
        | StoreError::Location(_)
        | StoreError::BadName(_)
        | StoreError::NameTaken(_)
        | StoreError::WhichCampaign(_)
        | StoreError::CustomRuleMissing(_)
        | StoreError::CustomRuleMismatch { .. } => ErrorKind::Input,
        _ => ErrorKind::Storage,
    };
    let message = error.to_string().replace("`cutline new`", "`cutline.Campaign`").replace("`--name`", "`name`");
    kind.error(message)
}

fn refusal_kind(refusal: &CampaignError) -> ErrorKind {
    match refusal {
        CampaignError::NoTicket { .. } | CampaignError::NoArm { .. } => ErrorKind::NotFound,
        CampaignError::NotAReward { .. } => ErrorKind::Input,
        _ => ErrorKind::Refused,
    }
}
