//! The pages: what people see in a browser. They are made on the server and work without scripts; one small script keeps them up to date.
//!
//! A page posts forms, and every form ends in a redirect or in the page with a message. Texts of users reach a page only through templates,
//! which escape them, and no page may have a script or a style of its own.

mod actions;
mod arm;
mod assets;
mod campaign;
mod create;
mod downloads;
mod events;
mod home;
mod layout;
mod manage;
mod numbers;
mod preview;
mod session;
mod snippets;
mod table;
mod visitor;

use crate::problem::Problem;
use crate::state::AppState;
use axum::Router;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use layout::PageProblem;

/// The routes of all pages.
pub(crate) fn router() -> Router<AppState> {
    Router::new()
        .merge(assets::router())
        .merge(session::router())
        .merge(home::router())
        .merge(campaign::router())
        .merge(arm::router())
        .merge(events::router())
        .merge(actions::router())
        .merge(manage::router())
        .merge(downloads::router())
        .merge(create::router())
}

/// The answer where there is nothing: a page for browsers, a problem document for programs.
pub(crate) async fn not_found(headers: HeaderMap) -> Response {
    let problem = Problem::NotFound("there is nothing at this address; `/docs` lists what there is".into());
    let accepted = headers.get(header::ACCEPT).and_then(|kinds| kinds.to_str().ok()).unwrap_or_default();
    if accepted.contains("text/html") { PageProblem(problem).into_response() } else { problem.into_response() }
}
