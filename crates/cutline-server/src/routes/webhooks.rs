//! Webhooks: URLs that are told what happens to a campaign, and what was sent to them. All of it is for administrators, because a URL may
//! contain a secret.

use super::page_bounds;
use crate::auth::Principal;
use crate::clock::{now, rfc3339};
use crate::extract::{JsonOf, PathOf, QueryOf};
use crate::problem::{Problem, Refusals};
use crate::state::AppState;
use crate::token::random_secret;
use crate::webhooks::{Noticed, TargetError, body, check_target, new_delivery_id};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use cutline_store::{Delivery, NewDelivery, NewWebhook, Origin, Role, Webhook, WebhookEvent, WebhookSecret};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The silence that is reported if none is given, and the longest, in seconds: an hour and a year.
pub(crate) const SILENCE_SECONDS: u64 = 3600;
const MAX_SILENCE_SECONDS: u64 = 366 * 86400;

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(delete))
        .routes(routes!(deliveries))
        .routes(routes!(test))
}

/// A new webhook.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewWebhookBody {
    /// Where to send deliveries: a URL of HTTPS or HTTP, with a public address.
    #[schema(example = "https://example.org/hook", max_length = 2000)]
    pub(crate) url: String,
    /// What it is told; all of it if this is left out.
    pub(crate) events: Option<Vec<WebhookEventName>>,
    /// The seconds without a reward after which it is told `silent`; an hour if it is not given.
    #[schema(minimum = 1, maximum = 31_622_400)]
    pub(crate) silence_seconds: Option<u64>,
}

/// What a webhook is told.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WebhookEventName {
    /// The campaign has ended.
    Ended,
    /// Arms were decided, or changed sides.
    Decided,
    /// The model does not fit any more.
    Misfit,
    /// There was no reward for a while.
    Silent,
}

impl From<WebhookEventName> for WebhookEvent {
    fn from(name: WebhookEventName) -> Self {
        match name {
            WebhookEventName::Ended => Self::Ended,
            WebhookEventName::Decided => Self::Decided,
            WebhookEventName::Misfit => Self::Misfit,
            WebhookEventName::Silent => Self::Silent,
        }
    }
}

/// A webhook, without its secret.
#[derive(Debug, Serialize, ToSchema)]
struct WebhookBody {
    /// Its number among the webhooks of the campaign.
    id: u64,
    /// Where deliveries are sent.
    url: String,
    /// What it is told.
    events: Vec<&'static str>,
    /// The seconds without a reward after which it is told `silent`; null if it is not.
    silence_seconds: Option<u64>,
    /// When it was created.
    created: String,
    /// The name of the token by which it was created.
    by: Option<String>,
    /// Why nothing is sent to it any more; null while it is in use.
    turned_off: Option<String>,
}

impl From<Webhook> for WebhookBody {
    fn from(webhook: Webhook) -> Self {
        Self {
            id: webhook.id,
            url: webhook.settings.url,
            events: webhook.settings.events.iter().map(|event| event.name()).collect(),
            silence_seconds: webhook.settings.silence.map(|silence| silence / 1000),
            created: rfc3339(webhook.created),
            by: webhook.author,
            turned_off: webhook.turned_off,
        }
    }
}

/// The webhooks of a campaign.
#[derive(Serialize, ToSchema)]
struct WebhookList {
    /// The webhooks, in the order they were created.
    webhooks: Vec<WebhookBody>,
}

/// A webhook that was created.
#[derive(Serialize, ToSchema)]
struct CreatedWebhook {
    #[serde(flatten)]
    webhook: WebhookBody,
    /// By which deliveries are signed. It is shown only here.
    secret: String,
}

/// The webhooks of a campaign.
#[utoipa::path(
    get, path = "/v1/campaigns/{name}/webhooks", tag = "webhooks",
    params(("name" = String, Path, description = "The campaign", example = "screen")),
    responses((status = 200, body = WebhookList), Refusals)
)]
async fn list(
    State(state): State<AppState>,
    principal: Principal,
    PathOf(name): PathOf<String>,
) -> Result<Json<WebhookList>, Problem> {
    principal.require_for(Role::Admin, &name)?;
    let found = state.store(move |store| Ok(store.webhooks(&name)?)).await?;
    Ok(Json(WebhookList { webhooks: found.into_iter().map(WebhookBody::from).collect() }))
}

