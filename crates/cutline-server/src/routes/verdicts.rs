//! The verdicts on the arms of a campaign, in pages.

use super::new_campaign::delta;
use super::{finite, page_bounds};
use crate::auth::Principal;
use crate::extract::{PathOf, QueryOf};
use crate::problem::{Problem, Refusals};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cutline::{Arm, Verdict};
use cutline_campaign::AnyCampaign;
use cutline_store::Role;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(verdicts))
}

/// Which verdicts, and in which order.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct VerdictQuery {
    /// Only `above`, `below` or `undecided` arms.
    pub(crate) side: Option<String>,
    /// Only arms whose names contain this text, in any case.
    pub(crate) search: Option<String>,
    /// Only arms that were measured (`true`), or that were not (`false`).
    pub(crate) measured: Option<bool>,
    /// Only arms that are withdrawn (`true`), or that are not (`false`).
    pub(crate) withdrawn: Option<bool>,
    /// Only arms with at least this doubt.
    pub(crate) min_doubt: Option<f64>,
    /// Verdicts with this probability that an interval contains the mean, in place of that of the campaign.
    pub(crate) confidence: Option<f64>,
    /// `index`, `name`, `mean`, `doubt` or `pulls`; with a minus, as in `-mean`, the largest first.
    pub(crate) sort: Option<String>,
    /// How many verdicts to skip.
    pub(crate) offset: Option<usize>,
    /// How many to return at most.
    pub(crate) limit: Option<usize>,
}

/// A part of the verdicts.
#[derive(Serialize, ToSchema)]
pub(crate) struct VerdictPage {
    /// The verdicts.
    pub(crate) verdicts: Vec<VerdictBody>,
    /// How many there are that fit the query.
    pub(crate) total: usize,
    /// The number of events on which they rest.
    pub(crate) events: u64,
}

/// The verdict on an arm.
#[derive(Serialize, ToSchema)]
pub(crate) struct VerdictBody {
    /// Its name.
    pub(crate) arm: String,
    /// Its number, from 0.
    pub(crate) index: usize,
    /// `above`, `below` or `undecided`.
    pub(crate) side: &'static str,
    /// Whether the mean is the threshold to the last digit, and nothing speaks for either side; the side is `above` then.
    pub(crate) at_threshold: bool,
    /// The estimate of its mean; null if nothing is known.
    pub(crate) mean: Option<f64>,
    /// The lower end of the interval; null if it has none.
    pub(crate) lower: Option<f64>,
    /// The upper end.
    pub(crate) upper: Option<f64>,
    /// The mean of its own rewards; null if it was not measured.
    pub(crate) own_mean: Option<f64>,
    /// How often it was measured.
    pub(crate) pulls: u32,
    /// What a measurement of it costs; left out in a campaign without costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<f64>,
    /// The probability that the call is wrong.
    pub(crate) doubt: f64,
    /// After how many rewards its side was settled for good.
    pub(crate) settled_after: Option<u64>,
    /// Whether it is withdrawn.
    pub(crate) withdrawn: bool,
}

/// The verdicts on the arms.
#[utoipa::path(
    get, path = "/v1/campaigns/{name}/verdicts", tag = "results",
    params(("name" = String, Path, description = "The campaign", example = "screen"), VerdictQuery),
    responses((status = 200, body = VerdictPage), Refusals)
)]
async fn verdicts(
    State(state): State<AppState>,
    principal: Principal,
    PathOf(name): PathOf<String>,
    QueryOf(query): QueryOf<VerdictQuery>,
) -> Result<Json<VerdictPage>, Problem> {
    principal.require_for(Role::Viewer, &name)?;
    Ok(Json(verdict_page(&state, &name, &query).await?))
}

/// The verdicts that fit a query.
pub(crate) async fn verdict_page(state: &AppState, name: &str, query: &VerdictQuery) -> Result<VerdictPage, Problem> {
    let (offset, limit) = page_bounds(query.offset, query.limit, 100, state.limits().page)?;
    let filter = Filter::new(query)?;
    // The arms are chosen here, so that the campaign does not wait for it.
    let (events, mut verdicts, names) = state
        .run(name, |open| {
            let (events, verdicts) = open.verdicts()?;
            Ok((events, verdicts, open.names()))
        })
        .await?;
    if let Some(delta) = delta(query.confidence)? {
        let others = state.heavy(name, move |campaign| Ok(campaign.verdicts_at(delta)?)).await?;
        // Others may have added arms in between.
        verdicts = Arc::new(others.into_iter().take(names.len()).collect());
    }
    let mut arms: Vec<Arm> = (0..verdicts.len()).filter(|&arm| filter.fits(&names[arm], &verdicts[arm])).collect();
    filter.sort(&mut arms, &names, &verdicts);
    let total = arms.len();
    let arms: Vec<Arm> = arms.into_iter().skip(offset).take(limit).collect();
    Ok(VerdictPage { verdicts: bodies(state, name, arms, &names, &verdicts).await?, total, events })
}

