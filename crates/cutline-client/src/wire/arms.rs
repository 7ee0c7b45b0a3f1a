//! Arms: listed, added, withdrawn and restored.

use cutline_campaign::Candidates;
use serde::{Deserialize, Serialize};

/// A part of the arms.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ArmPage {
    /// The names of the features.
    pub columns: Vec<String>,
    /// The arms, in the order of their numbers.
    pub arms: Vec<ListedArm>,
    /// How many there are in all.
    pub total: usize,
}

/// An arm.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ListedArm {
    /// Its name.
    pub name: String,
    /// Its features as they were given.
    pub features: Vec<f64>,
    /// What a measurement of it costs; left out in a campaign without costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// Arms with the columns of the campaign.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ArmsBody {
    /// The arms.
    pub arms: Vec<ArmBody>,
}

/// An arm.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ArmBody {
    /// Its name, which no other arm of the campaign has.
    #[cfg_attr(feature = "schema", schema(min_length = 1, example = "ethanol"))]
    pub name: String,
    /// Its features, in the order of the columns.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(example = json!([46.07, 0.654])))]
    pub features: Vec<f64>,
    /// What a measurement of it costs, in units of the budget: all arms have a cost, or none has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl ArmBody {
    /// All of some candidates.
    #[must_use]
    pub fn all(candidates: &Candidates) -> Vec<Self> {
        let cost = |arm: usize| candidates.costs().map(|costs| costs[arm]);
        let names = candidates.names().iter().enumerate();
        names
            .map(|(arm, name)| Self { name: name.clone(), features: candidates.row(arm).to_vec(), cost: cost(arm) })
            .collect()
    }
}

/// What was added.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Added {
    /// The number of new arms. Arms that the campaign has already, with the same features and cost, are not new.
    pub added: usize,
}

/// Arms to withdraw or to restore.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct NamedArms {
    /// The names of the arms.
    #[cfg_attr(feature = "schema", schema(example = json!(["ethanol"])))]
    pub arms: Vec<String>,
    /// Why, for the record.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(example = "out of stock"))]
    pub reason: String,
}
