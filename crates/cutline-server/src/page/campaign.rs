//! `/campaigns/{name}`: how a campaign stands, and what can be done with it.

use super::events::EventLine;
use super::layout::{Layout, PageProblem, show};
use super::numbers::{self, BudgetUse, Moment, count, exact};
use super::snippets::{Snippet, snippets};
use super::table::{ArmTable, TableQuery};
use super::visitor::Visitor;
use crate::actor::OpenCampaign;
use crate::extract::PathOf;
use crate::problem::Problem;
use crate::routes::campaigns::escaped;
use crate::routes::events::read;
use crate::routes::report::OpenTickets;
use crate::routes::verdicts::AllVerdicts;
use crate::state::AppState;
use crate::token::hash;
use askama::Template;
use axum::Router;
use axum::extract::{Query, State};
use axum::response::Response;
use axum::routing::get;
use cutline::{ALGORITHMS, Amount, Guarantee};
use cutline_campaign::{CampaignModel, Fit, OpenTicket, Settings, Standing};
use cutline_report::words::{ending, may_stop, noise, sentence, sides};
use cutline_report::{Summary, promises};
use cutline_store::{Role, StoreError};

/// How many open tickets and events the page shows.
const TICKETS: usize = 50;
const EVENTS: usize = 15;

pub(super) fn router() -> Router<AppState> {
    Router::new().route("/campaigns/{name}", get(campaign))
}

/// Something to say at the top of a page.
#[derive(Clone, Debug)]
pub(super) struct Notice {
    pub(super) text: String,
    pub(super) is_failure: bool,
    /// Something that is shown this once.
    pub(super) secret: Option<String>,
}

impl Notice {
    pub(super) fn failure(problem: &Problem) -> Self {
        Self { text: problem.to_string(), is_failure: true, secret: None }
    }

    /// What a word in an address says was done.
    pub(super) fn done(word: &str) -> Option<Self> {
        let text = match word {
            "begun" => "The campaign has begun.",
            "asked" => "New measurements were handed out: see the open tickets.",
            "nothing" => {
                "There is nothing to measure now: the remaining budget is assigned to open tickets, or the campaign has ended."
            }
            "told" => "The reward was recorded.",
            "failed" => "The ticket was closed without a reward.",
            "amended" => "The reward was corrected.",
            "voided" => "The reward was declared void.",
            "withdrawn" => "The arm was withdrawn.",
            "restored" => "The arm is available again.",
            "budget" => "The budget was changed.",
            "changed" => "The settings were changed.",
            "unchanged" => "The campaign has these settings already.",
            "added" => "The arms were added.",
            "known" => "The campaign has these arms already.",
            "renamed" => "The campaign has its new name.",
            "deleted" => "The campaign was deleted.",
            _ => return None,
        };
        Some(Self { text: text.into(), is_failure: false, secret: None })
    }
}

/// A ticket that waits for its reward.
struct TicketRow {
    ticket: u64,
    arm: String,
    worker: String,
    until: Moment,
    is_overdue: bool,
}

impl From<OpenTicket> for TicketRow {
    fn from(OpenTicket { ticket, arm, worker, until, is_overdue }: OpenTicket) -> Self {
        Self { ticket, arm, worker, until: Moment::new(until), is_overdue }
    }
}

/// How the campaign stands, in texts.
struct StandingTexts {
    question: String,
    threshold: String,
    budget: BudgetUse,
    progress: String,
    remaining: String,
    above: String,
    above_proved: String,
    below: String,
    below_proved: String,
    undecided: String,
    arms: String,
    withdrawn: usize,
    wrong_calls: String,
    pace: Option<String>,
    eta: Option<Moment>,
    noise: String,
    model: &'static str,
    algorithm: String,
    finding: Option<String>,
    is_misfit: bool,
    advice: String,
    ending: Option<&'static str>,
    may_stop: Option<String>,
    remarks: Vec<String>,
    events: u64,
    summary: String,
}

impl StandingTexts {
    fn new(summary: Summary) -> Self {
        let Summary { standing, finding, fit_advice, remarks, .. } = summary;
        let precision =
            if standing.precision > 0.0 { format!(" ± {}", exact(standing.precision)) } else { String::new() };
        let is_running = standing.ending.is_none();
        let (above, below, undecided) = (count(standing.above), count(standing.below), count(standing.undecided));
        let budget = BudgetUse::new(&standing);
        Self {
            question: format!("{}{precision}", exact(standing.threshold)),
            threshold: exact(standing.threshold),
            progress: budget.in_words(),
            budget,
            remaining: standing.remaining.to_string(),
            summary: sides(&standing),
            above,
            above_proved: count(standing.above_proved),
            below,
            below_proved: count(standing.below_proved),
            undecided,
            arms: count(standing.n_arms),
            withdrawn: standing.withdrawn,
            wrong_calls: standing.wrong_calls.map_or_else(|| "–".into(), |calls| format!("{calls:.1}")),
            pace: standing.rewards_per_hour.filter(|_| is_running).map(numbers::pace),
            eta: standing.budget_used_at.filter(|_| is_running && standing.remaining > Amount::ZERO).map(Moment::new),
            noise: noise(standing.noise, standing.noise_from),
            model: standing.model.name(),
            algorithm: standing.algorithm.clone(),
            finding,
            is_misfit: standing.fit.fit == Fit::Misfit,
            advice: sentence(&fit_advice),
            ending: standing.ending.map(ending),
            may_stop: may_stop(&standing).filter(|_| is_running).map(sentence),
            remarks: remarks.iter().map(|remark| sentence(remark)).collect(),
            events: standing.events,
        }
    }
}

