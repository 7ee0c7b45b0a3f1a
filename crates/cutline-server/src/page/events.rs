//! `/campaigns/{name}/events`: everything that happened to a campaign, the latest first.

use super::layout::{Layout, PageProblem, show};
use super::numbers::{Moment, count, exact};
use super::visitor::Visitor;
use crate::extract::PathOf;
use crate::routes::campaigns::escaped;
use crate::routes::events::read;
use crate::state::AppState;
use askama::Template;
use axum::Router;
use axum::extract::{Query, State};
use axum::response::Response;
use axum::routing::get;
use cutline_campaign::changed_settings;
use cutline_client::wire::EventBody;
use cutline_store::Role;
use serde::Deserialize;

/// How many events a page has.
const PER_PAGE: u64 = 100;

pub(super) fn router() -> Router<AppState> {
    Router::new().route("/campaigns/{name}/events", get(events))
}

/// An event in words.
pub(super) struct EventLine {
    pub(super) number: u64,
    pub(super) at: Moment,
    pub(super) event: String,
    pub(super) what: String,
    pub(super) reason: String,
    pub(super) by: String,
}

impl From<EventBody> for EventLine {
    fn from(body: EventBody) -> Self {
        let what = what(&body);
        let is_change = body.event == "changed";
        let reason = body.reason.map(|reason| if is_change { in_words(&reason) } else { reason });
        Self {
            number: body.number,
            at: Moment::parse(&body.at),
            event: body.event,
            what,
            reason: reason.unwrap_or_default(),
            by: body.by.unwrap_or_default(),
        }
    }
}

/// Changed settings in words: `threshold = 0.6, until sure = none`.
fn in_words(change: &str) -> String {
    let settings = changed_settings(change).into_iter();
    settings.map(|(key, value)| format!("{} = {value}", key.replace('_', " "))).collect::<Vec<_>>().join(", ")
}

fn what(body: &EventBody) -> String {
    let mut parts = Vec::new();
    parts.extend(body.ticket.map(|ticket| format!("ticket {ticket}")));
    parts.extend(body.arm.as_ref().map(|arm| format!("“{arm}”")));
    parts.extend(body.reward.map(|reward| format!("reward {}", exact(reward))));
    parts.extend(body.worker.as_ref().map(|worker| format!("for {worker}")));
    parts.extend(body.counted.filter(|counted| !counted).map(|_| "not counted".to_owned()));
    parts.extend(body.n_arms.map(|n_arms| format!("{} arms", count(n_arms))));
    parts.join(", ")
}

#[derive(Template)]
#[template(path = "page/events.html")]
struct EventsPage {
    layout: Layout,
    name: String,
    here: String,
    api: String,
    events: Vec<EventLine>,
    total: u64,
    older: Option<u64>,
    newer: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct EventsQuery {
    /// Only events up to this number.
    to: Option<u64>,
}

async fn events(
    State(state): State<AppState>,
    visitor: Visitor,
    PathOf(name): PathOf<String>,
    Query(query): Query<EventsQuery>,
) -> Result<Response, PageProblem> {
    visitor.require(Role::Viewer, &name)?;
    let (total, last, events) = state
        .run(&name, move |open| {
            let total = open.campaign.state()?.n_events();
            let last = query.to.unwrap_or(total).clamp(total.min(1), total);
            let first = last.saturating_sub(PER_PAGE);
            let n = usize::try_from(last - first).unwrap_or(0);
            let found = if n == 0 { Vec::new() } else { read(open, first, n)? };
            Ok((total, last, found.into_iter().rev().map(EventLine::from).collect::<Vec<_>>()))
        })
        .await?;
    let here = format!("/campaigns/{}", escaped(&name));
    Ok(show(&EventsPage {
        layout: Layout::of(&visitor),
        name,
        api: format!("/v1{here}"),
        here,
        events,
        total,
        older: last.checked_sub(PER_PAGE).filter(|&older| older > 0),
        newer: (last < total).then(|| (last + PER_PAGE).min(total)),
    }))
}
