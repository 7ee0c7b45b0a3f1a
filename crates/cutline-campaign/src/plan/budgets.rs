//! The budgets to try where none are given.

use super::simulation::is_too_small;
use super::{Goal, Plan, PlanError, PlanTally};

/// The largest budget × ([`PULL_COST`] + arms × features) that is tried.
const MAX_WORK: usize = 10_000_000;

/// The cost of a pull apart from its products, in multiplications.
const PULL_COST: usize = 500;

impl Plan {
    /// Budgets worth trying, where none are given: 1, 1.5, 2, 3, 5 and 7 times powers of ten, rounded up to whole batches.
    ///
    /// A few runs each try budgets from K/8 on, doubling, to find B₁, where the best campaign is well below the target, and B₂, where every
    /// campaign is at the target. The range is from B₁/8 to B₂, which is kept between 2B₁ and 4B₁. It ends at T (500 + K·d) = 10⁷ or
    /// T = 2 max(K, d), whichever is larger; where measurements have costs, these numbers are multiplied by the mean cost. `watch` is called with the number of pulls as they are played.
    ///
    /// # Errors
    /// As [`Plan::play`].
    pub fn scout(&self, watch: &(dyn Fn(u64) + Sync)) -> Result<Vec<u32>, PlanError> {
        self.scout_with(|budgets, runs| self.play(budgets, 0..runs, watch))
    }

    /// As [`Plan::scout`], for callers that play the runs themselves: `play` returns the counts of that many first runs.
    ///
    /// # Errors
    /// As [`Plan::play`], and those of `play`.
    pub fn scout_with<E: From<PlanError>>(
        &self,
        mut play: impl FnMut(&[u32], u64) -> Result<PlanTally, E>,
    ) -> Result<Vec<u32>, E> {
        let (n_arms, dimension) = (self.arms.n_arms(), self.arms.dimension().unwrap_or(1));
        let most = (MAX_WORK / (PULL_COST + n_arms * dimension)).max(2 * n_arms.max(dimension));
        let most = self.whole_batches(self.cost_of(u32::try_from(most).unwrap_or(u32::MAX).min(100_000_000)));
        let target = self.goal.value();
        // A few runs tell a share of wrong calls better than a probability of failure.
        let enough = target * if matches!(self.goal, Goal::WrongShare(_)) { 0.8 } else { 0.5 };
        let mut best = None;
        let mut budget = u32::try_from(n_arms.div_ceil(8)).unwrap_or(most);
        budget = self.whole_batches(self.cost_of(budget)).min(most);
        loop {
            let rates = self.rates(budget, &mut play)?;
            if rates.iter().any(|&rate| rate <= enough) {
                best = best.or(Some(budget));
            }
            let is_wide = best.is_some_and(|best| budget >= best.saturating_mul(4));
            let are_good = best.is_some() && rates.iter().all(|&rate| rate <= target);
            if budget >= most || is_wide || are_good {
                break;
            }
            budget = self.whole_batches(budget.saturating_mul(2)).min(most);
        }
        let (from, to) = match best {
            Some(best) => (best / 8, budget.max(best.saturating_mul(2)).min(most)),
            None => (budget / 64, budget),
        };
        let mut budgets = round_numbers(from, to);
        for budget in &mut budgets {
            *budget = self.whole_batches(*budget);
        }
        budgets.dedup();
        budgets.retain(|&budget| budget <= most);
        Ok(budgets)
    }

    /// The smallest budget of at least `budget` that is a multiple of the batch, unless budgets are in units of cost.
    pub(super) fn whole_batches(&self, budget: u32) -> u32 {
        let batch = if self.costs().is_some() { 1 } else { self.batch.get() };
        budget.div_ceil(batch).max(1).saturating_mul(batch)
    }

    /// The number that the goal is about, for all campaigns at one budget in a few runs; 1 for a campaign that does not take the budget.
    fn rates<E: From<PlanError>>(
        &self,
        budget: u32,
        play: &mut impl FnMut(&[u32], u64) -> Result<PlanTally, E>,
    ) -> Result<Vec<f64>, E> {
        // A run counts as one failure or none, but as many wrong calls.
        let most_runs = if matches!(self.goal, Goal::WrongShare(_)) { 20 } else { 100 };
        let runs = self.runs.clamp(1, most_runs);
        let first = match self.check(&[budget]) {
            Ok(first) => first,
            Err(error) if is_too_small(&error) => return Ok(vec![1.0; self.campaigns.len()]),
            Err(error) => return Err(error.into()),
        };
        let tally = play(&[budget], runs)?;
        let rate = |(campaign, &first): (usize, &usize)| {
            let cell = tally.cell(campaign, 0);
            match self.goal {
                _ if first > 0 => 1.0,
                Goal::WrongShare(_) => cell.errors as f64 / (runs * self.arms.n_arms() as u64) as f64,
                Goal::FailureProbability(_) => cell.failures as f64 / runs as f64,
            }
        };
        Ok(first.iter().enumerate().map(rate).collect())
    }
}

/// The whole numbers among 1, 1.5, 2, 3, 5, 7 · 10ᵏ, from the last that is at most `low` to the first that is at least
/// `high`.
fn round_numbers(low: u32, high: u32) -> Vec<u32> {
    let mut numbers: Vec<u32> =
        (0..9).flat_map(|k| [2, 3, 4, 6, 10, 14].map(|halves| halves * 10_u32.pow(k) / 2)).collect();
    numbers.dedup();
    let start = numbers.partition_point(|&number| number <= low).saturating_sub(1);
    let end = numbers.partition_point(|&number| number < high) + 1;
    numbers.truncate(end);
    numbers.split_off(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_round() {
        assert_eq!(round_numbers(1, 20), [1, 2, 3, 5, 7, 10, 15, 20]);
        assert_eq!(round_numbers(0, 1), [1]);
        assert_eq!(round_numbers(14, 151), [10, 15, 20, 30, 50, 70, 100, 150, 200]);
        assert_eq!(round_numbers(15, 150), [15, 20, 30, 50, 70, 100, 150]);
        assert_eq!(round_numbers(60_000_000, 100_000_000), [50_000_000, 70_000_000, 100_000_000]);
    }
}
