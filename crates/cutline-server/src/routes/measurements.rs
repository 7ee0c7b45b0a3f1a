//! Measurements: asking for tickets, telling their rewards, and corrections.

use super::arms::find_arms;
use crate::auth::Principal;
use crate::extract::{JsonOf, PathOf, Posted, QueryOf};
use crate::problem::{Problem, Refusals};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cutline_campaign::{AnyCampaign, Operation, Submission, TicketId};
use cutline_client::wire::{
    AmendmentsBody, AskBody, AvailabilityBody, Changed, FailureBody, LeaseBody, ObservationsBody, ReturnsBody,
    TellBody, TicketBody, TicketStatusBody, TicketStatuses, Tickets,
};
use cutline_store::Role;
use serde::Deserialize;
use std::sync::atomic::Ordering;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The length of a lease that is not given.
const LEASE_SECONDS: f64 = 3600.0;

/// The longest lease, in seconds: a year.
const MAX_LEASE_SECONDS: f64 = 366.0 * 86400.0;

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(ask))
        .routes(routes!(availability))
        .routes(routes!(ticket_status))
        .routes(routes!(tell))
        .routes(routes!(fail))
        .routes(routes!(give_back))
        .routes(routes!(renew))
        .routes(routes!(observe))
        .routes(routes!(amend))
}

/// A lease in milliseconds.
pub(crate) fn lease(seconds: Option<f64>) -> Result<u64, Problem> {
    let seconds = seconds.unwrap_or(LEASE_SECONDS);
    if !(seconds > 0.0 && seconds <= MAX_LEASE_SECONDS) {
        return Err(Problem::Refused(format!("a lease must be above 0 and at most {MAX_LEASE_SECONDS} seconds")));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in range")]
    let milliseconds = (seconds * 1000.0).ceil() as u64;
    Ok(milliseconds)
}

/// Hands out measurements.
#[utoipa::path(
    post, path = "/v1/campaigns/{name}/asks", tag = "measurements", params(("name" = String, Path, description = "The campaign", example = "screen")),
    request_body = AskBody,
    responses((status = 200, body = Tickets), Refusals)
)]
async fn ask(
    State(state): State<AppState>,
    PathOf(name): PathOf<String>,
    JsonOf { value, posted }: JsonOf<AskBody>,
) -> Result<Json<Tickets>, Problem> {
    posted.principal.require_for(Role::Worker, &name)?;
    posted.check_text("the worker's name", &value.worker)?;
    let n = usize::try_from(value.count).unwrap_or(usize::MAX);
    let tickets = u64::from(value.count) * u64::from(value.replicates);
    posted.check_batch("tickets", usize::try_from(tickets).unwrap_or(usize::MAX))?;
    let operation = Operation::Ask {
        n,
        replicates: value.replicates,
        worker: value.worker,
        lease: lease(value.lease_seconds)?,
        resume: value.resume,
    };
    let outcome = state.submit(&name, Submission { operation, origin: posted.origin }, posted.campaign).await?;
    if !outcome.is_repeated {
        state.metrics().tickets.fetch_add(outcome.tickets.len() as u64, Ordering::Relaxed);
    }
    let ending = if outcome.tickets.is_empty() {
        state.run(&name, |open| Ok(open.campaign.stop_reason()?.map(|reason| reason.name().to_owned()))).await?
    } else {
        None
    };
    Ok(Json(Tickets { tickets: outcome.tickets.into_iter().map(TicketBody::from).collect(), ending }))
}

/// What the campaign can still hand out.
#[utoipa::path(
    get, path = "/v1/campaigns/{name}/availability", tag = "measurements", params(("name" = String, Path, description = "The campaign", example = "screen")),
    responses((status = 200, body = AvailabilityBody), Refusals)
)]
async fn availability(
    State(state): State<AppState>,
    principal: Principal,
    PathOf(name): PathOf<String>,
) -> Result<Json<AvailabilityBody>, Problem> {
    principal.require_for(Role::Viewer, &name)?;
    let body = state.run(&name, |open| Ok(AvailabilityBody::new(open.campaign.id(), &open.campaign.availability()?)));
    Ok(Json(body.await?))
}

/// Which tickets.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct TicketQuery {
    /// The numbers of the tickets, separated by commas.
    #[param(example = "7,8")]
    numbers: String,
}

