//! Campaigns: begin, list, get, change, rename and delete.

use super::new_campaign::{NewCampaignBody, TableQuery};
use super::page_bounds;
use crate::auth::Principal;
use crate::extract::{BodyKind, JsonOf, PathOf, Posted, QueryOf};
use crate::problem::{Problem, Refusals};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use cutline_campaign::{Change, ChangeSchema, NewSettingsSchema, Operation, Settings, Standing, Submission, rfc3339};
pub(crate) use cutline_client::escaped;
use cutline_client::wire::{BegunCampaign, CampaignIdentity, ChangedCampaign, CopyBody, FirstTerms};
use cutline_store::{Campaign, Role};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(get, change, delete))
        .routes(routes!(identity))
        .routes(routes!(copy))
}

/// Which part of the list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListQuery {
    /// How many campaigns to skip.
    pub(crate) offset: Option<usize>,
    /// How many to return at most.
    pub(crate) limit: Option<usize>,
    /// Only campaigns whose names contain this text.
    pub(crate) search: Option<String>,
    /// Whether to say how the campaigns stand, for which they are opened [default: true].
    pub(crate) overview: Option<bool>,
}

/// A part of the list of campaigns, the latest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct CampaignList {
    /// The campaigns.
    pub(crate) campaigns: Vec<ListedCampaign>,
    /// How many there are in all.
    pub(crate) total: usize,
}

/// A campaign in the list.
#[derive(Serialize, ToSchema)]
pub(crate) struct ListedCampaign {
    /// Its number, which no other campaign of the store gets.
    id: i64,
    /// Its name.
    pub(crate) name: String,
    /// When it was begun.
    pub(crate) created: String,
    /// The number of its events.
    events: u64,
    /// When the last of them happened.
    pub(crate) last_event: Option<String>,
    /// How it stands; null if it was not asked for, or the campaign cannot be opened here, as one with a custom rule.
    pub(crate) overview: Option<Standing>,
}

/// The campaigns, the latest first, each with its progress.
#[utoipa::path(
    get, path = "/v1/campaigns", tag = "campaigns", params(ListQuery),
    responses((status = 200, body = CampaignList), Refusals)
)]
async fn list(
    State(state): State<AppState>,
    principal: Principal,
    QueryOf(query): QueryOf<ListQuery>,
) -> Result<Json<CampaignList>, Problem> {
    principal.require(Role::Viewer)?;
    Ok(Json(campaign_list(&state, principal, query).await?))
}

/// The campaigns that somebody may see.
pub(crate) async fn campaign_list(
    state: &AppState,
    principal: Principal,
    query: ListQuery,
) -> Result<CampaignList, Problem> {
    let (offset, limit) = page_bounds(query.offset, query.limit, 20, state.limits().page.min(100))?;
    let mut found = state.store(|store| Ok(store.activity()?)).await?;
    let search = query.search.unwrap_or_default();
    found.retain(|campaign| principal.sees(&campaign.name) && campaign.name.contains(&search));
    found.reverse();
    let total = found.len();
    let mut campaigns = Vec::new();
    for campaign in found.into_iter().skip(offset).take(limit) {
        let overview = match state.standing_if(query.overview != Some(false), &campaign).await {
            Ok(overview) => overview,
            // It was deleted in the meantime.
            Err(Problem::NoCampaign(_) | Problem::NotFound(_)) => continue,
            Err(_) => None,
        };
        campaigns.push(ListedCampaign {
            id: campaign.id,
            name: campaign.name,
            created: rfc3339(campaign.created),
            events: campaign.events,
            last_event: campaign.last_event.map(rfc3339),
            overview,
        });
    }
    Ok(CampaignList { campaigns, total })
}

/// Begins a campaign, with its arms in the body: as JSON with the settings, or as a table (CSV, plain or compressed with gzip, Excel or
/// Parquet) with the settings in the address.
#[utoipa::path(
    post, path = "/v1/campaigns", tag = "campaigns", params(TableQuery, NewSettingsSchema),
    request_body(content((NewCampaignBody = "application/json"), (String = "text/csv"), (Vec<u8> = "application/vnd.apache.parquet"))),
    responses((status = 201, body = BegunCampaign), Refusals)
)]
async fn create(
    State(state): State<AppState>,
    QueryOf(query): QueryOf<TableQuery>,
    posted: Posted,
) -> Result<Response, Problem> {
    posted.principal.require(Role::Admin)?;
    let shared = state.clone();
    let answer = state.store(move |store| {
        let (new, notes) = match posted.kind {
            BodyKind::Json => (posted.json::<NewCampaignBody>()?.campaign(&shared)?, Vec::new()),
            BodyKind::Table => query.campaign(posted.bytes.clone(), &shared)?,
        };
        posted.principal.require_for(Role::Admin, new.name())?;
        Ok(begun(&store.begin_new(new.with_origin(posted.origin))?, notes))
    });
    Ok(created(answer.await?))
}

