//! The key `stop`.

use crate::ExperimentNoise;
use crate::experiment::Extensions;
use crate::experiment::keys::{Field, FileError};
use crate::run::entrant::ExtraStop;
use cutline::{ConfidenceStop, Elimination, StopCriterion};

/// The stop in addition to the budget: none for `"budget"`, the name of a custom one, or `{ confidence = δ, by = "…" }`, with
/// `elimination = "…"` if arms are settled one by one.
pub(super) fn stop(
    field: &Field<'_>,
    noise: &ExperimentNoise,
    extensions: &Extensions,
) -> Result<Option<ExtraStop>, FileError> {
    if !field.is_table() {
        let custom = extensions.stops.iter().map(|stop| (stop.name(), Some(ExtraStop::Custom(stop.clone()))));
        let choices: Vec<(&str, Option<ExtraStop>)> = [("budget", None)].into_iter().chain(custom).collect();
        let names: Vec<String> = choices.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        let wanted = format!("{} or a table such as `{{ confidence = 0.05, by = \"intervals\" }}`", names.join(", "));
        return field.choice(&choices).map_err(|_| field.is_not(&wanted));
    }
    let keys = field.keys("`stop`")?;
    let confidence = keys.need("confidence")?;
    let by = keys.need("by")?.choice(StopCriterion::ALL)?;
    let norm = keys.get("norm");
    let elimination = keys.get("elimination").map(|field| field.choice(Elimination::ALL)).transpose()?;
    keys.finish()?;
    let mut stop =
        ConfidenceStop::new(by, confidence.number()?, noise.scale()).map_err(|error| confidence.refused(error))?;
    if let Some(elimination) = elimination {
        stop = stop.with_elimination(elimination);
    }
    if let Some(norm) = norm {
        stop = stop.with_norm(norm.number()?).map_err(|error| norm.refused(error))?;
    }
    Ok(Some(ExtraStop::Confidence(stop)))
}
