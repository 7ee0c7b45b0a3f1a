//! Why a request was refused: a problem document of RFC 9457.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cutline_campaign::CampaignError;
use cutline_client::wire::{ProblemDocument, Refusal};
use cutline_store::StoreError;
use std::collections::BTreeMap;
use thiserror::Error;
use utoipa::IntoResponses;
use utoipa::openapi::{self, RefOr};

/// Why a request was refused. What happens inside is logged and never part of it.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum Problem {
    /// 400: the request cannot be understood.
    #[error("{0}")]
    BadRequest(String),
    /// 401: there is no valid token.
    #[error("give a valid token in the header `Authorization: Bearer TOKEN`; `cutline token create` makes one")]
    NoToken,
    /// 403: the token does not allow it.
    #[error("{0}")]
    NotAllowed(String),
    /// 403: a page of another site, or a host that is not this one, asks.
    #[error("{0}")]
    ForeignOrigin(&'static str),
    /// 404: there is no such campaign.
    #[error("there is no campaign `{0}`")]
    NoCampaign(String),
    /// 404: there is nothing else at this address.
    #[error("{0}")]
    NotFound(String),
    /// 405: the address does not take this method.
    #[error("this address does not take this method")]
    Method,
    /// 408: the request took too long.
    #[error("the request took too long")]
    TooSlow,
    /// 409: the campaign does not allow it as it stands.
    #[error("{0}")]
    Conflict(String),
    /// 409 or 422: the campaign does not allow it as it stands, or there is no such ticket or arm. Programs get the values, too.
    #[error("{0}")]
    Campaign(Refusal),
    /// 410: the campaign that is meant is not the one at this address.
    #[error("the campaign number {0} is not at this address: it was deleted, or has another name now")]
    OtherCampaign(i64),
    /// 413: the body is too large.
    #[error("the body has more than {0} bytes")]
    TooLarge(usize),
    /// 415: the body is of another type.
    #[error("{0}")]
    MediaType(String),
    /// 422: a value is refused.
    #[error("{0}")]
    Refused(String),
    /// 422: the key of the request was used for another one.
    #[error("the Idempotency-Key was used for another request; use a new key for every request")]
    OtherRequest,
    /// 503: too many requests wait.
    #[error("too many requests wait; try again")]
    Busy,
    /// 503: the store failed in a way that may pass.
    #[error("the store does not answer; try again, with the same `Idempotency-Key` if the request has one")]
    StoreFailed,
    /// 503: the server ends.
    #[error("the server is shutting down")]
    ShuttingDown,
    /// 500: something went wrong inside, which is in the log.
    #[error("something went wrong; the server's log says what")]
    Internal,
}

/// The problem documents in the description of a route.
pub(crate) struct Refusals;

impl IntoResponses for Refusals {
    fn responses() -> BTreeMap<String, RefOr<openapi::Response>> {
        let refusal = |status: &str, about: &str| {
            let schema = openapi::Ref::from_schema_name("Problem");
            let content = openapi::ContentBuilder::new().schema(Some(schema)).build();
            let response =
                openapi::ResponseBuilder::new().description(about).content("application/problem+json", content);
            (status.to_owned(), RefOr::T(response.build()))
        };
        [refusal("4XX", "The request is refused."), refusal("5XX", "The server cannot answer.")].into()
    }
}

