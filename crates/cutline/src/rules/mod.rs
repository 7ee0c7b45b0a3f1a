//! Rules: they choose the arm to pull next.

mod apt;
mod custom;
mod easiest;
mod explore;
mod exploring;
mod index;
mod lazy;
mod literature;
mod pivot;
mod random_straddle;
mod straddle;
mod uniform;

pub use apt::Apt;
pub use custom::{CustomRule, NamedRule, RuleContext};
pub(crate) use custom::{CustomRuleAdapter, PullVariances};
pub use easiest::Easiest;
pub use explore::Explore;
pub use exploring::Exploring;
pub(crate) use exploring::exploration_order;
pub use index::{Index, Indexed};
pub use literature::{
    Clucb, Csar, Fws, Fwt, GAllocation, Grapl, Hdoc, LinGame, LinGapE, Lsa, Lse, Lucb, LucbG, TAdaptive, UcbE,
};
pub(crate) use pivot::CertaintyBound;
pub use pivot::Pivot;
pub use random_straddle::RandomStraddle;
pub use straddle::Straddle;
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
/// [`choose`](Rule::choose) is called when an arm is proposed and the stop is not met. It may depend only on the beliefs, on `rng` and
/// on what earlier calls of [`learn`](Rule::learn) received: asked twice in the same state, it must return the same choice. Use its
/// `&mut self` for caches only. `rng` is a stream seeded by the number of changes to the pulls, so it is the same in both calls.
///
/// A rule chooses among the open arms: those that are not [settled](Beliefs::settled). Where a pull of a settled arm is informative about
/// open ones, it may choose that.
pub trait Rule<E: ?Sized> {
    /// Whether every arm has to be pulled once before the rule is defined; a budget below K is then refused.
    const OPENS_WITH_EVERY_ARM: bool;

    /// The arm to pull next; or to wait for rewards that are out, or to end.
    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, rng: &mut Rng) -> Choice;

    /// Whether [`choose`](Rule::choose) may return [`Choice::Done`].
    fn may_end(&self) -> bool {
        false
    }

    /// Whether [`learn`](Rule::learn) does anything. If so, a learner can be restored only by telling it all rewards again in order.
    fn learns(&self) -> bool {
        false
    }

    /// Whether the state that [`learn`](Rule::learn) builds depends on σ, so that σ cannot change any more.
    fn needs_fixed_noise(&self) -> bool {
        self.learns()
    }

    /// Called once per reward, in the order of arrival, after the estimator has taken it: for rules whose state depends on that order.
    /// Use only the rewards received, not the pending pulls, because a pending pull may be lost and the state cannot be rolled back.
    #[inline]
    fn learn(&mut self, beliefs: &mut Beliefs<'_, E>, arm: Arm, reward: f64) {
        let _ = (beliefs, arm, reward);
    }

    /// Changes σ, the standard deviation of a reward; 1e-100 ≤ σ ≤ 1e100. Rules without σ ignore the call. It is never called for rules
    /// whose state [depends on it](Rule::needs_fixed_noise).
    #[inline]
    fn set_noise(&mut self, noise: f64) {
        let _ = noise;
    }
}

/// What a rule says when it is asked for the next pull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Pull this arm.
    Pull(Arm),
    /// Wait: the choice depends on rewards that are out. Only for a time at which pulls are pending.
    Wait,
    /// No more pulls are of use.
    Done,
}

impl From<Arm> for Choice {
    fn from(arm: Arm) -> Self {
        Self::Pull(arm)
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
