//! Campaigns: listed, begun, copied and changed.

use cutline_campaign::Settings;
use serde::{Deserialize, Serialize};

/// The part of a page of the list of campaigns that a client reads.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct CampaignPage {
    /// The campaigns.
    pub campaigns: Vec<CampaignEntry>,
    /// How many there are in all.
    pub total: usize,
}

/// The part of a campaign in the list that a client reads.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct CampaignEntry {
    /// Its number, which no other campaign of the store gets.
    pub id: i64,
    /// The name under which it is opened.
    pub name: String,
    /// When it was begun.
    pub created: String,
}

/// Which campaign has a name.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CampaignIdentity {
    /// Its number, which no other campaign of the store gets.
    pub id: i64,
    /// The names of the features.
    pub columns: Vec<String>,
    /// What it began with, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstTerms>,
}

/// What a campaign began with. That, its arms and its events are all that there is: everything else is computed from them.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FirstTerms {
    /// The settings it began with.
    #[cfg_attr(feature = "schema", schema(value_type = Object))]
    pub settings: Settings,
    /// The number of arms it began with.
    pub n_arms: usize,
}

/// A campaign that has begun.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct BegunCampaign {
    /// Its number, which no other campaign of the store gets.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// Its address.
    #[cfg_attr(feature = "schema", schema(example = "/v1/campaigns/screen"))]
    pub location: String,
    /// The number of its arms.
    pub n_arms: usize,
    /// What the owner of an uploaded table should know, as that a column was taken for a category.
    pub notes: Vec<String>,
}

/// The name of a copy.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CopyBody {
    /// Its name, which no other campaign of the store has.
    #[cfg_attr(feature = "schema", schema(min_length = 1, max_length = 200, example = "screen 2"))]
    pub name: String,
}

/// A campaign after a change.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ChangedCampaign {
    /// Its name.
    pub name: String,
    /// Its address.
    #[cfg_attr(feature = "schema", schema(example = "/v1/campaigns/screen"))]
    pub location: String,
    /// Whether anything is different: false if the campaign had these settings and this name already.
    pub changed: bool,
}
