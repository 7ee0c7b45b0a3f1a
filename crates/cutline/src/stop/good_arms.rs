//! The stop of good arm identification: an arm is settled as soon as its interval lies on one side of τ (Kano, Honda, Sakamaki, Matsuura,
//! Nakamura & Sugiyama 2019).
//!
//! After every reward only the arm that it belongs to is tested, first for below, μ̂ + U(n) < τ, then for above, μ̂ − U(n) ≥ τ, where n is the
//! number of its rewards. The width U is
//!
//! - σ√(2 ln(4Kn²/δ)/n), which holds for all arms and all n with probability 1 − δ by a union bound; for rewards in [0, 1] and σ = ½ it is
//!   √(ln(4Kn²/δ)/(2n));
//! - for lil'HDoC (Tsai, Tsai & Lin 2024) (1 + √ε) σ√(2(1 + ε) ln(ln((1 + ε)n)/ω)/n), ω = δ/(cK), c = ((2 + ε)/ε)(1/ln(1 + ε))^(1+ε), by the law of the
//!   iterated logarithm (Jamieson, Malloy, Nowak & Bubeck 2014, Lemma 3).

use super::Stop;
use crate::estimators::Estimator;
use crate::rules::RuleError;
use crate::{Arm, Beliefs, Range};

/// Settles an arm once it is known on which side it lies, and ends when no arm is open. For rules on sample means:
/// [`Hdoc`](crate::rules::Hdoc), [`LucbG`](crate::rules::LucbG) and [`Apt`](crate::rules::Apt). All settled sides are right with probability
/// 1 − δ, whatever the rule, if rewards are σ-sub-Gaussian; ε of the question does not enter.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `noise` | none | σ | 1e-100 ≤ σ ≤ 1e100, else [`RuleError`] |
/// | `delta` | none | δ | 1e-100 ≤ δ ≤ 0.5, else [`RuleError`] |
/// | `epsilon` | none | ε of the second width | 0.0001 ≤ ε ≤ 1, else [`RuleError`] |
#[derive(Clone, Copy, Debug)]
pub struct GoodArms {
    noise: f64,
    width: Width,
    opening: f64,
}

/// U(n)/σ.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Width {
    /// √(2(`log` + 2 ln n)/n), `log` = ln(4K/δ).
    Union { log: f64 },
    /// `factor` √(2(ln ln((1 + ε)n) + `log`)/n), `factor` = (1 + √ε)√(1 + ε), `log` = −ln ω.
    IteratedLogarithm { epsilon: f64, factor: f64, log: f64 },
}

impl Width {
    /// The first width, for `n_arms` arms.
    pub(crate) fn union(n_arms: usize, delta: f64) -> Result<Self, RuleError> {
        let delta = GoodArms::DELTA.check("delta", delta)?;
        Ok(Self::Union { log: (4.0 * n_arms as f64).ln() - delta.ln() })
    }

    #[inline]
    pub(crate) fn at(self, n: f64) -> f64 {
        match self {
            Self::Union { log } => (2.0 * (log + 2.0 * n.ln()) / n).sqrt(),
            Self::IteratedLogarithm { epsilon, factor, log } => {
                factor * (2.0 * (((1.0 + epsilon) * n).ln().ln() + log) / n).sqrt()
            }
        }
    }
}

impl GoodArms {
    /// The values of δ.
    pub(crate) const DELTA: Range = Range::new(1e-100, 0.5);

    /// The values of ε.
    pub(crate) const EPSILON: Range = Range::new(1e-4, 1.0);

    /// The stop with the first width, for `n_arms` arms.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn new(n_arms: usize, noise: f64, delta: f64) -> Result<Self, RuleError> {
        let noise = Range::NOISE_SCALE.check("noise", noise)?;
        Ok(Self { noise, width: Width::union(n_arms, delta)?, opening: 1.0 })
    }

    /// The stop with the second width, for `n_arms` arms.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn iterated_logarithm(n_arms: usize, noise: f64, delta: f64, epsilon: f64) -> Result<Self, RuleError> {
        let noise = Range::NOISE_SCALE.check("noise", noise)?;
        let delta = Self::DELTA.check("delta", delta)?;
        let epsilon = Self::EPSILON.check("epsilon", epsilon)?;
        let log_c = ((2.0 + epsilon) / epsilon).ln() - (1.0 + epsilon) * epsilon.ln_1p().ln();
        let log = log_c + (n_arms as f64).ln() - delta.ln();
        let factor = (1.0 + epsilon.sqrt()) * (1.0 + epsilon).sqrt();
        Ok(Self { noise, width: Width::IteratedLogarithm { epsilon, factor, log }, opening: 1.0 })
    }

    /// The same, where an arm is tested only once it has this many rewards.
    #[must_use]
    pub fn with_opening(self, opening: u32) -> Self {
        Self { opening: f64::from(opening), ..self }
    }
}

impl<E: Estimator + ?Sized> Stop<E> for GoodArms {
    fn settles(&self) -> bool {
        true
    }

    fn settle(&mut self, beliefs: &mut Beliefs<'_, E>, told: Arm, newly: &mut Vec<(Arm, bool)>) {
        if !beliefs.settled.is_open(told) {
            return;
        }
        let (mean, variance) = beliefs.estimator.moments_of(told);
        // The variance is 1/n.
        let n = variance.recip().round();
        if n < self.opening {
            return;
        }
        let (threshold, width) = (beliefs.question.threshold(), self.noise * self.width.at(n));
        if mean + width < threshold {
            newly.push((told, false));
        } else if mean - width >= threshold {
            newly.push((told, true));
        }
    }

    fn set_noise(&mut self, noise: f64) {
        self.noise = noise;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first number of rewards from which on the second width is the smaller one for good, for K = 10 and δ = 0.05: lil'HDoC's T₀.
    #[test]
    fn widths_cross_where_an_independent_program_says() {
        let union = Width::union(10, 0.05).unwrap();
        for (epsilon, expected) in [(0.001, 4198), (0.01, 1323), (0.05, 2591), (0.1, 9846)] {
            let iterated = GoodArms::iterated_logarithm(10, 0.5, 0.05, epsilon).unwrap().width;
            let last_above = (1..20_000).rev().find(|&n| iterated.at(f64::from(n)) >= union.at(f64::from(n)));
            assert_eq!(last_above.map(|n| n + 1), Some(expected), "ε = {epsilon}");
        }
    }
}
