//! Why a learner, or a reward that it was told, was refused.

use crate::{Amount, Arm};
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

/// Why a reward was refused; the learner is unchanged.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum TellError {
    /// There is no arm of this number.
    #[error("there is no arm {arm}: the arms are 0 to {}", n_arms - 1)]
    NoArm {
        /// The arm of the reward.
        arm: Arm,
        /// The number of arms.
        n_arms: usize,
    },
    /// The reward is NaN or infinite.
    #[error("the reward of arm {arm} must be a finite number, not {reward}")]
    NotFinite {
        /// The arm of the reward.
        arm: Arm,
        /// The reward.
        reward: f64,
    },
}