/// The answer for a campaign that has begun.
fn begun(campaign: &Campaign, notes: Vec<String>) -> BegunCampaign {
    let (name, n_arms) = (campaign.name().to_owned(), campaign.arm_names().len());
    BegunCampaign { id: campaign.id(), location: location(&name), name, n_arms, notes }
}

fn created(begun: BegunCampaign) -> Response {
    (StatusCode::CREATED, [(header::LOCATION, begun.location.clone())], Json(begun)).into_response()
}

/// Copies a campaign with its arms and events to another name. From then on the two share nothing.
#[utoipa::path(
    post, path = "/v1/campaigns/{name}/copies", tag = "campaigns", params(("name" = String, Path, description = "The campaign", example = "screen")),
    request_body = CopyBody,
    responses((status = 201, body = BegunCampaign), Refusals)
)]
async fn copy(
    State(state): State<AppState>,
    PathOf(name): PathOf<String>,
    JsonOf { value, posted }: JsonOf<CopyBody>,
) -> Result<Response, Problem> {
    posted.principal.require_for(Role::Admin, &name)?;
    posted.principal.require_for(Role::Admin, &value.name)?;
    let copied = state.store(move |store| {
        let campaign = store.copy(Some(&name), store, &value.name, &posted.origin)?;
        Ok(begun(&campaign, Vec::new()))
    });
    Ok(created(copied.await?))
}

/// The address of a campaign.
pub(crate) fn location(name: &str) -> String {
    format!("/v1/campaigns/{}", escaped(name))
}

/// A campaign with its settings.
#[derive(Serialize, ToSchema)]
struct CampaignDetails {
    /// Its number, which no other campaign of the store gets.
    id: i64,
    /// Its name.
    name: String,
    /// Its settings after all changes, as the store keeps them.
    settings: Settings,
    /// The settings it began with. Those and the arms and the events are all that there is: everything else is computed from them.
    first_settings: Settings,
    /// The number of arms it began with.
    first_n_arms: usize,
    /// The names of the features.
    columns: Vec<String>,
    /// How it stands.
    overview: Standing,
}

/// A campaign: its settings and its progress.
#[utoipa::path(
    get, path = "/v1/campaigns/{name}", tag = "campaigns", params(("name" = String, Path, description = "The campaign", example = "screen")),
    responses((status = 200, body = CampaignDetails), Refusals)
)]
async fn get(
    State(state): State<AppState>,
    principal: Principal,
    PathOf(name): PathOf<String>,
) -> Result<Json<CampaignDetails>, Problem> {
    principal.require_for(Role::Viewer, &name)?;
    let details = state.run(&name, |open| {
        let overview = open.standing()?;
        let first_n_arms = open.campaign.first_n_arms()?;
        let campaign = &open.campaign;
        Ok(CampaignDetails {
            id: campaign.id(),
            name: campaign.name().to_owned(),
            settings: campaign.settings().clone(),
            first_settings: campaign.first_settings().clone(),
            first_n_arms,
            columns: campaign.columns().to_vec(),
            overview,
        })
    });
    Ok(Json(details.await?))
}

/// What to say of a campaign.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct IdentityQuery {
    /// Whether to say what it began with, too [default: false].
    #[serde(default)]
    settings: bool,
}

/// Which campaign has a name: its number and its columns, for clients that change it, and for those that compute its state themselves.
#[utoipa::path(
    get, path = "/v1/campaigns/{name}/identity", tag = "campaigns",
    params(("name" = String, Path, description = "The campaign", example = "screen"), IdentityQuery),
    responses((status = 200, body = CampaignIdentity), Refusals)
)]
async fn identity(
    State(state): State<AppState>,
    principal: Principal,
    PathOf(name): PathOf<String>,
    QueryOf(query): QueryOf<IdentityQuery>,
) -> Result<Json<CampaignIdentity>, Problem> {
    principal.require_for(Role::Viewer, &name)?;
    let identity = state.run(&name, move |open| {
        let campaign = &mut open.campaign;
        let n_arms = campaign.first_n_arms()?;
        let first = FirstTerms { settings: campaign.first_settings().clone(), n_arms };
        let first = Some(first).filter(|_| query.settings);
        Ok(CampaignIdentity { id: campaign.id(), columns: campaign.columns().to_vec(), first })
    });
    Ok(Json(identity.await?))
}

