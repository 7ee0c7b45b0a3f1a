//! Measurements: asking for tickets, telling their rewards, and corrections.

use super::Changed;
use super::arms::find_arms;
use super::new_campaign::ObservedBody;
use crate::extract::{JsonOf, PathOf, Posted};
use crate::problem::{Problem, Refusals};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cutline::Amount;
use cutline_campaign::{Operation, Submission, Ticket, rfc3339};
use cutline_store::Role;
use serde::{Deserialize, Serialize};
use std::sync::atomic::Ordering;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The length of a lease that is not given.
const LEASE_SECONDS: f64 = 3600.0;

/// The longest lease, in seconds: a year.
const MAX_LEASE_SECONDS: f64 = 366.0 * 86400.0;

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(ask))
        .routes(routes!(tell))
        .routes(routes!(fail))
        .routes(routes!(give_back))
        .routes(routes!(renew))
        .routes(routes!(observe))
        .routes(routes!(amend))
}

/// A worker's request for measurements.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AskBody {
    /// How many arms to hand out at most.
    #[serde(default = "one")]
    #[schema(minimum = 1, default = 1)]
    count: u32,
    /// How many measurements of each arm to hand out.
    #[serde(default = "one")]
    #[schema(minimum = 1, default = 1)]
    replicates: u32,
    /// Who asks.
    #[schema(example = "lab 2")]
    worker: String,
    /// How long the worker may take, in seconds; an hour if it is not given.
    #[schema(example = 600)]
    lease_seconds: Option<f64>,
    /// Whether the worker first gets its own open tickets again, with a new lease: it may have lost them.
    #[serde(default)]
    resume: bool,
}

fn one() -> u32 {
    1
}

/// Measurements to make.
#[derive(Serialize, ToSchema)]
struct Tickets {
    /// The tickets; fewer than were asked for, or none, once the budget is used up or every arm is decided.
    tickets: Vec<TicketBody>,
    /// Why there will never be another one; null while there may.
    ending: Option<&'static str>,
}

/// A measurement to make.
#[derive(Serialize, ToSchema)]
struct TicketBody {
    /// Its number, to be told with the reward.
    #[schema(example = 7)]
    ticket: u64,
    /// The name of the arm.
    #[schema(example = "ethanol")]
    arm: String,
    /// The number of the arm, from 0.
    index: usize,
    /// Its features.
    features: Vec<f64>,
    /// When its lease ends.
    until: String,
    /// How many rewards it takes.
    replicates: u32,
    /// What its measurements cost; left out in a campaign without costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
}

impl From<Ticket> for TicketBody {
    fn from(ticket: Ticket) -> Self {
        Self {
            ticket: ticket.number,
            arm: ticket.name,
            index: ticket.arm,
            features: ticket.features,
            until: rfc3339(ticket.until),
            replicates: ticket.replicates,
            cost: ticket.cost.map(Amount::value),
        }
    }
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
        state.run(&name, |open| Ok(open.campaign.stop_reason()?.map(cutline::StopReason::name))).await?
    } else {
        None
    };
    Ok(Json(Tickets { tickets: outcome.tickets.into_iter().map(TicketBody::from).collect(), ending }))
}

/// A reward, or the rewards of replicates.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct TellBody {
    /// The ticket.
    #[schema(example = 7)]
    ticket: u64,
    /// Its reward.
    #[schema(example = 0.71)]
    reward: Option<f64>,
    /// In place of one reward, those of the ticket's replicates, in their order.
    #[serde(default)]
    rewards: Vec<f64>,
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

/// A measurement that will have no reward.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct FailureBody {
    /// The ticket.
    ticket: u64,
    /// What went wrong.
    #[serde(default)]
    #[schema(example = "sample lost")]
    reason: String,
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

/// Tickets that their worker will not measure.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ReturnsBody {
    /// The tickets. Each replicate is given back by itself.
    tickets: Vec<u64>,
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

/// A new lease.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct LeaseBody {
    /// How long the worker may take from now on, in seconds; an hour if it is not given.
    lease_seconds: Option<f64>,
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

/// Rewards for which no ticket was handed out.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ObservationsBody {
    /// The rewards.
    rewards: Vec<ObservedBody>,
    /// Whether they count towards the budget.
    #[serde(default)]
    count: bool,
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

/// Corrections of rewards.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AmendmentsBody {
    /// The corrections: either all have a reward, or none has.
    amendments: Vec<AmendmentBody>,
    /// Why, for the record.
    #[serde(default)]
    #[schema(example = "digits swapped")]
    reason: String,
}

/// The right reward of a ticket.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct AmendmentBody {
    /// The ticket.
    ticket: u64,
    /// Its right reward; null to declare its reward void, which gives the measurement back to the budget.
    reward: Option<f64>,
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
