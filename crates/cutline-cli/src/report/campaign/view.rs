//! The data of a report: a campaign at one moment.

use crate::standing::standing;
use cutline::{Side, Verdict};
use cutline_campaign::{AnyCampaign, CampaignModel, CampaignState, Description, Record, Settings, Standing};
use cutline_store::StoreError;

/// The time that the verdicts of the mixed model take, compared with those of ridge with as many columns; they are averaged over many
/// settings.
const MIXED_FACTOR: f64 = 2.0;

/// A campaign at one moment, so that all parts of a page agree even while others write to the store.
pub(crate) struct View {
    pub(crate) name: String,
    pub(crate) settings: Settings,
    pub(crate) columns: Vec<String>,
    /// The arms' names.
    pub(crate) names: Vec<String>,
    pub(crate) records: Vec<Record>,
    pub(crate) state: CampaignState,
    pub(crate) verdicts: Vec<Verdict>,
    pub(crate) standing: Standing,
}

impl View {
    pub(crate) fn new(campaign: &mut dyn AnyCampaign) -> Result<Self, StoreError> {
        let (mut state, records) = campaign.snapshot()?;
        let verdicts = state.verdicts();
        let standing = standing(campaign, &verdicts)?;
        let name = campaign.name().into();
        let Description { settings, columns, names, .. } = campaign.description()?.clone();
        Ok(Self { name, settings, columns, names, records, state, verdicts, standing })
    }

    /// The arms on a side, highest mean first.
    pub(crate) fn arms(&self, side: Side) -> Vec<usize> {
        let mut arms: Vec<usize> = (0..self.verdicts.len()).filter(|&arm| self.verdicts[arm].side == side).collect();
        arms.sort_by(|&a, &b| self.verdicts[b].mean.total_cmp(&self.verdicts[a].mean));
        arms
    }

    /// The model on which the verdicts rest.
    pub(crate) fn model(&self) -> CampaignModel {
        CampaignModel::of(self.state.terms().spec.estimator())
    }

    /// K·d², the cost of computing all verdicts of the linear model once, and of testing it.
    pub(crate) fn linear_cost(&self) -> f64 {
        let dimension = self.state.arms().dimension().unwrap_or(1) as f64;
        self.names.len() as f64 * dimension * dimension
    }

    /// The cost of computing all verdicts once, in the same unit. The mixed model has a column per feature and per landmark.
    pub(crate) fn cost(&self) -> f64 {
        if self.model() != CampaignModel::Mixed {
            return self.linear_cost();
        }
        let landmarks = self.state.terms().spec.values().find(|(name, _)| *name == "landmarks").map_or(0.0, |(_, d)| d);
        let n_arms = self.names.len() as f64;
        let columns = self.state.arms().dimension().unwrap_or(0) as f64 + 1.0 + landmarks.min(n_arms);
        MIXED_FACTOR * n_arms * columns * columns
    }
}
