//! A bound on the widths of a confidence stop, for rules that weigh gaps against widths.
//!
//! Such a rule pulls arg maxₖ cσ√qₖ − |μ̂ₖ − τ|. Where c is below the width by which the stop calls an arm sure, an arm can be unsure for the
//! stop and of no interest to the rule for ever, so that the learner never ends.

use super::{ConfidenceStop, StopCriterion};
use crate::Arms;

/// The width of a [`ConfidenceStop`] in units of σ√q, or an upper bound on it that grows as fast.
///
/// | criterion | width after t rewards, of an arm with n of them |
/// |---|---|
/// | `llr` | √(2 ln((t + 1)/δ)) |
/// | `evidence` | √(2 ln(m(1 + ln t)/δ)) + √λ S/σ, with m = 1 test for linear means and m = K otherwise |
/// | `intervals`, linear means | √(2 ln(1/δ) + d ln(1 + tL²/(λd))) + √λ S/σ, with L the largest norm of an arm |
/// | `intervals`, otherwise | √((1 + 1/n)(2 ln(K/δ) + ln(1 + n))) |
///
/// A stop that uses an estimate without a prior has other means and another q than the rule: see [`StopWidth::is_prior_free`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StopWidth {
    criterion: StopCriterion,
    /// 2 ln(m/δ).
    level: f64,
    /// √λ S.
    bias: f64,
    /// d and L²/(λd), for linear means.
    linear: Option<(f64, f64)>,
    is_prior_free: bool,
}

impl StopWidth {
    /// The width of `stop` for these arms: with linear means and ridge's λ, or with any means.
    #[must_use]
    pub fn new(stop: &ConfidenceStop, arms: &Arms, lambda: Option<f64>) -> Self {
        let linear = lambda.zip(arms.dimension()).map(|(lambda, dimension)| {
            let row = |arm| arms.row(arm).unwrap_or_default();
            let norm = |arm| row(arm).iter().map(|x| x * x).sum::<f64>();
            let largest = (0..arms.n_arms()).map(norm).fold(0.0, f64::max);
            (dimension as f64, largest / (lambda * dimension as f64))
        });
        let tests = if linear.is_some() { 1.0 } else { arms.n_arms() as f64 };
        let bias = lambda.map_or(0.0, |lambda| lambda.sqrt() * stop.norm().unwrap_or(0.0));
        let is_prior_free = stop.is_prior_free(linear.is_some());
        Self { criterion: stop.criterion(), level: 2.0 * (tests / stop.delta()).ln(), bias, linear, is_prior_free }
    }

    /// Whether the stop uses an estimate [without a prior](crate::estimators::PriorFree), so that an arm may be unsure for it and decided by the
    /// means and the q of the rule.
    #[must_use]
    pub fn is_prior_free(&self) -> bool {
        self.is_prior_free
    }

    /// The width of an arm with `n` of `t` rewards, for rewards of standard deviation `noise`.
    #[must_use]
    pub fn at(&self, t: f64, n: u32, noise: f64) -> f64 {
        let (n, bias) = (f64::from(n.max(1)), self.bias / noise);
        match (self.criterion, self.linear) {
            (StopCriterion::LikelihoodRatio, _) => (self.level + 2.0 * t.ln_1p()).sqrt(),
            (StopCriterion::Evidence, _) => (self.level + 2.0 * t.max(1.0).ln().ln_1p()).sqrt() + bias,
            (StopCriterion::Intervals, Some((d, growth))) => (self.level + d * (t * growth).ln_1p()).sqrt() + bias,
            (StopCriterion::Intervals, None) => ((1.0 + 1.0 / n) * (self.level + n.ln_1p())).sqrt(),
        }
    }
}
