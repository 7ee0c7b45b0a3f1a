//! The result of a campaign so far: in numbers and words, and as a figure.

use super::finite;
use crate::actor::OpenCampaign;
use crate::auth::Principal;
use crate::clock::{now, rfc3339};
use crate::extract::PathOf;
use crate::problem::{Problem, Refusals};
use crate::state::AppState;
use crate::summary::CampaignOverview;
use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::{Html, IntoResponse, Response};
use cutline::Amount;
use cutline_campaign::{Pace, Standing, Time, finding, serialize_amount};
use cutline_figure::VerdictFigure;
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
#[derive(Serialize, ToSchema)]
pub(crate) struct Report {
    /// Its name.
    pub(crate) campaign: String,
    /// The numbers.
    #[serde(flatten)]
    pub(crate) overview: CampaignOverview,
    /// The noise scale σ that is used; null while nothing is known.
    pub(crate) noise: Option<f64>,
    /// Where it comes from.
    pub(crate) noise_from: &'static str,
    /// What the mixed model found about features and noise.
    pub(crate) finding: Option<String>,
    /// The number of wrong calls to expect if every arm gets the side of its mean; an expectation, not a guarantee.
    pub(crate) wrong_calls: Option<f64>,
    /// Whether the model fits: `fits`, `misfit`, `adapts` or `untested`.
    pub(crate) fit: &'static str,
    /// The p-value of the test of the linear model.
    pub(crate) fit_p_value: Option<f64>,
    /// What follows from it.
    pub(crate) fit_advice: String,
    /// Whether every arm that is not withdrawn is decided.
    pub(crate) may_stop: bool,
    /// What remains of the budget, in measurements or in units of cost.
    #[serde(serialize_with = "serialize_amount")]
    #[schema(value_type = f64)]
    pub(crate) remaining: Amount,
    /// Rewards per hour, by the last ones.
    pub(crate) rewards_per_hour: Option<f64>,
    /// When the budget will be used up at that rate.
    pub(crate) budget_used_at: Option<String>,
}

impl Report {
    pub(crate) fn new(open: &mut OpenCampaign) -> Result<Self, StoreError> {
        let overview = CampaignOverview::new(open)?;
        let (_, verdicts) = open.verdicts()?;
        let campaign = open.campaign.name().to_owned();
        let state = open.campaign.state()?;
        let (standing, noise, finding) = (Standing::new(state, &verdicts), state.noise(), finding(state));
        let now = now();
        let pace = Pace::new(&overview.progress, now);
        let is_known = noise.source != cutline::NoiseSource::Nothing;
        Ok(Self {
            campaign,
            overview,
            noise: finite(noise.sigma).filter(|_| is_known),
            noise_from: noise.source.name(),
            finding,
            wrong_calls: standing.wrong_calls,
            fit: standing.fit.fit.name(),
            fit_p_value: standing.fit.p_value,
            fit_advice: standing.fit.advice.clone(),
            may_stop: standing.may_stop,
            remaining: standing.remaining,
            rewards_per_hour: pace.map(|pace| pace.rewards_per_hour),
            budget_used_at: pace.map(|pace| rfc3339(now.saturating_add(pace.budget_used_in))),
        })
    }
}

/// How a campaign stands.
#[utoipa::path(
    get, path = "/v1/campaigns/{name}/report", tag = "results", params(("name" = String, Path, description = "The campaign", example = "screen")),
    responses((status = 200, body = Report), Refusals)
)]
async fn report(
    State(state): State<AppState>,
    principal: Principal,
    PathOf(name): PathOf<String>,
) -> Result<Json<Report>, Problem> {
    principal.require_for(Role::Viewer, &name)?;
    Ok(Json(state.run(&name, Report::new).await?))
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
    let title = "Mean and interval of every arm";
    Ok(VerdictFigure::new(title, &names, &verdicts, terms.question, (terms.interval, terms.delta)).to_svg())
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
    let make = state.report_page().ok_or_else(|| Problem::NotFound("this server makes no reports".into()))?;
    let page = state.heavy(&name, move |campaign| make(campaign).map_err(|error| Problem::internal(&error))).await?;
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

/// A ticket that waits for its reward.
#[derive(Serialize, ToSchema)]
pub(crate) struct OpenTicket {
    /// Its number.
    pub(crate) ticket: u64,
    /// The name of the arm.
    pub(crate) arm: String,
    /// Who has it.
    pub(crate) worker: String,
    /// When its lease ends.
    pub(crate) until: String,
    /// Whether its lease has ended.
    pub(crate) is_overdue: bool,
}

impl OpenTickets {
    pub(crate) fn new(open: &mut OpenCampaign, most: usize) -> Result<Self, StoreError> {
        let state = open.campaign.state()?;
        let (total, now) = (state.progress().open, now());
        let found: Vec<_> = state
            .open_tickets()
            .take(most)
            .filter_map(|(ticket, until)| {
                let (arm, worker, _) = state.ticket(ticket).ok()?;
                Some((ticket, until, arm, worker.to_owned()))
            })
            .collect();
        let names = open.names();
        let ticket = |(ticket, until, arm, worker): (u64, Time, usize, String)| OpenTicket {
            ticket,
            arm: names[arm].clone(),
            worker,
            until: rfc3339(until),
            is_overdue: until <= now,
        };
        Ok(Self { tickets: found.into_iter().map(ticket).collect(), total })
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
