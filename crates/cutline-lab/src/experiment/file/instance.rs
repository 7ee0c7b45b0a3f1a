//! The table `[instance]`.

use super::related;
use crate::experiment::Extensions;
use crate::experiment::keys::{Field, FileError, Keys};
use crate::instance::source::{DrawSchedule, InstanceKind, Truth};
use crate::{InstanceError, NoiseKind};
use cutline::{Arms, ArmsError, CovarianceKind};
use cutline_campaign::Candidates;
use cutline_data::dataset;
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
    /// How algorithms take the means to be related, if the kind does not say it.
    pub(super) covariance: Option<CovarianceKind>,
    /// The kind of noise if the file says nothing else.
    pub(super) noise: NoiseKind,
    /// Whether the noise has to be of that kind.
    pub(super) noise_is_fixed: bool,
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
        ("linear", linear),
        ("means", list),
        ("bernoulli", list),
        ("monotone", monotone),
        ("locatelli-1", |_, _| Ok(locatelli(1))),
        ("locatelli-2", |_, _| Ok(locatelli(2))),
        ("locatelli-3", |_, _| Ok(locatelli(3))),
        ("osi", |_, _| Ok(InstanceKind::Fixed(Truth::osi()))),
        ("graph", related::graph),
        ("kernel", related::kernel),
    ];
    let kind_field = keys.need("kind")?;
    let kind = match &extensions.instances {
        Some(instances) if kind_field.text().is_ok_and(|kind| kind == "own") => {
            InstanceKind::Custom(Arc::clone(instances))
        }
        _ => kind_field.choice(KINDS)?(keys, directory)?,
    };
    let name = kind_field.text()?;
    let noise_is_fixed = name == "bernoulli";
    let is_bernoulli = noise_is_fixed || name.starts_with("locatelli-");
    let noise = if is_bernoulli { NoiseKind::Bernoulli } else { NoiseKind::Gaussian };
    let redraw = keys.get("redraw");
    let draw = keys.get("draw");
    let offset = keys.get("offset").map_or(Ok(0.0), |field| field.number())?;
    let standardise = keys.get("standardise");
    let covariance =
        if ["graph", "kernel"].contains(&name) { None } else { related::covariance(keys, directory, &kind)? };
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
        return Ok(Table { kind, schedule, offset, is_standardised, covariance, noise, noise_is_fixed });
    }
    let schedule = if redraw_value.unwrap_or(true) { DrawSchedule::EveryRun } else { DrawSchedule::Once };
    Ok(Table { kind, schedule, offset, is_standardised, covariance, noise, noise_is_fixed })
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
    with_theta(arms, theta_field)
}

/// Arms with this θ, or with θ drawn.
fn with_theta(arms: Arms, theta: Option<Field<'_>>) -> Result<InstanceKind, FileError> {
    let Some(theta_field) = theta else { return Ok(InstanceKind::Features(arms)) };
    let theta = theta_field.numbers()?;
    let (expected, found) = (arms.dimension().unwrap_or(0), theta.len());
    if expected != found {
        return Err(theta_field.refused(InstanceError::ThetaLength { expected, found }));
    }
    Ok(InstanceKind::Fixed(Truth::Linear(arms, theta)))
}

/// The arms of the file itself: a list of rows of features.
fn linear(keys: &Keys<'_>, _: &Path) -> Result<InstanceKind, FileError> {
    let field = keys.need("arms")?;
    let theta = keys.get("theta");
    let rows = field.list()?.iter().map(Field::numbers).collect::<Result<Vec<_>, _>>()?;
    let dimension = rows.first().map_or(0, Vec::len);
    if dimension == 0 {
        return Err(field.error("must give at least one arm, each as a list of at least one feature"));
    }
    with_theta(Arms::from_rows(&rows).map_err(|error| field.refused(error))?, theta)
}

/// A list of means, one per arm.
fn means(field: &Field<'_>) -> Result<Vec<f64>, FileError> {
    let means = field.numbers()?;
    if means.is_empty() { Err(field.error("must give the mean of at least one arm")) } else { Ok(means) }
}

/// Arms without features: their means, and the costs of errors on them if they differ.
fn list(keys: &Keys<'_>, _: &Path) -> Result<InstanceKind, FileError> {
    let means = means(&keys.need("means")?)?;
    let Some(costs) = keys.get("costs") else { return Ok(without_features(means)) };
    let arms = Arms::without_features(means.len()).expect("at least one arm");
    let arms = arms.with_costs(&costs.numbers()?).map_err(|error| costs.refused(error))?;
    Ok(InstanceKind::Fixed(Truth::Means(arms, means)))
}

fn without_features(means: Vec<f64>) -> InstanceKind {
    let arms = Arms::without_features(means.len()).expect("at least one arm");
    InstanceKind::Fixed(Truth::Means(arms, means))
}

/// Means that do not decrease: given, or a step.
fn monotone(keys: &Keys<'_>, _: &Path) -> Result<InstanceKind, FileError> {
    let Some(field) = keys.get("means") else {
        let n_arms = keys.need("n_arms")?.whole(3, MAX_FEATURES)?;
        let gap_field = keys.need("gap")?;
        let gap = gap_field.number()?;
        if gap <= 0.0 {
            return Err(gap_field.is_not("a positive number"));
        }
        return Ok(InstanceKind::Fixed(Truth::step(index(n_arms), gap)));
    };
    let means = means(&field)?;
    if let Some(arm) = means.windows(2).position(|pair| pair[0] > pair[1]) {
        let (here, next) = (means[arm], means[arm + 1]);
        return Err(field.error(format!("must not decrease, but arm {arm} has {here} and the next one {next}")));
    }
    Ok(without_features(means))
}

fn locatelli(problem: u32) -> InstanceKind {
    InstanceKind::Fixed(Truth::locatelli(problem).expect("problem 1, 2 or 3"))
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

pub(super) fn index(number: u64) -> usize {
    usize::try_from(number).expect("checked against a limit")
}
