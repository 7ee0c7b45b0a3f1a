//! Who asks, and what they may do. The only place where requests are authenticated.

use crate::problem::Problem;
use crate::state::AppState;
use crate::token::find;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, Uri, header};
use cutline_store::Role;
use std::net::IpAddr;

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Principal {
    /// The name of the token; `None` on a server of a single user, which has no tokens.
    pub(crate) name: Option<String>,
    pub(crate) role: Role,
    /// The campaigns that the token is for; `None` for all.
    pub(crate) campaigns: Option<Vec<String>>,
}

impl Principal {
    /// Refuses what the role does not allow.
    pub(crate) fn require(&self, role: Role) -> Result<(), Problem> {
        if self.role >= role {
            return Ok(());
        }
        let (needed, found) = (role.name(), self.role.name());
        Err(Problem::NotAllowed(format!(
            "this needs a token with the role `{needed}`, and yours has the role `{found}`"
        )))
    }

    /// Whether the token is for this campaign.
    pub(crate) fn sees(&self, campaign: &str) -> bool {
        self.campaigns.as_ref().is_none_or(|campaigns| campaigns.iter().any(|name| name == campaign))
    }

    /// Refuses what the role does not allow, and campaigns that the token is not for.
    pub(crate) fn require_for(&self, role: Role, campaign: &str) -> Result<(), Problem> {
        self.require(role)?;
        if self.sees(campaign) { Ok(()) } else { Err(Problem::NotAllowed("your token is for other campaigns".into())) }
    }
}

impl FromRequestParts<AppState> for Principal {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        Self::of(parts, state).await
    }
}

impl Principal {
    /// Who sends a request. Requests that do not come from a socket say it themselves, by an extension.
    pub(crate) async fn of(parts: &Parts, state: &AppState) -> Result<Self, Problem> {
        match parts.extensions.get::<Self>() {
            Some(known) => Ok(known.clone()),
            None => authenticate(state, &parts.method, &parts.uri, &parts.headers).await,
        }
    }
}

/// Who sends a request with these headers.
///
/// A store without any token, revoked ones included, belongs to a single user if the server is bound to a loopback address. Such a user is
/// protected from pages of other sites: the host must be this machine, and the origin of a change this server.
pub(crate) async fn authenticate(
    state: &AppState,
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<Principal, Problem> {
    let tokens = state.tokens().await?;
    if tokens.is_empty() && state.is_loopback() {
        check_host(uri, headers)?;
        check_origin(method, uri, headers)?;
        return Ok(Principal { name: None, role: Role::Admin, campaigns: None });
    }
    let secret = if let Some(secret) = bearer(headers) {
        secret
    } else {
        // Browsers send a cookie by themselves, so the request must be known to come from a page of this server.
        let secret = cookie(headers).ok_or(Problem::NoToken)?;
        check_browser(method, headers)?;
        check_origin(method, uri, headers)?;
        secret
    };
    let token = find(&tokens, secret).ok_or(Problem::NoToken)?;
    Ok(Principal { name: Some(token.name.clone()), role: token.role, campaigns: token.campaigns.clone() })
}

/// The secret in the header `Authorization`.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, secret) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}

/// The name of the cookie in which the pages keep a token.
pub(crate) const COOKIE: &str = "cutline_session";

/// The secret in the cookie.
fn cookie(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find_map(|(name, secret)| (name == COOKIE && !secret.is_empty()).then_some(secret))
}

/// Refuses changes with a cookie that do not say where they come from. All browsers do.
fn check_browser(method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
    const UNKNOWN: &str =
        "a change with a cookie must say where it comes from; programs use `Authorization: Bearer TOKEN`";
    let says = headers.contains_key(header::ORIGIN) || headers.contains_key("sec-fetch-site");
    if method.is_safe() || says { Ok(()) } else { Err(Problem::ForeignOrigin(UNKNOWN)) }
}

/// The host that the client believes to speak to, with its port.
pub(crate) fn host<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Option<&'a str> {
    // HTTP/2 has it in the address.
    let in_header = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    in_header.or_else(|| uri.authority().map(axum::http::uri::Authority::as_str))
}

