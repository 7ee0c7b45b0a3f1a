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
pub(crate) use pivot::CertaintyBound;
pub use pivot::Pivot;
pub use straddle::Straddle;
pub use ucb_e::UcbE;
pub use uniform::Uniform;

use crate::question::short_number;
use crate::{Arm, Beliefs, Range, Rng};
use thiserror::Error;

/// Chooses the next arm from the current [`Beliefs`].
///
/// `E` is the estimator the rule can work with: `impl<E: Estimator + ?Sized> Rule<E>` for a rule that uses only
/// means and pulls, `impl<E: VarianceEstimator + ?Sized> Rule<E>` for one that needs variances; a combination that does not fit does
/// not compile.
///
/// [`choose`](Rule::choose) is called once per pull, when the stop is not met. It must be a function of the
/// beliefs, `rng` and what [`learn`](Rule::learn) received: its `&mut self` is for caches, never for state that
/// changes the choice. `rng` is a fresh stream for each pull.
pub trait Rule<E: ?Sized> {
    /// Whether every arm has to be pulled once before the rule is defined; a budget below K is then refused.
    const OPENS_WITH_EVERY_ARM: bool;

    /// Whether [`learn`](Rule::learn) does anything. A past can then be restored only by telling all rewards again in order.
    const LEARNS: bool = false;

    /// The arm to pull next.
    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, rng: &mut Rng) -> Arm;

    /// A reward was received and is in the beliefs: called once per reward, in the order they came. For rules whose state depends on
    /// that order. Use only rewards received, not pending pulls, so that a lost pull leaves no trace.
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
#[error("{parameter} must be a finite number {range}, not {}", short_number(*value))]
pub struct RuleError {
    /// The parameter.
    pub parameter: &'static str,
    /// The values it may have.
    pub range: Range,
    /// The value that was refused.
    pub value: f64,
}
