//! The page about a campaign: the result first, then how it was reached, then all settings.

mod arms;
mod changes;
mod figures;
mod model;
mod settings;
mod tickets;

pub use figures::verdict_figure;
pub use settings::settings;
pub use tickets::short_worker;

use crate::{Summary, html, words};
use arms::Group;
use askama::Template;
use changes::Changes;
use cutline::shown;
use cutline_campaign::View;
use model::Model;
use tickets::{Tickets, minute};

/// The order of the verdicts on a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// The highest mean first.
    #[default]
    Mean,
    /// The undecided arms first.
    Undecided,
    /// By name.
    Name,
    /// The largest doubt first.
    Doubt,
}

impl Sort {
    /// Every order with its name.
    pub const ALL: [(&str, Self); 4] =
        [("mean", Self::Mean), ("undecided", Self::Undecided), ("name", Self::Name), ("doubt", Self::Doubt)];
}

#[derive(Template)]
#[template(path = "campaign.html")]
struct Page<'a> {
    name: &'a str,
    version: &'static str,
    made: String,
    summary: &'a Summary,
    sentences: Vec<String>,
    intervals: String,
    doubts: String,
    basis: String,
    verdicts: String,
    decided: String,
    groups: Vec<Group>,
    export: String,
    tickets: Tickets,
    changes: Changes,
    model: Model,
    settings: Vec<(&'static str, String)>,
}

/// The page, made at the time of the view: HTML that needs no other file.
///
/// # Errors
/// If the template fails.
pub fn page(view: &View, summary: &Summary, sort: Sort) -> Result<String, askama::Error> {
    let page = Page {
        name: &view.name,
        version: env!("CARGO_PKG_VERSION"),
        made: minute(view.standing.now),
        summary,
        sentences: summary.sentences("`cutline plan STORE`"),
        intervals: figures::intervals(view),
        doubts: figures::doubts(view),
        basis: words::basis(view.state.terms()),
        verdicts: figures::verdicts(view),
        decided: figures::decided(view),
        groups: arms::groups(view, sort),
        // An address may hold a password, and a report is shown to others.
        export: format!("cutline export STORE --name {} --verdicts", quoted(&view.name)),
        tickets: Tickets::new(view),
        changes: Changes::new(view),
        model: Model::new(view),
        settings: settings(view),
    };
    Ok(shown(&page.render()?).into_owned())
}

/// A word of a command line, quoted if a shell would change it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:+,=@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.into()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}
