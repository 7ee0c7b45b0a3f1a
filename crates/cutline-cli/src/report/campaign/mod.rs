//! The page about a campaign: the result first, then how it was reached, then all settings.

mod answer;
mod arms;
mod changes;
mod figures;
mod model;
mod settings;
mod tickets;
mod view;

pub(crate) use answer::Answer;
pub(crate) use cutline::grouped;
pub(crate) use settings::settings;
pub(crate) use view::View;

use super::html;
use crate::args::Sort;
use crate::failure::Failure;
use crate::print::shell;
use arms::Group;
use askama::Template;
use changes::Changes;
use cutline::shown;
use cutline_campaign::Time;
use model::Model;
use tickets::{Tickets, minute};

#[derive(Template)]
#[template(path = "campaign.html")]
struct Page<'a> {
    name: &'a str,
    version: &'static str,
    made: String,
    answer: &'a Answer,
    intervals: String,
    doubts: String,
    verdicts: String,
    decided: String,
    groups: Vec<Group>,
    export: String,
    tickets: Tickets,
    changes: Changes,
    model: Model,
    settings: Vec<(&'static str, String)>,
}

/// The page, made `now`.
pub(crate) fn page(view: &View, answer: &Answer, sort: Sort, now: Time) -> Result<String, Failure> {
    let page = Page {
        name: &view.name,
        version: env!("CARGO_PKG_VERSION"),
        made: minute(now),
        answer,
        intervals: figures::intervals(view),
        doubts: figures::doubts(view),
        verdicts: figures::verdicts(view),
        decided: figures::decided(view),
        groups: arms::groups(view, sort),
        // An address may hold a password, and a report is shown to others.
        export: format!("cutline export STORE --name {} --verdicts", shell(&view.name)),
        tickets: Tickets::new(view, now),
        changes: Changes::new(view),
        model: Model::new(view),
        settings: settings(view),
    };
    Ok(shown(&page.render()?).into_owned())
}
