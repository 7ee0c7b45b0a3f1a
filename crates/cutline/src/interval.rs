//! Confidence intervals for the means, of two kinds: valid at one fixed time, or at all times simultaneously.
//!
//! - *fixed*: μ̂ᵢ ± tσ√qᵢ, t the 1 − δ/2 quantile of the standard normal, or of Student's t if σ is an estimate with known degrees of
//!   freedom: the Gaussian posterior of one arm at one time.
//! - *anytime*, sample mean: ȳᵢ ± (σ/nᵢ)√((nᵢ + ρ)(2 ln(K/δ) + ln(1 + nᵢ/ρ))), ρ = 1: the two-sided normal mixture
//!   (Robbins 1970; Howard et al. 2021), δ/K for each arm. With this ρ it is tightest around 2l + ln(1 + 2l) pulls of an arm,
//!   l = ln(K/δ): 14.6 for K = 20 and δ = 0.05. It holds whatever the features are, and is also the interval of the mixed model, whose
//!   variances are learnt from the same rewards: no bound that holds at all times is known for those.
//! - *anytime*, ridge: xᵢᵀθ̂ ± σ√(vᵢ(2 ln(1/δ) + ln(det(λI + V)/λᵈ))) around the estimate θ̂ of least squares, V = Σ xxᵀ,
//!   vᵢ = xᵢᵀV⁻¹xᵢ + λ‖V⁻¹xᵢ‖², for all arms and times together: the same mixture in d dimensions, with ρ = λ ([`PriorFree`]). Around
//!   ridge's own estimate an interval needs a bound on ‖θ‖, S: with one, it is
//!   μ̂ᵢ ± √qᵢ (σ√(2 ln(1/δ) + ln(det(λI + V)/λᵈ)) + √λ S) (Abbasi-Yadkori, Pál & Szepesvári 2011, Theorem 2). Lemma 1 of the LinearAPT
//!   paper is a coarser form for λ = σ = 1, with d ln((1 + tL²)/δ) under the root.

use crate::diagnostics::t_tails;
use crate::estimators::{Model, Posterior, PriorFree};
use crate::question::short_number;
use crate::{Arm, Range, RewardKind};
use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::erf::{erfc, erfc_inv};
use std::f64::consts::SQRT_2;
use thiserror::Error;

/// The kinds of interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IntervalKind {
    /// Holds for one arm at one time: for a final report. It assumes Gaussian noise and the model of the estimator.
    Fixed,
    /// Holds for all arms and all times simultaneously: for stopping, and for verdicts that are read repeatedly.
    Anytime,
}

/// The settings of intervals: their kind, their level and their assumptions.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `interval` | none | [`IntervalKind::Fixed`] or [`IntervalKind::Anytime`] | |
/// | `delta` | none | δ: the intervals hold with probability 1 − δ | 0 < δ < 1 |
/// | `noise` | none | σ: rewards are σ-sub-Gaussian, for `fixed` Gaussian | 1e-100 ≤ σ ≤ 1e100 |
/// | `norm` | none | S, a bound on ‖θ‖; only for `anytime` with ridge | 0 ≤ S ≤ 1e150 |
/// | `degrees_of_freedom` | ∞ | those of the estimate of σ; only for `fixed` | above 0 |
///
/// A value out of range is an [`IntervalError`]. If ‖θ‖ is larger than S, the intervals are too narrow. Without S they are those of least
/// squares, which need no such bound, and are infinite until the rewards determine an arm's mean.
///
/// The level of `anytime` holds for a given σ. With an estimate of σ it is approximate.
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
    degrees_of_freedom: f64,
    is_bernoulli: bool,
    range: (f64, f64),
}

/// Why intervals were refused.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum IntervalError {
    /// No kind of interval has this name.
    #[error("unknown interval kind `{0}`; use {names}", names = IntervalKind::names())]
    Unknown(String),
    /// The confidence level 1 − δ is not a probability.
    #[error("the confidence must be a number above 0 and below 1, not {}", short_number(*.0))]
    Level(f64),
    /// δ is not a probability.
    #[error("delta must be a number above 0 and below 1, not {}", short_number(*.0))]
    Delta(f64),
    /// σ is out of range.
    #[error("the noise must be a number between 1e-100 and 1e100, not {}", short_number(*.0))]
    Noise(f64),
    /// S is out of range.
    #[error("the norm must be a number between 0 and 1e150, not {}", short_number(*.0))]
    Norm(f64),
    /// The degrees of freedom are not a number above 0.
    #[error("the degrees of freedom must be a number above 0, not {}", short_number(*.0))]
    DegreesOfFreedom(f64),
}

impl IntervalKind {
    /// All kinds.
    pub const ALL: &[Self] = &[Self::Fixed, Self::Anytime];

