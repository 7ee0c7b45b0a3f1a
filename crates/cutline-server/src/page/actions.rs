//! What can be done on the pages: forms that are posted. Each ends in a redirect, or in the page with what was wrong.

use super::arm;
use super::campaign::{self, Notice};
use super::layout::{PageProblem, with_referrer};
use super::table::TableQuery;
use super::visitor::Visitor;
use crate::extract::PathOf;
use crate::problem::Problem;
use crate::routes::arms::find_arms;
use crate::routes::campaigns::escaped;
use crate::routes::measurements::lease;
use crate::state::AppState;
use crate::token::hash;
use axum::Router;
use axum::extract::rejection::FormRejection;
use axum::extract::{Form, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::post;
use cutline_campaign::{Change, Operation, RequestKey, Submission};
use cutline_store::Role;
use serde::Deserialize;
use std::sync::atomic::Ordering;

pub(super) fn router() -> Router<AppState> {
    Router::new().route("/campaigns/{name}/{action}", post(act))
}

/// The fields of all forms; each form has some of them.
#[derive(Debug, Default, Deserialize)]
struct ActionForm {
    ticket: Option<String>,
    reward: Option<String>,
    reason: Option<String>,
    void: Option<String>,
    arm: Option<String>,
    budget: Option<String>,
    count: Option<String>,
    worker: Option<String>,
    minutes: Option<String>,
    key: Option<String>,
    /// The number of the arm on whose page the form is.
    from: Option<usize>,
}

/// The text of a field, without spaces around it.
fn text<'a>(field: Option<&'a String>, what: &str) -> Result<&'a str, Problem> {
    let text = field.map_or("", |text| text.trim());
    if text.is_empty() { Err(Problem::Refused(format!("{what} is missing"))) } else { Ok(text) }
}

fn parsed<T: std::str::FromStr>(field: Option<&String>, what: &str, kind: &str) -> Result<T, Problem> {
    let text = text(field, what)?;
    text.parse().map_err(|_| Problem::Refused(format!("{what} must be {kind}, not `{text}`")))
}

impl ActionForm {
    fn ticket(&self) -> Result<u64, Problem> {
        parsed(self.ticket.as_ref(), "the ticket", "the number of a ticket")
    }

    fn reward(&self) -> Result<f64, Problem> {
        parsed(self.reward.as_ref(), "the reward", "a number with a decimal point")
    }

    fn reason(&self) -> String {
        self.reason.as_deref().unwrap_or_default().trim().to_owned()
    }
}

/// Refuses a text that is too long or has control characters.
fn check(state: &AppState, what: &str, text: &str) -> Result<(), Problem> {
    let most = state.limits().text;
    if text.len() > most {
        return Err(Problem::Refused(format!("{what} has {} bytes; at most {most} are allowed", text.len())));
    }
    if text.chars().any(char::is_control) {
        return Err(Problem::Refused(format!("{what} contains a control character")));
    }
    Ok(())
}

async fn act(
    State(state): State<AppState>,
    visitor: Visitor,
    PathOf((name, action)): PathOf<(String, String)>,
    form: Result<Form<ActionForm>, FormRejection>,
) -> Result<Response, PageProblem> {
    let Form(form) = form.map_err(|error| Problem::BadRequest(error.body_text()))?;
    let here = format!("/campaigns/{}", escaped(&name));
    match perform(&state, &visitor, &name, &action, &form).await {
        Ok(notice) => {
            let target = match form.from {
                Some(index) => format!("{here}/arms/{index}?notice={notice}"),
                None => format!("{here}?notice={notice}"),
            };
            Ok(with_referrer(Redirect::to(&target).into_response()))
        }
        Err(problem @ (Problem::NoCampaign(_) | Problem::NotFound(_) | Problem::NotAllowed(_))) => {
            Err(PageProblem(problem))
        }
        Err(problem) => {
            let notice = Some(Notice::failure(&problem));
            let mut page = match form.from {
                Some(index) => arm::page(&state, &visitor, &name, index, notice).await?,
                None => campaign::page(&state, &visitor, &name, &TableQuery::default(), notice).await?,
            };
            *page.status_mut() = problem.status();
            Ok(page)
        }
    }
}

