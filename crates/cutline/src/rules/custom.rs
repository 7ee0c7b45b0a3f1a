//! Rules that are known only when the program runs: written in another language, or put together by a user.

use super::Rule;
use crate::estimators::{Estimator, SampleMean, VarianceEstimator};
use crate::{Arm, Beliefs, Question, Rng, algorithm};
use std::sync::Arc;
use thiserror::Error;

/// A rule of one's own, for [`Spec::custom`](crate::Spec::custom). Where the rule is a type of the program, [`Rule`] is simpler and faster.
///
/// It must be a function of what it sees and of `rng`, which is a fresh stream for each pull: campaigns are taken up in the middle, and
/// runs are played anywhere.
pub trait CustomRule: Send + Sync {
    /// Whether every arm is pulled once before the rule is asked; a budget below K is then refused.
    fn opens_with_every_arm(&self) -> bool {
        false
    }

    /// The arm to pull next. A rule that cannot say unwinds; nothing was done then.
    fn choose(&self, context: &mut dyn RuleContext, rng: &mut Rng) -> Arm;
}

/// What a rule of one's own sees: [`Beliefs`] in units of the rewards, whatever the estimator is.
pub trait RuleContext {
    /// The threshold and precision.
    fn question(&self) -> Question;

    /// σ, the standard deviation of a reward.
    fn noise(&self) -> f64;

    /// The pulls Tᵢ of every arm, those still out for measurement included.
    fn pulls(&self) -> &[u32];

    /// The estimates μ̂ of all means.
    fn means(&mut self) -> &[f64];

    /// The variances of the estimates, pulls that are out counted: σ²xᵢᵀV⁻¹xᵢ with ridge, σ²/Tᵢ with sample means.
    fn variances(&mut self) -> &[f64];

    /// The covariances of every arm's estimate with that of `arm`.
    ///
    /// # Panics
    /// If there is no such arm.
    fn covariances_with(&mut self, arm: Arm) -> &[f64];
}

/// A rule of one's own and what it is called.
#[derive(Clone)]
pub struct NamedRule {
    name: Arc<str>,
    rule: Arc<dyn CustomRule>,
}

/// Why a rule of one's own cannot be called that.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum RuleNameError {
    /// An algorithm is called so.
    #[error("`{0}` is one of Cutline's algorithms; call the rule something else")]
    Taken(String),
    /// It is no name.
    #[error("`{0}` cannot be the name of a rule: it must have 1 to 200 characters, and no control characters")]
    NoName(String),
}

impl NamedRule {
    /// A rule and what it is to be called.
    ///
    /// # Errors
    /// If an algorithm has that name, or it is none.
    pub fn new(name: &str, rule: Arc<dyn CustomRule>) -> Result<Self, RuleNameError> {
        if algorithm(name).is_some() {
            return Err(RuleNameError::Taken(name.into()));
        }
        if name.is_empty() || name.chars().count() > 200 || name.chars().any(char::is_control) {
            return Err(RuleNameError::NoName(name.into()));
        }
        Ok(Self { name: name.into(), rule })
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether every arm is pulled once before the rule is asked.
    pub(crate) fn opens_with_every_arm(&self) -> bool {
        self.rule.opens_with_every_arm()
    }

    /// The same as a [`Rule`], for rewards of standard deviation `noise`.
    pub(crate) fn seated<const OPENS: bool>(&self, noise: f64) -> CustomRuleAdapter<OPENS> {
        CustomRuleAdapter { own: self.clone(), noise, scratch: Vec::new() }
    }
}

impl std::fmt::Debug for NamedRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("NamedRule").field(&self.name).finish()
    }
}

/// The same if it is the same rule, and called the same.
impl PartialEq for NamedRule {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.rule, &other.rule)
    }
}

/// [`NamedRule`] as a [`Rule`].
pub(crate) struct CustomRuleAdapter<const OPENS: bool> {
    own: NamedRule,
    noise: f64,
    scratch: Vec<f64>,
}

impl<E: Related, const OPENS: bool> Rule<E> for CustomRuleAdapter<OPENS> {
    const OPENS_WITH_EVERY_ARM: bool = OPENS;

    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, rng: &mut Rng) -> Arm {
        match beliefs.first_unpulled {
            Some(arm) if OPENS => arm,
            _ => self.own.rule.choose(&mut Seen { beliefs, noise: self.noise, scratch: &mut self.scratch }, rng),
        }
    }

    fn set_noise(&mut self, noise: f64) {
        self.noise = noise;
    }
}

struct Seen<'a, 'b, E> {
    beliefs: &'a mut Beliefs<'b, E>,
    noise: f64,
    scratch: &'a mut Vec<f64>,
}

impl<E: Related> RuleContext for Seen<'_, '_, E> {
    fn question(&self) -> Question {
        self.beliefs.question
    }

    fn noise(&self) -> f64 {
        self.noise
    }

    fn pulls(&self) -> &[u32] {
        self.beliefs.pulls
    }

    fn means(&mut self) -> &[f64] {
        self.beliefs.means()
    }

    fn variances(&mut self) -> &[f64] {
        let variance = self.noise * self.noise;
        self.scratch.clear();
        self.beliefs.estimator.variances(self.beliefs.pulls, |q| self.scratch.push(variance * q));
        self.scratch
    }

    fn covariances_with(&mut self, arm: Arm) -> &[f64] {
        let variance = self.noise * self.noise;
        self.scratch.clear();
        self.beliefs.estimator.covariances(self.beliefs.pulls, arm, |c| self.scratch.push(variance * c));
        self.scratch
    }
}

/// An estimator that says how sure it is and how arms relate, pulls that are out counted, in units of the noise variance.
pub(crate) trait Related: Estimator {
    fn variances(&mut self, pulls: &[u32], to: impl FnMut(f64));

    fn covariances(&mut self, pulls: &[u32], arm: Arm, to: impl FnMut(f64));
}

impl<E: VarianceEstimator> Related for E {
    fn variances(&mut self, _: &[u32], to: impl FnMut(f64)) {
        self.moments().1.iter().copied().for_each(to);
    }

    fn covariances(&mut self, _: &[u32], arm: Arm, to: impl FnMut(f64)) {
        self.covariances_with(arm).0.iter().copied().for_each(to);
    }
}

impl Related for SampleMean {
    fn variances(&mut self, pulls: &[u32], to: impl FnMut(f64)) {
        pulls.iter().map(|&pulls| 1.0 / f64::from(pulls)).for_each(to);
    }

    fn covariances(&mut self, pulls: &[u32], arm: Arm, to: impl FnMut(f64)) {
        assert!(arm < pulls.len(), "there is no arm {arm}");
        let of = |(other, &pulls): (Arm, &u32)| if other == arm { 1.0 / f64::from(pulls) } else { 0.0 };
        pulls.iter().enumerate().map(of).for_each(to);
    }
}
