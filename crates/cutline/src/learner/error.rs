//! Why a learner was refused.

use crate::Amount;
use thiserror::Error;

/// Why a learner was refused.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum LearnerError {
    /// The rule pulls every arm once first, and the budget is below the number of arms.
    #[error("a budget of {budget} is too small for {n_arms} arms: every arm is pulled once first")]
    BudgetBelowArms {
        /// The budget.
        budget: u32,
        /// The number of arms.
        n_arms: usize,
    },
    /// The rule pulls every arm once first, and that costs more than the budget.
    #[error(
        "a budget of {budget} is too small for {n_arms} arms: every arm is measured once first, which costs {cost}"
    )]
    BudgetBelowCosts {
        /// The budget.
        budget: u32,
        /// The number of arms.
        n_arms: usize,
        /// What it costs to measure every arm once.
        cost: Amount,
    },
    /// No measurement can be paid for.
    #[error("a budget of {budget} is too small: the cheapest measurement costs {cost}")]
    BudgetBelowCheapest {
        /// The budget.
        budget: u32,
        /// The least cost of a measurement.
        cost: Amount,
    },
}
