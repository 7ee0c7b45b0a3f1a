//! Logging in with a token, and out again. The token is kept in a cookie that no script can read and no other site can make a browser send.

use super::layout::{Layout, PageProblem, show, with_referrer};
use super::visitor::is_encrypted;
use crate::auth::{COOKIE, check_origin};
use crate::problem::Problem;
use crate::routes::campaigns::escaped;
use crate::state::AppState;
use crate::token::find;
use askama::Template;
use axum::Router;
use axum::extract::rejection::FormRejection;
use axum::extract::{Form, Query, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use serde::Deserialize;

/// How long a browser keeps the cookie, in seconds: 30 days. A revoked token ends it within seconds.
const KEPT: u32 = 30 * 86_400;

pub(super) fn router() -> Router<AppState> {
    Router::new().route("/login", get(login_page).post(login)).route("/logout", post(logout))
}

/// The address of the login, after which a visitor returns to `next`.
pub(super) fn login_address(next: &str) -> String {
    format!("/login?next={}", escaped(next))
}

/// An address of this server; `/` in place of any other.
fn local(next: Option<&str>) -> &str {
    let is_local = |next: &&str| {
        next.starts_with('/') && !next.starts_with("//") && !next.contains('\\') && !next.contains(char::is_control)
    };
    next.filter(is_local).unwrap_or("/")
}

#[derive(Template)]
#[template(path = "page/login.html")]
struct LoginPage<'a> {
    layout: Layout,
    next: &'a str,
    failure: Option<String>,
}

#[derive(Debug, Deserialize)]
struct LoginQuery {
    next: Option<String>,
}

async fn login_page(Query(query): Query<LoginQuery>) -> Response {
    show(&LoginPage { layout: Layout::outside(), next: local(query.next.as_deref()), failure: None })
}

#[derive(Deserialize)]
struct LoginForm {
    token: String,
    next: Option<String>,
}

async fn login(
    State(state): State<AppState>,
    (method, uri, headers): (Method, Uri, HeaderMap),
    form: Result<Form<LoginForm>, FormRejection>,
) -> Result<Response, PageProblem> {
    check_origin(&method, &uri, &headers)?;
    let Form(form) = form.map_err(|error| Problem::BadRequest(error.body_text()))?;
    let (secret, next) = (form.token.trim(), local(form.next.as_deref()));
    let tokens = state.tokens().await?;
    let is_header = secret.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b';' | b',' | b'"' | b'\\'));
    let Some(token) = find(&tokens, secret).filter(|_| is_header) else {
        let failure = Some("This token is not valid, or it was revoked.".into());
        let mut page = show(&LoginPage { layout: Layout::outside(), next, failure });
        *page.status_mut() = StatusCode::FORBIDDEN;
        return Ok(page);
    };
    tracing::info!(name = token.name, "a login");
    Ok(with_cookie(Redirect::to(next).into_response(), secret, KEPT, &headers))
}

async fn logout(method: Method, uri: Uri, headers: HeaderMap) -> Result<Response, PageProblem> {
    check_origin(&method, &uri, &headers)?;
    Ok(with_cookie(Redirect::to("/login").into_response(), "", 0, &headers))
}

fn with_cookie(mut response: Response, secret: &str, seconds: u32, headers: &HeaderMap) -> Response {
    let secure = if is_encrypted(headers) { "; Secure" } else { "" };
    let cookie = format!("{COOKIE}={secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age={seconds}{secure}");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    with_referrer(response)
}

#[cfg(test)]
mod tests {
    use super::local;

    #[test]
    fn nobody_is_sent_to_another_site() {
        for next in ["/", "/campaigns/a%20b?side=above"] {
            assert_eq!(local(Some(next)), next);
        }
        for next in ["https://example.org", "//example.org", "/\\example.org", "", "javascript:alert(1)", "/a\r\nb"] {
            assert_eq!(local(Some(next)), "/", "{next}");
        }
    }
}
