//! The verdicts on the arms of a campaign, in pages.

use super::page_bounds;
use crate::actor::OpenCampaign;
use crate::auth::Principal;
use crate::extract::{PathOf, QueryOf};
use crate::problem::{Problem, Refusals};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cutline::diagnostics::RewardStats;
use cutline::{Arm, Basis, MeasurementCosts, Verdict};
use cutline_campaign::{AnyCampaign, VerdictRow};
use cutline_store::{Role, StoreError};
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
    /// Only arms whose side is `proved`, or only `likely`.
    pub(crate) basis: Option<String>,
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
    pub(crate) verdicts: Vec<VerdictRow>,
    /// How many there are that fit the query.
    pub(crate) total: usize,
    /// The number of events on which they rest.
    pub(crate) events: u64,
}

/// The verdicts on all arms at one moment.
pub(crate) struct AllVerdicts {
    pub(crate) events: u64,
    pub(crate) names: Arc<Vec<String>>,
    pub(crate) verdicts: Arc<Vec<Verdict>>,
    rewards: RewardStats,
    costs: Option<MeasurementCosts>,
}

impl AllVerdicts {
    pub(crate) fn new(open: &mut OpenCampaign) -> Result<Self, StoreError> {
        let (events, verdicts) = open.verdicts()?;
        let names = open.names();
        let state = open.campaign.state()?;
        let (rewards, costs) = (state.reward_stats().clone(), state.arms().measurement_costs().cloned());
        Ok(Self { events, names, verdicts, rewards, costs })
    }

    /// The row of an arm; `None` if there is no such arm.
    pub(crate) fn row(&self, arm: Arm) -> Option<VerdictRow> {
        let (verdict, name) = (self.verdicts.get(arm)?, self.names.get(arm)?);
        Some(VerdictRow::new((arm, name), verdict, &self.rewards, self.costs.as_ref()))
    }

    /// Those that fit a query. They are chosen here, so that the campaign does not wait for it.
    pub(crate) fn page(&self, state: &AppState, query: &VerdictQuery) -> Result<VerdictPage, Problem> {
        let (offset, limit) = page_bounds(query.offset, query.limit, 100, state.limits().page)?;
        let filter = Filter::new(query)?;
        let Self { names, verdicts, events, .. } = self;
        let mut arms: Vec<Arm> = (0..verdicts.len()).filter(|&arm| filter.fits(&names[arm], &verdicts[arm])).collect();
        filter.sort(&mut arms, names, verdicts);
        let total = arms.len();
        let rows = arms.into_iter().skip(offset).take(limit).filter_map(|arm| self.row(arm));
        Ok(VerdictPage { verdicts: rows.collect(), total, events: *events })
    }
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
    let mut found = state.run(&name, AllVerdicts::new).await?;
    if let Some(confidence) = query.confidence {
        let delta = cutline::delta_of(confidence)
            .map_err(|_| Problem::Refused("`confidence` must be a number above 0 and below 1".into()))?;
        let others = state.heavy(&name, move |campaign| Ok(campaign.verdicts_at(delta, None)?)).await?;
        // Others may have added arms in between.
        found.verdicts = Arc::new(others.into_iter().take(found.names.len()).collect());
    }
    Ok(Json(found.page(&state, &query)?))
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
        if let Some(basis) =
            query.basis.as_deref().filter(|basis| Basis::ALL.iter().all(|known| known.name() != *basis))
        {
            return Err(Problem::Refused(format!("`basis` must be `proved` or `likely`, not `{basis}`")));
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
        let VerdictQuery { side, basis, measured, withdrawn, min_doubt, .. } = self.query;
        side.as_deref().is_none_or(|side| side == verdict.side.name())
            && basis.as_deref().is_none_or(|basis| verdict.basis.is_some_and(|of| of.name() == basis))
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
