//! The key `stop`.

use crate::ExperimentNoise;
use crate::experiment::keys::{Field, FileError};
use cutline::{ConfidenceStop, Elimination, StopCriterion};

/// The stop in addition to the budget: none for `"budget"`, else `{ confidence = δ, by = "…" }`, with `elimination = "…"` if arms are
/// settled one by one.
pub(super) fn stop(field: &Field<'_>, noise: &ExperimentNoise) -> Result<Option<ConfidenceStop>, FileError> {
    if !field.is_table() {
        let wanted = "\"budget\" or a table such as `{ confidence = 0.05, by = \"intervals\" }`";
        return field.choice(&[("budget", None)]).map_err(|_| field.is_not(wanted));
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
    match norm {
        None => Ok(Some(stop)),
        Some(norm) => stop.with_norm(norm.number()?).map(Some).map_err(|error| norm.refused(error)),
    }
}
