//! What the rest of the budget would bring.

use crate::auth::Principal;
use crate::extract::{PathOf, QueryOf};
use crate::problem::{Problem, Refusals};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cutline::Arms;
use cutline_campaign::{CampaignState, Expectation, Goal, Plan, PlannedCampaign, Prior, noise_and_spread};
use cutline_report::PlanReport;
use cutline_store::{Campaign, Role};
use serde::Deserialize;
use std::num::NonZeroU32;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The number of simulated campaigns that is not given, and the most.
const RUNS: u64 = 30;
const MAX_RUNS: u64 = 1000;

/// The most multiplications of a plan: about a quarter of a minute.
const MAX_COST: f64 = 1e10;

/// What a simulated measurement costs besides, in multiplications.
const COST_PER_PULL: f64 = 300.0;

/// After so many events a learner is built again, pending pulls included.
const EVENTS_PER_REBUILD: f64 = 64.0;

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(plan))
}

/// How to plan.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct PlanQuery {
    /// How many campaigns to simulate.
    #[param(minimum = 1, maximum = 1000)]
    runs: Option<u64>,
    /// The share of arms that may be called wrongly; 0.05 if it is not given.
    wrong: Option<f64>,
    /// How many measurements are asked for at once.
    #[param(minimum = 1)]
    batch: Option<u32>,
}

/// Simulates the rest of the campaign, with true means as the rewards so far suggest them: the wrong calls to expect after parts of the
/// remaining budget, all of it, and twice as much.
#[utoipa::path(
    get, path = "/v1/campaigns/{name}/plan", tag = "results",
    params(("name" = String, Path, description = "The campaign", example = "screen"), PlanQuery),
    responses((status = 200, body = serde_json::Value), Refusals)
)]
async fn plan(
    State(state): State<AppState>,
    principal: Principal,
    PathOf(name): PathOf<String>,
    QueryOf(query): QueryOf<PlanQuery>,
) -> Result<Json<serde_json::Value>, Problem> {
    principal.require_for(Role::Viewer, &name)?;
    let runs = query.runs.unwrap_or(RUNS);
    if !(1..=MAX_RUNS).contains(&runs) {
        return Err(Problem::Refused(format!("`runs` must be 1 to {MAX_RUNS}, not {runs}")));
    }
    let batch = NonZeroU32::new(query.batch.unwrap_or(1));
    let batch = batch.ok_or_else(|| Problem::Refused("`batch` must be at least 1".into()))?;
    let goal = Goal::WrongShare(query.wrong.unwrap_or(0.05));
    let report = state.heavy(&name, move |campaign| {
        let (plan, remaining) = rest(campaign, runs)?;
        report(Plan { goal, batch, ..plan }, remaining)
    });
    Ok(Json(report.await?))
}

/// The plan for the rest of a campaign, and the budget that remains.
fn rest(campaign: &mut Campaign, runs: u64) -> Result<(Plan, u32), Problem> {
    let refused = |error: &dyn std::fmt::Display| Problem::Refused(error.to_string());
    let arms = campaign.candidates()?.arms();
    let name = campaign.name().to_owned();
    let state = campaign.state()?;
    let progress = state.progress();
    let remaining = progress.remaining().whole_units();
    if remaining == 0 {
        return Err(Problem::Conflict("the budget is used up; raise it to plan with more measurements".into()));
    }
    if state.rewards().next().is_some() {
        let plan = Plan::rest_of(&name, arms, state, runs, 0).map_err(|error| refused(&error))?;
        return Ok((plan, remaining));
    }
    Ok((before(&name, arms, state, runs)?, remaining))
}

/// The plan for a campaign that has no rewards yet.
pub(crate) fn before(name: &str, arms: Arms, state: &CampaignState, runs: u64) -> Result<Plan, Problem> {
    let refused = |error: &dyn std::fmt::Display| Problem::Refused(error.to_string());
    let terms = state.terms().clone();
    let (noise, spread) = noise_and_spread(terms.noise, None, None).map_err(|error| refused(&error))?;
    let prior = Prior::expected(Expectation { spread, ..Expectation::default() }).map_err(|error| refused(&error))?;
    let (question, label) = (terms.question, terms.spec.name().to_owned());
    let campaigns = vec![PlannedCampaign { label, arms: state.arms().clone(), terms }];
    let (goal, batch) = (Goal::WrongShare(0.05), NonZeroU32::MIN);
    Ok(Plan { name: name.into(), arms, question, noise, prior, campaigns, goal, batch, runs, seed: 0 })
}

fn report(plan: Plan, remaining: u32) -> Result<serde_json::Value, Problem> {
    let report = play(plan, remaining)?;
    let mut value = serde_json::to_value(&report).map_err(|error| Problem::internal(&error))?;
    value["answers_in_words"] = report.answers().into();
    Ok(value)
}

/// About how many multiplications one simulated campaign takes.
pub(crate) fn cost_per_run(plan: &Plan, budgets: &[u32]) -> Result<f64, Problem> {
    let pulls = plan.pulls_per_run(budgets).map_err(|error| Problem::Refused(error.to_string()))?;
    let columns = plan.arms.dimension().unwrap_or(1) as f64 + 41.0;
    let rebuilds = 1.0 + f64::from(plan.batch.get()) / EVENTS_PER_REBUILD;
    Ok(pulls as f64 * (plan.arms.n_arms() as f64 * columns + COST_PER_PULL) * rebuilds)
}

/// Plays a plan with budgets around the one that remains.
pub(crate) fn play(plan: Plan, remaining: u32) -> Result<PlanReport, Problem> {
    let refused = |error: cutline_campaign::PlanError| Problem::Refused(error.to_string());
    let budgets = plan.budgets_around(remaining);
    if cost_per_run(&plan, &budgets)? * plan.runs as f64 > MAX_COST {
        return Err(Problem::Refused(
            "this would take too long here; ask for fewer `runs`, or use `cutline plan` with the address of the store"
                .into(),
        ));
    }
    let tally = plan.play(&budgets, 0..plan.runs, &|_| ()).map_err(refused)?;
    let forecast = plan.forecast(&budgets, &tally);
    Ok(PlanReport { plan, budgets, forecast, remaining: Some(remaining) })
}
