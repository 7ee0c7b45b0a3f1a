//! A campaign at one moment.

use crate::{CampaignModel, CampaignState, Record, Settings, Standing};
use cutline::{Arm, Side, Verdict};

/// The time that the verdicts of the mixed model take, compared with those of ridge with as many columns; they are averaged over many
/// settings.
const MIXED_FACTOR: f64 = 2.0;

/// A campaign at one moment, so that all parts of a page agree even while others write to the store.
pub struct View {
    /// Its name.
    pub name: String,
    /// Its settings.
    pub settings: Settings,
    /// The names of the features.
    pub columns: Vec<String>,
    /// The names of the arms.
    pub names: Vec<String>,
    /// All events.
    pub records: Vec<Record>,
    /// The state after them.
    pub state: CampaignState,
    /// The verdicts on all arms.
    pub verdicts: Vec<Verdict>,
    /// How it stands.
    pub standing: Standing,
}

impl View {
    /// The arms on a side, highest mean first.
    #[must_use]
    pub fn arms(&self, side: Side) -> Vec<Arm> {
        let mut arms: Vec<Arm> = (0..self.verdicts.len()).filter(|&arm| self.verdicts[arm].side == side).collect();
        arms.sort_by(|&a, &b| self.verdicts[b].mean.total_cmp(&self.verdicts[a].mean));
        arms
    }

    /// The model on which the verdicts rest.
    #[must_use]
    pub fn model(&self) -> CampaignModel {
        CampaignModel::of(self.state.terms().spec.estimator())
    }

    /// K·d², the cost of computing all verdicts of the linear model once, and of testing it.
    #[must_use]
    pub fn linear_cost(&self) -> f64 {
        let dimension = self.state.arms().dimension().unwrap_or(1) as f64;
        self.names.len() as f64 * dimension * dimension
    }

    /// The cost of computing all verdicts once, in the same unit. The mixed model has a column per feature and per landmark.
    #[must_use]
    pub fn cost(&self) -> f64 {
        if self.model() != CampaignModel::Mixed {
            return self.linear_cost();
        }
        let landmarks = self.state.terms().spec.values().find(|(name, _)| *name == "landmarks").map_or(0.0, |(_, d)| d);
        let n_arms = self.names.len() as f64;
        let columns = self.state.arms().dimension().unwrap_or(0) as f64 + 1.0 + landmarks.min(n_arms);
        MIXED_FACTOR * n_arms * columns * columns
    }
}
