//! Intervals for the means, of two kinds: to read at one time, or to hold at all times together.
//!
//! - *fixed*: μ̂ᵢ ± zσ√qᵢ, z the 1 − δ/2 quantile of the standard normal: the Gaussian posterior of one arm at one time.
//! - *anytime*, ridge: μ̂ᵢ ± √qᵢ (σ√(2 ln(1/δ) + ln(det V/λᵈ)) + √λ S), for all arms and times together with probability
//!   1 − δ (Abbasi-Yadkori, Pál & Szepesvári 2011, Theorem 2). Lemma 1 of the LinearAPT paper is a coarser form for λ = σ = 1,
//!   with d ln((1 + tL²)/δ) under the root.
//! - *anytime*, sample mean: μ̂ᵢ ± (σ/nᵢ)√((nᵢ + ρ)(2 ln(K/δ) + ln(1 + nᵢ/ρ))), ρ = 1: the two-sided normal mixture
//!   (Robbins 1970; Howard et al. 2021), δ/K for each arm. With this ρ it is tightest around 2l + ln(1 + 2l) pulls of an arm,
//!   l = ln(K/δ): 14.6 for K = 20 and δ = 0.05.

use crate::estimators::{Model, Posterior};
use crate::question::short_number;
use crate::{Arm, Range};
use statrs::function::erf::{erfc, erfc_inv};
use std::f64::consts::SQRT_2;
use thiserror::Error;

/// The kinds of interval, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IntervalKind {
    /// Holds for one arm at one time, if the model does: for reading.
    Fixed,
    /// Holds for all arms and at all times together: for stopping, and for looking as often as one likes.
    Anytime,
}

/// How intervals are made: their kind, their level and what has to be assumed.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `interval` | none | [`IntervalKind::Fixed`] or [`IntervalKind::Anytime`] | |
/// | `delta` | none | δ: the intervals hold with probability 1 − δ | 0 < δ < 1 |
/// | `noise` | none | σ: rewards are σ-sub-Gaussian, for `fixed` Gaussian | 1e-100 ≤ σ ≤ 1e100 |
/// | `norm` | σ√(d/λ) | S, a bound on ‖θ‖; only for `anytime` with ridge | 0 ≤ S ≤ 1e150 |
///
/// Out of range is an [`IntervalError`]. The default of S is the root mean square of ‖θ‖ under the prior that ridge stands for,
/// N(0, σ²/λ I). It covers every θ in [−1, 1]^d at σ = λ = 1. A θ that is longer makes the intervals too narrow: give S
/// where larger effects are possible.
///
/// ```
/// use cutline::{Confidence, IntervalKind};
///
/// let confidence = Confidence::new(IntervalKind::named("anytime")?, 0.05, 1.0)?.with_norm(3.0)?;
/// assert_eq!(confidence.interval(), IntervalKind::Anytime);
/// assert!(Confidence::new(IntervalKind::Fixed, 0.0, 1.0).is_err());
/// # Ok::<(), cutline::IntervalError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confidence {
    interval: IntervalKind,
    delta: f64,
    noise: f64,
    norm: Option<f64>,
}

/// Why intervals were refused.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum IntervalError {
    /// There is no interval of that name.
    #[error("there is no interval `{0}`; there are {names}", names = IntervalKind::names())]
    Unknown(String),
    /// δ is not a probability.
    #[error("delta must be a number above 0 and below 1, not {}", short_number(*.0))]
    Delta(f64),
    /// σ is not a scale.
    #[error("the noise must be a number between 1e-100 and 1e100, not {}", short_number(*.0))]
    Noise(f64),
    /// S is not a length.
    #[error("the norm must be a number between 0 and 1e150, not {}", short_number(*.0))]
    Norm(f64),
}

impl IntervalKind {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Fixed, Self::Anytime];

    /// What it is called everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Anytime => "anytime",
        }
    }

    /// The interval of that name.
    ///
    /// # Errors
    /// If there is none.
    pub fn named(name: &str) -> Result<Self, IntervalError> {
        let found = Self::ALL.iter().find(|interval| interval.name() == name);
        found.copied().ok_or_else(|| IntervalError::Unknown(name.into()))
    }

    fn names() -> String {
        let names: Vec<String> = Self::ALL.iter().map(|interval| format!("`{}`", interval.name())).collect();
        names.join(", ")
    }
}

impl Confidence {
    /// Intervals at level 1 − `delta` for rewards of scale `noise`.
    ///
    /// # Errors
    /// If `delta` or `noise` is out of range.
    pub fn new(interval: IntervalKind, delta: f64, noise: f64) -> Result<Self, IntervalError> {
        if !(delta > 0.0 && delta < 1.0) {
            return Err(IntervalError::Delta(delta));
        }
        if !Range::NOISE_SCALE.contains(noise) {
            return Err(IntervalError::Noise(noise));
        }
        Ok(Self { interval, delta, noise, norm: None })
    }

    /// The same with ‖θ‖ ≤ `norm`.
    ///
    /// # Errors
    /// If `norm` is out of range.
    pub fn with_norm(self, norm: f64) -> Result<Self, IntervalError> {
        if !(0.0..=1e150).contains(&norm) {
            return Err(IntervalError::Norm(norm));
        }
        Ok(Self { norm: Some(norm), ..self })
    }

    /// The kind.
    #[must_use]
    pub fn interval(&self) -> IntervalKind {
        self.interval
    }

