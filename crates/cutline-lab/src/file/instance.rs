//! The table `[instance]`.

use crate::InstanceError;
use crate::dataset;
use crate::experiment::Extensions;
use crate::keys::{Field, FileError, Keys};
use crate::source::{DrawSchedule, InstanceKind, Truth};
use cutline::{Arms, ArmsError, Candidates};
use std::path::Path;
use std::sync::Arc;

/// The largest number of arms × features that an instance may have: 8 GB.
const MAX_FEATURES: u64 = 1_000_000_000;

/// The largest number of features per arm: each d × d matrix of ridge takes 800 MB.
const MAX_DIMENSIONS: u64 = 10_000;

/// The contents of the table.
pub(super) struct Table {
    /// How an instance is made.
    pub(super) kind: InstanceKind,
    /// When instances are drawn.
    pub(super) schedule: DrawSchedule,
    /// A number added to all means.
    pub(super) offset: f64,
    /// Whether algorithms see the features standardised.
    pub(super) is_standardised: bool,
}

/// Reads the table. Files are relative to `directory`.
pub(super) fn instance(keys: &Keys<'_>, directory: &Path, extensions: &Extensions) -> Result<Table, FileError> {
    type Make = fn(&Keys<'_>, &Path) -> Result<InstanceKind, FileError>;
    const KINDS: &[(&str, Make)] = &[
        ("uniform", |keys, _| {
            let field = keys.need("n_arms")?;
            let n_arms = field.whole(1, MAX_FEATURES)?;
            let dimension = keys.need("dimension")?.whole(1, MAX_DIMENSIONS)?;
            if n_arms * dimension > MAX_FEATURES {
                return Err(field.error(format!("times `dimension` must be at most {MAX_FEATURES}")));
            }
            Ok(InstanceKind::Uniform { n_arms: index(n_arms), dimension: index(dimension) })
        }),
        ("iris", |_, _| Ok(InstanceKind::iris())),
        ("wine", |_, _| Ok(InstanceKind::wine())),
        ("soare", |keys, _| {
            let dimension = keys.need("dimension")?.whole(2, MAX_DIMENSIONS)?;
            let omega = keys.need("omega")?.number()?;
            Ok(InstanceKind::Fixed(Truth::soare(index(dimension), omega)))
        }),
        ("csv", csv),
        ("means", |keys, _| {
            let field = keys.need("means")?;
            let means = field.numbers()?;
            if means.is_empty() {
                return Err(field.error("must give the mean of at least one arm"));
            }
            let mut arms = Arms::without_features(means.len()).map_err(|error| field.refused(error))?;
            if let Some(costs) = keys.get("costs") {
                arms = arms.with_costs(&costs.numbers()?).map_err(|error| costs.refused(error))?;
            }
            Ok(InstanceKind::Fixed(Truth::Means(arms, means)))
        }),
    ];
    let kind_field = keys.need("kind")?;
    let kind = match &extensions.instances {
        Some(instances) if kind_field.text().is_ok_and(|kind| kind == "own") => {
            InstanceKind::Custom(Arc::clone(instances))
        }
        _ => kind_field.choice(KINDS)?(keys, directory)?,
    };
    let redraw = keys.get("redraw");
    let draw = keys.get("draw");
    let offset = keys.get("offset").map_or(Ok(0.0), |field| field.number())?;
    let standardise = keys.get("standardise");
    keys.finish()?;
    let is_standardised = standardise.as_ref().map_or(Ok(false), Field::flag)?;
    if let (Some(field), InstanceKind::Fixed(Truth::Means(arms, _))) = (&standardise, &kind)
        && is_standardised
        && arms.dimension().is_none()
    {
        return Err(field.error("= true does not go with arms without features"));
    }
    let redraw_value = redraw.as_ref().map(Field::flag).transpose()?;
    if let Some(draw) = draw {
        let schedule = draw.choice(&[("published", DrawSchedule::AsPublished)])?;
        if redraw_value == Some(true) {
            return Err(draw.error("= \"published\" is one instance for all runs; it does not go with `redraw = true`"));
        }
        if matches!(kind, InstanceKind::Fixed(_) | InstanceKind::Custom(_)) {
            return Err(draw.error("= \"published\" does not go with an instance of which nothing is drawn"));
        }
        return Ok(Table { kind, schedule, offset, is_standardised });
    }
    let schedule = if redraw_value.unwrap_or(true) { DrawSchedule::EveryRun } else { DrawSchedule::Once };
    Ok(Table { kind, schedule, offset, is_standardised })
}

fn csv(keys: &Keys<'_>, directory: &Path) -> Result<InstanceKind, FileError> {
    let field = keys.need("file")?;
    let path = directory.join(field.text()?);
    let theta_field = keys.get("theta");
    let refused = |error: &dyn std::fmt::Display| field.refused(format!("{}: {error}", path.display()));
    let (candidates, _) = dataset::open_with_labels(&path).map_err(|error| refused(&error))?;
    if let Some(means_field) = keys.get("means") {
        if let Some(theta_field) = theta_field {
            return Err(theta_field.error("does not go with `means`: means are either xᵀθ or in a column"));
        }
        let name = means_field.text()?;
        let column = candidates.columns().iter().position(|column| column == name);
        let column = column.ok_or_else(|| means_field.is_not("a column of the file that holds numbers"))?;
        let (arms, means) = without_column(&candidates, column).map_err(|error| refused(&error))?;
        return Ok(InstanceKind::Fixed(Truth::Means(arms, means)));
    }
    let arms = dataset::with_features(candidates).map_err(|error| refused(&error))?.arms();
    let Some(theta_field) = theta_field else { return Ok(InstanceKind::Features(arms)) };
    let theta = theta_field.numbers()?;
    let (expected, found) = (arms.dimension().unwrap_or(0), theta.len());
    if expected != found {
        return Err(theta_field.refused(InstanceError::ThetaLength { expected, found }));
    }
    Ok(InstanceKind::Fixed(Truth::Linear(arms, theta)))
}

/// The arms without one of their features, and that feature.
fn without_column(candidates: &Candidates, column: usize) -> Result<(Arms, Vec<f64>), ArmsError> {
    let dimension = candidates.columns().len();
    let is_mean = |position: usize| position % dimension == column;
    let values = || candidates.features().iter().copied().enumerate();
    let means: Vec<f64> = values().filter(|&(position, _)| is_mean(position)).map(|(_, mean)| mean).collect();
    let features: Vec<f64> = values().filter(|&(position, _)| !is_mean(position)).map(|(_, x)| x).collect();
    let arms = match dimension {
        1 => Arms::without_features(means.len()),
        _ => Arms::from_slice(&features, dimension - 1),
    };
    Ok((arms?, means))
}

fn index(number: u64) -> usize {
    usize::try_from(number).expect("checked against a limit")
}
