//! Proofs: tests of an arm's own rewards that hold for any mean, any rule and any stopping time.
//!
//! For each side of each arm there is an *e-process*: a number E ≥ 0 computed from the arm's own rewards that, if the arm lies on the other side,
//! ever reaches 1/δ with a probability of at most δ (Ville 1939). *Above* is proved when the e-process against H: μ < τ − ε reaches its level,
//! *below* when that against H: μ ≥ τ + ε does. What an arm's features suggest may decide where the e-process looks for evidence
//! ([`Prediction`]); that makes proofs faster and cannot make them wrong.
//!
//! | what is known about rewards | e-process | assumes |
//! |---|---|---|
//! | 0 or 1 | mixture over rates on the side to be proved | independent passes |
//! | counts | mixture over rates | Poisson counts |
//! | an end of their range | fixed bets on every share of what a reward may lose | nothing about their distribution |
//! | σ | mixture over means | σ-sub-Gaussian noise |
//! | nothing | mixture over effect sizes and all σ, σ of its own per arm | noise that is about normal, and not strongly skewed |
//!
//! A range helps on one side: its lower end to prove *above*, its upper end to prove *below*.

mod arm;
mod bets;
mod count;
mod normal;
mod pass_fail;
mod proofs;
mod skew;
mod student;

pub use proofs::{ProofLimit, Proofs, ln_level};

use crate::estimators::{Estimator, Marginals, Posterior};
use crate::{Beliefs, RewardKind};

/// What is known about the rewards of all arms before the first: it decides by which e-process they are tested.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum RewardFamily {
    /// 1 or 0.
    PassFail,
    /// 0, 1, 2, … with a Poisson distribution.
    Count,
    /// Numbers in this range, whose ends may be infinite, with this σ if it is known.
    Number {
        /// The least and the greatest reward.
        range: (f64, f64),
        /// σ.
        noise: Option<f64>,
    },
}

impl RewardFamily {
    /// The family of rewards of this kind, in this range and with this σ if it is known.
    #[must_use]
    pub fn new(kind: RewardKind, range: (f64, f64), noise: Option<f64>) -> Self {
        match kind {
            RewardKind::Bernoulli => Self::PassFail,
            RewardKind::Count => Self::Count,
            RewardKind::Gaussian => Self::Number { range, noise },
        }
    }
}

/// What a model predicts about the mean of an arm before its first reward.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The mean.
    pub mean: f64,
    /// How far the mean may be from that: a standard deviation.
    pub deviation: f64,
    /// σ, the standard deviation of a reward.
    pub noise: f64,
}

impl Prediction {
    /// The prediction; `None` unless all numbers are finite, and deviation and σ above 0.
    #[must_use]
    pub fn new(mean: f64, deviation: f64, noise: f64) -> Option<Self> {
        let is_valid = mean.is_finite() && deviation.is_finite() && deviation > 0.0 && noise.is_finite() && noise > 0.0;
        is_valid.then_some(Self { mean, deviation, noise })
    }
}

impl<E: Estimator + ?Sized> Beliefs<'_, E> {
    /// What the estimator predicts about the mean of every arm, for rewards of standard deviation `noise` unless it has learnt that; `None` for arms
    /// about which it knows nothing.
    pub fn predictions(&mut self, noise: f64) -> Vec<Option<Prediction>> {
        let noise = self.estimator.noise_scale().unwrap_or(noise);
        if let Some(Marginals { means, deviations, .. }) = self.estimator.marginals(self.question) {
            let moments = means.into_iter().zip(deviations);
            return moments.map(|(mean, deviation)| Prediction::new(mean, deviation, noise)).collect();
        }
        let Posterior { means, variances, .. } = self.estimator.posterior();
        let moments = means.iter().zip(variances);
        moments.map(|(&mean, variance)| Prediction::new(mean, noise * variance.sqrt(), noise)).collect()
    }
}

#[cfg(test)]
mod tests;
