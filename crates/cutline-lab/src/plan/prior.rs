//! The distribution of θ before a campaign: every planned run draws its θ from it.

use crate::source::RandomNumbers;
use cutline::{Arm, Arms};
use nalgebra::{Cholesky, DMatrix, DVector};
use thiserror::Error;

/// The λ of a [`ThetaPosterior`]: the default of the learners' ridge.
const LAMBDA: f64 = 1.0;

/// The largest reward of a pilot, in absolute value: its square is still finite.
const LARGEST: f64 = 1e150;

/// The distribution that θ is drawn from.
///
/// ```
/// use cutline_lab::Prior;
///
/// assert_eq!(Prior::normal(0.5)?.to_string(), "θ from N(0, 0.5² I)");
/// assert_eq!("normal:0.5".parse(), Prior::normal(0.5));
/// assert!(Prior::normal(-1.0).is_err());
/// # Ok::<(), cutline_lab::PriorError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Prior(Distribution);

#[derive(Clone, Debug, PartialEq)]
enum Distribution {
    Uniform,
    Normal(f64),
    Posterior(ThetaPosterior),
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
    /// The noise scale is not a positive number.
    #[error("the noise scale must be a number between 1e-100 and 1e100, not {0}")]
    Noise(f64),
    /// The arms have no features.
    #[error("the arms have no features, so there is no theta to learn from a pilot")]
    NoFeatures,
    /// A measurement is of an arm that does not exist.
    #[error("there is no arm {arm}: arms are numbered from 0, and there are {n_arms}")]
    Arm {
        /// The arm.
        arm: Arm,
        /// The number of arms.
        n_arms: usize,
    },
    /// A reward is NaN, infinite or so large that its square overflows.
    #[error("a reward must be a number between -1e150 and 1e150, not {0:e}")]
    Reward(f64),
    /// The features are so large that the posterior cannot be computed.
    #[error("the features are too large for a posterior; scale them down")]
    TooLarge,
}

impl Prior {
    /// U([−1, 1]^d), as in the paper.
    #[must_use]
    pub fn uniform() -> Self {
        Self(Distribution::Uniform)
    }

    /// N(0, s²I), with s = `scale`.
    ///
    /// # Errors
    /// If `scale` is not between 1e-100 and 1e100.
    pub fn normal(scale: f64) -> Result<Self, PriorError> {
        if !cutline::Range::NOISE_SCALE.contains(scale) {
            return Err(PriorError::Scale(scale));
        }
        Ok(Self(Distribution::Normal(scale)))
    }

    /// The posterior given a pilot. Every learner gets the pilot's rewards before its first pull.
    #[must_use]
    pub fn posterior(posterior: ThetaPosterior) -> Self {
        Self(Distribution::Posterior(posterior))
    }

    /// The measurements that every learner gets first; none unless this is a posterior.
    #[must_use]
    pub fn pilot(&self) -> &[(Arm, f64)] {
        if let Distribution::Posterior(posterior) = &self.0 { &posterior.pilot } else { &[] }
    }

    /// Draws a θ of `dimension` values.
    pub(crate) fn draw(&self, dimension: usize, numbers: &mut impl RandomNumbers) -> Vec<f64> {
        match &self.0 {
            Distribution::Uniform => (0..dimension).map(|_| numbers.uniform()).collect(),
            Distribution::Normal(scale) => (0..dimension).map(|_| scale * numbers.normal()).collect(),
            Distribution::Posterior(posterior) => posterior.draw(numbers),
        }
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

impl std::fmt::Display for Prior {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Distribution::Uniform => write!(f, "θ uniform on [−1, 1]"),
            Distribution::Normal(scale) => write!(f, "θ from N(0, {scale}² I)"),
            Distribution::Posterior(posterior) => {
                write!(f, "θ from the posterior given a pilot of {}", posterior.pilot.len())
            }
        }
    }
}

/// The posterior θ ~ N(θ̂, σ²V⁻¹) given a pilot, V = λI + Σ xxᵀ and θ̂ = V⁻¹ Σ r x, with Gaussian noise of scale σ.
///
/// λ is 1, the default of the learners' ridge: before the pilot θ is N(0, σ²I), and it stays so in the directions that no
/// arm of the pilot has.
#[derive(Clone, Debug, PartialEq)]
pub struct ThetaPosterior {
    mean: DVector<f64>,
    /// L of V = L Lᵀ.
    factor: DMatrix<f64>,
    noise: f64,
    pilot: Vec<(Arm, f64)>,
}

impl ThetaPosterior {
    /// The posterior given `pilot`, pairs of an arm and its reward, with noise of scale `noise`.
    ///
    /// # Errors
    /// If the noise scale is not between 1e-100 and 1e100, the arms have no features or too large ones, there
    /// is no such arm, or a reward is not between −1e150 and 1e150.
    pub fn new(arms: &Arms, pilot: Vec<(Arm, f64)>, noise: f64) -> Result<Self, PriorError> {
        if !cutline::Range::NOISE_SCALE.contains(noise) {
            return Err(PriorError::Noise(noise));
        }
        let dimension = arms.dimension().ok_or(PriorError::NoFeatures)?;
        let mut design = DMatrix::from_diagonal_element(dimension, dimension, LAMBDA);
        let mut weighted = DVector::zeros(dimension);
        for &(arm, reward) in &pilot {
            if !(reward.abs() <= LARGEST) {
                return Err(PriorError::Reward(reward));
            }
            if arm >= arms.n_arms() {
                return Err(PriorError::Arm { arm, n_arms: arms.n_arms() });
            }
            let x = DVector::from_vec(arms.row(arm).ok_or(PriorError::NoFeatures)?);
            weighted.axpy(reward, &x, 1.0);
            design.syger(1.0, &x, &x, 1.0);
        }
        let design = Cholesky::new(design).ok_or(PriorError::TooLarge)?;
        let (mean, factor) = (design.solve(&weighted), design.unpack());
        let is_finite = mean.iter().chain(&factor).all(|value| value.is_finite());
        if is_finite { Ok(Self { mean, factor, noise, pilot }) } else { Err(PriorError::TooLarge) }
    }

    /// θ̂.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        self.mean.as_slice()
    }

    /// θ̂ + σ L⁻ᵀz with z ~ N(0, I): its covariance is σ² L⁻ᵀL⁻¹ = σ²V⁻¹.
    fn draw(&self, numbers: &mut impl RandomNumbers) -> Vec<f64> {
        let mut deviation = DVector::from_fn(self.mean.len(), |_, _| numbers.normal());
        self.factor.tr_solve_lower_triangular_mut(&mut deviation);
        deviation.iter().zip(&self.mean).map(|(deviation, mean)| mean + self.noise * deviation).collect()
    }
}
