//! What all pages have in common, and the pages for refusals.

use super::assets::VERSION;
use super::visitor::Visitor;
use crate::problem::Problem;
use askama::Template;
use axum::http::{HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use cutline_store::Role;

/// The parts of a page around its content.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) version: &'static str,
    /// The name of the token; `None` on the server of a single user or before a login.
    pub(super) user: Option<String>,
    pub(super) is_admin: bool,
    pub(super) is_worker: bool,
    /// Whether there is somebody who may see pages.
    pub(super) is_inside: bool,
}

impl Layout {
    /// For somebody who may see pages.
    pub(super) fn of(visitor: &Visitor) -> Self {
        let principal = &visitor.principal;
        Self {
            version: VERSION,
            user: principal.name.clone(),
            is_admin: principal.role >= Role::Admin,
            is_worker: principal.role >= Role::Worker,
            is_inside: true,
        }
    }

    /// For somebody who is not known.
    pub(super) fn outside() -> Self {
        Self { version: VERSION, user: None, is_admin: false, is_worker: false, is_inside: false }
    }
}

/// A page as a response.
pub(super) fn show(template: &impl Template) -> Response {
    match template.render() {
        Ok(html) => with_referrer(Html(html).into_response()),
        Err(error) => PageProblem(Problem::internal(&error)).into_response(),
    }
}

/// Without a referrer, browsers do not say from which site a form is posted either.
pub(super) fn with_referrer(mut response: Response) -> Response {
    response.headers_mut().insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    response
}

/// Why there is no page.
#[derive(Debug)]
pub(super) struct PageProblem(pub(super) Problem);

impl<E: Into<Problem>> From<E> for PageProblem {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

#[derive(Template)]
#[template(path = "page/problem.html")]
struct ProblemPage<'a> {
    layout: Layout,
    title: &'a str,
    detail: String,
}

impl IntoResponse for PageProblem {
    fn into_response(self) -> Response {
        let (_, title) = self.0.kind();
        let page = ProblemPage { layout: Layout::outside(), title, detail: self.0.to_string() };
        let html = page.render().unwrap_or_else(|_| "Something went wrong".into());
        with_referrer((self.0.status(), Html(html)).into_response())
    }
}