/// Tickets by their numbers, and what became of them. Tickets that do not exist are left out.
#[utoipa::path(
    get, path = "/v1/campaigns/{name}/ticket-status", tag = "measurements",
    params(("name" = String, Path, description = "The campaign", example = "screen"), TicketQuery),
    responses((status = 200, body = TicketStatuses), Refusals)
)]
async fn ticket_status(
    State(state): State<AppState>,
    principal: Principal,
    PathOf(name): PathOf<String>,
    QueryOf(query): QueryOf<TicketQuery>,
) -> Result<Json<TicketStatuses>, Problem> {
    principal.require_for(Role::Viewer, &name)?;
    let numbers: Result<Vec<TicketId>, _> = query.numbers.split(',').map(str::parse).collect();
    let numbers = numbers.map_err(|_| Problem::Refused("`numbers` are tickets, separated by commas".into()))?;
    let most = state.limits().page;
    if numbers.len() > most {
        return Err(Problem::Refused(format!(
            "there are {} tickets; at most {most} are allowed at once",
            numbers.len()
        )));
    }
    let listed = state.run(&name, move |open| {
        let tickets = open.campaign.tickets(&numbers)?.into_iter().map(TicketStatusBody::from).collect();
        Ok(TicketStatuses { campaign_id: open.campaign.id(), tickets })
    });
    Ok(Json(listed.await?))
}

/// Records rewards, all or none. Telling the same reward again changes nothing, and another reward for the same ticket is refused.
#[utoipa::path(
    post, path = "/v1/campaigns/{name}/tells", tag = "measurements", params(("name" = String, Path, description = "The campaign", example = "screen")),
    request_body = Vec<TellBody>,
    responses((status = 200, body = Changed), Refusals)
)]
async fn tell(
    State(state): State<AppState>,
    PathOf(name): PathOf<String>,
    JsonOf { value, posted }: JsonOf<Vec<TellBody>>,
) -> Result<Json<Changed>, Problem> {
    posted.principal.require_for(Role::Worker, &name)?;
    posted.check_batch("rewards", value.iter().map(|tell| tell.rewards.len().max(1)).sum())?;
    let rewards = |tell: TellBody| match (tell.reward, tell.rewards) {
        (Some(reward), rewards) if rewards.is_empty() => Ok((tell.ticket, vec![reward])),
        (None, rewards) if !rewards.is_empty() => Ok((tell.ticket, rewards)),
        _ => Err(Problem::Refused(format!("give ticket {} either a `reward` or `rewards`", tell.ticket))),
    };
    let rewards = value.into_iter().map(rewards).collect::<Result<_, _>>()?;
    let outcome = state
        .submit(&name, Submission { operation: Operation::Tell(rewards), origin: posted.origin }, posted.campaign)
        .await?;
    if !outcome.is_repeated {
        state.metrics().rewards.fetch_add(outcome.n_events, Ordering::Relaxed);
    }
    Ok(Json(Changed { changed: outcome.n_events }))
}

/// Closes tickets that will have no reward, all or none. The budget gets their measurements back.
#[utoipa::path(
    post, path = "/v1/campaigns/{name}/failures", tag = "measurements", params(("name" = String, Path, description = "The campaign", example = "screen")),
    request_body = Vec<FailureBody>,
    responses((status = 200, body = Changed), Refusals)
)]
async fn fail(
    State(state): State<AppState>,
    PathOf(name): PathOf<String>,
    JsonOf { value, posted }: JsonOf<Vec<FailureBody>>,
) -> Result<Json<Changed>, Problem> {
    posted.principal.require_for(Role::Worker, &name)?;
    posted.check_batch("tickets", value.len())?;
    value.iter().try_for_each(|failure| posted.check_text("a reason", &failure.reason))?;
    let failures = value.into_iter().map(|failure| (failure.ticket, failure.reason)).collect();
    Ok(Json(submit(&state, &name, posted, Operation::Fail(failures)).await?))
}