/// Refuses hosts that are not this machine: a page of another site may have changed the address of its own name to this one.
fn check_host(uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
    const FOREIGN: &str = "without tokens this server answers only to `localhost` and loopback addresses, and not behind a proxy; create a token \
                           with `cutline token create`";
    let host = host(uri, headers).ok_or(Problem::ForeignOrigin(FOREIGN))?;
    let is_forwarded = ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip"]
        .iter()
        .any(|name| headers.contains_key(*name));
    if is_local(host) && !is_forwarded { Ok(()) } else { Err(Problem::ForeignOrigin(FOREIGN)) }
}

/// Whether a host, with or without a port, is this machine.
fn is_local(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or("", |(address, _)| address),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Refuses changes that a page of another site asks for in the name of the user. To be called where a browser adds the permission to
/// requests by itself.
pub(crate) fn check_origin(method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
    const FOREIGN: &str = "a page of another site may not change anything here";
    if method.is_safe() {
        return Ok(());
    }
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    if let Some(site) = text("sec-fetch-site")
        && !matches!(site, "same-origin" | "none")
    {
        return Err(Problem::ForeignOrigin(FOREIGN));
    }
    let Some(origin) = text("origin") else { return Ok(()) };
    let of_origin = origin.split_once("://").map(|(_, host)| host);
    if of_origin.is_some() && of_origin == host(uri, headers) { Ok(()) } else { Err(Problem::ForeignOrigin(FOREIGN)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn only_this_machine_is_local() {
        for host in ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "127.9.9.9", "[::1]", "[::1]:8080"] {
            assert!(is_local(host), "{host}");
        }
        for host in
            ["", "example.org", "localhost.example.org", "127.0.0.1.example.org:80", "10.0.0.1", "[::2]:80", "[", "::1"]
        {
            assert!(!is_local(host) || host == "::1", "{host}");
        }
    }

    #[test]
    fn pages_of_other_sites_change_nothing() {
        let uri = Uri::from_static("/v1/campaigns");
        let check =
            |method: Method, pairs: &[(&'static str, &str)]| check_origin(&method, &uri, &headers(pairs)).is_ok();
        let host = ("host", "127.0.0.1:8080");
        assert!(check(Method::POST, &[host]), "not a browser");
        assert!(check(Method::POST, &[host, ("origin", "http://127.0.0.1:8080")]));
        assert!(check(Method::GET, &[host, ("origin", "http://example.org")]));
        assert!(!check(Method::POST, &[host, ("origin", "http://example.org")]));
        assert!(!check(Method::POST, &[host, ("origin", "http://127.0.0.1:9090")]), "another port is another site");
        assert!(!check(Method::DELETE, &[host, ("origin", "null")]));
        assert!(!check(Method::PATCH, &[host, ("sec-fetch-site", "cross-site")]));
    }

    #[test]
    fn a_cookie_is_found_among_others() {
        let found = |value: &str| cookie(&headers(&[("cookie", value)])).map(str::to_owned);
        assert_eq!(found("a=1; cutline_session=s3cret; b=2").as_deref(), Some("s3cret"));
        assert_eq!(found("cutline_session="), None);
        assert_eq!(found("xcutline_session=1; cutline_sessionx=2"), None);
        assert!(check_browser(&Method::GET, &headers(&[])).is_ok());
        assert!(check_browser(&Method::POST, &headers(&[])).is_err());
        assert!(check_browser(&Method::POST, &headers(&[("origin", "http://localhost")])).is_ok());
    }

    #[test]
    fn proxies_are_refused_without_tokens() {
        let uri = Uri::from_static("/");
        assert!(check_host(&uri, &headers(&[("host", "localhost:8080")])).is_ok());
        assert!(check_host(&uri, &headers(&[("host", "lab.example.org")])).is_err());
        assert!(check_host(&uri, &headers(&[("host", "localhost"), ("x-forwarded-for", "10.1.2.3")])).is_err());
        assert!(check_host(&uri, &headers(&[])).is_err());
    }
}
