//! The arms of a campaign: adding, withdrawing and restoring them, and verdicts on arms that are not in it.

use super::new_campaign::{TableQuery, candidates};
use super::{finite, page_bounds};
use crate::auth::Principal;
use crate::extract::{BodyKind, JsonOf, PathOf, Posted, QueryOf, check_campaign};
use crate::problem::{Problem, Refusals};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use bytes::Bytes;
use cutline::{Arm, Verdict};
use cutline_campaign::{AnyCampaign, Candidates, Encoding, Operation, Origin, Submission};
use cutline_client::wire::{Added, ArmPage, ArmsBody, Changed, ListedArm, NamedArms};
use cutline_data::dataset;
use cutline_data::dataset::{Loaded, ReadOptions, Source};
use cutline_store::{Campaign, Role, StoreError};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list, add))
        .routes(routes!(predict))
        .routes(routes!(withdraw))
        .routes(routes!(restore))
}

/// Which arms.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ArmQuery {
    /// How many arms to skip.
    offset: Option<usize>,
    /// How many to return at most.
    limit: Option<usize>,
}

/// The arms with their features.
#[utoipa::path(
    get, path = "/v1/campaigns/{name}/arms", tag = "arms",
    params(("name" = String, Path, description = "The campaign", example = "screen"), ArmQuery),
    responses((status = 200, body = ArmPage), Refusals)
)]
async fn list(
    State(state): State<AppState>,
    principal: Principal,
    PathOf(name): PathOf<String>,
    QueryOf(query): QueryOf<ArmQuery>,
) -> Result<Json<ArmPage>, Problem> {
    principal.require_for(Role::Viewer, &name)?;
    let (offset, limit) = page_bounds(query.offset, query.limit, 100, state.limits().page)?;
    let page = state.run(&name, move |open| {
        let candidates = open.candidates()?;
        let arm = |arm: Arm| ListedArm {
            name: candidates.names()[arm].clone(),
            features: candidates.row(arm).to_vec(),
            cost: candidates.costs().map(|costs| costs[arm]),
        };
        let arms = (0..candidates.n_arms()).skip(offset).take(limit).map(arm).collect();
        Ok(ArmPage { columns: candidates.columns().to_vec(), arms, total: candidates.n_arms() })
    });
    Ok(Json(page.await?))
}

/// Adds arms, behind those that there are: as JSON, or as a table with the columns of the one that the campaign began with.
#[utoipa::path(
    post, path = "/v1/campaigns/{name}/arms", tag = "arms", params(("name" = String, Path, description = "The campaign", example = "screen")),
    request_body(content((ArmsBody = "application/json"), (String = "text/csv"), (Vec<u8> = "application/vnd.apache.parquet"))),
    responses((status = 200, body = Added), Refusals)
)]
async fn add(
    State(state): State<AppState>,
    PathOf(name): PathOf<String>,
    QueryOf(query): QueryOf<TableQuery>,
    posted: Posted,
) -> Result<Json<Added>, Problem> {
    posted.principal.require_for(Role::Admin, &name)?;
    let most = state.limits().arms;
    let added = state.heavy(&name, move |campaign| {
        check_campaign(posted.campaign, campaign.id())?;
        let options = ReadOptions { cost: campaign.settings().cost.clone(), ..query.options()? };
        add_arms(campaign, &later(campaign, &posted, &options)?, most, &posted.origin)
    });
    Ok(Json(Added { added: added.await? }))
}

/// Adds arms to a campaign, which then has at most `most`. Returns how many are new.
pub(crate) fn add_arms(
    campaign: &mut Campaign,
    more: &Candidates,
    most: usize,
    origin: &Origin,
) -> Result<usize, Problem> {
    let n_arms = campaign.arm_names().len() + more.n_arms();
    if n_arms > most {
        return Err(Problem::Refused(format!("there would be {n_arms} arms; at most {most} are allowed")));
    }
    let operation = Operation::Add(Box::new(more.clone()));
    Ok(campaign.submit(Submission { operation, origin: origin.clone() })?.n_added)
}

/// The candidates of a body, with the columns of a campaign.
fn later(campaign: &Campaign, posted: &Posted, options: &ReadOptions) -> Result<Candidates, Problem> {
    if posted.kind == BodyKind::Json {
        return candidates(campaign.columns().to_vec(), posted.json::<ArmsBody>()?.arms);
    }
    from_table(campaign, posted.bytes.clone(), options)
}

/// The candidates of a table, with the columns of a campaign.
pub(crate) fn from_table(campaign: &Campaign, table: Bytes, options: &ReadOptions) -> Result<Candidates, Problem> {
    let plain = || Encoding::numbers(campaign.columns());
    let encoding = campaign.settings().encoding.clone().unwrap_or_else(plain);
    let loaded = dataset::load_encoded(&Source::Bytes(table), &encoding, options);
    let Loaded { candidates, has_names, .. } = loaded.map_err(|error| Problem::Refused(error.to_string()))?;
    if has_names {
        return Ok(candidates);
    }
    let first = campaign.arm_names().len();
    let names = (first..first + candidates.n_arms()).map(|number| number.to_string()).collect();
    Ok(candidates.renamed(names).map_err(StoreError::from)?)
}

