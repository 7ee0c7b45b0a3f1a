//! The distribution of the true means before a campaign: every planned run draws its truth from it.

use super::Pilot;
use super::truths::Truths;
use cutline::{Arm, Arms, Range};
use std::sync::Arc;
use thiserror::Error;

/// What is expected of the arms, in the words of the mixed model: μ = level + linear part + smooth part + own part.
///
/// | field | default | meaning | range |
/// |---|---|---|---|
/// | `explained` | 0.7 | the share of the differences between the arms (of their variance) that the features explain | 0 to 1 |
/// | `linear_share` | 0.7 | the share of what the features explain that is linear; the rest is a smooth curve | 0 to 1 |
/// | `spread` | 1 | the standard deviation of the arms' true means | 1e-100 to 1e100 |
/// | `above` | 0.5 | the share of the arms above the threshold | 0 to 1 |
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the table above says it")]
pub struct Expectation {
    pub explained: f64,
    pub linear_share: f64,
    pub spread: f64,
    pub above: f64,
}

impl Default for Expectation {
    fn default() -> Self {
        Self { explained: 0.7, linear_share: 0.7, spread: 1.0, above: 0.5 }
    }
}

/// σ and the spread of the means, from two of σ, σ/spread and the spread; by default σ/spread = ½ and the spread is 1.
///
/// ```
/// use cutline_campaign::noise_and_spread;
///
/// assert_eq!(noise_and_spread(None, None, None), Ok((0.5, 1.0)));
/// assert_eq!(noise_and_spread(Some(3.0), None, None), Ok((3.0, 6.0)));
/// assert_eq!(noise_and_spread(Some(3.0), None, Some(12.0)), Ok((3.0, 12.0)));
/// assert_eq!(noise_and_spread(None, Some(2.0), Some(12.0)), Ok((24.0, 12.0)));
/// assert!(noise_and_spread(Some(3.0), Some(2.0), Some(12.0)).is_err());
/// ```
///
/// # Errors
/// If all three are given, or a number is not between 1e-100 and 1e100.
pub fn noise_and_spread(noise: Option<f64>, ratio: Option<f64>, spread: Option<f64>) -> Result<(f64, f64), PriorError> {
    if noise.is_some() && ratio.is_some() && spread.is_some() {
        return Err(PriorError::Overdetermined);
    }
    let ratio = ratio.unwrap_or(0.5);
    let checked = |name, value: f64| {
        if Range::NOISE_SCALE.contains(value) { Ok(value) } else { Err(PriorError::Noise { name, value }) }
    };
    checked("noise scale", noise.unwrap_or(1.0))?;
    checked("noise ratio", ratio)?;
    let spread = spread.unwrap_or_else(|| noise.map_or(1.0, |noise| noise / ratio));
    if !Range::NOISE_SCALE.contains(spread) {
        return Err(PriorError::Spread(spread));
    }
    Ok((checked("noise scale", noise.unwrap_or(ratio * spread))?, spread))
}

/// The distribution that the true means are drawn from.
///
/// ```
/// use cutline_campaign::{Expectation, Prior};
///
/// assert_eq!("normal:0.5".parse(), Prior::normal(0.5));
/// assert!(Prior::normal(-1.0).is_err());
/// assert!(Prior::expected(Expectation { explained: 1.5, ..Expectation::default() }).is_err());
/// # Ok::<(), cutline_campaign::PriorError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Prior(Distribution);

#[derive(Clone, Debug)]
pub(super) enum Distribution {
    Expected(Expectation),
    Uniform,
    Normal(f64),
    Pilot(Arc<Pilot>),
    Known(Arc<Known>),
}

/// True means, and the rewards that campaigns get first.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) means: Vec<f64>,
    pilot: Vec<(Arm, f64)>,
}