/// Adds a URL that is told what happens to the campaign from now on. The answer has the secret by which deliveries are signed; it is not shown
/// again.
#[utoipa::path(
    post, path = "/v1/campaigns/{name}/webhooks", tag = "webhooks",
    params(("name" = String, Path, description = "The campaign", example = "screen")),
    request_body = NewWebhookBody,
    responses((status = 201, body = CreatedWebhook), Refusals)
)]
async fn create(
    State(state): State<AppState>,
    PathOf(name): PathOf<String>,
    JsonOf { value, posted }: JsonOf<NewWebhookBody>,
) -> Result<(StatusCode, Json<CreatedWebhook>), Problem> {
    posted.principal.require_for(Role::Admin, &name)?;
    let webhook = add(&state, &name, value, posted.origin).await?;
    let secret = webhook.settings.secret.0.clone();
    Ok((StatusCode::CREATED, Json(CreatedWebhook { webhook: webhook.into(), secret })))
}

/// Adds a webhook for somebody who may.
pub(crate) async fn add(state: &AppState, name: &str, new: NewWebhookBody, origin: Origin) -> Result<Webhook, Problem> {
    let mut events: Vec<WebhookEvent> = match new.events {
        Some(names) => names.into_iter().map(WebhookEvent::from).collect(),
        None => WebhookEvent::ALL.to_vec(),
    };
    events.sort_unstable();
    events.dedup();
    if events.is_empty() {
        return Err(Problem::Refused("say what the webhook is told: `events` is empty".into()));
    }
    let is_for_silence = events.contains(&WebhookEvent::Silent);
    let silence = match new.silence_seconds {
        Some(_) if !is_for_silence => {
            return Err(Problem::Refused("`silence_seconds` needs `silent` among the `events`".into()));
        }
        Some(seconds) if seconds == 0 || seconds > MAX_SILENCE_SECONDS => {
            let limit = format!("`silence_seconds` must be 1 to {MAX_SILENCE_SECONDS}, not {seconds}");
            return Err(Problem::Refused(limit));
        }
        given => is_for_silence.then_some(1000 * given.unwrap_or(SILENCE_SECONDS)),
    };
    check_target(&new.url, state.limits().webhooks.allow_private).await?;
    let noticed = state.run(name, |open| {
        let (_, verdicts) = open.verdicts()?;
        Ok(Noticed::new(open.campaign.state()?, &verdicts).to_json())
    });
    let noticed = noticed.await??;
    let secret = WebhookSecret(random_secret("cutline_webhook_").map_err(|error| Problem::internal(&error))?);
    let new = NewWebhook { url: new.url, secret, events, silence };
    let (campaign, author) = (name.to_owned(), origin.author.clone());
    let added = state.store(move |store| Ok(store.add_webhook(&campaign, &new, &noticed, &origin)?)).await?;
    tracing::info!(?author, campaign = name, webhook = added.id, "a webhook was added");
    state.stir().wake();
    Ok(added)
}

impl From<TargetError> for Problem {
    fn from(error: TargetError) -> Self {
        Self::Refused(error.to_string())
    }
}

/// Deletes a webhook with its deliveries. What waits to be sent is not sent any more.
#[utoipa::path(
    delete, path = "/v1/campaigns/{name}/webhooks/{id}", tag = "webhooks",
    params(("name" = String, Path, description = "The campaign", example = "screen"), ("id" = u64, Path, description = "The webhook")),
    responses((status = 204), Refusals)
)]
async fn delete(
    State(state): State<AppState>,
    principal: Principal,
    PathOf((name, id)): PathOf<(String, u64)>,
) -> Result<StatusCode, Problem> {
    principal.require_for(Role::Admin, &name)?;
    remove(&state, &name, id, principal.name.as_deref()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Deletes a webhook for somebody who may.
pub(crate) async fn remove(state: &AppState, name: &str, id: u64, author: Option<&str>) -> Result<(), Problem> {
    let campaign = name.to_owned();
    state.store(move |store| Ok(store.delete_webhook(&campaign, id)?)).await?;
    tracing::info!(?author, campaign = name, webhook = id, "a webhook was deleted");
    Ok(())
}

/// Which deliveries.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct DeliveryQuery {
    /// Only deliveries before this number.
    before: Option<u64>,
    /// How many to return at most.
    limit: Option<usize>,
}

/// A part of the deliveries of a webhook.
#[derive(Serialize, ToSchema)]
struct DeliveryPage {
    /// The deliveries, the latest first. The last hundred are kept.
    deliveries: Vec<DeliveryBody>,
    /// The number of the last one here, before which to go on; null if there is none before it.
    next: Option<u64>,
}

/// A delivery, or an attempt at one.
#[derive(Serialize, ToSchema)]
struct DeliveryBody {
    /// Its number, from 1.
    number: u64,
    /// By which the receiver recognises a repetition: the header `Cutline-Delivery`.
    id: String,
    /// What it tells: `ended`, `decided`, `misfit`, `silent` or `test`.
    event: &'static str,
    /// `waiting`, `delivered` or `failed`.
    state: &'static str,
    /// When it was noticed.
    created: String,
    /// How often it was sent.
    attempts: u64,
    /// When it is sent next.
    next_attempt: Option<String>,
    /// The status code of the last answer.
    status: Option<u16>,
    /// What went wrong the last time.
    error: Option<String>,
    /// When it was delivered.
    delivered: Option<String>,
}

/// Whether a delivery waits, is delivered or has failed.
pub(crate) fn delivery_state(delivery: &Delivery) -> &'static str {
    match (delivery.delivered, delivery.next_attempt) {
        (Some(_), _) => "delivered",
        (None, Some(_)) => "waiting",
        (None, None) => "failed",
    }
}

