//! Counts: H: the rate is at most τ, or at least τ, against a gamma prior on the other side.
//!
//! E = ∫ λˢe^(−nλ) dπ(λ) / (τˢe^(−nτ)) after n counts of sum s, π = Gamma(a, b) truncated to (τ, ∞) or to [0, τ):
//!
//! ```text
//! ln E = ln Γ(a + s) − (a + s) ln(b + n) + ln P(a + s, b + n) − ln Γ(a) + a ln b − ln P(a, b) − s ln τ + nτ
//! ```
//!
//! where P(a, b) is the probability of that side under Gamma(a, b). It holds for counts with a Poisson distribution.

use super::Prediction;
use statrs::function::gamma::{gamma_lr, gamma_ur, ln_gamma};

/// A gamma distribution of the rate, to be truncated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct GammaPrior {
    shape: f64,
    rate: f64,
}

/// A prediction is worth at most this many rewards.
const MOST_REWARDS: f64 = 1e4;

impl GammaPrior {
    /// As if one count had been seen and had been τ: its standard deviation is that of a count.
    pub(super) fn generic(bar: f64) -> Self {
        Self { shape: bar, rate: 1.0 }
    }

    /// The distribution with the mean and the deviation of a prediction.
    pub(super) fn predicted(prediction: &Prediction, bar: f64) -> Self {
        let mean = prediction.mean.max(1e-3 * bar);
        let rate = (mean / (prediction.deviation * prediction.deviation)).clamp(1e-3, MOST_REWARDS);
        Self { shape: mean * rate, rate }
    }

    /// ln E for *above* or *below*; −∞ where the evidence is too small to be computed.
    pub(super) fn ln_evidence(self, sum: f64, n: f64, bar: f64, is_above: bool) -> f64 {
        let ln_mass = |shape: f64, rate: f64| {
            let side = if is_above { gamma_ur(shape, rate * bar) } else { gamma_lr(shape, rate * bar) };
            ln_gamma(shape) - shape * rate.ln() + side.ln()
        };
        let prior = ln_mass(self.shape, self.rate);
        if prior == f64::NEG_INFINITY {
            return prior;
        }
        ln_mass(self.shape + sum, self.rate + n) - prior - sum * bar.ln() + n * bar
    }
}
