//! What handlers take out of requests. Whatever is wrong with a request is a problem document.

use crate::auth::Principal;
use crate::problem::Problem;
use crate::state::AppState;
use crate::token::hash;
use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use bytes::{Bytes, BytesMut};
use cutline_campaign::{Origin, RequestKey};
use futures_util::StreamExt;
use serde::de::DeserializeOwned;

/// The parameters in the path.
pub(crate) struct PathOf<T>(pub(crate) T);

impl<T: DeserializeOwned + Send> FromRequestParts<AppState> for PathOf<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let found: Result<Path<T>, PathRejection> = Path::from_request_parts(parts, state).await;
        found.map(|Path(path)| Self(path)).map_err(|error| Problem::NotFound(error.body_text()))
    }
}

/// The parameters after the question mark.
pub(crate) struct QueryOf<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<AppState> for QueryOf<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &AppState) -> Result<Self, Problem> {
        let found = Query::try_from_uri(&parts.uri);
        found.map(|Query(query)| Self(query)).map_err(|error| Problem::BadRequest(error.body_text()))
    }
}

/// The type of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyKind {
    Json,
    /// A table of candidates.
    Table,
}

/// A request with a body, who sends it, and where its changes come from.
pub(crate) struct Posted {
    pub(crate) principal: Principal,
    pub(crate) kind: BodyKind,
    pub(crate) bytes: Bytes,
    pub(crate) origin: Origin,
    /// The number of the campaign that is meant, if the request says it.
    pub(crate) campaign: Option<i64>,
    limits: PostedLimits,
}

/// The limits of texts and batches, which are checked where they are used.
#[derive(Clone, Copy)]
struct PostedLimits {
    text: usize,
    batch: usize,
}

/// A request with a body of JSON, which is not a table and has few bytes.
pub(crate) struct JsonOf<T> {
    pub(crate) value: T,
    pub(crate) posted: Posted,
}

impl FromRequest<AppState> for Posted {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, Problem> {
        Self::read(request, state, state.limits().body).await
    }
}

impl<T: DeserializeOwned> FromRequest<AppState> for JsonOf<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, Problem> {
        let posted = Posted::read(request, state, state.limits().small_body).await?;
        if posted.kind != BodyKind::Json {
            return Err(Problem::MediaType("the body must be JSON, with `Content-Type: application/json`".into()));
        }
        let value = posted.json()?;
        Ok(Self { value, posted })
    }
}

impl Posted {
    /// Nothing of the body is read before it is known who sends it.
    async fn read(request: Request, state: &AppState, most: usize) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let principal = Principal::of(&parts, state).await?;
        let kind = body_kind(&parts.headers)?;
        let length = parts.headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        if length.is_some_and(|length: usize| length > most) {
            return Err(Problem::TooLarge(most));
        }
        let mut bytes = BytesMut::new();
        let mut stream = body.into_data_stream();
        while let Some(part) = stream.next().await {
            let part = part.map_err(|_| Problem::BadRequest("the body broke off".into()))?;
            if bytes.len() + part.len() > most {
                return Err(Problem::TooLarge(most));
            }
            bytes.extend_from_slice(&part);
        }
        let limits = PostedLimits { text: state.limits().text, batch: state.limits().batch };
        let bytes = bytes.freeze();
        let key = key(&parts, &principal, &bytes, limits.text)?;
        let origin = Origin { author: principal.name.clone(), key };
        let campaign = meant_campaign(&parts.headers)?;
        Ok(Self { principal, kind, bytes, origin, campaign, limits })
    }

    /// The body as JSON.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        serde_json::from_slice(&self.bytes).map_err(|error| match error.classify() {
            serde_json::error::Category::Data => Problem::Refused(format!("the body does not fit: {error}")),
            _ => Problem::BadRequest(format!("the body is not JSON: {error}")),
        })
    }

    /// Refuses a text that is too long or has control characters.
    pub(crate) fn check_text(&self, what: &str, text: &str) -> Result<(), Problem> {
        let most = self.limits.text;
        if text.len() > most {
            return Err(Problem::Refused(format!("{what} has {} bytes; at most {most} are allowed", text.len())));
        }
        match text.chars().find(|character| character.is_control()) {
            Some(control) => Err(Problem::Refused(format!("{what} contains a control character, {control:?}"))),
            None => Ok(()),
        }
    }

    /// Refuses an empty batch and one that is too large.
    pub(crate) fn check_batch(&self, what: &str, n: usize) -> Result<(), Problem> {
        let most = self.limits.batch;
        match n {
            0 => Err(Problem::Refused(format!("there are no {what}"))),
            n if n > most => Err(Problem::Refused(format!("there are {n} {what}; at most {most} are allowed at once"))),
            _ => Ok(()),
        }
    }
}

/// The number of the campaign that a change is meant for: names can be given to other campaigns.
fn meant_campaign(headers: &HeaderMap) -> Result<Option<i64>, Problem> {
    let Some(number) = headers.get("cutline-campaign") else { return Ok(None) };
    let number = number.to_str().ok().and_then(|number| number.parse().ok());
    number.map(Some).ok_or_else(|| Problem::BadRequest("Cutline-Campaign is the number of a campaign".into()))
}

/// Fails if a change is meant for another campaign than that with the number `id`.
pub(crate) fn check_campaign(meant: Option<i64>, id: i64) -> Result<(), Problem> {
    match meant {
        Some(meant) if meant != id => Err(Problem::OtherCampaign(meant)),
        _ => Ok(()),
    }
}

/// The type of the body by its header.
fn body_kind(headers: &HeaderMap) -> Result<BodyKind, Problem> {
    let content = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = content.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match kind.as_str() {
        "application/json" => Ok(BodyKind::Json),
        "text/csv"
        | "text/tab-separated-values"
        | "application/gzip"
        | "application/vnd.apache.parquet"
        | "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
        | "application/octet-stream" => Ok(BodyKind::Table),
        "" => Err(Problem::MediaType("the header `Content-Type` is missing; use `application/json`".into())),
        other => Err(Problem::MediaType(format!(
            "the type `{other}` is not understood; use `application/json`, or `text/csv` for a table"
        ))),
    }
}

/// The key of the request, of which a store keeps hashes: those who share a token share their keys, others do not.
fn key(parts: &Parts, principal: &Principal, body: &[u8], longest: usize) -> Result<Option<RequestKey>, Problem> {
    let Some(key) = parts.headers.get("idempotency-key") else { return Ok(None) };
    if key.is_empty() || key.len() > longest {
        return Err(Problem::BadRequest(format!("an Idempotency-Key has 1 to {longest} bytes")));
    }
    let author = principal.name.as_deref().unwrap_or_default().as_bytes();
    let target = parts.uri.path_and_query().map_or("", axum::http::uri::PathAndQuery::as_str);
    let fingerprint = [parts.method.as_str().as_bytes(), b"\0", target.as_bytes(), b"\0", body].concat();
    Ok(Some(RequestKey { key: hash(&[author, b"\0", key.as_bytes()].concat()), fingerprint: hash(&fingerprint) }))
}
