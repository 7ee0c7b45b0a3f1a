//! What the rest of a campaign in progress would bring.

use super::rewards::check_noise;
use super::{ForecastRow, Goal, Pilot, PilotError, Plan, PlanError, PlannedCampaign, Prior};
use crate::CampaignState;
use cutline::{Arms, RewardKind};
use serde::Serialize;
use std::num::NonZeroU32;

/// The largest cost of a [`Rest`] that is computed without being asked for, in multiplications. It bounds the size of the campaign, whatever
/// the speed of the machine: about 300 arms with 10 features and 450 measurements.
const MAX_QUICK_COST: f64 = 1.3e8;

/// The runs of a quick forecast.
const QUICK_RUNS: u64 = 16;

/// What a number of further measurements would bring: means over simulated campaigns.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Rest {
    /// The number of further measurements; `None` if they have costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measurements: Option<u32>,
    /// What further measurements may cost; `None` without costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spend: Option<u32>,
    /// The number of simulated campaigns.
    pub runs: u64,
    /// The mean number of arms called wrongly at the end.
    pub wrong_calls: f64,
    /// The lower end of its 95 % interval, which covers the error of the simulation only.
    pub wrong_calls_low: f64,
    /// The upper end.
    pub wrong_calls_high: f64,
    /// The mean number of arms that are undecided at the end.
    pub undecided: f64,
}

impl Rest {
    /// What a row of the forecast of a plan says about the rest.
    #[must_use]
    pub fn new(row: &ForecastRow, plan: &Plan) -> Self {
        let (n_arms, in_costs) = (plan.arms.n_arms(), plan.costs().is_some());
        Self {
            measurements: (!in_costs).then_some(row.budget),
            spend: in_costs.then_some(row.budget),
            runs: row.runs,
            wrong_calls: row.mean_errors,
            wrong_calls_low: row.errors_low,
            wrong_calls_high: row.errors_high,
            undecided: (1.0 - row.decided) * n_arms as f64,
        }
    }
}

impl Plan {
    /// A plan for the rest of a campaign: its settings, its arms, its rewards, its open tickets and its withdrawn arms.
    ///
    /// Every run draws true means from the posterior of the mixed model given the rewards so far, whatever the model of the campaign, and
    /// plays the campaign on from there. The rewards of open tickets come first. σ is that of the campaign if it was given, and else
    /// what the mixed model has learnt. A campaign that ended before its budget was used up is played on as if it could not. `arms` are the arms as they were given.
    ///
    /// # Errors
    /// If there are no rewards, or they say nothing.
    pub fn rest_of(
        name: &str,
        arms: Arms,
        state: &mut CampaignState,
        runs: u64,
        seed: u64,
    ) -> Result<Self, PilotError> {
        let mut terms = state.terms().clone();
        if state.stop_reason().is_some() {
            terms.until_sure = None;
        }
        let pilot = Pilot::new(&arms, terms.question, state.rewards().collect(), terms.noise, terms.seed)?;
        let open = state.open_tickets().filter_map(|(ticket, _)| state.ticket(ticket).ok()).map(|(arm, ..)| arm);
        let withdrawn = state.withdrawn().map(|(arm, _)| arm).collect();
        let pilot = pilot.in_progress(open.collect(), withdrawn);
        let is_bernoulli = terms.rewards == Some(RewardKind::Bernoulli);
        let sigma = if is_bernoulli { RewardKind::BERNOULLI_SIGMA } else { pilot.noise() };
        let noise = check_noise(sigma).map_err(|_| PilotError::Nothing)?;
        let label = terms.spec.name().to_owned();
        Ok(Self {
            name: name.into(),
            arms,
            question: terms.question,
            noise,
            prior: Prior::pilot(pilot),
            campaigns: vec![PlannedCampaign { label, arms: state.arms().clone(), terms }],
            batch: NonZeroU32::MIN,
            goal: Goal::WrongShare(0.05),
            runs,
            seed,
        })
    }

    /// The budgets to try for a campaign with this much budget left: parts of it, all of it, and twice as much, in
    /// whole batches.
    #[must_use]
    pub fn budgets_around(&self, remaining: u32) -> Vec<u32> {
        let twice = remaining.saturating_mul(2).min(100_000_000);
        let parts = [remaining.div_ceil(4), remaining.div_ceil(2), remaining, twice];
        let mut budgets = parts.map(|budget| self.whole_batches(budget)).to_vec();
        budgets.dedup();
        budgets
    }

    /// What this many further measurements, or spending this much, would bring to the first campaign of the plan.
    ///
    /// # Errors
    /// As [`Plan::play`].
    pub fn rest(&self, budget: u32) -> Result<Rest, PlanError> {
        let budgets = [budget];
        let forecast = self.forecast(&budgets, &self.play(&budgets, 0..self.runs, &|_| ())?);
        let row = forecast.prospects.first().ok_or(PlanError::Budgets)?;
        Ok(Rest::new(row, self))
    }

    /// Whether [`Plan::quick_rest`] computes anything: there are [enough rewards](CampaignState::may_forecast) and there is budget left, the campaign
    /// has not ended, the rule is not a custom one, and the campaign is small. It is a function of the campaign, not of the clock.
    #[must_use]
    pub fn is_rest_quick(state: &mut CampaignState) -> bool {
        if state.stop_reason().is_some() {
            return false;
        }
        let (progress, spec) = (state.progress(), &state.terms().spec);
        let remaining = progress.remaining().whole_units();
        let told = u64::from(progress.counted) + progress.uncounted;
        let is_custom = spec.algorithm().name != spec.name();
        remaining > 0 && state.may_forecast() && !is_custom && cost(state, told, remaining) <= MAX_QUICK_COST
    }

    /// What the remaining budget of a campaign would bring, by a few runs; `None` unless it [is quick](Plan::is_rest_quick). `arms` are the arms as
    /// they were given.
    #[must_use]
    pub fn quick_rest(arms: Arms, state: &mut CampaignState) -> Option<Rest> {
        let progress = state.progress();
        if !Self::is_rest_quick(state) || progress.withdrawn == state.arms().n_arms() {
            return None;
        }
        let plan = Self::rest_of("rest", arms, state, QUICK_RUNS, 0).ok()?;
        plan.rest(progress.remaining().whole_units()).ok()
    }
}

/// The multiplications of a quick forecast: every run repeats the rewards so far, plays the rest, and computes verdicts.
fn cost(state: &CampaignState, told: u64, remaining: u32) -> f64 {
    let (n_arms, dimension) = (state.arms().n_arms() as f64, state.arms().dimension().unwrap_or(1) as f64);
    let columns = dimension + 41.0;
    // All of it may go to the cheapest arm.
    let least_cost = state.least_cost().map_or(1.0, cutline::Amount::value);
    let pulls = told as f64 + f64::from(remaining) / least_cost;
    QUICK_RUNS as f64 * (pulls * (500.0 + n_arms * columns) + n_arms * columns * columns)
}