    /// δ.
    #[must_use]
    pub fn delta(&self) -> f64 {
        self.delta
    }

    /// σ.
    #[must_use]
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// S, if it is not the default.
    #[must_use]
    pub fn norm(&self) -> Option<f64> {
        self.norm
    }

    /// Half the width of every arm's interval.
    pub(crate) fn half_widths<'a>(&self, posterior: &Posterior<'a>) -> impl Fn(Arm) -> f64 + use<'a> {
        let Self { noise, delta, .. } = *self;
        let Posterior { variances, n_rewards: told, model, .. } = *posterior;
        let level = delta / told.len() as f64;
        let factor = match (self.interval, model) {
            (IntervalKind::Fixed, _) => Some(noise * SQRT_2 * erfc_inv(delta)),
            (IntervalKind::Anytime, Model::Linear { dimension, lambda, log_det }) => {
                let shrunk = self.norm.map_or(noise * (dimension as f64).sqrt(), |norm| lambda.sqrt() * norm);
                Some(noise * (log_det - 2.0 * delta.ln()).sqrt() + shrunk)
            }
            (IntervalKind::Anytime, Model::Unrelated) => None,
        };
        move |arm| match factor {
            Some(factor) => factor * variances[arm].sqrt(),
            None => noise * mixture(f64::from(told[arm]), RHO, level),
        }
    }
}

/// ρ of the normal mixture, in pulls.
const RHO: f64 = 1.0;

/// √((n + ρ)(2 ln(1/δ) + ln(1 + n/ρ)))/n: what the mean of n standard noises never exceeds, at any n, with probability 1 − δ.
fn mixture(n: f64, rho: f64, delta: f64) -> f64 {
    ((n + rho) * ((n / rho).ln_1p() - 2.0 * delta.ln())).sqrt() / n
}

/// P(Z > z) for a standard normal Z, to nine digits.
pub(crate) fn normal_tail(z: f64) -> f64 {
    0.5 * erfc(z / SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `scipy.stats.norm.isf(delta / 2)`, version 1.17.
    #[test]
    fn quantiles_agree_with_scipy() {
        let table = [
            (0.999, 0.0012533144654325557),
            (0.5, 0.6744897501960817),
            (0.05, 1.9599639845400545),
            (0.01, 2.575829303548901),
            (1e-6, 4.891638475698591),
            (1e-100, 21.30594006935153),
            (1e-300, 37.06578788077213),
        ];
        let posterior = Posterior { means: &[0.0], variances: &[1.0], n_rewards: &[1], model: Model::Unrelated };
        for (delta, z) in table {
            let ours = Confidence::new(IntervalKind::Fixed, delta, 1.0).unwrap().half_widths(&posterior)(0);
            assert!((ours / z - 1.0).abs() < 1e-12, "δ = {delta}: {ours} against {z}");
        }
    }

    /// `scipy.stats.norm.sf`, version 1.17; nine digits, because `erfc` of `statrs` has ten.
    #[test]
    fn tails_agree_with_scipy() {
        let table = [
            (0.0, 0.5),
            (0.1, 0.460172162722971),
            (1.0, 0.15865525393145707),
            (1.96, 0.024997895148220435),
            (6.0, 9.865876450376946e-10),
            (30.0, 4.906713927147908e-198),
        ];
        for (z, tail) in table {
            assert!((normal_tail(z) / tail - 1.0).abs() < 1e-9, "z = {z}: {} against {tail}", normal_tail(z));
        }
        assert_eq!(normal_tail(f64::INFINITY), 0.0);
    }

    /// The bound on a sum of 100 standard noises at δ = 0.05 and ρ = 12.60056 is 30.35209: a value that the tests of `confseq`,
    /// by Howard, Waudby-Smith & Ramdas, have from an implementation in R.
    #[test]
    fn the_mixture_agrees_with_confseq() {
        let sum = 100.0 * mixture(100.0, 12.60056, 0.05);
        assert!((sum - 30.35209).abs() < 1e-5, "{sum}");
        assert_eq!(mixture(0.0, 1.0, 0.05), f64::INFINITY);
    }

    #[test]
    fn what_is_out_of_range_is_refused() {
        let says = |error: IntervalError, text: &str| assert_eq!(error.to_string(), text);
        for bad in [0.0, 1.0, -0.1, f64::NAN, f64::INFINITY] {
            assert!(matches!(Confidence::new(IntervalKind::Fixed, bad, 1.0), Err(IntervalError::Delta(_))), "{bad}");
        }
        for bad in [0.0, -1.0, 1e101, f64::NAN, f64::INFINITY] {
            assert!(matches!(Confidence::new(IntervalKind::Fixed, 0.1, bad), Err(IntervalError::Noise(_))), "{bad}");
        }
        let good = Confidence::new(IntervalKind::Anytime, 0.1, 1.0).unwrap();
        for bad in [-1.0, 1e151, f64::NAN, f64::INFINITY] {
            assert!(matches!(good.with_norm(bad), Err(IntervalError::Norm(_))), "{bad}");
        }
        assert_eq!(good.with_norm(0.0).unwrap().norm(), Some(0.0));
        says(IntervalKind::named("exact").unwrap_err(), "there is no interval `exact`; there are `fixed`, `anytime`");
        says(IntervalError::Delta(1.0), "delta must be a number above 0 and below 1, not 1");
    }
}
