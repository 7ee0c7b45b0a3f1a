//! The whole application: all routes, and what holds for every request.

use crate::problem::Problem;
use crate::state::AppState;
use crate::{page, routes};
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use std::any::Any;
use std::time::Instant;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;

/// The headers of every answer: nothing is executed, framed or guessed.
const SECURITY_HEADERS: [(HeaderName, &str); 5] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; \
         base-uri 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// The application. It needs no socket: a test may call it with requests.
///
/// # Panics
/// Never: the documentation that it renders is part of the program.
pub fn app(state: AppState) -> Router {
    let (router, document) = routes::router();
    let page = routes::docs_page(&document).expect("a template that is part of the program");
    let style = || async { ([(header::CONTENT_TYPE, "text/css")], include_str!("../templates/docs.css")) };
    router
        .route("/openapi.json", get(move || async move { Json(document) }))
        .route("/docs", get(move || async move { Html(page) }))
        .route("/docs.css", get(style))
        .merge(page::router())
        .fallback(page::not_found)
        .method_not_allowed_fallback(|| async { Problem::Method })
        .layer(middleware::from_fn_with_state(state.clone(), watch))
        .layer(CompressionLayer::new())
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::map_response(with_security_headers))
        .with_state(state)
}

/// Counts requests, and ends those that take too long. A stream has answered in time, and goes on.
async fn watch(State(state): State<AppState>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let answered = tokio::time::timeout(state.limits().request, next.run(request)).await;
    let response = answered.unwrap_or_else(|_| Problem::TooSlow.into_response());
    state.metrics().count(&method, route.as_deref(), response.status(), start.elapsed());
    let status = response.status().as_u16();
    tracing::debug!(%method, route, status, duration = ?start.elapsed(), "answered");
    response
}

async fn with_security_headers(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in SECURITY_HEADERS {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

#[expect(clippy::needless_pass_by_value, reason = "as the layer calls it")]
fn panicked(panic: Box<dyn Any + Send + 'static>) -> Response {
    let message = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
    Problem::internal(&message.unwrap_or("a panic without a message")).into_response()
}
