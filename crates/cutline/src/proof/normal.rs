//! Numbers with a given σ: H: the mean is at most the bar, against a normal prior on the other side.
//!
//! In units of σ and relative to the bar, with the sum s of n rewards and the prior N(m, c²) truncated to (0, ∞):
//!
//! ```text
//! E = ∫ exp(sx − nx²/2) dπ(x) = (c√A)⁻¹ exp(B²/2A − m²/2c²) Φ(B/√A)/Φ(m/c)        A = n + 1/c², B = s + m/c²
//! ```
//!
//! It holds for rewards whose noise is σ-sub-Gaussian.

use super::Prediction;
use statrs::function::erf::erfc;
use std::f64::consts::{PI, SQRT_2};

/// A normal distribution of the distance of the mean from the bar in units of σ, to be truncated to positive numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NormalPrior {
    /// m.
    pub(super) mean: f64,
    /// c.
    pub(super) deviation: f64,
}

/// Predicted deviations are at least this, in units of σ: a model may be surer than it should be.
const LEAST_DEVIATION: f64 = 0.05;

impl NormalPrior {
    /// A half-normal distribution: gaps of about σ.
    pub(super) const GENERIC: Self = Self { mean: 0.0, deviation: 1.0 };

    /// The distribution of a prediction, for this bar and `sign` −1 to prove *below*.
    pub(super) fn predicted(prediction: &Prediction, bar: f64, sign: f64) -> Self {
        let Prediction { mean, deviation, noise } = *prediction;
        Self { mean: sign * (mean - bar) / noise, deviation: (deviation / noise).max(LEAST_DEVIATION) }
    }

    /// ln E after `n` rewards with this sum, in units of σ and relative to the bar.
    pub(super) fn ln_evidence(self, sum: f64, n: f64) -> f64 {
        let Self { mean, deviation } = self;
        let precision = deviation.powi(-2);
        let (a, b) = (n + precision, sum + mean * precision);
        -0.5 * (a / precision).ln() + 0.5 * (b * b / a - mean * mean * precision) + ln_normal(b / a.sqrt())
            - ln_normal(mean / deviation)
    }
}

/// ln Φ(x).
pub(super) fn ln_normal(x: f64) -> f64 {
    if x > -30.0 {
        return (0.5 * erfc(-x / SQRT_2)).ln();
    }
    // Abramowitz & Stegun 26.2.12: the relative error of Φ is below 15/x⁶.
    let inverse = x.powi(-2);
    -0.5 * x * x - (-x).ln() - 0.5 * (2.0 * PI).ln() + (inverse * (3.0 * inverse - 1.0)).ln_1p()
}
