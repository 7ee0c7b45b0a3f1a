//! How features and rewards are transformed before a model learns from them.

use serde::{Deserialize, Serialize};

/// How features and rewards are transformed before ridge learns from them. With the default, the estimate of an arm about which nothing is
/// known is the threshold, and the units of the features do not matter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Preparation {
    /// Whether each feature is standardised: minus its mean, divided by its standard deviation over the arms.
    pub standardise: bool,
    /// The value of an additional feature that is the same for all arms; 0 for none.
    pub intercept: f64,
    /// Whether the model is fitted to r − τ instead of r.
    pub centre: bool,
}

impl Default for Preparation {
    fn default() -> Self {
        Self { standardise: true, intercept: 1.0, centre: true }
    }
}

impl Preparation {
    /// Features and rewards as they are: the model of the LinearAPT paper.
    #[must_use]
    pub fn raw() -> Self {
        Self { standardise: false, intercept: 0.0, centre: false }
    }

    /// For arms on a graph, which have no features to prepare.
    #[must_use]
    pub fn of_graph() -> Self {
        Self { centre: true, ..Self::raw() }
    }
}