/// The verdict on an arm that is not in the campaign.
#[derive(Serialize, ToSchema)]
struct Prediction {
    /// Its name.
    arm: String,
    /// `above`, `below` or `undecided`.
    side: &'static str,
    /// `likely`, or null if it is undecided: without rewards of its own nothing is proved.
    basis: Option<&'static str>,
    /// Whether the mean is the threshold to the last digit, and nothing speaks for either side; the side is `above` then.
    at_threshold: bool,
    /// The estimate of its mean.
    mean: Option<f64>,
    /// The lower end of the interval; null if it has none.
    lower: Option<f64>,
    /// The upper end.
    upper: Option<f64>,
    /// The probability that the call is wrong.
    doubt: f64,
    /// The probability that calling it above is right.
    probability_above: f64,
}

/// The verdicts that arms would have if they were added. The campaign does not change.
#[utoipa::path(
    post, path = "/v1/campaigns/{name}/predict", tag = "arms", params(("name" = String, Path, description = "The campaign", example = "screen")),
    request_body(content((ArmsBody = "application/json"), (String = "text/csv"), (Vec<u8> = "application/vnd.apache.parquet"))),
    responses((status = 200, body = Vec<Prediction>), Refusals)
)]
async fn predict(
    State(state): State<AppState>,
    PathOf(name): PathOf<String>,
    QueryOf(query): QueryOf<TableQuery>,
    posted: Posted,
) -> Result<Json<Vec<Prediction>>, Problem> {
    posted.principal.require_for(Role::Viewer, &name)?;
    let predicted = state.heavy(&name, move |campaign| {
        let others = later(campaign, &posted, &ReadOptions { cost: None, ..query.options()? })?;
        let verdicts = campaign.predict(&others)?;
        let prediction = |(arm, verdict): (&String, Verdict)| Prediction {
            arm: arm.clone(),
            side: verdict.side.name(),
            basis: verdict.basis.map(cutline::Basis::name),
            at_threshold: verdict.is_at_threshold(),
            mean: finite(verdict.mean),
            lower: finite(verdict.lower),
            upper: finite(verdict.upper),
            doubt: verdict.doubt,
            probability_above: verdict.probability_above(),
        };
        Ok(others.names().iter().zip(verdicts).map(prediction).collect())
    });
    Ok(Json(predicted.await?))
}

/// Withdraws arms that cannot be measured: they are not handed out again.
#[utoipa::path(
    post, path = "/v1/campaigns/{name}/withdrawals", tag = "arms", params(("name" = String, Path, description = "The campaign", example = "screen")),
    request_body = NamedArms,
    responses((status = 200, body = Changed), Refusals)
)]
async fn withdraw(
    state: State<AppState>,
    name: PathOf<String>,
    body: JsonOf<NamedArms>,
) -> Result<Json<Changed>, Problem> {
    change_arms(state, name, body, Operation::Withdraw).await
}

/// Makes withdrawn arms available again.
#[utoipa::path(
    post, path = "/v1/campaigns/{name}/restorations", tag = "arms", params(("name" = String, Path, description = "The campaign", example = "screen")),
    request_body = NamedArms,
    responses((status = 200, body = Changed), Refusals)
)]
async fn restore(
    state: State<AppState>,
    name: PathOf<String>,
    body: JsonOf<NamedArms>,
) -> Result<Json<Changed>, Problem> {
    change_arms(state, name, body, |arms, _| Operation::Restore(arms)).await
}

async fn change_arms(
    State(state): State<AppState>,
    PathOf(name): PathOf<String>,
    JsonOf { value, posted }: JsonOf<NamedArms>,
    operation: impl FnOnce(Vec<Arm>, String) -> Operation,
) -> Result<Json<Changed>, Problem> {
    posted.principal.require_for(Role::Admin, &name)?;
    posted.check_batch("arms", value.arms.len())?;
    posted.check_text("the reason", &value.reason)?;
    let arms = find_arms(&state, &name, value.arms).await?;
    let submission = Submission { operation: operation(arms, value.reason), origin: posted.origin };
    Ok(Json(Changed { changed: state.submit(&name, submission, posted.campaign).await?.n_events }))
}

/// The arms with these names.
pub(crate) async fn find_arms(state: &AppState, campaign: &str, names: Vec<String>) -> Result<Vec<Arm>, Problem> {
    let found = state.run(campaign, move |open| open.arms(&names)).await?;
    found.map_err(|name| Problem::Refused(format!("there is no arm `{name}`")))
}
