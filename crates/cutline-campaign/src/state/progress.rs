//! How far a campaign has come.

use super::{Spending, Time};
use cutline::Amount;

/// The progress of a campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// The largest number of rewards that may count, or what their measurements may cost.
    pub budget: u32,
    /// What was spent, if measurements have [costs](cutline::Arms::with_measurement_costs); otherwise each is one unit of the budget.
    pub spending: Option<Spending>,
    /// The number of rewards that count towards the budget.
    pub counted: u32,
    /// The number of rewards that do not count towards the budget: those observed before the campaign, and late ones beyond the budget.
    pub uncounted: u64,
    /// The number of tickets that wait for their reward.
    pub open: usize,
    /// The number of tickets that failed.
    pub failed: u64,
    /// The number of tickets that expired and have no reward.
    pub expired: u64,
    /// The number of rewards that were declared void.
    pub voided: u64,
    /// The number of arms that are withdrawn.
    pub withdrawn: usize,
    /// The number of events.
    pub events: u64,
    /// The times of the last 32 rewards of tickets, oldest first.
    pub recent: Vec<Time>,
}

impl Progress {
    /// How much of the budget is not spent yet. Open tickets take from it when their rewards come.
    #[must_use]
    pub fn remaining(&self) -> Amount {
        Amount::units(self.budget).minus(self.spent())
    }

    /// How much of the budget is spent: the cost of the rewards that count, or their number.
    #[must_use]
    pub fn spent(&self) -> Amount {
        self.spending.map_or(Amount::units(self.counted), |spending| spending.spent)
    }

    /// How much of the budget is left once all open tickets have their rewards.
    #[must_use]
    pub fn unassigned(&self) -> Amount {
        let open = u32::try_from(self.open).unwrap_or(u32::MAX);
        self.remaining().minus(self.spending.map_or(Amount::units(open), |spending| spending.open))
    }
}
