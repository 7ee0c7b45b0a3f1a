//! The budget: what is spent, what open tickets will take, and what is left.

use super::Ledger;
use crate::CampaignError;
use cutline::{Amount, Arm};

/// What a campaign with costs has spent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spending {
    /// The cost of the rewards that count towards the budget.
    pub spent: Amount,
    /// The cost of the measurements on open tickets.
    pub open: Amount,
}

impl Ledger {
    /// How much of the budget is used, including the measurements on open tickets. It exceeds the budget after late rewards whose measurements
    /// were handed out again; nothing is handed out then.
    pub(in crate::state) fn used(&self) -> Amount {
        if self.costs.is_some() {
            return self.spending.spent.plus(self.spending.open);
        }
        Amount::units(u32::try_from(self.open.len()).map_or(u32::MAX, |open| self.counted.saturating_add(open)))
    }

    /// How much of the budget is neither spent nor assigned to open tickets.
    pub(in crate::state) fn remaining(&self) -> Amount {
        Amount::units(self.budget).minus(self.used())
    }

    /// The number of rewards that count towards a budget. With costs, late ones beyond the budget count too: they were paid for.
    pub(in crate::state) fn n_counted(&self, budget: u32) -> u32 {
        if self.costs.is_some() { self.counted } else { self.counted.min(budget) }
    }

    /// What a measurement of an arm takes from the budget.
    pub(super) fn cost(&self, arm: Arm) -> Amount {
        self.costs.as_ref().map_or(Amount::units(1), |costs| costs.of(arm))
    }

    /// How many measurements of an arm the remaining budget is enough for.
    pub(in crate::state) fn n_affordable(&self, arm: Arm) -> u32 {
        self.remaining().divided_by(self.cost(arm))
    }

    /// Why the budget is not enough for a measurement of an arm.
    pub(super) fn budget_used(&self, arm: Arm) -> CampaignError {
        let (budget, remaining) = (self.budget, self.remaining());
        if remaining == Amount::ZERO {
            CampaignError::BudgetUsed { budget }
        } else {
            CampaignError::BudgetBelowCost { budget, remaining, cost: self.cost(arm) }
        }
    }

    /// Counts a reward towards the budget.
    pub(super) fn count(&mut self, arm: Arm) {
        self.counted += 1;
        self.spending.spent = self.spending.spent.plus(self.cost(arm));
    }
}
