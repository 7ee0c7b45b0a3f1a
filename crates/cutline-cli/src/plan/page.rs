//! The page about a plan.

use super::{TEXT_COLUMNS, cells};
use crate::failure::Failure;
use askama::Template;
use cutline::shown;
use cutline_report::PlanReport;

#[derive(Template)]
#[template(path = "plan.html")]
struct Page<'a> {
    title: String,
    version: &'static str,
    heading: String,
    svg: &'a str,
    answers: Vec<String>,
    remarks: Vec<String>,
    header: [&'static str; 6],
    rows: Vec<[String; 6]>,
    settings: Vec<(String, String)>,
}

/// The page for a plan and its figure.
pub(crate) fn page(plan: &PlanReport, svg: &str) -> Result<String, Failure> {
    let page = Page {
        title: format!("Plan: {}", plan.plan.name),
        version: env!("CARGO_PKG_VERSION"),
        heading: plan.heading(),
        svg,
        answers: plan.answers(),
        remarks: plan.remarks(),
        header: TEXT_COLUMNS.map(|(name, _)| name),
        rows: cells(plan),
        settings: plan.settings(),
    };
    Ok(shown(&page.render()?).into_owned())
}
