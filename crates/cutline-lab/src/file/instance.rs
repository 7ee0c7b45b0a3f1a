//! The table `[instance]`.

use crate::keys::{Field, FileError, Keys};
use crate::source::{Draw, Kind, Truth};
use crate::{InstanceError, Prior, dataset};
use std::path::Path;

/// The most arms × features that an instance may have: 8 GB.
const MOST_FEATURES: u64 = 1_000_000_000;

/// The most features: what ridge keeps of d × d numbers takes 800 MB a piece.
const MOST_DIMENSIONS: u64 = 10_000;

/// What instances are made of, when, and what is added to their means. Files are relative to `directory`.
pub(super) fn instance(keys: &Keys<'_>, directory: &Path) -> Result<(Kind, Draw, f64), FileError> {
    type Make = fn(&Keys<'_>, &Path) -> Result<Kind, FileError>;
    const KINDS: &[(&str, Make)] = &[
        ("uniform", |keys, _| {
            let field = keys.need("n_arms")?;
            let n_arms = field.whole(1, MOST_FEATURES)?;
            let dimension = keys.need("dimension")?.whole(1, MOST_DIMENSIONS)?;
            if n_arms * dimension > MOST_FEATURES {
                return Err(field.error(format!("times `dimension` must be at most {MOST_FEATURES}")));
            }
            Ok(Kind::Uniform { n_arms: index(n_arms), dimension: index(dimension) })
        }),
        ("iris", |_, _| Ok(Kind::iris())),
        ("wine", |_, _| Ok(Kind::wine())),
        ("soare", |keys, _| {
            let dimension = keys.need("dimension")?.whole(2, MOST_DIMENSIONS)?;
            let omega = keys.need("omega")?.number()?;
            Ok(Kind::Given(Truth::soare(index(dimension), omega)))
        }),
        ("csv", csv),
        ("means", |keys, _| {
            let field = keys.need("means")?;
            let means = field.numbers()?;
            if means.is_empty() {
                return Err(field.error("must give the mean of at least one arm"));
            }
            Ok(Kind::Given(Truth::Means(means)))
        }),
    ];
    let kind = keys.need("kind")?.choice(KINDS)?(keys, directory)?;
    let redraw = keys.get("redraw");
    let draw = keys.get("draw");
    let offset = keys.get("offset").map_or(Ok(0.0), |field| field.number())?;
    keys.finish()?;
    let redraw_value = redraw.as_ref().map(Field::flag).transpose()?;
    if let Some(draw) = draw {
        let published = draw.choice(&[("published", Draw::Published)])?;
        if redraw_value == Some(true) {
            return Err(draw.error("= \"published\" is one instance for all runs; it does not go with `redraw = true`"));
        }
        if matches!(kind, Kind::Given(_)) {
            return Err(draw.error("= \"published\" does not go with an instance that leaves nothing to draw"));
        }
        return Ok((kind, published, offset));
    }
    Ok((kind, if redraw_value.unwrap_or(true) { Draw::EveryRun } else { Draw::Once }, offset))
}

fn csv(keys: &Keys<'_>, directory: &Path) -> Result<Kind, FileError> {
    let field = keys.need("file")?;
    let path = directory.join(field.text()?);
    let theta_field = keys.get("theta");
    let open = std::fs::File::open(&path).map_err(|error| field.refused(format!("{}: {error}", path.display())))?;
    let arms = dataset::features(open).map_err(|error| field.refused(format!("{}: {error}", path.display())))?;
    let Some(theta_field) = theta_field else { return Ok(Kind::Features(arms, Prior::uniform())) };
    let theta = theta_field.numbers()?;
    let (expected, found) = (arms.dimension().unwrap_or(0), theta.len());
    if expected != found {
        return Err(theta_field.refused(InstanceError::ThetaLength { expected, found }));
    }
    Ok(Kind::Given(Truth::Linear(arms, theta)))
}

fn index(number: u64) -> usize {
    usize::try_from(number).expect("checked against a limit")
}
