//! Who looks at a page. Whoever may not is sent to the login, with the address to return to.

use super::layout::PageProblem;
use super::session::login_address;
use crate::auth::{Principal, authenticate, host};
use crate::problem::Problem;
use crate::state::AppState;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use cutline_campaign::Origin;
use cutline_store::Role;

/// Somebody who may look at pages.
#[derive(Clone, Debug)]
pub(super) struct Visitor {
    pub(super) principal: Principal,
    /// The beginning of the server's address as the visitor knows it, for example `http://localhost:8080`.
    pub(super) base: String,
}

impl Visitor {
    /// Refuses what the visitor may not do to a campaign.
    pub(super) fn require(&self, role: Role, campaign: &str) -> Result<(), Problem> {
        self.principal.require_for(role, campaign)
    }

    /// Where changes by this visitor come from.
    pub(super) fn origin(&self) -> Origin {
        Origin { author: self.principal.name.clone(), key: None }
    }
}

impl FromRequestParts<AppState> for Visitor {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Response> {
        match authenticate(state, &parts.method, &parts.uri, &parts.headers).await {
            Ok(principal) => {
                let scheme = if is_encrypted(&parts.headers) { "https" } else { "http" };
                let host = host(&parts.uri, &parts.headers).unwrap_or("localhost");
                Ok(Self { principal, base: format!("{scheme}://{host}") })
            }
            Err(Problem::NoToken) => Err(outside(parts)),
            Err(problem) => Err(PageProblem(problem).into_response()),
        }
    }
}

/// Whether the visitor speaks TLS, to this server or to a proxy, as far as the headers say it.
pub(super) fn is_encrypted(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    text("origin").starts_with("https://")
        || text("x-forwarded-proto").eq_ignore_ascii_case("https")
        || text("referer").starts_with("https://")
}

/// The answer to somebody who is not known.
fn outside(parts: &Parts) -> Response {
    let target = parts.uri.path_and_query().map_or("/", axum::http::uri::PathAndQuery::as_str);
    let site = parts.headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
    if parts.method.is_safe() && site == Some("cross-site") {
        // A link from another site is followed without the cookie. From here on it is sent, if there is one.
        let refresh = format!("0; url={target}");
        return (StatusCode::OK, [(header::REFRESH, refresh)], Html("<!doctype html><title>Cutline</title>"))
            .into_response();
    }
    let next = if parts.method.is_safe() { target } else { "/" };
    Redirect::to(&login_address(next)).into_response()
}
