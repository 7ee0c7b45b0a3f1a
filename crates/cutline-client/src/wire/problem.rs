//! Refusals: problem documents of RFC 9457.

use cutline_campaign::{CampaignError, StoreError};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A problem document of RFC 9457.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Problem))]
pub struct ProblemDocument {
    /// What kind of problem it is, as a reference to the documentation.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "schema", schema(example = "/docs#conflict"))]
    pub kind: String,
    /// The kind in words.
    #[cfg_attr(feature = "schema", schema(example = "The campaign does not allow it"))]
    pub title: String,
    /// The status code.
    #[cfg_attr(feature = "schema", schema(example = 409))]
    pub status: u16,
    /// What is wrong, and what to do about it.
    #[cfg_attr(feature = "schema", schema(example = "ticket 3 already has the reward 0.7, so 0.8 is refused"))]
    pub detail: String,
    /// The same for programs, where a campaign or a name is the reason: what is wrong, and the values of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schema(value_type = Option<Object>, example = json!({"campaign": {"other_reward": {"ticket": 3, "told": 0.7, "reward": 0.8}}}))
    )]
    pub refusal: Option<Refusal>,
}

/// A refusal with its values, so that a client gives the error of a store.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Refusal {
    /// The campaign does not allow it.
    Campaign(CampaignError),
    /// There is already a campaign with this name.
    NameTaken(String),
    /// The candidate with this name is already in the campaign, with other features.
    OtherFeatures(String),
    /// The candidate with this name is already in the campaign, at another cost.
    OtherCost(String),
}

impl Refusal {
    /// The refusal that an error is; `None` for other errors.
    #[must_use]
    pub fn of(error: &StoreError) -> Option<Self> {
        Some(match error {
            StoreError::CampaignError(error) => Self::Campaign(*error),
            StoreError::NameTaken(name) => Self::NameTaken(name.clone()),
            StoreError::OtherFeatures(name) => Self::OtherFeatures(name.clone()),
            StoreError::OtherCost(name) => Self::OtherCost(name.clone()),
            _ => return None,
        })
    }
}

impl From<Refusal> for StoreError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Campaign(error) => Self::CampaignError(error),
            Refusal::NameTaken(name) => Self::NameTaken(name),
            Refusal::OtherFeatures(name) => Self::OtherFeatures(name),
            Refusal::OtherCost(name) => Self::OtherCost(name),
        }
    }
}

/// In the words of a store.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        StoreError::from(self.clone()).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutline::Amount;

    #[test]
    fn refusals_survive_json() {
        let tenth = Amount::new(0.1).unwrap();
        let errors = [
            CampaignError::NoTicket { ticket: 7, last: 0 },
            CampaignError::OtherReward { ticket: 1, told: 0.1 + 0.2, reward: -1e-300 },
            CampaignError::BudgetBelowUsed { budget: 3, used: Amount::units(u32::MAX) },
            CampaignError::BudgetBelowCost { budget: 9, remaining: tenth, cost: Amount::units(2).plus(tenth) },
            CampaignError::NotAReward { reward: 1e81 },
        ];
        for error in errors {
            let refusal = Refusal::of(&error.into()).unwrap();
            let json = serde_json::to_string(&refusal).unwrap();
            let read: Refusal = serde_json::from_str(&json).unwrap();
            assert_eq!((read.to_string(), read), (error.to_string(), refusal), "{json}");
        }
        assert_eq!(Refusal::of(&StoreError::Deleted), None);
    }
}