/// Why a prior was refused.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum PriorError {
    /// There is no prior of that name.
    #[error("unknown prior `{0}`; use `uniform` or `normal:s`")]
    Unknown(String),
    /// A normal prior without a scale, or with one that is not a number.
    #[error("a normal prior needs its standard deviation s: `normal:s`, as in `normal:0.5`")]
    NoScale,
    /// The scale of a normal prior is not a positive number.
    #[error("the prior's scale must be a number between 1e-100 and 1e100, not {0}")]
    Scale(f64),
    /// A share is not between 0 and 1.
    #[error("`{name}` is a share: it must be a number between 0 and 1, not {value}")]
    Share {
        /// The field of [`Expectation`].
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// Noise, their ratio and the spread are all given.
    #[error("noise, noise ratio and spread are all given, and two of them determine the third; leave one out")]
    Overdetermined,
    /// The noise or its ratio to the spread is not a positive number.
    #[error("the {name} must be a number between 1e-100 and 1e100, not {value}")]
    Noise {
        /// Which of them.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// The spread is not a positive number.
    #[error("the spread must be a number between 1e-100 and 1e100, not {0}")]
    Spread(f64),
    /// θ is to be drawn, but the arms have no features.
    #[error("the arms have no features, so there is no θ to draw")]
    NoFeatures,
    /// The known means are not one per arm.
    #[error("there are {found} means for {expected} arms; give one per arm")]
    Means {
        /// The number of arms.
        expected: usize,
        /// The number of means.
        found: usize,
    },
    /// The precision is so large that any verdicts would meet the goal.
    #[error(
        "the precision {precision} leaves nothing to decide: with a spread of {spread}, {within:.0} % of the arms lie within it of the \
         threshold, where either verdict is right; threshold, precision, spread and noise are in the units of the rewards"
    )]
    NothingToDecide {
        /// ε.
        precision: f64,
        /// The spread of the means.
        spread: f64,
        /// The percentage of the arms within ε of the threshold.
        within: f64,
    },
    /// θ is drawn on features that are so large that means overflow.
    #[error("the features are too large for this prior; scale them down")]
    TooLarge,
}

impl Prior {
    /// Means with these shares of a linear, a smooth and an own part, on the standardised features.
    ///
    /// # Errors
    /// If a share is not between 0 and 1, or the spread is not between 1e-100 and 1e100.
    pub fn expected(expectation: Expectation) -> Result<Self, PriorError> {
        let Expectation { explained, linear_share, spread, above } = expectation;
        for (name, value) in [("explained", explained), ("linear share", linear_share), ("above", above)] {
            if !(0.0..=1.0).contains(&value) {
                return Err(PriorError::Share { name, value });
            }
        }
        if !Range::NOISE_SCALE.contains(spread) {
            return Err(PriorError::Spread(spread));
        }
        Ok(Self(Distribution::Expected(expectation)))
    }

    /// μ = Xθ with θ from U([−1, 1]^d), as in the paper, on the features as they are.
    #[must_use]
    pub fn uniform() -> Self {
        Self(Distribution::Uniform)
    }

    /// μ = Xθ with θ from N(0, s²I) and s = `scale`, on the features as they are.
    ///
    /// # Errors
    /// If `scale` is not between 1e-100 and 1e100.
    pub fn normal(scale: f64) -> Result<Self, PriorError> {
        if !Range::NOISE_SCALE.contains(scale) {
            return Err(PriorError::Scale(scale));
        }
        Ok(Self(Distribution::Normal(scale)))
    }

    /// The posterior given a pilot. Every campaign gets the pilot's rewards before its first ask.
    #[must_use]
    pub fn pilot(pilot: Pilot) -> Self {
        Self(Distribution::Pilot(Arc::new(pilot)))
    }

    /// These means in every run, and a pilot, which may be empty: to compare a plan with what really happens.
    #[must_use]
    pub fn known(means: Vec<f64>, pilot: Vec<(Arm, f64)>) -> Self {
        Self(Distribution::Known(Arc::new(Known { means, pilot })))
    }

    /// The rewards that every campaign gets first; none unless there is a pilot.
    pub(super) fn rewards(&self) -> &[(Arm, f64)] {
        match &self.0 {
            Distribution::Pilot(pilot) => pilot.rewards(),
            Distribution::Known(known) => &known.pilot,
            _ => &[],
        }
    }

