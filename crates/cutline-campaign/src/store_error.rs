//! Why an operation on a store failed.

use crate::{CampaignError, CandidatesError, LocationError, ModelError, SettingError, SettingsError, TermsError};
use cutline::CovarianceError;
use thiserror::Error;

/// Why an operation on a store failed. The store is unchanged, except perhaps after [`StoreError::Unconfirmed`].
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The address of the store is invalid.
    #[error(transparent)]
    Location(#[from] LocationError),
    /// There is no store at this location.
    #[error("there is no store at {0}")]
    Missing(String),
    /// The file or database at this location is not a Cutline store. It was not changed.
    #[error("{0} is not a Cutline store; it was left as it is")]
    Foreign(String),
    /// The store was made by a later version.
    #[error("{location} has schema {found}, and this version of Cutline knows up to {known}; use a later version")]
    Newer {
        /// The address of the store, without a password.
        location: String,
        /// The version of its schema.
        found: i64,
        /// The latest schema that this version knows.
        known: i64,
    },
    /// The store was changed by something else, or the disk lost a part of it.
    #[error("{location} is damaged: {what}; restore it from a copy")]
    Damaged {
        /// The address of the store, without a password.
        location: String,
        /// What is wrong.
        what: String,
    },
    /// A file of the store was deleted or moved away while the store was in use. Nothing more can be saved through this connection.
    #[error("the store {location} is gone: {file} was deleted or moved while it was in use, so nothing more was saved")]
    Vanished {
        /// The address of the store, without a password.
        location: String,
        /// The file that is missing.
        file: String,
    },
    /// A file of the store was replaced by another while the store was in use. Nothing more can be saved through this connection.
    #[error("the store {location} was replaced: {file} is no longer the file in use, so nothing more was saved")]
    Replaced {
        /// The address of the store, without a password.
        location: String,
        /// The file that was replaced.
        file: String,
    },
    /// The database failed.
    #[error("{location}: {what}")]
    Database {
        /// The address of the store, without a password.
        location: String,
        /// What the database says, in one line.
        what: String,
    },
    /// The database undid the transaction because of another one, again and again.
    #[error("{location}: {what}; nothing was saved, try again")]
    Conflict {
        /// The address of the store, without a password.
        location: String,
        /// What the database says, in one line.
        what: String,
    },
    /// The connection was lost while the database was saving a change: it was saved, or it was not.
    #[error("{location}: {what}; it is not known whether the change was saved")]
    Unconfirmed {
        /// The address of the store, without a password.
        location: String,
        /// What happened to the connection.
        what: String,
    },
    /// A Cutline server refused a request, or its answer cannot be understood.
    #[error("{location}: {detail}")]
    Remote {
        /// The address of the campaign.
        location: String,
        /// The status of the answer; 0 if it cannot be understood.
        status: u16,
        /// What the server says.
        detail: String,
    },
    /// A Cutline server knows no such token, or asks for one.
    #[error("{location}: {}", if *.is_given { "the server does not accept the token" } else { "the server asks for a token" })]
    Unauthorized {
        /// The address of the campaign.
        location: String,
        /// Whether a token was given.
        is_given: bool,
    },
    /// What was to be done is not possible over HTTP.
    #[error("this cannot be done at the address of a server")]
    NotOverHttp,
    /// A campaign with a custom rule was to be begun on a server, which cannot have the rule.
    #[error("a campaign on a server cannot use a custom rule; begin it in a store")]
    CustomRuleOverHttp,
    /// A campaign was to be begun at the address of one with another name.
    #[error("the address is that of the campaign `{address}`, and the name is `{given}`")]
    OtherName {
        /// The name in the address.
        address: String,
        /// The name that was given.
        given: String,
    },
    /// A setting is unknown, cannot change, or has a value of another type.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The kernel or the graph was refused.
    #[error(transparent)]
    Covariance(#[from] CovarianceError),
    /// The store already has a campaign with this name.
    #[error("there is already a campaign `{0}`")]
    NameTaken(String),
    /// The name is not allowed.
    #[error("`{0}` cannot be a name: it must have 1 to 200 characters, and no control characters")]
    BadName(String),
    /// There is no campaign with this name.
    #[error("there is no campaign `{name}`; {}", list(.names))]
    NoCampaign {
        /// The name that was given.
        name: String,
        /// The names of the campaigns in the store.
        names: Vec<String>,
    },
    /// The campaign was deleted while it was in use. Nothing more can be saved in it.
    #[error("the campaign was deleted, so nothing more was saved")]
    Deleted,
    /// The store has several campaigns, and no name was given. These are their names.
    #[error("the store has {} campaigns: {}", .0.len(), quoted(.0))]
    WhichCampaign(Vec<String>),
    /// The store has no campaign.
    #[error("{0} has no campaign yet")]
    NoCampaigns(String),
    /// Other processes changed the campaign again and again while it was being changed here.
    #[error("the campaign was changed by others at the same time; nothing was changed")]
    Contended,
    /// The candidate is already in the campaign, with other features.
    #[error("the campaign has a candidate `{0}` already, with other features")]
    OtherFeatures(String),
    /// The candidate is already in the campaign, at another cost.
    #[error("the campaign has a candidate `{0}` already, at another cost")]
    OtherCost(String),
    /// The caller interrupted it; no ticket was handed out.
    #[error("the request was interrupted")]
    Interrupted,
    /// The campaign uses a custom rule with this name, and the rule was not given.
    #[error("the campaign uses the custom rule `{0}`, which was not given")]
    CustomRuleMissing(String),
    /// The campaign uses another algorithm than the custom rule that was given.
    #[error("the campaign uses `{expected}`, not `{found}`")]
    CustomRuleMismatch {
        /// The algorithm of the campaign.
        expected: String,
        /// The rule that was given.
        found: String,
    },
    /// The key of the request was used for another request.
    #[error("the key of this request was used for another request; use a new key for every request")]
    OtherRequest,
    /// Another process carries out a request with the same key at this moment.
    #[error("a request with the same key is being carried out; try again")]
    KeyInUse,
    /// A token has this name already, or had it until it was revoked.
    #[error("there is already a token `{0}`; names of tokens are not used again")]
    TokenNameTaken(String),
    /// There is no token with this name.
    #[error("there is no token `{0}`")]
    NoToken(String),
    /// The candidates were refused.
    #[error(transparent)]
    Candidates(#[from] CandidatesError),
    /// The settings contradict each other.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The settings were refused.
    #[error(transparent)]
    Terms(#[from] TermsError),
    /// The campaign does not allow it.
    #[error(transparent)]
    CampaignError(#[from] CampaignError),
}

impl StoreError {
    /// The error for contents of a store that do not fit together.
    #[must_use]
    pub fn damaged(location: &str, what: impl Into<String>) -> Self {
        Self::Damaged { location: location.into(), what: what.into() }
    }

    /// Whether the store or the campaign that was open no longer exists: trying again cannot help, and whatever was not saved has to be
    /// kept elsewhere.
    #[must_use]
    pub fn is_store_gone(&self) -> bool {
        matches!(self, Self::Vanished { .. } | Self::Replaced { .. } | Self::Deleted)
    }

    /// Whether the database failed in a way that may pass: opening the store again later and trying again may help.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        matches!(self, Self::Database { .. } | Self::Conflict { .. } | Self::Unconfirmed { .. })
    }
}

/// The names of the campaigns of a store, as part of a message.
fn list(names: &[String]) -> String {
    match names.len() {
        0 => "the store has none".into(),
        1 => format!("the store has {}", quoted(names)),
        n => format!("the store has {n}: {}", quoted(names)),
    }
}

/// The first ten names, in backticks.
fn quoted(names: &[String]) -> String {
    const MOST: usize = 10;
    let quoted: Vec<String> = names.iter().take(MOST).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > MOST { ", …" } else { "" };
    quoted.join(", ") + more
}

impl From<SettingsError> for StoreError {
    fn from(error: SettingsError) -> Self {
        match error {
            SettingsError::Setting(error) => Self::Setting(error),
            SettingsError::Model(error) => Self::Model(error),
            SettingsError::Covariance(error) => Self::Covariance(error),
            SettingsError::Candidates(error) => Self::Candidates(error),
            SettingsError::Terms(error) => Self::Terms(error),
        }
    }
}