impl From<Delivery> for DeliveryBody {
    fn from(delivery: Delivery) -> Self {
        Self {
            number: delivery.number,
            state: delivery_state(&delivery),
            event: delivery.event.name(),
            created: rfc3339(delivery.created),
            attempts: delivery.attempts,
            next_attempt: delivery.next_attempt.map(rfc3339),
            status: delivery.status,
            error: delivery.error,
            delivered: delivery.delivered.map(rfc3339),
            id: delivery.id,
        }
    }
}

/// What was sent to a webhook, and the results.
#[utoipa::path(
    get, path = "/v1/campaigns/{name}/webhooks/{id}/deliveries", tag = "webhooks",
    params(
        ("name" = String, Path, description = "The campaign", example = "screen"),
        ("id" = u64, Path, description = "The webhook"),
        DeliveryQuery
    ),
    responses((status = 200, body = DeliveryPage), Refusals)
)]
async fn deliveries(
    State(state): State<AppState>,
    principal: Principal,
    PathOf((name, id)): PathOf<(String, u64)>,
    QueryOf(query): QueryOf<DeliveryQuery>,
) -> Result<Json<DeliveryPage>, Problem> {
    principal.require_for(Role::Admin, &name)?;
    let (_, limit) = page_bounds(None, query.limit, 100, state.limits().page)?;
    let found = state.store(move |store| Ok(store.deliveries(&name, id, query.before, limit)?)).await?;
    let next = found.last().map(|delivery| delivery.number).filter(|&number| found.len() == limit && number > 1);
    Ok(Json(DeliveryPage { deliveries: found.into_iter().map(DeliveryBody::from).collect(), next }))
}

/// Nothing: an empty object.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct TestBody {}

/// Sends a delivery of the type `test` at once, to see whether it arrives.
#[utoipa::path(
    post, path = "/v1/campaigns/{name}/webhooks/{id}/test", tag = "webhooks",
    params(("name" = String, Path, description = "The campaign", example = "screen"), ("id" = u64, Path, description = "The webhook")),
    request_body = TestBody,
    responses((status = 202, body = DeliveryBody), Refusals)
)]
async fn test(
    State(state): State<AppState>,
    PathOf((name, id)): PathOf<(String, u64)>,
    JsonOf { value: TestBody {}, posted }: JsonOf<TestBody>,
) -> Result<(StatusCode, Json<DeliveryBody>), Problem> {
    posted.principal.require_for(Role::Admin, &name)?;
    let delivery = send_test(&state, &name, id, posted.origin).await?;
    Ok((StatusCode::ACCEPTED, Json(delivery.into())))
}

/// Sends a test for somebody who may.
pub(crate) async fn send_test(state: &AppState, name: &str, id: u64, origin: Origin) -> Result<Delivery, Problem> {
    let (campaign_id, n_events) =
        state.run(name, |open| Ok((open.campaign.id(), open.campaign.known_events()))).await?;
    let (campaign, delivery_id) = (name.to_owned(), new_delivery_id()?);
    let delivery = state.store(move |store| {
        let webhook = store.webhooks(&campaign)?.into_iter().find(|webhook| webhook.id == id);
        if let Some(why) = webhook.and_then(|webhook| webhook.turned_off) {
            return Err(Problem::Conflict(format!("nothing is sent to this webhook any more: {why}")));
        }
        let event = WebhookEvent::Test;
        let data = serde_json::json!({});
        let payload = body(&delivery_id, event, (&campaign, campaign_id), n_events, &data);
        let new = NewDelivery { webhook: id, id: delivery_id, event, payload, at: now() };
        Ok(store.add_delivery(&campaign, &new, &origin)?)
    });
    let delivery = delivery.await?;
    state.courier().wake();
    Ok(delivery)
}
