//! The counts of a plan's runs. They are whole numbers, so that any split of the runs adds up to the same counts.

use std::ops::AddAssign;

/// The counts of one campaign at one budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanCell {
    /// The runs.
    pub runs: u64,
    /// The runs in which some arm was called wrongly.
    pub failures: u64,
    /// The wrong calls, over all runs.
    pub errors: u64,
    /// The sum over all runs of the square of the number of wrong calls.
    pub squared_errors: u128,
    /// The arms that the campaign's verdicts decide, over all runs.
    pub decided: u64,
    /// The wrong calls that the campaigns expect themselves, the sum of the verdicts' doubts, in millionths and over all runs.
    pub doubts: u64,
}

/// The result of one campaign in one run at one budget.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PlanOutcome {
    pub(super) errors: u32,
    pub(super) decided: u32,
    /// The sum of the doubts, in millionths.
    pub(super) doubts: u64,
}

/// The counts of a range of runs: a [`PlanCell`] per campaign and budget. Tallies of disjoint ranges add up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanTally {
    n_budgets: usize,
    cells: Vec<PlanCell>,
}

impl PlanTally {
    pub(super) fn new(n_campaigns: usize, n_budgets: usize) -> Self {
        Self { n_budgets, cells: vec![PlanCell::default(); n_campaigns * n_budgets] }
    }

    /// The counts of one campaign at one budget, by their positions.
    ///
    /// # Panics
    /// If there is no such campaign or budget.
    #[must_use]
    pub fn cell(&self, campaign: usize, budget: usize) -> PlanCell {
        assert!(budget < self.n_budgets, "budget {budget} of {}", self.n_budgets);
        self.cells[campaign * self.n_budgets + budget]
    }

    /// Counts one run of one campaign: its results at the first budgets that it takes, from `first_budget` on.
    pub(super) fn count(&mut self, campaign: usize, first_budget: usize, outcomes: &[PlanOutcome]) {
        let first = campaign * self.n_budgets + first_budget;
        for (cell, outcome) in self.cells[first..].iter_mut().zip(outcomes) {
            let errors = u64::from(outcome.errors);
            cell.runs += 1;
            cell.failures += u64::from(errors > 0);
            cell.errors += errors;
            cell.squared_errors += u128::from(errors).pow(2);
            cell.decided += u64::from(outcome.decided);
            cell.doubts += outcome.doubts;
        }
    }
}

impl AddAssign<&PlanTally> for PlanTally {
    fn add_assign(&mut self, other: &PlanTally) {
        let shape = |tally: &PlanTally| (tally.n_budgets, tally.cells.len());
        assert_eq!(shape(self), shape(other), "tallies of one plan");
        for (cell, other) in self.cells.iter_mut().zip(&other.cells) {
            cell.runs += other.runs;
            cell.failures += other.failures;
            cell.errors += other.errors;
            cell.squared_errors += other.squared_errors;
            cell.decided += other.decided;
            cell.doubts += other.doubts;
        }
    }
}
