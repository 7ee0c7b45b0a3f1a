//! `/new`: a campaign from a table, with a look at the table and at what the budget would bring before anything is spent.

use super::layout::{Layout, PageProblem, show, with_referrer};
use super::preview::{Preview, Prospect};
use super::visitor::Visitor;
use crate::extract::{Posted, QueryOf};
use crate::problem::Problem;
use crate::routes::campaigns::escaped;
use crate::routes::new_campaign::TableQuery;
use crate::state::AppState;
use askama::Template;
use axum::Router;
use axum::extract::rejection::FormRejection;
use axum::extract::{DefaultBodyLimit, Form, Query, State};
use axum::http::Uri;
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use bytes::Bytes;
use cutline_store::Role;

/// The longest table that can be pasted; larger ones are uploaded as files.
pub(super) const PASTED: usize = 8 << 20;

pub(super) fn router() -> Router<AppState> {
    Router::new()
        .route("/new", get(empty).post(posted).layer(DefaultBodyLimit::max(PASTED)))
        .route("/new/preview", post(preview))
        .route("/new/plan", post(plan))
}

/// The fields of the form, as they were filled in.
#[derive(Default)]
struct Fields(Vec<(String, String)>);

impl Fields {
    fn get(&self, key: &str) -> &str {
        self.0.iter().find(|(name, _)| name == key).map_or("", |(_, value)| value.trim())
    }

    fn is(&self, key: &str, value: &str) -> bool {
        self.get(key) == value
    }

    /// The settings: all fields that are not empty, but the table and the button.
    fn settings(&self) -> Result<TableQuery, Problem> {
        let is_setting =
            |(key, value): &&(String, String)| !matches!(key.as_str(), "table" | "do") && !value.trim().is_empty();
        let pairs =
            self.0.iter().filter(is_setting).map(|(key, value)| format!("{}={}", escaped(key), escaped(value.trim())));
        let address = format!("/?{}", pairs.collect::<Vec<_>>().join("&"));
        let uri: Uri = address.parse().map_err(|_| Problem::Refused("the fields are too long".into()))?;
        let Query(query) = Query::try_from_uri(&uri).map_err(|error| Problem::Refused(error.body_text()))?;
        Ok(query)
    }
}

#[derive(Template)]
#[template(path = "page/new.html")]
struct NewPage {
    layout: Layout,
    fields: Fields,
    failure: Option<String>,
    preview: Option<Preview>,
    prospect: Option<Prospect>,
    prospect_failure: Option<String>,
}

#[derive(Template)]
#[template(path = "page/preview.html")]
struct PreviewPart {
    preview: Option<Preview>,
}

#[derive(Template)]
#[template(path = "page/prospect.html")]
struct ProspectPart {
    prospect: Option<Prospect>,
    prospect_failure: Option<String>,
}

async fn empty(visitor: Visitor) -> Result<Response, PageProblem> {
    visitor.principal.require(Role::Admin)?;
    let layout = Layout::of(&visitor);
    Ok(show(&NewPage {
        layout,
        fields: Fields::default(),
        failure: None,
        preview: None,
        prospect: None,
        prospect_failure: None,
    }))
}

/// The form without scripts: the table is pasted, and the button says whether to look or to begin.
async fn posted(
    State(state): State<AppState>,
    visitor: Visitor,
    form: Result<Form<Vec<(String, String)>>, FormRejection>,
) -> Result<Response, PageProblem> {
    visitor.principal.require(Role::Admin)?;
    let Form(pairs) = form.map_err(|error| Problem::BadRequest(error.body_text()))?;
    let fields = Fields(pairs);
    let table = Bytes::from(fields.get("table").to_owned());
    let settings = fields.settings();
    if let (true, Ok(query)) = (fields.is("do", "begin"), &settings) {
        match begin(&state, &visitor, table.clone(), query.clone()).await {
            Ok(name) => {
                let target = format!("/campaigns/{}?notice=begun", escaped(&name));
                return Ok(with_referrer(Redirect::to(&target).into_response()));
            }
            Err(problem) => return shown(&state, &visitor, fields, table, Some(problem)).await,
        }
    }
    let failure = settings.err();
    shown(&state, &visitor, fields, table, failure).await
}

/// The form again, with the table as it is read.
async fn shown(
    state: &AppState,
    visitor: &Visitor,
    fields: Fields,
    table: Bytes,
    failure: Option<Problem>,
) -> Result<Response, PageProblem> {
    let status = failure.as_ref().map(Problem::status);
    let query = fields.settings().unwrap_or_default();
    let (read, looked) = (table.clone(), query.clone());
    let preview = state.heavy_work(move || Preview::new(read, &looked)).await;
    let is_good = preview.as_ref().is_ok_and(|preview| preview.problems.is_empty());
    let planned = if is_good && failure.is_none() { Some(prospect(state, table, query).await) } else { None };
    let (prospect, prospect_failure) = match planned {
        Some(Ok(prospect)) => (Some(prospect), None),
        Some(Err(problem)) => (None, Some(problem.to_string())),
        None => (None, None),
    };
    let failure = failure.or_else(|| preview.as_ref().err().cloned()).map(|problem| problem.to_string());
    let preview = preview.ok();
    let page = NewPage { layout: Layout::of(visitor), fields, failure, preview, prospect, prospect_failure };
    let mut response = show(&page);
    *response.status_mut() = status.unwrap_or(response.status());
    Ok(response)
}

async fn begin(state: &AppState, visitor: &Visitor, table: Bytes, query: TableQuery) -> Result<String, Problem> {
    let (shared, visitor) = (state.clone(), visitor.clone());
    let begun = state.store(move |store| {
        let (new, _) = query.campaign(table, &shared)?;
        visitor.require(Role::Admin, new.name())?;
        let campaign = store.begin_new(new.with_origin(visitor.origin()))?;
        Ok(campaign.name().to_owned())
    });
    begun.await
}

async fn prospect(state: &AppState, table: Bytes, query: TableQuery) -> Result<Prospect, Problem> {
    let shared = state.clone();
    state.heavy_work(move || Prospect::new(table, query, &shared)).await
}

/// A part of the page, for the script.
fn part(template: &impl Template) -> Result<Response, Problem> {
    Ok(Html(template.render().map_err(|error| Problem::internal(&error))?).into_response())
}

/// How an uploaded table is read.
async fn preview(
    State(state): State<AppState>,
    QueryOf(query): QueryOf<TableQuery>,
    posted: Posted,
) -> Result<Response, Problem> {
    posted.principal.require(Role::Admin)?;
    let preview = state.heavy_work(move || Preview::new(posted.bytes, &query)).await?;
    part(&PreviewPart { preview: Some(preview) })
}

/// What the budget would bring with an uploaded table.
async fn plan(
    State(state): State<AppState>,
    QueryOf(query): QueryOf<TableQuery>,
    posted: Posted,
) -> Result<Response, Problem> {
    posted.principal.require(Role::Admin)?;
    let (prospect, prospect_failure) = match prospect(&state, posted.bytes, query).await {
        Ok(prospect) => (Some(prospect), None),
        Err(Problem::Refused(why)) => (None, Some(why)),
        Err(problem) => return Err(problem),
    };
    part(&ProspectPart { prospect, prospect_failure })
}