/// Does it, and returns the word that says so in an address.
async fn perform(
    state: &AppState,
    visitor: &Visitor,
    name: &str,
    action: &str,
    form: &ActionForm,
) -> Result<&'static str, Problem> {
    let role = match action {
        "ask" | "tell" | "fail" => Role::Worker,
        "amend" | "withdraw" | "restore" | "budget" => Role::Admin,
        _ => return Err(Problem::NotFound("there is nothing at this address".into())),
    };
    visitor.require(role, name)?;
    check(state, "the reason", &form.reason())?;
    let (operation, notice) = match action {
        "ask" => return ask(state, visitor, name, form).await,
        "budget" => return budget(state, visitor, name, form).await,
        "tell" => (Operation::Tell(vec![(form.ticket()?, vec![form.reward()?])]), "told"),
        "fail" => (Operation::Fail(vec![(form.ticket()?, form.reason())]), "failed"),
        "amend" if form.void.is_some() => (Operation::Void(vec![form.ticket()?], form.reason()), "voided"),
        "amend" => (Operation::Amend(vec![(form.ticket()?, form.reward()?)], form.reason()), "amended"),
        _ => {
            let arms = find_arms(state, name, vec![text(form.arm.as_ref(), "the name of the arm")?.to_owned()]).await?;
            if action == "withdraw" {
                (Operation::Withdraw(arms, form.reason()), "withdrawn")
            } else {
                (Operation::Restore(arms), "restored")
            }
        }
    };
    let outcome = state.submit(name, Submission { operation, origin: visitor.origin() }, None).await?;
    if action == "tell" {
        state.metrics().rewards.fetch_add(outcome.n_events, Ordering::Relaxed);
    }
    Ok(notice)
}

/// Hands out measurements. A form that is sent twice hands them out once.
async fn ask(state: &AppState, visitor: &Visitor, name: &str, form: &ActionForm) -> Result<&'static str, Problem> {
    let n: usize = parsed(form.count.as_ref(), "the number of measurements", "a whole number of at least 1")?;
    let worker = text(form.worker.as_ref(), "the worker's name")?.to_owned();
    check(state, "the worker's name", &worker)?;
    let most = state.limits().batch;
    if n == 0 || n > most {
        return Err(Problem::Refused(format!("the number of measurements must be 1 to {most}, not {n}")));
    }
    let minutes: f64 = parsed(form.minutes.as_ref(), "the lease", "a number of minutes")?;
    let lease = lease(Some(60.0 * minutes))?;
    let mut origin = visitor.origin();
    if let Some(key) = form.key.as_deref().filter(|key| (1..=200).contains(&key.len())) {
        let author = origin.author.as_deref().unwrap_or_default();
        let fingerprint = format!("page\0{name}\0{n}\0{worker}\0{minutes}");
        origin.key = Some(RequestKey {
            key: hash(format!("page\0{author}\0{key}").as_bytes()),
            fingerprint: hash(fingerprint.as_bytes()),
        });
    }
    let operation = Operation::Ask { n, replicates: 1, worker, lease, resume: false };
    let outcome = state.submit(name, Submission { operation, origin }, None).await?;
    if !outcome.is_repeated {
        state.metrics().tickets.fetch_add(outcome.tickets.len() as u64, Ordering::Relaxed);
    }
    Ok(if outcome.tickets.is_empty() { "nothing" } else { "asked" })
}

async fn budget(state: &AppState, visitor: &Visitor, name: &str, form: &ActionForm) -> Result<&'static str, Problem> {
    let budget: u32 = parsed(form.budget.as_ref(), "the budget", "a whole number of at least 1")?;
    let operation = Operation::Change(Box::new(Change::new().with("budget", budget)));
    state.submit(name, Submission { operation, origin: visitor.origin() }, None).await?;
    Ok("budget")
}
