//! The events of a campaign: in pages, and as a stream of server-sent events.

use super::page_bounds;
use crate::actor::OpenCampaign;
use crate::auth::{Principal, authenticate};
use crate::extract::{PathOf, QueryOf};
use crate::problem::{Problem, Refusals};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::IntoResponse;
use axum::response::sse::{self, KeepAlive, Sse};
use cutline_campaign::{AnyCampaign, Event, Record};
use cutline_client::wire::{EventBody, EventPage};
use cutline_store::{Authorship, Role, StoreError};
use futures_util::stream::{self, Stream};
use serde::Deserialize;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::atomic::Ordering;
use std::time::Duration;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// How often a stream looks for events that other servers and programs wrote.
const POLL: Duration = Duration::from_secs(1);

/// How many events a stream reads at once.
const STREAMED: usize = 500;

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(events)).routes(routes!(stream_events))
}

/// Which events.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct EventQuery {
    /// Only events after this number; 0 for all.
    after: Option<u64>,
    /// How many to return at most.
    limit: Option<usize>,
}

/// At most `most` events after number `after`.
pub(crate) fn read(open: &mut OpenCampaign, after: u64, most: usize) -> Result<Vec<EventBody>, StoreError> {
    let records = open.campaign.some_events(after, most)?;
    let (Some(first), Some(last)) = (records.first(), records.last()) else { return Ok(Vec::new()) };
    let authors = open.campaign.authors(first.number, last.number)?;
    let author = |number: u64| {
        let is_in = |range: &&Authorship| range.first <= number && number <= range.last;
        authors.iter().find(is_in).map(|range| range.author.clone())
    };
    let state = open.campaign.state()?;
    let arm = |event: &Event| match *event {
        Event::Asked { arm, .. }
        | Event::Observed { arm, .. }
        | Event::Withdrawn { arm, .. }
        | Event::Restored { arm }
        | Event::Added { first: arm, .. } => Some(arm),
        ref event => event.ticket().and_then(|ticket| Some(state.ticket(ticket).ok()?.0)),
    };
    let arms: Vec<Option<usize>> = records.iter().map(|record| arm(&record.event)).collect();
    let names = open.names();
    let body = |(record, arm): (Record, Option<usize>)| {
        let by = author(record.number);
        let (index, arm) = arm.and_then(|arm| Some((arm, names.get(arm)?.clone()))).unzip();
        EventBody { arm, index, by, ..EventBody::from(record) }
    };
    Ok(records.into_iter().zip(arms).map(body).collect())
}

/// The events after a number.
#[utoipa::path(
    get, path = "/v1/campaigns/{name}/events", tag = "events",
    params(("name" = String, Path, description = "The campaign", example = "screen"), EventQuery),
    responses((status = 200, body = EventPage), Refusals)
)]
async fn events(
    State(state): State<AppState>,
    principal: Principal,
    PathOf(name): PathOf<String>,
    QueryOf(query): QueryOf<EventQuery>,
) -> Result<Json<EventPage>, Problem> {
    principal.require_for(Role::Viewer, &name)?;
    let (_, limit) = page_bounds(None, query.limit, 100, state.limits().page)?;
    let after = query.after.unwrap_or(0);
    let (campaign_id, events) =
        state.run(&name, move |open| Ok((open.campaign.id(), read(open, after, limit)?))).await?;
    let next = events.last().map(|event| event.number).filter(|_| events.len() == limit);
    Ok(Json(EventPage { events, campaign_id, next }))
}

/// Where a stream begins.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct StreamQuery {
    /// Begin after the event with this number. The header `Last-Event-ID`, which browsers send after an interruption, goes before it. Without
    /// either, the stream begins with the next event.
    after: Option<u64>,
}

