//! Why a store did not do what it was asked.

use crate::{CandidatesError, LocationError};
use cutline::campaign::{BrokenJournal, CampaignError, TermsError};
use thiserror::Error;

/// Why a store did not do what it was asked. Nothing is half-done then.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The address is none.
    #[error(transparent)]
    Location(#[from] LocationError),
    /// There is no store there.
    #[error("there is no store at {0}")]
    Missing(String),
    /// Something else is there. It was not touched.
    #[error("{0} is not a Cutline store; it was left as it is")]
    Foreign(String),
    /// It was made by a later version.
    #[error("{location} has schema {found}, and this version of Cutline knows up to {known}; use a later version")]
    Newer {
        /// The store.
        location: String,
        /// Its schema.
        found: i64,
        /// What is known.
        known: i64,
    },
    /// It was changed by something else, or the disk lost a part of it.
    #[error("{location} is damaged: {what}; restore it from a copy")]
    Damaged {
        /// The store.
        location: String,
        /// What does not fit.
        what: String,
    },
    /// The database failed.
    #[error("{location}: {what}")]
    Database {
        /// The store.
        location: String,
        /// What it said.
        what: String,
    },
    /// There is a campaign of that name.
    #[error("there is already a campaign `{0}`; give another name")]
    NameTaken(String),
    /// A name that cannot be one.
    #[error("`{0}` cannot be a name: it must have 1 to 200 characters, and no control characters")]
    BadName(String),
    /// There is no campaign of that name.
    #[error("there is no campaign `{name}`; {}", listed(.names))]
    NoCampaign {
        /// The name.
        name: String,
        /// Those there are.
        names: Vec<String>,
    },
    /// It has to be said which campaign is meant.
    #[error("{}", listed(.0))]
    WhichCampaign(Vec<String>),
    /// The store has no campaign.
    #[error("{0} has no campaign yet")]
    NoCampaigns(String),
    /// A rule of one's own, of that name, has to be given.
    #[error("the campaign uses the custom rule `{0}`, which was not given")]
    NeedsOwn(String),
    /// The campaign has another algorithm than the rule of one's own that was given.
    #[error("the campaign is played by `{played}`, not by `{given}`")]
    NotOwn {
        /// What the campaign has.
        played: String,
        /// The rule that was given.
        given: String,
    },
    /// The candidates are none.
    #[error(transparent)]
    Candidates(#[from] CandidatesError),
    /// The settings do not fit.
    #[error(transparent)]
    Terms(#[from] TermsError),
    /// The campaign refuses.
    #[error(transparent)]
    CampaignError(#[from] CampaignError),
}

fn listed(names: &[String]) -> String {
    const SHOWN: usize = 10;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    match names.len() {
        0 => "there are none".into(),
        n if n > SHOWN => format!("there are {n} campaigns: {}, …", shown.join(", ")),
        n => format!("there {} {}", if n == 1 { "is" } else { "are" }, shown.join(", ")),
    }
}

/// What a journal read back does not fit together.
pub(crate) fn broken(location: &str, broken: BrokenJournal) -> StoreError {
    StoreError::Damaged { location: location.into(), what: broken.to_string() }
}
