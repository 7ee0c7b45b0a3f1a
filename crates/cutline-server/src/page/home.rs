//! `/`: the campaigns.

use super::campaign::Notice;
use super::layout::{Layout, PageProblem, show};
use super::numbers::{self, BudgetUse, Moment, count};
use super::visitor::Visitor;
use crate::routes::campaigns::{ListQuery, ListedCampaign, campaign_list, escaped};
use crate::state::AppState;
use askama::Template;
use axum::Router;
use axum::extract::{Query, State};
use axum::response::Response;
use axum::routing::get;
use cutline_report::words::{ending, sides};
use serde::Deserialize;

/// How many campaigns a page has.
const PER_PAGE: usize = 20;

pub(super) fn router() -> Router<AppState> {
    Router::new().route("/", get(home))
}

#[derive(Debug, Deserialize)]
struct HomeQuery {
    search: Option<String>,
    page: Option<usize>,
    /// The word for what was done before.
    notice: Option<String>,
}

/// A campaign in the list.
struct Entry {
    name: String,
    address: String,
    last: Option<Moment>,
    created: Moment,
    standing: Option<EntryStanding>,
}

/// How it stands.
struct EntryStanding {
    question: String,
    budget: BudgetUse,
    progress: String,
    sides: String,
    undecided: String,
    arms: String,
    pace: Option<String>,
    ending: Option<&'static str>,
}

impl Entry {
    fn new(listed: ListedCampaign) -> Self {
        let standing = listed.overview.map(|overview| EntryStanding {
            question: format!("above {}", numbers::exact(overview.threshold)),
            progress: BudgetUse::new(&overview).in_words(),
            budget: BudgetUse::new(&overview),
            sides: sides(&overview),
            undecided: count(overview.undecided),
            arms: count(overview.n_arms),
            pace: overview.rewards_per_hour.filter(|_| overview.ending.is_none()).map(numbers::pace),
            ending: overview.ending.map(ending),
        });
        Self {
            address: format!("/campaigns/{}", escaped(&listed.name)),
            name: listed.name,
            last: listed.last_event.as_deref().map(Moment::parse),
            created: Moment::parse(&listed.created),
            standing,
        }
    }
}

#[derive(Template)]
#[template(path = "page/home.html")]
struct HomePage {
    layout: Layout,
    notice: Option<Notice>,
    entries: Vec<Entry>,
    total: usize,
    search: String,
    newer: Option<String>,
    older: Option<String>,
}

async fn home(
    State(state): State<AppState>,
    visitor: Visitor,
    Query(query): Query<HomeQuery>,
) -> Result<Response, PageProblem> {
    let (search, page) = (query.search.unwrap_or_default(), query.page.unwrap_or(1).max(1));
    let offset = (page - 1).saturating_mul(PER_PAGE);
    let list = ListQuery { offset: Some(offset), limit: Some(PER_PAGE), search: Some(search.clone()), overview: None };
    let list = campaign_list(&state, visitor.principal.clone(), list).await?;
    let address = |page: usize| format!("/?search={}&page={page}", escaped(&search));
    let has_older = offset + PER_PAGE < list.total;
    Ok(show(&HomePage {
        layout: Layout::of(&visitor),
        notice: query.notice.as_deref().and_then(Notice::done),
        entries: list.campaigns.into_iter().map(Entry::new).collect(),
        total: list.total,
        newer: (page > 1).then(|| address(page - 1)),
        older: has_older.then(|| address(page + 1)),
        search,
    }))
}