/// The events as they happen, wherever they are written: server-sent events, each with its number as `id` and its name as `event`.
#[utoipa::path(
    get, path = "/v1/campaigns/{name}/stream", tag = "events",
    params(("name" = String, Path, description = "The campaign", example = "screen"), StreamQuery, ("Last-Event-ID" = Option<u64>, Header, description = "The last event that was received")),
    responses(
        (status = 200, body = String, content_type = "text/event-stream"),
        Refusals
    )
)]
async fn stream_events(
    State(state): State<AppState>,
    PathOf(name): PathOf<String>,
    QueryOf(query): QueryOf<StreamQuery>,
    (method, uri, headers): (Method, Uri, HeaderMap),
) -> Result<impl IntoResponse, Problem> {
    authenticate(&state, &method, &uri, &headers).await?.require_for(Role::Viewer, &name)?;
    let last = match headers.get("last-event-id") {
        Some(last) => {
            let number = last.to_str().ok().and_then(|last| last.parse().ok());
            Some(number.ok_or_else(|| Problem::BadRequest("Last-Event-ID must be the number of an event".into()))?)
        }
        None => query.after,
    };
    let after = match last {
        Some(after) => after,
        None => state.run(&name, |open| Ok(open.campaign.progress()?.events)).await?,
    };
    // A campaign that does not exist is refused before the stream begins.
    state.run(&name, move |open| open.campaign.some_events(after, 1)).await?;
    let credentials = Credentials { method, uri, headers };
    let stream = Events::new(state, name, after, credentials).stream();
    let keep_alive = KeepAlive::new().interval(Duration::from_secs(15));
    Ok(([("cache-control", "no-store"), ("x-accel-buffering", "no")], Sse::new(stream).keep_alive(keep_alive)))
}

/// The parts of a request by which it is known who sent it.
struct Credentials {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
}

/// A stream of events.
struct Events {
    state: AppState,
    name: String,
    after: u64,
    waiting: VecDeque<EventBody>,
    credentials: Credentials,
}

impl Events {
    fn new(state: AppState, name: String, after: u64, credentials: Credentials) -> Self {
        state.metrics().streams.fetch_add(1, Ordering::Relaxed);
        Self { state, name, after, waiting: VecDeque::new(), credentials }
    }

    fn stream(self) -> impl Stream<Item = Result<sse::Event, Infallible>> {
        stream::unfold(self, |mut events| async move {
            let event = events.next().await?;
            let data = serde_json::to_string(&event).unwrap_or_default();
            Some((Ok(sse::Event::default().id(event.number.to_string()).event(event.event).data(data)), events))
        })
    }

    /// The next event, once there is one; `None` when the campaign is deleted, the token is revoked or the server ends.
    async fn next(&mut self) -> Option<EventBody> {
        let mut ending = self.state.ending();
        loop {
            if let Some(event) = self.waiting.pop_front() {
                self.after = event.number;
                return Some(event);
            }
            let mut head = self.state.handle(&self.name).head();
            head.mark_unchanged();
            let after = self.after;
            let found = self.state.run(&self.name, move |open| read(open, after, STREAMED)).await;
            match found {
                Ok(events) if events.is_empty() => (),
                Ok(events) => {
                    self.waiting = events.into();
                    continue;
                }
                Err(Problem::Busy) => (),
                Err(_) => return None,
            }
            let is_closed = tokio::select! {
                changed = head.changed() => changed.is_err(),
                () = tokio::time::sleep(POLL) => false,
                _ = ending.wait_for(|is_ending| *is_ending) => return None,
            };
            if is_closed {
                // The campaign is opened again, but not at once, in case there are too many.
                tokio::time::sleep(POLL).await;
            }
            let Credentials { method, uri, headers } = &self.credentials;
            let principal = authenticate(&self.state, method, uri, headers).await.ok()?;
            principal.require_for(Role::Viewer, &self.name).ok()?;
        }
    }
}

impl Drop for Events {
    fn drop(&mut self) {
        self.state.metrics().streams.fetch_sub(1, Ordering::Relaxed);
    }
}
