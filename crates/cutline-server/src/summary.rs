//! How a campaign stands, in numbers.

use crate::actor::OpenCampaign;
use crate::problem::Problem;
use crate::state::AppState;
use cutline::{Side, StopReason};
use cutline_campaign::{CampaignModel, Progress};
use cutline_store::{CampaignActivity, StoreError};
use serde::Serialize;
use utoipa::ToSchema;

/// How a campaign stands, in numbers.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub(crate) struct CampaignOverview {
    /// The number of arms.
    pub(crate) n_arms: usize,
    /// The threshold τ.
    pub(crate) threshold: f64,
    /// The precision ε.
    pub(crate) precision: f64,
    /// How many rewards may count or, if measurements have costs, what they may cost in all.
    pub(crate) budget: u32,
    /// What the rewards that count have cost; left out in a campaign without costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) spent: Option<f64>,
    /// How many rewards count.
    pub(crate) told: u32,
    /// How many rewards do not count, because they were measured before.
    pub(crate) uncounted: u64,
    /// How many tickets wait for their reward.
    pub(crate) open: usize,
    /// How many tickets failed.
    pub(crate) failed: u64,
    /// How many tickets expired and have no reward.
    pub(crate) expired: u64,
    /// How many rewards were declared void.
    pub(crate) voided: u64,
    /// How many arms are withdrawn.
    pub(crate) withdrawn: usize,
    /// How many arms lie above.
    pub(crate) above: usize,
    /// How many arms lie below.
    pub(crate) below: usize,
    /// How many arms are undecided.
    pub(crate) undecided: usize,
    /// `mixed`, `linear` or `independent`.
    pub(crate) model: &'static str,
    /// The algorithm.
    pub(crate) algorithm: String,
    /// Why the campaign has ended; null while it goes on.
    pub(crate) ending: Option<&'static str>,
    /// The number of events.
    pub(crate) events: u64,
    /// All that was counted.
    #[serde(skip)]
    pub(crate) progress: Progress,
}

impl CampaignOverview {
    pub(crate) fn new(open: &mut OpenCampaign) -> Result<Self, StoreError> {
        let (_, verdicts) = open.verdicts()?;
        let count = |side| verdicts.iter().filter(|verdict| verdict.side == side).count();
        let settings = open.campaign.settings().clone();
        let has_features = !open.campaign.columns().is_empty();
        let n_arms = open.campaign.arm_names().len();
        let state = open.campaign.state()?;
        let progress = state.progress();
        Ok(Self {
            n_arms,
            threshold: settings.threshold,
            precision: settings.precision,
            budget: progress.budget,
            spent: progress.spending.map(|spending| spending.spent.value()),
            told: progress.counted,
            uncounted: progress.uncounted,
            open: progress.open,
            failed: progress.failed,
            expired: progress.expired,
            voided: progress.voided,
            withdrawn: progress.withdrawn,
            above: count(Side::Above),
            below: count(Side::Below),
            undecided: count(Side::Undecided),
            model: CampaignModel::of(state.terms().spec.estimator()).name(),
            algorithm: settings.algorithm(has_features).into(),
            ending: state.stop_reason().map(StopReason::name),
            events: progress.events,
            progress,
        })
    }
}

/// How much of a budget is used: measurements or, where they have costs, what they cost.
pub(crate) struct BudgetUse {
    pub(crate) told: u32,
    pub(crate) spent: Option<f64>,
    pub(crate) of: u32,
}

impl BudgetUse {
    pub(crate) fn what(&self) -> &'static str {
        if self.spent.is_some() { "Spent" } else { "Measured" }
    }

    pub(crate) fn used(&self) -> f64 {
        self.spent.unwrap_or_else(|| self.told.into())
    }
}

impl CampaignOverview {
    pub(crate) fn budget_use(&self) -> BudgetUse {
        BudgetUse { told: self.told, spent: self.spent, of: self.budget }
    }
}

impl AppState {
    /// How a listed campaign stands, if it is asked for.
    pub(crate) async fn overview_if(
        &self,
        is_wanted: bool,
        campaign: &CampaignActivity,
    ) -> Result<Option<CampaignOverview>, Problem> {
        if is_wanted { self.overview(&campaign.name, campaign.events).await.map(Some) } else { Ok(None) }
    }

    /// How a campaign stands that has this many events. It is remembered, so that a list does not open all campaigns again and again.
    pub(crate) async fn overview(&self, name: &str, events: u64) -> Result<CampaignOverview, Problem> {
        if let Some(known) = self.known_overview(name).filter(|known| known.events == events) {
            return Ok(known);
        }
        let overview = self.run(name, CampaignOverview::new).await?;
        self.remember_overview(name, overview.clone());
        Ok(overview)
    }
}