#[derive(Template)]
#[template(path = "page/campaign.html")]
struct CampaignPage {
    layout: Layout,
    notice: Option<Notice>,
    name: String,
    /// The addresses of the page and of the campaign in the API.
    here: String,
    api: String,
    standing: StandingTexts,
    table: ArmTable,
    tickets: Vec<TicketRow>,
    n_tickets: usize,
    events: Vec<EventLine>,
    promises: Vec<String>,
    snippets: Vec<Snippet>,
    /// By which a repeated request for measurements is recognised.
    key: String,
    settings: CurrentSettings,
    models: Vec<&'static str>,
    guarantees: Vec<&'static str>,
    algorithms: Vec<&'static str>,
}

/// What the page needs of an open campaign.
struct Found {
    standing: Standing,
    verdicts: AllVerdicts,
    tickets: OpenTickets,
    events: Vec<EventLine>,
    promises: Vec<String>,
    settings: CurrentSettings,
}

/// The settings that can be changed, in texts.
struct CurrentSettings {
    precision: String,
    noise: String,
    confidence: String,
    guarantee: &'static str,
    until_sure: String,
}

impl CurrentSettings {
    fn new(settings: &Settings) -> Self {
        Self {
            precision: exact(settings.precision),
            noise: settings.noise.map_or_else(|| "estimated".into(), exact),
            // To as many digits as anybody gives.
            confidence: exact((1e9 * (1.0 - settings.delta)).round() / 1e9),
            guarantee: settings.guarantee.unwrap_or(Guarantee::Each).name(),
            until_sure: settings.until_sure.map_or_else(|| "never".into(), |stop| stop.to_string()),
        }
    }
}

fn find(open: &mut OpenCampaign) -> Result<Found, StoreError> {
    let standing = open.standing()?;
    let verdicts = AllVerdicts::new(open)?;
    let tickets = OpenTickets::new(open, TICKETS)?;
    let first = standing.events.saturating_sub(EVENTS as u64);
    let events = read(open, first, EVENTS)?.into_iter().rev().map(EventLine::from).collect();
    let promises = promises(open.campaign.state()?.terms(), standing.n_arms);
    let settings = CurrentSettings::new(open.campaign.settings());
    Ok(Found { standing, verdicts, tickets, events, promises, settings })
}

async fn campaign(
    State(state): State<AppState>,
    visitor: Visitor,
    PathOf(name): PathOf<String>,
    Query(query): Query<TableQuery>,
) -> Result<Response, PageProblem> {
    page(&state, &visitor, &name, &query, None).await
}

/// The page of a campaign, with something to say about what was just tried.
pub(super) async fn page(
    state: &AppState,
    visitor: &Visitor,
    name: &str,
    query: &TableQuery,
    notice: Option<Notice>,
) -> Result<Response, PageProblem> {
    visitor.require(Role::Viewer, name)?;
    let found = state.run(name, find).await?;
    let table = ArmTable::new(state, &found.verdicts, query)?;
    let here = format!("/campaigns/{}", escaped(name));
    let mut random = [0; 16];
    getrandom::fill(&mut random).map_err(|error| Problem::internal(&error))?;
    Ok(show(&CampaignPage {
        layout: Layout::of(visitor),
        notice: notice.or_else(|| Notice::done(query.notice.as_deref()?)),
        name: name.to_owned(),
        api: format!("/v1{here}"),
        here,
        standing: StandingTexts::new(found.standing.into()),
        table,
        tickets: found.tickets.tickets.into_iter().map(TicketRow::from).collect(),
        n_tickets: found.tickets.total,
        events: found.events,
        promises: found.promises,
        snippets: snippets(&visitor.base, name, visitor.principal.name.is_some()),
        key: hash(&random),
        settings: found.settings,
        guarantees: Guarantee::ALL.iter().map(|guarantee| guarantee.name()).collect(),
        models: CampaignModel::ALL.iter().map(|model| model.name()).collect(),
        algorithms: ALGORITHMS.iter().map(|algorithm| algorithm.name).collect(),
    }))
}
