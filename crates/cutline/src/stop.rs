//! When to end.

use crate::rules::Beliefs;
use thiserror::Error;

/// When to end. The learner asks before every pull; once met, it proposes nothing more.
///
/// `E` is the estimator the stop can work with, as for [`Rule`](crate::rules::Rule).
pub trait Stop<E: ?Sized> {
    /// Whether to end now, with what is believed and what is already handed out.
    fn is_met(&self, beliefs: &mut Beliefs<'_, E>) -> bool;

    /// The most pulls it will ever allow, if there is such a number.
    fn budget(&self) -> Option<u32>;
}

/// Ends after T pulls, those still out for measurement included.
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
    fn is_met(&self, beliefs: &mut Beliefs<'_, E>) -> bool {
        beliefs.total_pulls >= u64::from(self.0)
    }

    fn budget(&self) -> Option<u32> {
        Some(self.0)
    }
}
