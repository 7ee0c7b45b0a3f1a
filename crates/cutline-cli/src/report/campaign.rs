//! The page about a campaign: what it came to first, then how, then everything it was told to do.

use super::arms::{self, Group};
use super::model::Model;
use super::tickets::{Tickets, minute};
use super::{BudgetAnswer, View, figures, settings};
use crate::failure::Failure;
use crate::print::shell;
use askama::Template;
use cutline::campaign::Time;

#[derive(Template)]
#[template(path = "campaign.html")]
struct Page<'a> {
    name: &'a str,
    version: &'static str,
    made: String,
    answer: &'a BudgetAnswer,
    intervals: String,
    verdicts: String,
    decided: String,
    groups: Vec<Group>,
    export: String,
    tickets: Tickets,
    model: Model,
    settings: Vec<(&'static str, String)>,
}

/// The page, made `now`.
pub(crate) fn campaign(view: &View, answer: &BudgetAnswer, now: Time) -> Result<String, Failure> {
    let page = Page {
        name: &view.name,
        version: env!("CARGO_PKG_VERSION"),
        made: minute(now),
        answer,
        intervals: figures::intervals(view),
        verdicts: figures::verdicts(view),
        decided: figures::decided(view),
        groups: arms::groups(view),
        // An address may hold a password, and a report is shown to others.
        export: format!("cutline export STORE --name {} --verdicts", shell(&view.name)),
        tickets: Tickets::new(view, now),
        model: Model::new(view),
        settings: settings::settings(view),
    };
    Ok(page.render()?)
}
