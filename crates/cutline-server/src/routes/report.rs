//! The result of a campaign so far: in numbers and words, and as a figure.

use crate::actor::OpenCampaign;
use crate::auth::Principal;
use crate::extract::PathOf;
use crate::problem::{Problem, Refusals};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use cutline_campaign::now;
use cutline_campaign::{AnyCampaign, OpenTicket};
use cutline_report::{Sort, Summary, verdict_figure};
use cutline_store::{Role, StoreError};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(report))
        .routes(routes!(figure))
        .routes(routes!(tickets))
        .routes(routes!(report_html))
}

/// How a campaign stands.
#[utoipa::path(
    get, path = "/v1/campaigns/{name}/report", tag = "results", params(("name" = String, Path, description = "The campaign", example = "screen")),
    responses((status = 200, body = Summary), Refusals)
)]
async fn report(
    State(state): State<AppState>,
    principal: Principal,
    PathOf(name): PathOf<String>,
) -> Result<Json<Summary>, Problem> {
    principal.require_for(Role::Viewer, &name)?;
    Ok(Json(state.run(&name, OpenCampaign::standing).await?.into()))
}

/// The means and intervals of all arms against the threshold.
#[utoipa::path(
    get, path = "/v1/campaigns/{name}/figure.svg", tag = "results", params(("name" = String, Path, description = "The campaign", example = "screen")),
    responses(
        (status = 200, body = String, content_type = "image/svg+xml"),
        Refusals
    )
)]
async fn figure(
    State(state): State<AppState>,
    principal: Principal,
    PathOf(name): PathOf<String>,
) -> Result<Response, Problem> {
    principal.require_for(Role::Viewer, &name)?;
    // A drawing has its own styles, and nothing else.
    let headers = [
        (header::CONTENT_TYPE, "image/svg+xml"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'"),
    ];
    Ok((headers, figure_svg(&state, &name).await?).into_response())
}

/// The figure of the verdicts as SVG.
pub(crate) async fn figure_svg(state: &AppState, name: &str) -> Result<String, Problem> {
    let (names, verdicts, terms) = state
        .run(name, |open| {
            let (_, verdicts) = open.verdicts()?;
            Ok((open.names(), verdicts, open.campaign.state()?.terms().clone()))
        })
        .await?;
    // The campaign does not wait for the drawing.
    Ok(verdict_figure("Mean and interval of every arm", &names, &verdicts, &terms))
}

/// The report of the campaign: a page that needs no other file.
#[utoipa::path(
    get, path = "/v1/campaigns/{name}/report.html", tag = "results", params(("name" = String, Path, description = "The campaign", example = "screen")),
    responses(
        (status = 200, body = String, content_type = "text/html"),
        Refusals
    )
)]
async fn report_html(
    State(state): State<AppState>,
    principal: Principal,
    PathOf(name): PathOf<String>,
) -> Result<Response, Problem> {
    principal.require_for(Role::Viewer, &name)?;
    let page = state
        .heavy(&name, |campaign| {
            let view = campaign.view(now())?;
            let summary = Summary::from(view.standing.clone());
            cutline_report::page(&view, &summary, Sort::default()).map_err(|error| Problem::internal(&error))
        })
        .await?;
    // The page has its own styles and no scripts.
    let policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";
    Ok(([(header::CONTENT_SECURITY_POLICY, policy)], Html(page)).into_response())
}

/// The tickets that wait for their rewards.
#[derive(Serialize, ToSchema)]
pub(crate) struct OpenTickets {
    /// The tickets, the lease that ends first first, at most a thousand.
    pub(crate) tickets: Vec<OpenTicket>,
    /// How many there are.
    pub(crate) total: usize,
}

impl OpenTickets {
    pub(crate) fn new(open: &mut OpenCampaign, most: usize) -> Result<Self, StoreError> {
        let (names, now) = (open.names(), now());
        let state = open.campaign.state()?;
        let total = state.progress().open;
        Ok(Self { tickets: OpenTicket::all(state, &names, now).take(most).collect(), total })
    }
}

/// The tickets that wait for their rewards.
#[utoipa::path(
    get, path = "/v1/campaigns/{name}/tickets", tag = "results", params(("name" = String, Path, description = "The campaign", example = "screen")),
    responses((status = 200, body = OpenTickets), Refusals)
)]
async fn tickets(
    State(state): State<AppState>,
    principal: Principal,
    PathOf(name): PathOf<String>,
) -> Result<Json<OpenTickets>, Problem> {
    principal.require_for(Role::Viewer, &name)?;
    let most = state.limits().page;
    Ok(Json(state.run(&name, move |open| OpenTickets::new(open, most)).await?))
}
