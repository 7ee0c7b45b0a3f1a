//! The settings of the mixed model.

use super::products::Products;
use crate::estimators::Mixed;
use crate::question::short_number;
use crate::{Arms, Range};
use thiserror::Error;

/// The settings of the [mixed model](Mixed): its parts, the landmarks of the smooth part, σ if it is known, and the grid on which the
/// variances are learnt.
///
/// | field | default | meaning | range, else [`MixedError`] |
/// |---|---|---|---|
/// | `linear` | true | whether there is a linear part; a level is always there | |
/// | `smooth` | true | whether there is a smooth part | |
/// | `own` | true | whether there is an own part | at least one part |
/// | `landmarks` | 40 | D, the number of landmarks; 0 leaves the smooth part out | any; at most K are used |
/// | `length` | 1 | ℓ/√d, the length scale of the smooth part for standardised features | 1e-3 to 1e3 |
/// | `additive` | 0.5 | a, the share of the smooth part's variance that is for sums of functions of one feature each | 0 to 1 |
/// | `known_noise` | none | σ, if it is not to be learnt | 1e-100 to 1e100 |
/// | `shares` | see below | the shares that a part may have in the variance of the means | 0 to 1, one of them at most 0.5 |
/// | `scales` | see below | ω, the variance of the means in units of σ² | 1e-6 to 1e6 |
///
/// With all three parts the smooth and the own part have shares of 0, 0.05, 0.3, 0.7 or 1 and the linear part has the rest; ω is 0.03, 0.3, 1,
/// 3, 10 or 100. With two parts the second one has a share of 0, 0.003, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97 or 1; with two
/// parts or one, ω is 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100 or 300. A share of 0 stands for 10⁻⁴.
#[derive(Clone, Debug, PartialEq)]
pub struct MixedSettings {
    /// Whether there is a linear part. Without it the level has the prior variance σ²ω.
    pub linear: bool,
    /// Whether there is a smooth part. Arms without features have none.
    pub smooth: bool,
    /// Whether there is an own part. What the landmarks miss of the smooth part is kept in any case.
    pub own: bool,
    /// D, the number of landmarks.
    pub landmarks: usize,
    /// ℓ/√d.
    pub length: f64,
    /// a, the share of the smooth part for sums of functions of one feature each.
    pub additive: f64,
    /// σ, if it is known.
    pub known_noise: Option<f64>,
    /// The shares on the grid, if not the default.
    pub shares: Option<Vec<f64>>,
    /// The values of ω on the grid, if not the default.
    pub scales: Option<Vec<f64>>,
}

impl Default for MixedSettings {
    fn default() -> Self {
        Self {
            linear: true,
            smooth: true,
            own: true,
            landmarks: 40,
            length: 1.0,
            additive: 0.5,
            known_noise: None,
            shares: None,
            scales: None,
        }
    }
}

/// Why settings of the mixed model were refused.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum MixedError {
    /// All parts are left out.
    #[error(
        "the mixed model has no part left; it needs its linear part, its smooth part with landmarks, or its own part"
    )]
    NoPart,
    /// The own part is left out, and the arms have no features for another part.
    #[error("arms without features need the own part of the mixed model")]
    NeedsOwn,
    /// The arms have a covariance of their own.
    #[error("the mixed model learns how the means are related, so it takes no covariance, kernel or graph")]
    Covariance,
    /// The length scale is NaN or out of range.
    #[error("the length must be a number {}, not {}", Mixed::LENGTH, short_number(*.0))]
    Length(f64),
    /// The share of additive functions is NaN or out of range.
    #[error("the share of additive functions must be a number {}, not {}", SHARE, short_number(*.0))]
    Additive(f64),
    /// The known noise is NaN or out of range.
    #[error("the known noise must be a number {}, not {}", Range::NOISE_SCALE, short_number(*.0))]
    KnownNoise(f64),
    /// A share on the grid is NaN or out of range.
    #[error("a share must be a number {}, not {}", SHARE, short_number(*.0))]
    Share(f64),
    /// A value of ω on the grid is NaN or out of range.
    #[error("a scale must be a number {}, not {}", SCALE, short_number(*.0))]
    Scale(f64),
    /// There is no combination of shares, or no scale.
    #[error("the grid needs a scale and a share of at most 0.5")]
    EmptyGrid,
}

const SHARE: Range = Range::new(0.0, 1.0);
const SCALE: Range = Range::new(1e-6, 1e6);

/// The parts that a model has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each part is there or not")]
pub(super) struct Parts {
    pub(super) linear: bool,
    pub(super) smooth: bool,
    /// Whether the smooth part may be one of products of two features.
    pub(super) products: bool,
    pub(super) own: bool,
}

impl MixedSettings {
    /// The parts of a model of these arms.
    pub(super) fn parts(&self, arms: &Arms) -> Result<Parts, MixedError> {
        let Self { linear, own, .. } = *self;
        let smooth = self.smooth && self.landmarks > 0;
        if !(linear || smooth || own) {
            return Err(MixedError::NoPart);
        }
        if arms.has_covariance() {
            return Err(MixedError::Covariance);
        }
        let has_features = arms.dimension().is_some();
        if !has_features && !own {
            return Err(MixedError::NeedsOwn);
        }
        let smooth = smooth && has_features;
        let products = smooth && arms.dimension().is_some_and(|d| Products::number(d) > 0);
        Ok(Parts { linear, smooth, products, own })
    }

    /// Checks all numbers.
    pub(super) fn check(&self) -> Result<(), MixedError> {
        if !Mixed::LENGTH.contains(self.length) {
            return Err(MixedError::Length(self.length));
        }
        if !SHARE.contains(self.additive) {
            return Err(MixedError::Additive(self.additive));
        }
        if let Some(noise) = self.known_noise.filter(|&noise| !Range::NOISE_SCALE.contains(noise)) {
            return Err(MixedError::KnownNoise(noise));
        }
        let shares = self.shares.as_deref();
        let outside = |values: Option<&[f64]>, range: Range| {
            values.and_then(|values| values.iter().copied().find(|&value| !range.contains(value)))
        };
        if let Some(share) = outside(shares, SHARE) {
            return Err(MixedError::Share(share));
        }
        if let Some(scale) = outside(self.scales.as_deref(), SCALE) {
            return Err(MixedError::Scale(scale));
        }
        let has_combination = shares.is_none_or(|shares| shares.iter().any(|&share| share <= 0.5));
        if !has_combination || self.scales.as_ref().is_some_and(Vec::is_empty) {
            return Err(MixedError::EmptyGrid);
        }
        Ok(())
    }
}