/// What to change of a campaign. What is left out stays as it is; null is the default of a setting.
#[derive(Clone, Debug, Deserialize, ToSchema)]
struct ChangeBody {
    /// Another name.
    #[schema(min_length = 1, max_length = 200)]
    name: Option<String>,
    /// Other settings.
    #[serde(flatten)]
    #[schema(value_type = ChangeSchema)]
    settings: Change,
}

/// Changes settings from here on, or the name. Everything measured so far counts as if the campaign had begun with the new settings.
#[utoipa::path(
    patch, path = "/v1/campaigns/{name}", tag = "campaigns", params(("name" = String, Path, description = "The campaign", example = "screen")),
    request_body = ChangeBody,
    responses((status = 200, body = ChangedCampaign), Refusals)
)]
async fn change(
    State(state): State<AppState>,
    PathOf(name): PathOf<String>,
    JsonOf { value, posted }: JsonOf<ChangeBody>,
) -> Result<Json<ChangedCampaign>, Problem> {
    posted.principal.require_for(Role::Admin, &name)?;
    let mut changed = false;
    // A campaign that cannot be opened here, as one with a custom rule, can be renamed.
    if !value.settings.is_empty() {
        let submission =
            Submission { operation: Operation::Change(Box::new(value.settings)), origin: posted.origin.clone() };
        changed = state.submit(&name, submission, posted.campaign).await?.n_events > 0;
    }
    let new_name = match value.name.filter(|wanted| *wanted != name) {
        Some(wanted) => {
            changed = true;
            rename(&state, &posted.principal, name, wanted).await?
        }
        None => name,
    };
    Ok(Json(ChangedCampaign { location: location(&new_name), name: new_name, changed }))
}

/// Gives a campaign another name, which is returned.
pub(crate) async fn rename(
    state: &AppState,
    principal: &Principal,
    name: String,
    new: String,
) -> Result<String, Problem> {
    principal.require_for(Role::Admin, &new)?;
    let (from, to) = (name.clone(), new.clone());
    state.store(move |store| Ok(store.rename(Some(&from), &to)?)).await?;
    tracing::info!(author = ?principal.name, campaign = name, renamed = new, "a campaign was renamed");
    Ok(new)
}

/// Deletes a campaign.
pub(crate) async fn delete_campaign(state: &AppState, principal: &Principal, name: String) -> Result<(), Problem> {
    let deleted = name.clone();
    state.store(move |store| Ok(store.delete(&deleted)?)).await?;
    state.forget(&name);
    tracing::info!(author = ?principal.name, campaign = name, "a campaign was deleted");
    Ok(())
}

/// The name of the campaign once more.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct DeleteQuery {
    /// The name of the campaign once more, so that none is deleted by accident.
    confirm: Option<String>,
}

/// Deletes a campaign with all its arms and events. This cannot be undone.
#[utoipa::path(
    delete, path = "/v1/campaigns/{name}", tag = "campaigns",
    params(("name" = String, Path, description = "The campaign", example = "screen"), DeleteQuery),
    responses((status = 204), Refusals)
)]
async fn delete(
    State(state): State<AppState>,
    principal: Principal,
    PathOf(name): PathOf<String>,
    QueryOf(query): QueryOf<DeleteQuery>,
) -> Result<StatusCode, Problem> {
    principal.require_for(Role::Admin, &name)?;
    if query.confirm.as_deref() != Some(&name) {
        return Err(Problem::Refused("to delete the campaign, give its name once more, as in `?confirm=NAME`".into()));
    }
    delete_campaign(&state, &principal, name).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[cfg(test)]
mod tests {
    use super::location;

    #[test]
    fn addresses_are_escaped() {
        assert_eq!(location("screen-1.a"), "/v1/campaigns/screen-1.a");
        assert_eq!(location("a/b?ü"), "/v1/campaigns/a%2Fb%3F%C3%BC");
    }
}
