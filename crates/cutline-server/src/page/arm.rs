//! `/campaigns/{name}/arms/{index}`: an arm, its verdict and its own measurements.

use super::campaign::Notice;
use super::events::EventLine;
use super::layout::{Layout, PageProblem, show};
use super::table::{Row, TableQuery};
use super::visitor::Visitor;
use crate::extract::PathOf;
use crate::problem::Problem;
use crate::routes::campaigns::escaped;
use crate::routes::events::read;
use crate::routes::verdicts::AllVerdicts;
use crate::state::AppState;
use askama::Template;
use axum::Router;
use axum::extract::{Query, State};
use axum::response::Response;
use axum::routing::get;
use cutline_store::Role;

/// How many events are read at once, so that others do not wait long for the campaign.
const CHUNK: usize = 2_000;

/// How many events are looked through for those of the arm, and how many of these are shown: the latest.
const LOOKED_THROUGH: u64 = 200_000;
const SHOWN: usize = 200;

pub(super) fn router() -> Router<AppState> {
    Router::new().route("/campaigns/{name}/arms/{index}", get(arm))
}

#[derive(Template)]
#[template(path = "page/arm.html")]
struct ArmPage {
    layout: Layout,
    notice: Option<Notice>,
    campaign: String,
    here: String,
    api: String,
    row: Row,
    events: Vec<EventLine>,
    n_events: u64,
    is_cut: bool,
}

async fn arm(
    State(state): State<AppState>,
    visitor: Visitor,
    PathOf((name, index)): PathOf<(String, usize)>,
    Query(query): Query<TableQuery>,
) -> Result<Response, PageProblem> {
    let notice = query.notice.as_deref().and_then(Notice::done);
    page(&state, &visitor, &name, index, notice).await
}

/// The page of an arm, with something to say about what was just tried.
pub(super) async fn page(
    state: &AppState,
    visitor: &Visitor,
    name: &str,
    index: usize,
    notice: Option<Notice>,
) -> Result<Response, PageProblem> {
    visitor.require(Role::Viewer, name)?;
    let verdict = state.run(name, AllVerdicts::new).await?.row(index);
    let verdict = verdict.ok_or_else(|| Problem::NotFound(format!("there is no arm with the number {index}")))?;
    let (n_events, events, is_cut) = history(state, name, &verdict.arm).await?;
    let here = format!("/campaigns/{}", escaped(name));
    Ok(show(&ArmPage {
        layout: Layout::of(visitor),
        notice,
        campaign: name.to_owned(),
        api: format!("/v1{here}"),
        here,
        row: verdict.into(),
        events,
        n_events,
        is_cut,
    }))
}

/// The number of events of the campaign, the latest ones of the arm with the newest first, and whether there may be more of them.
async fn history(state: &AppState, name: &str, arm: &str) -> Result<(u64, Vec<EventLine>, bool), Problem> {
    let total = state.run(name, |open| Ok(open.campaign.state()?.n_events())).await?;
    let begin = total.saturating_sub(LOOKED_THROUGH);
    let mut end = total;
    let mut found: Vec<EventLine> = Vec::new();
    while end > begin && found.len() < SHOWN {
        let after = end.saturating_sub(CHUNK as u64).max(begin);
        let (n, arm) = (usize::try_from(end - after).unwrap_or(CHUNK), arm.to_owned());
        let chunk = state
            .run(name, move |open| {
                let events = read(open, after, n)?.into_iter().rev().filter(|event| event.arm.as_ref() == Some(&arm));
                Ok(events.map(EventLine::from).collect::<Vec<_>>())
            })
            .await?;
        found.extend(chunk);
        end = after;
    }
    let is_cut = end > 0 || found.len() > SHOWN;
    found.truncate(SHOWN);
    Ok((total, found, is_cut))
}