    /// Its name in files, in JSON and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Anytime => "anytime",
        }
    }

    /// The kind with this name.
    ///
    /// # Errors
    /// If no kind has this name.
    pub fn named(name: &str) -> Result<Self, IntervalError> {
        let found = Self::ALL.iter().find(|interval| interval.name() == name);
        found.copied().ok_or_else(|| IntervalError::Unknown(name.into()))
    }

    fn names() -> String {
        let names: Vec<String> = Self::ALL.iter().map(|interval| format!("`{}`", interval.name())).collect();
        names.join(" or ")
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
        let (degrees_of_freedom, range) = (f64::INFINITY, (f64::NEG_INFINITY, f64::INFINITY));
        Ok(Self { interval, delta, noise, norm: None, degrees_of_freedom, is_bernoulli: false, range })
    }

    /// The same settings, with `norm` as the bound S on ‖θ‖.
    ///
    /// # Errors
    /// If `norm` is out of range.
    pub fn with_norm(self, norm: f64) -> Result<Self, IntervalError> {
        if !(0.0..=1e150).contains(&norm) {
            return Err(IntervalError::Norm(norm));
        }
        Ok(Self { norm: Some(norm), ..self })
    }

    /// The same settings, where σ is an estimate with these degrees of freedom; infinity for a σ that is known.
    ///
    /// # Errors
    /// If `degrees_of_freedom` is not above 0.
    pub fn with_degrees_of_freedom(self, degrees_of_freedom: f64) -> Result<Self, IntervalError> {
        if !(degrees_of_freedom > 0.0) {
            return Err(IntervalError::DegreesOfFreedom(degrees_of_freedom));
        }
        Ok(Self { degrees_of_freedom, ..self })
    }

    /// The same for rewards that are 0 or 1: intervals lie in [0, 1], those of kind `fixed` with sample means are those of Jeffreys, and for
    /// `anytime` σ is ½.
    #[must_use]
    pub fn with_bernoulli_rewards(self) -> Self {
        let noise = if self.interval == IntervalKind::Anytime { RewardKind::BERNOULLI_SIGMA } else { self.noise };
        Self { noise, is_bernoulli: true, range: (0.0, 1.0), ..self }
    }

    /// The same for means that lie between these numbers, to which means and intervals are limited.
    #[must_use]
    pub fn with_range(self, range: (f64, f64)) -> Self {
        Self { range, ..self }
    }

    /// Whether rewards are 0 or 1.
    pub(crate) fn is_bernoulli(&self) -> bool {
        self.is_bernoulli
    }

    /// The numbers between which all means lie.
    #[must_use]
    pub fn range(&self) -> (f64, f64) {
        self.range
    }

    /// Changes σ, which must be in range.
    pub(crate) fn set_noise(&mut self, noise: f64) {
        debug_assert!(Range::NOISE_SCALE.contains(noise), "a noise of {noise}");
        self.noise = noise;
    }

    /// The kind of interval.
    #[must_use]
    pub fn interval(&self) -> IntervalKind {
        self.interval
    }

    /// δ, the probability that an interval does not contain the mean.
    #[must_use]
    pub fn delta(&self) -> f64 {
        self.delta
    }

    /// σ, the standard deviation of a reward.
    #[must_use]
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// S, if it is not the default.
    #[must_use]
    pub fn norm(&self) -> Option<f64> {
        self.norm
    }

    /// A function that returns the centre and half the width of an arm's interval. `prior_free` is needed for *anytime* only.
    pub(crate) fn intervals<'a>(
        &self,
        posterior: &Posterior<'a>,
        prior_free: Option<PriorFree<'a>>,
    ) -> impl Fn(Arm) -> (f64, f64) + use<'a> {
        let Self { noise, delta, .. } = *self;
        let Posterior { means, variances, model, .. } = *posterior;
        let factor = match (self.interval, model, self.norm) {
            (IntervalKind::Fixed, ..) => Some(noise * quantile(delta, self.degrees_of_freedom)),
            (IntervalKind::Anytime, Model::Linear { lambda, log_det, .. }, Some(norm)) => {
                Some(noise * (log_det - 2.0 * delta.ln()).sqrt() + lambda.sqrt() * norm)
            }
            (IntervalKind::Anytime, ..) => None,
        };
        move |arm| match (factor, prior_free) {
            (Some(factor), _) => (means[arm], factor * variances[arm].sqrt()),
            (None, Some(PriorFree::SampleMeans { means, n_rewards })) => {
                let delta_per_arm = delta / n_rewards.len() as f64;
                (means[arm], noise * mixture(f64::from(n_rewards[arm]), RHO, delta_per_arm))
            }
            (None, Some(PriorFree::LeastSquares { means, variances, log_det })) => {
                (means[arm], noise * (variances[arm] * (log_det - 2.0 * delta.ln())).sqrt())
            }
            (None, None) => (means[arm], f64::INFINITY),
        }
    }

    /// The degrees of freedom of the estimate of σ; ∞ if it is known.
    pub(crate) fn degrees_of_freedom(&self) -> f64 {
        self.degrees_of_freedom
    }
}

/// Beyond this many degrees of freedom the t distribution is the normal one to six digits.
const NORMAL: f64 = 1e6;

