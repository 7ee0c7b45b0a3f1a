//! What a campaign can still hand out.

use crate::{CampaignState, Time};
use cutline::{Amount, StopReason};

/// What a campaign can still hand out, or why it hands out nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Availability {
    /// Why there will never be another measurement; `None` while there may.
    pub stop_reason: Option<StopReason>,
    /// The largest number of rewards that may count, or what their measurements may cost.
    pub budget: u32,
    /// How much of the budget is not spent yet.
    pub remaining: Amount,
    /// How much of the budget is left once all open tickets have their rewards.
    pub unassigned: Amount,
    /// Whether measurements have costs; otherwise each is one unit of the budget.
    pub has_costs: bool,
    /// What the cheapest measurement costs that can still be asked for; `None` in a campaign without costs.
    pub least_cost: Option<Amount>,
    /// The number of tickets that wait for their reward.
    pub open: usize,
    /// When the first of their leases ends.
    pub first_lease_end: Option<Time>,
}

impl Availability {
    /// Whether some of the budget is not assigned to open tickets, and it is less than any measurement costs.
    #[must_use]
    pub fn is_too_little(&self) -> bool {
        self.unassigned != Amount::ZERO && self.least_cost.is_some_and(|cost| cost > self.unassigned)
    }
}

impl CampaignState {
    /// What it can still hand out.
    pub fn availability(&mut self) -> Availability {
        let (stop_reason, progress) = (self.stop_reason(), self.progress());
        Availability {
            stop_reason,
            budget: progress.budget,
            remaining: progress.remaining(),
            unassigned: progress.unassigned(),
            has_costs: progress.spending.is_some(),
            least_cost: self.least_cost(),
            open: progress.open,
            first_lease_end: self.open_tickets().next().map(|(_, until)| until),
        }
    }
}
