//! Whether the model of a campaign fits its rewards.

use crate::auth::Principal;
use crate::extract::{PathOf, QueryOf};
use crate::problem::{Problem, Refusals};
use crate::state::AppState;
use axum::Json;
use axum::extract::State;
use cutline_report::{DiagnosedArm, DiagnosisReport, diagnosis, finding};
use cutline_store::Role;
use serde::Deserialize;
use serde_json::Value;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(diagnose))
}

/// How to diagnose.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct DiagnosisQuery {
    /// Test the linear model on the features as they were given, without an intercept [default: false].
    raw: Option<bool>,
}

/// What the rewards say about the model: how much the features explain, how large the noise is, and whether a line would do. `sentence` says it
/// in words; the numbers are those that `cutline diagnose --format json` prints.
#[utoipa::path(
    get, path = "/v1/campaigns/{name}/diagnosis", tag = "results",
    params(("name" = String, Path, description = "The campaign", example = "screen"), DiagnosisQuery),
    responses((status = 200, body = Object), Refusals)
)]
async fn diagnose(
    State(state): State<AppState>,
    principal: Principal,
    PathOf(name): PathOf<String>,
    QueryOf(query): QueryOf<DiagnosisQuery>,
) -> Result<Json<Value>, Problem> {
    principal.require_for(Role::Viewer, &name)?;
    let report = state.heavy(&name, move |campaign| {
        let arms = campaign.candidates()?.arms();
        let names = campaign.arm_names().to_vec();
        let state = campaign.state()?;
        let mut diagnostics = state.diagnose();
        if query.raw == Some(true) {
            let learnt = diagnostics.learnt;
            diagnostics = state.reward_stats().with_arms(&arms).diagnose();
            diagnostics.learnt = learnt;
        }
        let finding = finding(state);
        let rows: Vec<_> = diagnostics.arms.iter().map(|arm| DiagnosedArm::new(arm, &names)).collect();
        let sentence = diagnosis(finding.as_deref(), &diagnostics);
        let report = DiagnosisReport::new(&diagnostics, finding, sentence, &rows);
        serde_json::to_value(&report).map_err(|error| Problem::internal(&error))
    });
    Ok(Json(report.await?))
}
