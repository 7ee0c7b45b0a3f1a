//! Which arm to pull next.

mod apt;
mod clucb;
mod custom;
mod hedge;
mod index;
mod lazy;
mod lingame;
mod pivot;
mod straddle;
mod ucb_e;
mod uniform;

pub use apt::Apt;
pub use clucb::Clucb;
pub use custom::{CustomRule, NamedRule, RuleContext, RuleNameError};
pub use index::{Index, Indexed};
pub use lingame::LinGame;
pub(crate) use pivot::Bar;
pub use pivot::Pivot;
pub use straddle::Straddle;
pub use ucb_e::UcbE;
pub use uniform::Uniform;

use crate::question::shown;
use crate::{Arm, Beliefs, Rng};
use thiserror::Error;

/// Chooses the next arm from what is believed.
///
/// `E` is the estimator the rule can work with: `impl<E: Estimator + ?Sized> Rule<E>` for a rule that looks only at
/// means and pulls, `impl<E: VarianceEstimator + ?Sized> Rule<E>` for one that needs variances; a pair that does not fit does not compile.
///
/// [`choose`](Rule::choose) is called once for each pull, when the stop is not met. It must be a function of the
/// beliefs, `rng` and what [`learn`](Rule::learn) saw: its `&mut self` is for memory that saves work, never for state that
/// changes the choice. `rng` is a fresh stream for each pull.
pub trait Rule<E: ?Sized> {
    /// Whether every arm has to be pulled once before the rule means anything; a budget below K is then refused.
    const OPENS_WITH_EVERY_ARM: bool;

    /// Whether [`learn`](Rule::learn) does anything, so that what was told has to be told again, in order, to take up a past.
    const LEARNS: bool = false;

    /// The arm to pull next.
    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, rng: &mut Rng) -> Arm;

    /// A reward was told and is in the beliefs: called once for each, in the order they came. For rules that remember more than
    /// the beliefs do. To leave no trace of a pull that is lost, look only at what is told.
    #[inline]
    fn learn(&mut self, beliefs: &mut Beliefs<'_, E>) {
        let _ = beliefs;
    }

    /// Changes σ, the standard deviation of a reward; 1e-100 ≤ σ ≤ 1e100. Rules that do not depend on it ignore this. It is not called
    /// for rules that [learn](Rule::LEARNS).
    #[inline]
    fn set_noise(&mut self, noise: f64) {
        let _ = noise;
    }
}

/// A rule was refused because of a parameter.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[error("{parameter} must be {allowed}, not {}", shown(*value))]
pub struct RuleError {
    /// The parameter.
    pub parameter: &'static str,
    /// What it may be.
    pub allowed: &'static str,
    /// What was given.
    pub value: f64,
}

/// σ as rules take it.
fn checked_noise(noise: f64) -> Result<f64, RuleError> {
    if (1e-100..=1e100).contains(&noise) {
        Ok(noise)
    } else {
        Err(RuleError { parameter: "noise", allowed: "a number between 1e-100 and 1e100", value: noise })
    }
}