impl Problem {
    /// Its status code.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            Self::BadRequest(_) => StatusCode::BAD_REQUEST,
            Self::NoToken => StatusCode::UNAUTHORIZED,
            Self::NotAllowed(_) | Self::ForeignOrigin(_) => StatusCode::FORBIDDEN,
            Self::NoCampaign(_) | Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::Campaign(refusal) if is_about_values(refusal) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Conflict(_) | Self::Campaign(_) => StatusCode::CONFLICT,
            Self::OtherCampaign(_) => StatusCode::GONE,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::MediaType(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::Refused(_) | Self::OtherRequest => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Busy | Self::StoreFailed | Self::ShuttingDown => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Its name in addresses, and its title.
    pub(crate) fn kind(&self) -> (&'static str, &'static str) {
        match self {
            Self::BadRequest(_) => ("bad-request", "The request cannot be understood"),
            Self::NoToken => ("no-token", "There is no valid token"),
            Self::NotAllowed(_) => ("not-allowed", "The token does not allow it"),
            Self::ForeignOrigin(_) => ("foreign-origin", "The request comes from another site"),
            Self::NoCampaign(_) => ("no-campaign", "There is no such campaign"),
            Self::NotFound(_) => ("not-found", "There is nothing at this address"),
            Self::Method => ("method", "The address does not take this method"),
            Self::TooSlow => ("too-slow", "The request took too long"),
            Self::Campaign(refusal) if is_about_values(refusal) => ("refused", "A value is refused"),
            Self::Conflict(_) | Self::Campaign(_) => ("conflict", "The campaign does not allow it"),
            Self::OtherCampaign(_) => ("other-campaign", "Another campaign is at this address"),
            Self::TooLarge(_) => ("too-large", "The body is too large"),
            Self::MediaType(_) => ("media-type", "The body is of another type"),
            Self::Refused(_) => ("refused", "A value is refused"),
            Self::OtherRequest => ("other-request", "The key was used for another request"),
            Self::Busy => ("busy", "Too many requests wait"),
            Self::StoreFailed => ("store-failed", "The store does not answer"),
            Self::ShuttingDown => ("shutting-down", "The server is shutting down"),
            Self::Internal => ("internal", "Something went wrong inside"),
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let (kind, title) = self.kind();
        let status = self.status();
        let document = ProblemDocument {
            kind: format!("/docs#{kind}"),
            title: title.into(),
            status: status.as_u16(),
            detail: self.to_string(),
            refusal: if let Self::Campaign(refusal) = &self { Some(refusal.clone()) } else { None },
        };
        let body = serde_json::to_vec(&document).unwrap_or_default();
        let mut response = (status, [(header::CONTENT_TYPE, "application/problem+json")], body).into_response();
        let headers = response.headers_mut();
        match self {
            Self::NoToken => drop(headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))),
            Self::Busy | Self::StoreFailed | Self::ShuttingDown => {
                drop(headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1")));
            }
            _ => (),
        }
        response
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        Self::from(&error)
    }
}

/// What a user can do something about is passed on; the rest is logged.
impl From<&StoreError> for Problem {
    fn from(error: &StoreError) -> Self {
        if let Some(refusal) = Refusal::of(error) {
            return Self::Campaign(refusal);
        }
        match error {
            StoreError::NoCampaign { name, .. } => Self::NoCampaign(name.clone()),
            StoreError::Deleted => Self::NotFound("the campaign was deleted".into()),
            StoreError::Contended
            | StoreError::KeyInUse
            | StoreError::CustomRuleMissing(_)
            | StoreError::CustomRuleMismatch { .. } => Self::Conflict(error.to_string()),
            StoreError::OtherRequest => Self::OtherRequest,
            StoreError::BadName(_)
            | StoreError::OtherName { .. }
            | StoreError::CustomRuleOverHttp
            | StoreError::Covariance(_)
            | StoreError::Candidates(_)
            | StoreError::Model(_)
            | StoreError::Setting(_)
            | StoreError::Terms(_) => Self::Refused(error.to_string()),
            error if error.may_pass() => {
                tracing::error!(%error, "the store failed");
                Self::StoreFailed
            }
            _ => Self::internal(error),
        }
    }
}

/// Whether a refusal is about a value in the request, and not about the state of the campaign.
fn is_about_values(refusal: &Refusal) -> bool {
    matches!(
        refusal,
        Refusal::Campaign(
            CampaignError::NoTicket { .. }
                | CampaignError::NoArm { .. }
                | CampaignError::TooManyRewards { .. }
                | CampaignError::NotPassOrFail { .. }
                | CampaignError::NotACount { .. }
                | CampaignError::BelowMin { .. }
                | CampaignError::AboveMax { .. }
                | CampaignError::NotAReward { .. }
        )
    )
}

impl Problem {
    /// Logs what went wrong inside.
    pub(crate) fn internal(error: &dyn std::fmt::Display) -> Self {
        tracing::error!(%error, "a request failed");
        Self::Internal
    }
}
