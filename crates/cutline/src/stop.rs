//! Stops: when a learner ends.

mod confidence;
mod criteria;
mod custom;
mod good_arms;
mod width;

pub use confidence::ConfidenceStop;
pub use criteria::{Elimination, StopCriterion};
pub(crate) use custom::CustomStop;
pub use custom::NamedStop;
pub use good_arms::GoodArms;
pub(crate) use good_arms::Width;
pub use width::StopWidth;

use crate::{Arm, Beliefs};
use thiserror::Error;

/// Decides when to end. The learner checks it before every pull; once it is met, the learner proposes nothing more.
///
/// `E` is the estimator the stop can work with, as for [`Rule`](crate::rules::Rule). Stops combine: [`Either`].
pub trait Stop<E: ?Sized> {
    /// The reason to end now, or `None` to go on, as a stop does that only [settles](Stop::settle) arms. It may depend only on the beliefs and on
    /// σ; use `&mut self` for caches only.
    #[inline]
    fn stop_reason(&mut self, beliefs: &mut Beliefs<'_, E>) -> Option<StopReason> {
        let _ = beliefs;
        None
    }

    /// Called after [`stop_reason`](Stop::stop_reason) has returned `None`: an arm that the stop needs rewards of and the rule may never choose;
    /// `None` to leave the choice to the rule.
    fn request(&mut self, beliefs: &mut Beliefs<'_, E>) -> Option<Arm> {
        let _ = beliefs;
        None
    }

    /// The largest number of pulls it allows, or `None` if there is no limit.
    fn budget(&self) -> Option<u32> {
        None
    }

    /// Whether [`settle`](Stop::settle) does anything. If so, a learner can be restored only by telling it all rewards again in order.
    fn settles(&self) -> bool {
        false
    }

    /// Called once per reward, in the order of arrival, with the arm it belongs to: appends the arms whose side is fixed from now on, and
    /// whether each is above. Use only the rewards received, not the pending pulls. When no arm is open any more, the learner ends.
    #[inline]
    fn settle(&mut self, beliefs: &mut Beliefs<'_, E>, told: Arm, newly: &mut Vec<(Arm, bool)>) {
        let _ = (beliefs, told, newly);
    }

    /// Whether rules see which arms are settled, and choose among the open ones.
    fn restricts_rules(&self) -> bool {
        true
    }

    /// Changes σ, the standard deviation of a reward; 1e-100 ≤ σ ≤ 1e100. A stop without σ ignores the call. Arms that are
    /// [settled](Stop::settle) already stay so.
    fn set_noise(&mut self, noise: f64) {
        let _ = noise;
    }

    /// Changes σ to what the estimator has learnt from the rewards. A stop that guarantees something for a given σ ignores the call.
    fn set_learnt_noise(&mut self, noise: f64) {
        self.set_noise(noise);
    }
}

/// Why a learner ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// The budget is used up.
    Budget,
    /// Every arm is sure, by the criterion of the [`ConfidenceStop`].
    Confidence,
    /// Few enough errors are expected: see `EarlyStop::ExpectedErrors` of the crate `cutline-campaign`.
    ExpectedErrors,
    /// The side of every arm is [settled](crate::Settled).
    Settled,
    /// The side of every arm that is not withdrawn is [proved](crate::proof): see `EarlyStop::Proved` of the crate `cutline-campaign`.
    Proved,
    /// Every arm that is not settled is [withdrawn](crate::Settled::set_withdrawn).
    Withdrawn,
    /// The rule has [no more pulls](crate::rules::Choice::Done).
    Done,
    /// A [custom stop](NamedStop) is met.
    Custom,
}

impl StopReason {
    const ALL: [Self; 7] = [
        Self::Budget,
        Self::Confidence,
        Self::ExpectedErrors,
        Self::Settled,
        Self::Proved,
        Self::Withdrawn,
        Self::Done,
    ];

