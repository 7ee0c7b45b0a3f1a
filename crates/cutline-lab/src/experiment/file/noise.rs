//! The key `noise`.

use crate::experiment::Extensions;
use crate::experiment::keys::{Field, FileError, Keys};
use crate::{ArmScales, ExperimentNoise, Noise, NoiseKind};
use std::sync::Arc;

/// How a kind of noise reads its own keys.
type ReadKind = fn(&Keys<'_>) -> Result<NoiseKind, FileError>;

/// The kinds of noise, by name.
const KINDS: &[(&str, ReadKind)] = &[
    ("gaussian", |_| Ok(NoiseKind::Gaussian)),
    ("rademacher", |_| Ok(NoiseKind::Rademacher)),
    ("uniform", |_| Ok(NoiseKind::Uniform)),
    ("bernoulli", |_| Ok(NoiseKind::Bernoulli)),
    ("t", |keys| Ok(NoiseKind::StudentT { degrees_of_freedom: keys.need("degrees_of_freedom")?.number()? })),
    ("lognormal", |keys| Ok(NoiseKind::Lognormal { shape: keys.need("shape")?.number()? })),
];

/// The noise of an experiment: σ of a Gaussian, or a table. Without the key it is `default`, with σ = 1.
pub(super) fn noise(
    field: Option<&Field<'_>>,
    default: NoiseKind,
    extensions: &Extensions,
) -> Result<ExperimentNoise, FileError> {
    let Some(field) = field else {
        return Ok(ExperimentNoise::new(Noise::new(default, 1.0).expect("a positive scale")));
    };
    if field.is_table() {
        return table(field, extensions);
    }
    if field.is_text() {
        return Err(field.error("must be σ, a finite number, or a table such as `{ kind = \"bernoulli\" }`"));
    }
    let noise = Noise::new(NoiseKind::Gaussian, field.number()?).map_err(|error| field.refused(error))?;
    Ok(ExperimentNoise::new(noise))
}

fn table(field: &Field<'_>, extensions: &Extensions) -> Result<ExperimentNoise, FileError> {
    let keys = field.keys("`noise`")?;
    let kind_field = keys.need("kind")?;
    let custom = extensions.noise.as_ref().filter(|_| kind_field.text().is_ok_and(|kind| kind == "own"));
    let kind = match custom {
        Some(_) => None,
        None => Some(kind_field.choice(KINDS)?(&keys)?),
    };
    let scale_field = keys.get("scale");
    let spread_field = keys.get("spread");
    keys.finish()?;
    if let (Some(NoiseKind::Bernoulli), Some(field)) = (kind, scale_field.as_ref().or(spread_field.as_ref())) {
        return Err(field.error("does not go with bernoulli noise: its spread follows from the mean"));
    }
    let given = scale_field.as_ref().filter(|field| field.is_list()).map(Field::numbers).transpose()?;
    let scale = match &scale_field {
        Some(field) if given.is_none() => field.number()?,
        _ => 1.0,
    };
    let noise = match (kind, custom) {
        (Some(kind), _) => Noise::new(kind, scale).map(ExperimentNoise::new),
        (None, custom) => ExperimentNoise::custom(Arc::clone(custom.expect("no kind, so custom")), scale),
    };
    let noise = noise.map_err(|error| field.refused(error))?;
    match (given, spread_field) {
        (Some(_), Some(spread)) => Err(spread.error("does not go with a list of scales")),
        (Some(given), None) => noise.with_scales(ArmScales::Given(given.into())).map_err(|error| field.refused(error)),
        (None, Some(spread)) => {
            noise.with_scales(ArmScales::Spread(spread.number()?)).map_err(|error| spread.refused(error))
        }
        (None, None) => Ok(noise),
    }
}
