//! What people take with them: all verdicts as CSV. The other downloads are those of the API.

use super::layout::PageProblem;
use super::visitor::Visitor;
use crate::extract::PathOf;
use crate::routes::finite;
use crate::state::AppState;
use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use cutline_store::Role;
use std::fmt::Write;

pub(super) fn router() -> Router<AppState> {
    Router::new().route("/campaigns/{name}/verdicts.csv", get(verdicts))
}

async fn verdicts(
    State(state): State<AppState>,
    visitor: Visitor,
    PathOf(name): PathOf<String>,
) -> Result<Response, PageProblem> {
    visitor.require(Role::Viewer, &name)?;
    let (verdicts, names, own) = state
        .run(&name, |open| {
            let (_, verdicts) = open.verdicts()?;
            let names = open.names();
            let rewards = open.campaign.state()?.reward_stats();
            let own: Vec<f64> = (0..verdicts.len()).map(|arm| rewards.mean(arm)).collect();
            Ok((verdicts, names, own))
        })
        .await?;
    let number = |value: f64| finite(value).map_or_else(String::new, |value| value.to_string());
    let mut csv =
        String::from("arm,side,basis,mean,lower,upper,own_mean,pulls,doubt,probability_above,evidence,withdrawn\n");
    for ((verdict, name), own) in verdicts.iter().zip(names.iter()).zip(own) {
        let own = if verdict.pulls > 0 { number(own) } else { String::new() };
        let numbers = [verdict.mean, verdict.lower, verdict.upper].map(number).join(",");
        let (name, side, pulls, doubt) = (field(name), verdict.side.name(), verdict.pulls, verdict.doubt);
        let basis = verdict.basis.map_or("", cutline::Basis::name);
        let (probability, evidence) = (verdict.probability_above(), number(verdict.evidence));
        let end = format!("{doubt},{probability},{evidence},{}", verdict.is_withdrawn);
        writeln!(csv, "{name},{side},{basis},{numbers},{own},{pulls},{end}")
            .expect("writing to a string does not fail");
    }
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"verdicts.csv\""),
    ];
    Ok((headers, csv).into_response())
}

/// A text as a field of CSV.
fn field(text: &str) -> String {
    let is_plain = !text.contains(['"', ',', '\n', '\r']);
    if is_plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::field;

    #[test]
    fn names_are_fields_of_csv() {
        assert_eq!((field("a b"), field("a,\"b\"")), ("a b".into(), "\"a,\"\"b\"\"\"".into()));
    }
}
