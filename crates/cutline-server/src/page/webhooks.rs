//! The webhooks on the page of a campaign, for administrators: what was sent to each, and forms to add, test and delete one.

use super::campaign::{self, Notice};
use super::layout::{PageProblem, with_referrer};
use super::table::TableQuery;
use super::visitor::Visitor;
use super::words::Moment;
use crate::extract::PathOf;
use crate::problem::Problem;
use crate::routes::campaigns::escaped;
use crate::routes::webhooks::{NewWebhookBody, WebhookEventName, add, delivery_state, remove, send_test};
use crate::state::AppState;
use crate::token::hash;
use axum::Router;
use axum::extract::rejection::FormRejection;
use axum::extract::{Form, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use cutline_store::{Delivery, RequestKey, Role, Webhook, WebhookEvent};
use serde::Deserialize;

/// How many deliveries of each webhook the page shows.
const DELIVERIES: usize = 10;

pub(super) fn router() -> Router<AppState> {
    Router::new()
        .route("/campaigns/{name}/webhooks", get(show).post(create))
        .route("/campaigns/{name}/webhooks/{id}/{action}", post(act))
}

/// A webhook, in texts.
pub(super) struct WebhookRow {
    pub(super) id: u64,
    pub(super) url: String,
    pub(super) told: String,
    pub(super) created: Moment,
    pub(super) by: Option<String>,
    pub(super) turned_off: Option<String>,
    pub(super) deliveries: Vec<DeliveryRow>,
}

/// A delivery, in texts.
pub(super) struct DeliveryRow {
    pub(super) created: Moment,
    pub(super) event: &'static str,
    pub(super) state: &'static str,
    pub(super) answer: String,
    pub(super) attempts: u64,
    pub(super) next: Option<Moment>,
}

impl WebhookRow {
    fn new(webhook: Webhook, deliveries: Vec<Delivery>) -> Self {
        let told = webhook.settings.events.iter().map(|event| match event {
            WebhookEvent::Silent => {
                let seconds = webhook.settings.silence.unwrap_or_default() / 1000;
                format!("after {seconds} s without a reward")
            }
            event => event.name().to_owned(),
        });
        Self {
            id: webhook.id,
            told: told.collect::<Vec<_>>().join(", "),
            url: webhook.settings.url,
            created: Moment::new(webhook.created),
            by: webhook.author,
            turned_off: webhook.turned_off,
            deliveries: deliveries.into_iter().map(DeliveryRow::from).collect(),
        }
    }
}

impl From<Delivery> for DeliveryRow {
    fn from(delivery: Delivery) -> Self {
        let state = delivery_state(&delivery);
        let answer = match (delivery.error, delivery.status) {
            (Some(error), _) => error,
            (None, Some(status)) => status.to_string(),
            (None, None) => String::new(),
        };
        Self {
            created: Moment::new(delivery.created),
            event: delivery.event.name(),
            state,
            answer,
            attempts: delivery.attempts,
            next: delivery.next_attempt.map(Moment::new),
        }
    }
}

/// The webhooks of a campaign with their latest deliveries; none for somebody who may not see them.
pub(super) async fn rows(state: &AppState, visitor: &Visitor, name: &str) -> Result<Vec<WebhookRow>, Problem> {
    if visitor.require(Role::Admin, name).is_err() {
        return Ok(Vec::new());
    }
    let name = name.to_owned();
    let found = state.store(move |store| {
        let with_deliveries = |webhook: Webhook| {
            let deliveries = store.deliveries(&name, webhook.id, None, DELIVERIES)?;
            Ok(WebhookRow::new(webhook, deliveries))
        };
        store.webhooks(&name)?.into_iter().map(with_deliveries).collect()
    });
    found.await
}

/// The fields of the form for a new webhook.
#[derive(Debug, Default, Deserialize)]
struct WebhookForm {
    #[serde(default)]
    url: String,
    ended: Option<String>,
    decided: Option<String>,
    misfit: Option<String>,
    silent: Option<String>,
    minutes: Option<String>,
    key: Option<String>,
}

impl WebhookForm {
    fn body(&self) -> Result<NewWebhookBody, Problem> {
        let chosen = [
            (&self.ended, WebhookEventName::Ended),
            (&self.decided, WebhookEventName::Decided),
            (&self.misfit, WebhookEventName::Misfit),
            (&self.silent, WebhookEventName::Silent),
        ];
        let events: Vec<_> = chosen.into_iter().filter(|(field, _)| field.is_some()).map(|(_, event)| event).collect();
        if events.is_empty() {
            return Err(Problem::Refused("choose what the webhook is told".into()));
        }
        let minutes = self.minutes.as_deref().unwrap_or_default().trim();
        let silence_seconds = match &self.silent {
            Some(_) if !minutes.is_empty() => {
                let bad = || Problem::Refused(format!("the minutes must be a whole number above 0, not `{minutes}`"));
                let minutes: u64 = minutes.parse().ok().filter(|&minutes| minutes > 0).ok_or_else(bad)?;
                Some(minutes.saturating_mul(60))
            }
            _ => None,
        };
        Ok(NewWebhookBody { url: self.url.trim().to_owned(), events: Some(events), silence_seconds })
    }
}

/// A page that is reloaded after a webhook was added.
async fn show(PathOf(name): PathOf<String>) -> Response {
    with_referrer(Redirect::to(&format!("/campaigns/{}#webhooks", escaped(&name))).into_response())
}

/// Adds a webhook and shows its secret, this once. A form that is sent twice adds one.
async fn create(
    State(state): State<AppState>,
    visitor: Visitor,
    PathOf(name): PathOf<String>,
    form: Result<Form<WebhookForm>, FormRejection>,
) -> Result<Response, PageProblem> {
    let Form(form) = form.map_err(|error| Problem::BadRequest(error.body_text()))?;
    visitor.require(Role::Admin, &name)?;
    let mut origin = visitor.origin();
    if let Some(key) = form.key.as_deref().filter(|key| (1..=200).contains(&key.len())) {
        let author = origin.author.as_deref().unwrap_or_default();
        origin.key = Some(RequestKey {
            key: hash(format!("webhook\0{author}\0{key}").as_bytes()),
            fingerprint: hash(format!("webhook\0{name}\0{form:?}").as_bytes()),
        });
    }
    let added = match form.body() {
        Ok(body) => add(&state, &name, body, origin).await,
        Err(problem) => Err(problem),
    };
    match added {
        Ok(webhook) => {
            let text = "The webhook was added. Keep its secret, by which deliveries are signed: it is not shown again.";
            let secret = Some(webhook.settings.secret.0);
            let notice = Notice { text: text.into(), is_failure: false, secret };
            campaign::page(&state, &visitor, &name, &TableQuery::default(), Some(notice)).await
        }
        Err(problem) => refused(&state, &visitor, &name, problem).await,
    }
}

/// Sends a test to a webhook, or deletes it.
async fn act(
    State(state): State<AppState>,
    visitor: Visitor,
    PathOf((name, id, action)): PathOf<(String, u64, String)>,
) -> Result<Response, PageProblem> {
    visitor.require(Role::Admin, &name)?;
    let done = match action.as_str() {
        "test" => send_test(&state, &name, id, visitor.origin()).await.map(|_| "webhook-test"),
        "delete" => remove(&state, &name, id, visitor.principal.name.as_deref()).await.map(|()| "webhook-deleted"),
        _ => Err(Problem::NotFound("there is nothing at this address".into())),
    };
    match done {
        Ok(notice) => {
            let target = format!("/campaigns/{}?notice={notice}#webhooks", escaped(&name));
            Ok(with_referrer(Redirect::to(&target).into_response()))
        }
        Err(problem) => refused(&state, &visitor, &name, problem).await,
    }
}

/// The page with what was wrong.
async fn refused(state: &AppState, visitor: &Visitor, name: &str, problem: Problem) -> Result<Response, PageProblem> {
    if matches!(problem, Problem::NoCampaign(_) | Problem::NotFound(_)) {
        return Err(PageProblem(problem));
    }
    let notice = Some(Notice::failure(&problem));
    let mut page = campaign::page(state, visitor, name, &TableQuery::default(), notice).await?;
    *page.status_mut() = problem.status();
    Ok(page)
}
