//! Whether the server works, and numbers about it.

use crate::auth::Principal;
use crate::problem::{Problem, Refusals};
use crate::state::AppState;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use cutline_store::Role;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(healthz)).routes(routes!(readyz)).routes(routes!(metrics))
}

/// Whether the process is alive. Needs no token.
#[utoipa::path(get, path = "/healthz", tag = "server", security(()), responses((status = 200, body = String, content_type = "text/plain")))]
async fn healthz() -> &'static str {
    "ok\n"
}

/// Whether the store can be read, so that requests can be answered. Needs no token.
#[utoipa::path(
    get, path = "/readyz", tag = "server", security(()),
    responses((status = 200, body = String, content_type = "text/plain"), Refusals)
)]
async fn readyz(State(state): State<AppState>) -> Result<&'static str, Problem> {
    if *state.ending().borrow() {
        return Err(Problem::ShuttingDown);
    }
    state.tokens().await?;
    Ok("ready\n")
}

/// Numbers about the server, in the text format of Prometheus.
#[utoipa::path(
    get, path = "/metrics", tag = "server",
    responses((status = 200, body = String, content_type = "text/plain"), Refusals)
)]
async fn metrics(State(state): State<AppState>, principal: Principal) -> Result<Response, Problem> {
    principal.require(Role::Viewer)?;
    let text = state.metrics().text(state.n_open());
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response())
}