/// The verdict on the arm with this number; `None` if there is no such arm.
pub(crate) async fn arm_verdict(state: &AppState, name: &str, arm: Arm) -> Result<Option<VerdictBody>, Problem> {
    let (verdicts, names) = state.run(name, |open| Ok((open.verdicts()?.1, open.names()))).await?;
    if arm >= verdicts.len() {
        return Ok(None);
    }
    Ok(bodies(state, name, vec![arm], &names, &verdicts).await?.pop())
}

/// The verdicts on some arms, with what they have measured themselves.
async fn bodies(
    state: &AppState,
    name: &str,
    arms: Vec<Arm>,
    names: &[String],
    verdicts: &[Verdict],
) -> Result<Vec<VerdictBody>, Problem> {
    let own = {
        let arms = arms.clone();
        let mean = move |open: &mut crate::actor::OpenCampaign| {
            let state = open.campaign.state()?;
            let (rewards, costs) = (state.reward_stats(), state.arms().measurement_costs());
            let cost = |arm| costs.map(|costs| costs.of(arm).value());
            Ok(arms.iter().map(|&arm| (finite(rewards.mean(arm)), cost(arm))).collect::<Vec<_>>())
        };
        state.run(name, mean).await?
    };
    let body = |(arm, (own_mean, cost)): (Arm, (Option<f64>, Option<f64>))| {
        let verdict = &verdicts[arm];
        VerdictBody {
            arm: names[arm].clone(),
            index: arm,
            side: verdict.side.name(),
            at_threshold: verdict.is_at_threshold(),
            mean: finite(verdict.mean),
            lower: finite(verdict.lower),
            upper: finite(verdict.upper),
            own_mean: own_mean.filter(|_| verdict.pulls > 0),
            pulls: verdict.pulls,
            cost,
            doubt: verdict.doubt,
            settled_after: verdict.settled_after,
            withdrawn: verdict.is_withdrawn,
        }
    };
    Ok(arms.into_iter().zip(own).map(body).collect())
}

/// A column to sort by.
#[derive(Clone, Copy)]
enum SortKey {
    Index,
    Name,
    Mean,
    Doubt,
    Pulls,
}

/// Which arms, and in which order.
struct Filter<'a> {
    query: &'a VerdictQuery,
    search: String,
    key: SortKey,
    is_descending: bool,
}

impl<'a> Filter<'a> {
    fn new(query: &'a VerdictQuery) -> Result<Self, Problem> {
        if let Some(side) = query.side.as_deref().filter(|side| !["above", "below", "undecided"].contains(side)) {
            return Err(Problem::Refused(format!("`side` must be `above`, `below` or `undecided`, not `{side}`")));
        }
        let sort = query.sort.as_deref().unwrap_or("index");
        let (is_descending, name) = sort.strip_prefix('-').map_or((false, sort), |name| (true, name));
        let key = match name {
            "index" => SortKey::Index,
            "name" => SortKey::Name,
            "mean" => SortKey::Mean,
            "doubt" => SortKey::Doubt,
            "pulls" => SortKey::Pulls,
            _ => {
                return Err(Problem::Refused(format!(
                    "`sort` must be `index`, `name`, `mean`, `doubt` or `pulls`, with or without a minus, not `{sort}`"
                )));
            }
        };
        let search = query.search.as_deref().unwrap_or_default().to_lowercase();
        Ok(Self { query, search, key, is_descending })
    }

    fn fits(&self, name: &str, verdict: &Verdict) -> bool {
        let VerdictQuery { side, measured, withdrawn, min_doubt, .. } = self.query;
        side.as_deref().is_none_or(|side| side == verdict.side.name())
            && measured.is_none_or(|measured| measured == (verdict.pulls > 0))
            && withdrawn.is_none_or(|withdrawn| withdrawn == verdict.is_withdrawn)
            && min_doubt.is_none_or(|least| verdict.doubt >= least)
            && (self.search.is_empty() || name.to_lowercase().contains(&self.search))
    }

    /// Sorts arms; equal ones stay in the order of their numbers.
    fn sort(&self, arms: &mut [Arm], names: &[String], verdicts: &[Verdict]) {
        let compare = |a: Arm, b: Arm| -> Ordering {
            match self.key {
                SortKey::Index => a.cmp(&b),
                SortKey::Name => names[a].cmp(&names[b]),
                SortKey::Mean => verdicts[a].mean.total_cmp(&verdicts[b].mean),
                SortKey::Doubt => verdicts[a].doubt.total_cmp(&verdicts[b].doubt),
                SortKey::Pulls => verdicts[a].pulls.cmp(&verdicts[b].pulls),
            }
        };
        arms.sort_by(|&a, &b| if self.is_descending { compare(b, a) } else { compare(a, b) });
    }
}
