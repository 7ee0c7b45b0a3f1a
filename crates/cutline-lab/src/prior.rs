//! What is believed of θ before a campaign: every planned run draws its truth from it.

use crate::source::Numbers;
use cutline::{Arm, Arms};
use thiserror::Error;

/// The λ of a [`ThetaPosterior`]: the one the learners' ridge has unless told otherwise.
const LAMBDA: f64 = 1.0;

/// The largest reward of a pilot: its square is still a number.
const LARGEST: f64 = 1e150;

/// What θ is drawn from.
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
pub struct Prior(Law);

#[derive(Clone, Debug, PartialEq)]
enum Law {
    Uniform,
    Normal(f64),
    ThetaPosterior(ThetaPosterior),
}

/// Why a prior was refused.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum PriorError {
    /// There is no prior of that name.
    #[error("there is no prior `{0}`; there are `uniform` and `normal:s`")]
    Unknown(String),
    /// A normal prior has no scale, or one that is no number.
    #[error("say how far θ spreads: `normal:s`, as in `normal:0.5`")]
    NoScale,
    /// The scale of a normal prior is not a positive number.
    #[error("the prior's scale must be a number between 1e-100 and 1e100, not {0}")]
    Scale(f64),
    /// The noise scale is not a positive number.
    #[error("the noise scale must be a number between 1e-100 and 1e100, not {0}")]
    Noise(f64),
    /// The arms have no features.
    #[error("the arms have no features, so a pilot says nothing of theta")]
    NoFeatures,
    /// A measurement is of an arm that does not exist.
    #[error("there is no arm {arm}: there are {n_arms}, and the first is 0")]
    Arm {
        /// The arm.
        arm: Arm,
        /// How many there are.
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
    /// U([−1, 1]^d), the paper's.
    #[must_use]
    pub fn uniform() -> Self {
        Self(Law::Uniform)
    }

    /// N(0, s²I), with s = `scale`.
    ///
    /// # Errors
    /// If `scale` is not between 1e-100 and 1e100.
    pub fn normal(scale: f64) -> Result<Self, PriorError> {
        if !cutline::Range::NOISE_SCALE.contains(scale) {
            return Err(PriorError::Scale(scale));
        }
        Ok(Self(Law::Normal(scale)))
    }

    /// What a pilot leaves open. Learners are told the pilot before they are asked.
    #[must_use]
    pub fn posterior(posterior: ThetaPosterior) -> Self {
        Self(Law::ThetaPosterior(posterior))
    }

    /// The measurements that every learner is told first; none unless this is a posterior.
    #[must_use]
    pub fn pilot(&self) -> &[(Arm, f64)] {
        if let Law::ThetaPosterior(posterior) = &self.0 { &posterior.pilot } else { &[] }
    }

    /// Draws a θ of `dimension` values.
    pub(crate) fn draw(&self, dimension: usize, numbers: &mut impl Numbers) -> Vec<f64> {
        match &self.0 {
            Law::Uniform => (0..dimension).map(|_| numbers.uniform()).collect(),
            Law::Normal(scale) => (0..dimension).map(|_| scale * numbers.normal()).collect(),
            Law::ThetaPosterior(posterior) => posterior.draw(numbers),
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
            Law::Uniform => write!(f, "θ uniform on [−1, 1]"),
            Law::Normal(scale) => write!(f, "θ from N(0, {scale}² I)"),
            Law::ThetaPosterior(posterior) => {
                write!(f, "θ from the posterior given a pilot of {}", posterior.pilot.len())
            }
        }
    }
}

/// The posterior θ ~ N(θ̂, σ²V⁻¹) given a pilot, V = λI + Σ xxᵀ and θ̂ = V⁻¹ Σ r x, with Gaussian noise of scale σ.
///
/// λ is 1, as that of the learners' ridge: before the pilot θ was N(0, σ²I), and that is what stays believed in the
/// directions no pilot arm has.
#[derive(Clone, Debug, PartialEq)]
pub struct ThetaPosterior {
    mean: Vec<f64>,
    /// L of V = L Lᵀ, row by row.
    factor: Vec<Vec<f64>>,
    noise: f64,
    pilot: Vec<(Arm, f64)>,
}

impl ThetaPosterior {
    /// The posterior given `pilot`, an arm and its reward each, with noise of scale `noise`.
    ///
    /// # Errors
    /// If the noise scale is not between 1e-100 and 1e100, the arms have no features or too large ones, there
    /// is no such arm, or a reward is not between −1e150 and 1e150.
    pub fn new(arms: &Arms, pilot: Vec<(Arm, f64)>, noise: f64) -> Result<Self, PriorError> {
        if !cutline::Range::NOISE_SCALE.contains(noise) {
            return Err(PriorError::Noise(noise));
        }
        let dimension = arms.dimension().ok_or(PriorError::NoFeatures)?;
        let mut design = vec![vec![0.0; dimension]; dimension];
        let mut weighted = vec![0.0; dimension];
        for (i, row) in design.iter_mut().enumerate() {
            row[i] = LAMBDA;
        }
        for &(arm, reward) in &pilot {
            if !(reward.abs() <= LARGEST) {
                return Err(PriorError::Reward(reward));
            }
            if arm >= arms.n_arms() {
                return Err(PriorError::Arm { arm, n_arms: arms.n_arms() });
            }
            let x = arms.row(arm).ok_or(PriorError::NoFeatures)?;
            for (i, row) in design.iter_mut().enumerate() {
                weighted[i] += reward * x[i];
                row.iter_mut().zip(&x).for_each(|(v, xj)| *v += x[i] * xj);
            }
        }
        let factor = cholesky(design).ok_or(PriorError::TooLarge)?;
        solve_lower(&factor, &mut weighted);
        solve_upper(&factor, &mut weighted);
        if weighted.iter().any(|value| !value.is_finite()) {
            return Err(PriorError::TooLarge);
        }
        Ok(Self { mean: weighted, factor, noise, pilot })
    }

    /// θ̂.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// θ̂ + σ L⁻ᵀz with z ~ N(0, I): its covariance is σ² L⁻ᵀL⁻¹ = σ²V⁻¹.
    fn draw(&self, numbers: &mut impl Numbers) -> Vec<f64> {
        let mut theta: Vec<f64> = self.mean.iter().map(|_| numbers.normal()).collect();
        solve_upper(&self.factor, &mut theta);
        theta.iter().zip(&self.mean).map(|(deviation, mean)| mean + self.noise * deviation).collect()
    }
}

/// L of V = L Lᵀ, in the lower triangle; `None` where V is not positive definite to the last digit.
fn cholesky(mut v: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    for i in 0..v.len() {
        let (above, below) = v.split_at_mut(i);
        let row = &mut below[0];
        for (j, other) in above.iter().enumerate() {
            row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
        }
        let pivot = row[i] - dot(&row[..i], &row[..i]);
        if !(pivot > 0.0 && pivot.is_finite()) {
            return None;
        }
        row[i] = pivot.sqrt();
    }
    Some(v)
}

/// x becomes L⁻¹x.
fn solve_lower(l: &[Vec<f64>], x: &mut [f64]) {
    for (i, row) in l.iter().enumerate() {
        x[i] = (x[i] - dot(&row[..i], &x[..i])) / row[i];
    }
}

/// x becomes L⁻ᵀx.
fn solve_upper(l: &[Vec<f64>], x: &mut [f64]) {
    for (i, row) in l.iter().enumerate().rev() {
        x[i] /= row[i];
        let xi = x[i];
        x[..i].iter_mut().zip(row).for_each(|(x, l)| *x -= l * xi);
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