    /// The arms that every campaign has under measurement from the start.
    pub(super) fn open(&self) -> &[Arm] {
        match &self.0 {
            Distribution::Pilot(pilot) => pilot.open(),
            _ => &[],
        }
    }

    /// The arms that cannot be measured.
    pub(super) fn withdrawn(&self) -> &[Arm] {
        match &self.0 {
            Distribution::Pilot(pilot) => pilot.withdrawn(),
            _ => &[],
        }
    }

    /// The spread of the means, where it was stated.
    pub(super) fn spread(&self) -> Option<f64> {
        match &self.0 {
            Distribution::Expected(expectation) => Some(expectation.spread),
            _ => None,
        }
    }

    /// What draws true means on these arms; `threshold` is τ.
    pub(super) fn truths(&self, arms: &Arms, threshold: f64) -> Result<Truths, PriorError> {
        let is_linear = matches!(self.0, Distribution::Uniform | Distribution::Normal(_));
        if is_linear && arms.dimension().is_none() {
            return Err(PriorError::NoFeatures);
        }
        if let Distribution::Known(known) = &self.0
            && known.means.len() != arms.n_arms()
        {
            return Err(PriorError::Means { expected: arms.n_arms(), found: known.means.len() });
        }
        let arms = if is_linear { arms.clone() } else { arms.clone().standardised() };
        Ok(Truths::new(self.0.clone(), arms, threshold))
    }
}

/// Reads `uniform`, or `normal:s` for [`Prior::normal`].
impl std::str::FromStr for Prior {
    type Err = PriorError;

    fn from_str(text: &str) -> Result<Self, PriorError> {
        match text.split_once(':') {
            None if text == "uniform" => Ok(Self::uniform()),
            None if text == "normal" => Err(PriorError::NoScale),
            Some(("normal", scale)) => Self::normal(scale.parse().map_err(|_| PriorError::NoScale)?),
            _ => Err(PriorError::Unknown(text.into())),
        }
    }
}

impl PartialEq for Prior {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Distribution::Expected(this), Distribution::Expected(other)) => this == other,
            (Distribution::Uniform, Distribution::Uniform) => true,
            (Distribution::Normal(this), Distribution::Normal(other)) => this == other,
            (Distribution::Pilot(this), Distribution::Pilot(other)) => this.rewards() == other.rewards(),
            (Distribution::Known(this), Distribution::Known(other)) => {
                (&this.means, &this.pilot) == (&other.means, &other.pilot)
            }
            _ => false,
        }
    }
}

impl std::fmt::Display for Prior {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Distribution::Expected(expectation) => {
                let Expectation { explained, linear_share, spread, above } = expectation;
                write!(
                    f,
                    "features explain {explained} of the differences ({linear_share} of that linear), spread {spread}, {above} \
                     of the arms above"
                )
            }
            Distribution::Uniform => write!(f, "θ uniform on [−1, 1]"),
            Distribution::Normal(scale) => write!(f, "θ from N(0, {scale}² I)"),
            Distribution::Pilot(pilot) => write!(f, "{pilot}"),
            Distribution::Known(_) => write!(f, "the true means are known"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expectations_out_of_range_are_refused() {
        for bad in [-0.1, 1.1, f64::NAN] {
            for expectation in [
                Expectation { explained: bad, ..Expectation::default() },
                Expectation { linear_share: bad, ..Expectation::default() },
                Expectation { above: bad, ..Expectation::default() },
            ] {
                assert!(matches!(Prior::expected(expectation), Err(PriorError::Share { .. })), "{expectation:?}");
            }
        }
        for spread in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Prior::expected(Expectation { spread, ..Expectation::default() }).is_err());
            assert!(
                noise_and_spread(None, None, Some(spread)).is_err()
                    && noise_and_spread(None, Some(spread), None).is_err()
            );
            assert!(noise_and_spread(Some(spread), None, None).is_err() && Prior::normal(spread).is_err());
        }
    }
}
