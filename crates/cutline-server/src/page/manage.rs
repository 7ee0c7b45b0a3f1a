//! Forms of the page of a campaign for those who may change everything: its settings, more arms, another name, and deleting it.

use super::campaign::{self, Notice};
use super::create::PASTED;
use super::layout::{PageProblem, with_referrer};
use super::table::TableQuery;
use super::visitor::Visitor;
use crate::extract::PathOf;
use crate::problem::Problem;
use crate::routes::arms::{add_arms, from_table};
use crate::routes::campaigns::escaped;
use crate::routes::{campaigns, new_campaign};
use crate::state::AppState;
use axum::Router;
use axum::extract::rejection::FormRejection;
use axum::extract::{DefaultBodyLimit, Form, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::post;
use cutline_campaign::{Change, Operation, Submission};
use cutline_data::dataset::ReadOptions;
use cutline_store::{Role, StoreError};
use serde::Deserialize;

pub(super) fn router() -> Router<AppState> {
    Router::new()
        .route("/campaigns/{name}/settings", post(settings))
        .route("/campaigns/{name}/add", post(add).layer(DefaultBodyLimit::max(PASTED)))
        .route("/campaigns/{name}/rename", post(rename))
        .route("/campaigns/{name}/delete", post(delete))
}

/// The text of a field without spaces around it; `None` if it was left empty.
fn given(field: Option<&String>) -> Option<&str> {
    field.map(|text| text.trim()).filter(|text| !text.is_empty())
}

/// The change that the fields of the settings describe; those that are left empty stay as they are.
fn change(fields: &[(String, String)]) -> Result<Change, Problem> {
    let texts = fields.iter().map(|(key, text)| (key.as_str(), text.as_str()));
    let change = Change::of_texts(texts).map_err(StoreError::from)?;
    if change.is_empty() {
        return Err(Problem::Refused("no setting is filled in".into()));
    }
    Ok(change)
}

#[derive(Debug, Deserialize)]
struct AddForm {
    table: Option<String>,
    id: Option<String>,
    decimal: Option<String>,
}

#[derive(Debug, Deserialize)]
struct RenameForm {
    name: Option<String>,
}

#[derive(Debug, Deserialize)]
struct DeleteForm {
    confirm: Option<String>,
}

type Sent<T> = Result<Form<T>, FormRejection>;

/// The page to go to after a form, or the page of the campaign with what was wrong.
async fn answered(
    state: &AppState,
    visitor: &Visitor,
    name: &str,
    done: Result<String, Problem>,
) -> Result<Response, PageProblem> {
    match done {
        Ok(target) => Ok(with_referrer(Redirect::to(&target).into_response())),
        Err(problem @ (Problem::NoCampaign(_) | Problem::NotFound(_) | Problem::NotAllowed(_))) => {
            Err(PageProblem(problem))
        }
        Err(problem) => {
            let notice = Some(Notice::failure(&problem));
            let mut page = campaign::page(state, visitor, name, &TableQuery::default(), notice).await?;
            *page.status_mut() = problem.status();
            Ok(page)
        }
    }
}

/// The address of the page of a campaign, with the word that says what was done.
fn page_of(name: &str, notice: &str) -> String {
    format!("/campaigns/{}?notice={notice}", escaped(name))
}

async fn settings(
    State(state): State<AppState>,
    visitor: Visitor,
    PathOf(name): PathOf<String>,
    form: Sent<Vec<(String, String)>>,
) -> Result<Response, PageProblem> {
    let work = async {
        visitor.require(Role::Admin, &name)?;
        let Form(form) = form.map_err(|error| Problem::BadRequest(error.body_text()))?;
        let operation = Operation::Change(Box::new(change(&form)?));
        let changed = state.submit(&name, Submission { operation, origin: visitor.origin() }, None).await?;
        let is_changed = changed.n_events > 0;
        Ok(page_of(&name, if is_changed { "changed" } else { "unchanged" }))
    };
    answered(&state, &visitor, &name, work.await).await
}

async fn add(
    State(state): State<AppState>,
    visitor: Visitor,
    PathOf(name): PathOf<String>,
    form: Sent<AddForm>,
) -> Result<Response, PageProblem> {
    let work = async {
        visitor.require(Role::Admin, &name)?;
        let Form(form) = form.map_err(|error| Problem::BadRequest(error.body_text()))?;
        let table = given(form.table.as_ref()).ok_or_else(|| Problem::Refused("the table is missing".into()))?;
        let mut query = new_campaign::TableQuery::default();
        (query.id, query.decimal) = (given(form.id.as_ref()).map(str::to_owned), form.decimal.clone());
        let (options, table, origin) = (query.options()?, table.to_owned().into(), visitor.origin());
        let most = state.limits().arms;
        let added = state.heavy(&name, move |campaign| {
            let options = ReadOptions { cost: campaign.settings().cost.clone(), ..options };
            add_arms(campaign, &from_table(campaign, table, &options)?, most, &origin)
        });
        Ok(page_of(&name, if added.await? > 0 { "added" } else { "known" }))
    };
    answered(&state, &visitor, &name, work.await).await
}

async fn rename(
    State(state): State<AppState>,
    visitor: Visitor,
    PathOf(name): PathOf<String>,
    form: Sent<RenameForm>,
) -> Result<Response, PageProblem> {
    let work = async {
        visitor.require(Role::Admin, &name)?;
        let Form(form) = form.map_err(|error| Problem::BadRequest(error.body_text()))?;
        let new = given(form.name.as_ref()).ok_or_else(|| Problem::Refused("the new name is missing".into()))?;
        let new = campaigns::rename(&state, &visitor.principal, name.clone(), new.to_owned()).await?;
        Ok(page_of(&new, "renamed"))
    };
    answered(&state, &visitor, &name, work.await).await
}

async fn delete(
    State(state): State<AppState>,
    visitor: Visitor,
    PathOf(name): PathOf<String>,
    form: Sent<DeleteForm>,
) -> Result<Response, PageProblem> {
    let work = async {
        visitor.require(Role::Admin, &name)?;
        let Form(form) = form.map_err(|error| Problem::BadRequest(error.body_text()))?;
        if form.confirm.as_deref().map(str::trim) != Some(name.trim()) {
            return Err(Problem::Refused("this is not the name of the campaign, so nothing was deleted".into()));
        }
        campaigns::delete_campaign(&state, &visitor.principal, name.clone()).await?;
        Ok("/?notice=deleted".into())
    };
    answered(&state, &visitor, &name, work.await).await
}
