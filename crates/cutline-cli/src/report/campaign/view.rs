//! A campaign at one moment, as its report shows it.

use cutline::campaign::{CampaignState, Record};
use cutline::{Side, Verdict};
use cutline_store::{Settings, StoreError};

/// A campaign at one moment: whatever others write meanwhile, all parts of a page say the same.
pub(crate) struct View {
    pub(crate) name: String,
    pub(crate) settings: Settings,
    pub(crate) columns: Vec<String>,
    /// The arms' names.
    pub(crate) names: Vec<String>,
    pub(crate) records: Vec<Record>,
    pub(crate) state: CampaignState,
    pub(crate) verdicts: Vec<Verdict>,
}

impl View {
    pub(crate) fn new(campaign: &mut cutline_store::Campaign) -> Result<Self, StoreError> {
        let records = campaign.events(0)?;
        // It is made anew from these records, as there may be more by now.
        let latest = campaign.state()?;
        let mut state = CampaignState::new(latest.arms().clone(), latest.terms().clone())?;
        state.extend(&records).expect("events that the campaign itself has taken");
        Ok(Self {
            name: campaign.name().into(),
            settings: campaign.settings().clone(),
            columns: campaign.columns().to_vec(),
            names: campaign.arms().to_vec(),
            verdicts: state.verdicts(),
            records,
            state,
        })
    }

    /// The arms of a side, highest mean first.
    pub(crate) fn arms(&self, side: Side) -> Vec<usize> {
        let mut arms: Vec<usize> = (0..self.verdicts.len()).filter(|&arm| self.verdicts[arm].side == side).collect();
        arms.sort_by(|&a, &b| self.verdicts[b].mean.total_cmp(&self.verdicts[a].mean));
        arms
    }

    /// Whether what is said of an arm rests on other arms too, by the linear model.
    pub(crate) fn is_linear(&self) -> bool {
        self.state.terms().spec.estimator() == cutline::EstimatorKind::Ridge
    }

    /// K·d², what one look at every arm costs.
    pub(crate) fn cost(&self) -> f64 {
        let dimension = self.state.arms().dimension().unwrap_or(1) as f64;
        self.names.len() as f64 * dimension * dimension
    }
}
