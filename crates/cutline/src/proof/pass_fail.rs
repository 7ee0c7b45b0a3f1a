//! Pass or fail: H: p ≤ τ against a beta prior on (τ, 1].
//!
//! E = ∫ pˢ(1 − p)ᶠ dπ(p) / (τˢ(1 − τ)ᶠ) after s passes and f fails, π = Beta(a, b) truncated to (τ, 1]:
//!
//! ```text
//! ln E = ln B(a + s, b + f) + ln(1 − I_τ(a + s, b + f)) − ln B(a, b) − ln(1 − I_τ(a, b)) − s ln τ − f ln(1 − τ)
//! ```
//!
//! For p > τ the likelihood ratio of one reward has a mean of at most 1 under every rate up to τ, so E is a supermartingale under H.

use super::Prediction;
use statrs::function::beta::{beta_reg, ln_beta};

/// A beta distribution of the rate, to be truncated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BetaPrior {
    a: f64,
    b: f64,
}

/// A prediction is worth at most this many rewards.
const MOST_REWARDS: f64 = 1e4;

/// Predicted rates keep this distance from 0 and 1.
const MARGIN: f64 = 1e-3;

impl BetaPrior {
    /// As if four rewards had been seen and τ of them had passed, but at least uniform towards 0 and 1: fewer rewards are needed than with the uniform
    /// distribution, whatever the rate.
    pub(super) fn generic(bar: f64) -> Self {
        Self { a: (4.0 * bar).max(1.0), b: (4.0 * (1.0 - bar)).max(1.0) }
    }

    /// The distribution with the mean and the deviation of a prediction.
    pub(super) fn predicted(prediction: &Prediction) -> Self {
        let mean = prediction.mean.clamp(MARGIN, 1.0 - MARGIN);
        let strength = mean * (1.0 - mean) / (prediction.deviation * prediction.deviation) - 1.0;
        let strength = strength.clamp(1.0, MOST_REWARDS);
        Self { a: mean * strength, b: (1.0 - mean) * strength }
    }

    /// The same for the rate of fails.
    pub(super) fn mirrored(self) -> Self {
        Self { a: self.b, b: self.a }
    }

    /// ln E; −∞ where the evidence is too small to be computed.
    pub(super) fn ln_evidence(self, passes: f64, fails: f64, bar: f64) -> f64 {
        let Self { a, b } = self;
        // 1 − I_τ(a, b) = I_{1−τ}(b, a), without cancellation.
        let ln_mass = |a: f64, b: f64| ln_beta(a, b) + beta_reg(b, a, 1.0 - bar).ln();
        let prior = ln_mass(a, b);
        if prior == f64::NEG_INFINITY {
            // The prediction leaves nothing on this side.
            return prior;
        }
        ln_mass(a + passes, b + fails) - prior - passes * bar.ln() - fails * (-bar).ln_1p()
    }
}
