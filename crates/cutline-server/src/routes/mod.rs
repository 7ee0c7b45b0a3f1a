//! The routes, one file per subject: each has its handlers and its `router`.

#![allow(unused_qualifications, reason = "of the code that `utoipa::path` makes")]

pub(crate) mod arms;
pub(crate) mod campaigns;
mod diagnosis;
mod docs;
pub(crate) mod events;
mod health;
pub(crate) mod measurements;
pub(crate) mod new_campaign;
pub(crate) mod plan;
pub(crate) mod report;
pub(crate) mod verdicts;

use crate::problem::Problem;
use crate::state::AppState;
use cutline_client::wire::ProblemDocument;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;

/// What the document says about all routes together.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Cutline",
        description = "Campaigns of noisy measurements on a budget: which candidates lie above a threshold?\n\n\
                       Every POST takes a header `Idempotency-Key`: a repetition with the same key and the same body gets the answer of the \
                       first time and changes nothing, for at least a day. Times are in UTC by RFC 3339. A refusal is a problem document of RFC \
                       9457."
    ),
    components(schemas(ProblemDocument)),
    modifiers(&BearerToken),
    security(("token" = []), ())
)]
struct Document;

/// The security scheme.
struct BearerToken;

impl utoipa::Modify for BearerToken {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
        let scheme = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).description(Some(
            "A token of `cutline token create`. A server on a loopback address needs none as long as its store has none.",
        ));
        let components = document.components.get_or_insert_default();
        components.add_security_scheme("token", SecurityScheme::Http(scheme.build()));
    }
}

/// All routes, and the document about them.
pub(crate) fn router() -> (axum::Router<AppState>, utoipa::openapi::OpenApi) {
    OpenApiRouter::with_openapi(Document::openapi())
        .merge(campaigns::router())
        .merge(arms::router())
        .merge(measurements::router())
        .merge(report::router())
        .merge(plan::router())
        .merge(verdicts::router())
        .merge(diagnosis::router())
        .merge(events::router())
        .merge(health::router())
        .split_for_parts()
}

pub(crate) use campaigns::escaped;
pub(crate) use docs::docs_page;

/// The first entries after the first `offset`, at most `limit` of them, if the caller may have so many.
pub(crate) fn page_bounds(
    offset: Option<usize>,
    limit: Option<usize>,
    default: usize,
    most: usize,
) -> Result<(usize, usize), Problem> {
    let limit = limit.unwrap_or(default.min(most));
    if limit == 0 || limit > most {
        return Err(Problem::Refused(format!("`limit` must be 1 to {most}, not {limit}")));
    }
    Ok((offset.unwrap_or(0), limit))
}

/// A number for JSON, which has no infinite ones.
pub(crate) fn finite(number: f64) -> Option<f64> {
    Some(number).filter(|number| number.is_finite())
}