/// P(|X| > quantile) = δ for an X of Student's t distribution; with infinite degrees of freedom, of the standard normal one.
pub(crate) fn quantile(delta: f64, degrees_of_freedom: f64) -> f64 {
    if degrees_of_freedom > NORMAL {
        return SQRT_2 * erfc_inv(delta);
    }
    let t = StudentsT::new(0.0, 1.0, degrees_of_freedom).expect("degrees of freedom above 0");
    -t.inverse_cdf(delta / 2.0)
}

/// P(X > x) for x ≥ 0 and an X of Student's t distribution; with infinite degrees of freedom, of the standard normal one.
pub(crate) fn tail(x: f64, degrees_of_freedom: f64) -> f64 {
    if degrees_of_freedom > NORMAL { normal_tail(x) } else { 0.5 * t_tails(x, degrees_of_freedom) }
}

/// [`tail`] in a third of the time, by an expansion around the normal distribution (Hill 1970, Algorithm 395 of the ACM): from twelve degrees
/// of freedom on, with an error of less than 1e-4 of it, and below 1e-7 of it for x up to 6.
pub(crate) fn fast_tail(x: f64, degrees_of_freedom: f64) -> f64 {
    if !(12.0..=NORMAL).contains(&degrees_of_freedom) {
        return tail(x, degrees_of_freedom);
    }
    let a = degrees_of_freedom - 0.5;
    let b = 48.0 * a * a;
    let x = x.min(1e100);
    let y = a * (x * x / degrees_of_freedom).ln_1p();
    let correction = ((-0.4 * y - 3.3) * y - 24.0) * y - 85.5;
    normal_tail(((correction / (0.8 * y * y + 100.0 + b) + y + 3.0) / b + 1.0) * y.sqrt())
}

/// δ for a confidence level 1 − δ, as a person writes it: 0.95 gives 0.05 and not 0.05 + 4e-17.
///
/// ```
/// assert_eq!(cutline::delta_of(0.95)?, 0.05);
/// assert!(cutline::delta_of(95.0).is_err());
/// # Ok::<(), cutline::IntervalError>(())
/// ```
///
/// # Errors
/// If the level is not above 0 and below 1.
pub fn delta_of(confidence: f64) -> Result<f64, IntervalError> {
    // Fifteen decimals round the error of the subtraction away.
    let delta: f64 = format!("{:.15}", 1.0 - confidence).parse().unwrap_or(f64::NAN);
    if confidence > 0.0 && delta > 0.0 { Ok(delta) } else { Err(IntervalError::Level(confidence)) }
}

/// ρ of the normal mixture, in pulls.
const RHO: f64 = 1.0;

/// √((n + ρ)(2 ln(1/δ) + ln(1 + n/ρ)))/n: with probability 1 − δ, for all n at once, a bound on the absolute value of the mean of n
/// independent standard normal variables.
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
            let ours = Confidence::new(IntervalKind::Fixed, delta, 1.0).unwrap().intervals(&posterior, None)(0).1;
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

    /// `scipy.stats.t.sf`, version 1.17.
    #[test]
    fn fast_tails_agree_with_scipy() {
        let table = [
            (12.0, 0.0, 0.5),
            (12.0, 0.5, 0.31305873811266205),
            (12.0, 3.0, 0.005533347843016845),
            (12.0, 6.0, 3.108369432429282e-05),
            (12.0, 12.0, 2.417964243322842e-08),
            (53.0, 0.0, 0.5),
            (53.0, 0.5, 0.30957239133421527),
            (53.0, 3.0, 0.0020537983775129353),
            (53.0, 6.0, 9.052839711000425e-08),
            (53.0, 12.0, 4.918923377381055e-17),
            (1003.0, 0.0, 0.5),
            (1003.0, 0.5, 0.3085923759308165),
            (1003.0, 3.0, 0.0013832538041366868),
            (1003.0, 6.0, 1.3763408787383351e-09),
            (1003.0, 12.0, 2.133811503349528e-31),
        ];
        for (freedom, x, tail) in table {
            let error = fast_tail(x, freedom) / tail - 1.0;
            assert!(error.abs() < if x > 6.0 { 1e-4 } else { 1e-7 }, "{freedom}, {x}: {error}");
        }
        assert_eq!(fast_tail(2.0, 3.0), tail(2.0, 3.0));
        assert_eq!(fast_tail(f64::INFINITY, 30.0), 0.0);
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
    fn delta_is_the_complement_as_written() {
        let deltas = [0.95, 0.9, 0.999999, 1e-3].map(|level| delta_of(level).unwrap());
        assert_eq!(deltas, [0.05, 0.1, 1e-6, 0.999]);
        for level in [0.0, 1.0, -0.5, 95.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(matches!(delta_of(level), Err(IntervalError::Level(_))), "{level}");
        }
        let message = delta_of(95.0).unwrap_err().to_string();
        assert_eq!(message, "the confidence must be a number above 0 and below 1, not 95");
    }

    #[test]
    fn out_of_range_is_refused() {
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
        says(IntervalKind::named("exact").unwrap_err(), "unknown interval kind `exact`; use `fixed` or `anytime`");
        says(IntervalError::Delta(1.0), "delta must be a number above 0 and below 1, not 1");
    }
}