/// Gives tickets back that were not measured: ends their leases early, so that others get their measurements. Tickets that are not open stay as they are.
#[utoipa::path(
    post, path = "/v1/campaigns/{name}/returns", tag = "measurements", params(("name" = String, Path, description = "The campaign", example = "screen")),
    request_body = ReturnsBody,
    responses((status = 200, body = Changed), Refusals)
)]
async fn give_back(
    State(state): State<AppState>,
    PathOf(name): PathOf<String>,
    JsonOf { value, posted }: JsonOf<ReturnsBody>,
) -> Result<Json<Changed>, Problem> {
    posted.principal.require_for(Role::Worker, &name)?;
    posted.check_batch("tickets", value.tickets.len())?;
    Ok(Json(submit(&state, &name, posted, Operation::Expire(value.tickets)).await?))
}

/// Extends the lease of a ticket: the sign of life of a worker whose measurement takes long.
#[utoipa::path(
    post, path = "/v1/campaigns/{name}/tickets/{ticket}/lease", tag = "measurements",
    params(("name" = String, Path, description = "The campaign", example = "screen"), ("ticket" = u64, Path, description = "The ticket")),
    request_body = LeaseBody,
    responses((status = 200, body = Tickets), Refusals)
)]
async fn renew(
    State(state): State<AppState>,
    PathOf((name, ticket)): PathOf<(String, u64)>,
    JsonOf { value, posted }: JsonOf<LeaseBody>,
) -> Result<Json<Tickets>, Problem> {
    posted.principal.require_for(Role::Worker, &name)?;
    let operation = Operation::Renew(vec![ticket], lease(value.lease_seconds)?);
    let outcome = state.submit(&name, Submission { operation, origin: posted.origin }, posted.campaign).await?;
    Ok(Json(Tickets { tickets: outcome.tickets.into_iter().map(TicketBody::from).collect(), ending: None }))
}

/// Records rewards without tickets, all or none: for example of measurements that were made before.
#[utoipa::path(
    post, path = "/v1/campaigns/{name}/observations", tag = "measurements", params(("name" = String, Path, description = "The campaign", example = "screen")),
    request_body = ObservationsBody,
    responses((status = 200, body = Changed), Refusals)
)]
async fn observe(
    State(state): State<AppState>,
    PathOf(name): PathOf<String>,
    JsonOf { value, posted }: JsonOf<ObservationsBody>,
) -> Result<Json<Changed>, Problem> {
    posted.principal.require_for(Role::Admin, &name)?;
    posted.check_batch("rewards", value.rewards.len())?;
    let names = value.rewards.iter().map(|one| one.arm.clone()).collect();
    let arms = find_arms(&state, &name, names).await?;
    let rewards = arms.into_iter().zip(value.rewards.iter().map(|one| one.reward)).collect();
    Ok(Json(submit(&state, &name, posted, Operation::Observe(rewards, value.count)).await?))
}

/// Corrects rewards, or declares them void, all or none. Both values stay in the record.
#[utoipa::path(
    post, path = "/v1/campaigns/{name}/amendments", tag = "measurements", params(("name" = String, Path, description = "The campaign", example = "screen")),
    request_body = AmendmentsBody,
    responses((status = 200, body = Changed), Refusals)
)]
async fn amend(
    State(state): State<AppState>,
    PathOf(name): PathOf<String>,
    JsonOf { value, posted }: JsonOf<AmendmentsBody>,
) -> Result<Json<Changed>, Problem> {
    posted.principal.require_for(Role::Admin, &name)?;
    posted.check_batch("amendments", value.amendments.len())?;
    posted.check_text("the reason", &value.reason)?;
    let rewards: Vec<(u64, f64)> =
        value.amendments.iter().filter_map(|amendment| Some((amendment.ticket, amendment.reward?))).collect();
    let operation = if rewards.is_empty() {
        Operation::Void(value.amendments.iter().map(|amendment| amendment.ticket).collect(), value.reason)
    } else if rewards.len() == value.amendments.len() {
        Operation::Amend(rewards, value.reason)
    } else {
        return Err(Problem::Refused("correct rewards and declare rewards void in two requests".into()));
    };
    Ok(Json(submit(&state, &name, posted, operation).await?))
}

async fn submit(state: &AppState, name: &str, posted: Posted, operation: Operation) -> Result<Changed, Problem> {
    let outcome = state.submit(name, Submission { operation, origin: posted.origin }, posted.campaign).await?;
    Ok(Changed { changed: outcome.n_events })
}