    /// The reason with this [name](StopReason::name).
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.name() == name)
    }

    /// Its name in files, in JSON and on the command line: that of the stop that was met.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Budget => "budget",
            Self::Confidence => "confidence",
            Self::ExpectedErrors => "expected-errors",
            Self::Settled => "settled",
            Self::Proved => "proved",
            Self::Withdrawn => "withdrawn",
            Self::Done => "done",
            Self::Custom => "custom",
        }
    }
}

/// Ends after T pulls, including those that wait for their reward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget(u32);

/// A budget of 0 was given.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the budget must be at least 1, not 0")]
pub struct BudgetError;

impl Budget {
    /// Ends after `pulls` pulls.
    ///
    /// # Errors
    /// If `pulls` is 0.
    pub fn new(pulls: u32) -> Result<Self, BudgetError> {
        if pulls == 0 { Err(BudgetError) } else { Ok(Self(pulls)) }
    }
}

impl<E: ?Sized> Stop<E> for Budget {
    #[inline]
    fn stop_reason(&mut self, beliefs: &mut Beliefs<'_, E>) -> Option<StopReason> {
        (beliefs.total_pulls >= u64::from(self.0)).then_some(StopReason::Budget)
    }

    fn budget(&self) -> Option<u32> {
        Some(self.0)
    }
}

/// The stop, if there is one. That it may be missing at run time keeps the number of types of learners small.
impl<E: ?Sized, S: Stop<E>> Stop<E> for Option<S> {
    #[inline]
    fn stop_reason(&mut self, beliefs: &mut Beliefs<'_, E>) -> Option<StopReason> {
        self.as_mut()?.stop_reason(beliefs)
    }

    fn request(&mut self, beliefs: &mut Beliefs<'_, E>) -> Option<Arm> {
        self.as_mut()?.request(beliefs)
    }

    fn budget(&self) -> Option<u32> {
        self.as_ref()?.budget()
    }

    #[inline]
    fn settles(&self) -> bool {
        self.as_ref().is_some_and(Stop::settles)
    }

    fn settle(&mut self, beliefs: &mut Beliefs<'_, E>, told: Arm, newly: &mut Vec<(Arm, bool)>) {
        if let Some(stop) = self {
            stop.settle(beliefs, told, newly);
        }
    }

    #[inline]
    fn restricts_rules(&self) -> bool {
        self.as_ref().is_none_or(Stop::restricts_rules)
    }

    fn set_noise(&mut self, noise: f64) {
        if let Some(stop) = self {
            stop.set_noise(noise);
        }
    }

    fn set_learnt_noise(&mut self, noise: f64) {
        if let Some(stop) = self {
            stop.set_learnt_noise(noise);
        }
    }
}

/// Ends when either of two stops is met; if both are, for the reason of the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Either<A, B>(pub A, pub B);

impl<E: ?Sized, A: Stop<E>, B: Stop<E>> Stop<E> for Either<A, B> {
    fn stop_reason(&mut self, beliefs: &mut Beliefs<'_, E>) -> Option<StopReason> {
        self.0.stop_reason(beliefs).or_else(|| self.1.stop_reason(beliefs))
    }

    fn request(&mut self, beliefs: &mut Beliefs<'_, E>) -> Option<Arm> {
        self.0.request(beliefs).or_else(|| self.1.request(beliefs))
    }

    fn budget(&self) -> Option<u32> {
        [self.0.budget(), self.1.budget()].into_iter().flatten().min()
    }

    fn settles(&self) -> bool {
        self.0.settles() || self.1.settles()
    }

    fn settle(&mut self, beliefs: &mut Beliefs<'_, E>, told: Arm, newly: &mut Vec<(Arm, bool)>) {
        self.0.settle(beliefs, told, newly);
        self.1.settle(beliefs, told, newly);
    }

    fn restricts_rules(&self) -> bool {
        self.0.restricts_rules() && self.1.restricts_rules()
    }

    fn set_noise(&mut self, noise: f64) {
        self.0.set_noise(noise);
        self.1.set_noise(noise);
    }

    fn set_learnt_noise(&mut self, noise: f64) {
        self.0.set_learnt_noise(noise);
        self.1.set_learnt_noise(noise);
    }
}
