//! The answer to a plan: wrong calls against budget, and the smallest budget that is enough.

use super::{Goal, Plan, PlanCell, PlanTally};
use cutline::statistics::{mean_count, wilson};
use serde::Serialize;

/// The forecast of a plan, for all campaigns and budgets.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Forecast {
    /// What the target is about: `wrong-share` or `failure-probability`, the names of [`Goal`].
    pub goal: &'static str,
    /// The share or probability to reach.
    pub target: f64,
    /// The number of measurements in the pilot.
    pub pilot: usize,
    /// One per campaign that took part, in their order.
    pub answers: Vec<BudgetAnswer>,
    /// One row per campaign and budget that it takes.
    pub prospects: Vec<ForecastRow>,
    /// The budgets that campaigns do not take.
    pub left_out: Vec<SkippedBudgets>,
}

/// One campaign at one budget.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ForecastRow {
    /// The algorithm of the campaign.
    pub algorithm: String,
    /// The budget T, in new measurements.
    pub budget: u32,
    /// The number of runs.
    pub runs: u64,
    /// The runs in which some arm was called wrongly.
    pub failures: u64,
    /// `failures`/`runs`.
    pub failure_rate: f64,
    /// The lower end of its 95 % Wilson interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The mean number of arms called wrongly in a run.
    pub mean_errors: f64,
    /// The lower end of its 95 % interval, [`mean_count`].
    pub errors_low: f64,
    /// The upper end.
    pub errors_high: f64,
    /// The mean number of wrong calls that the campaign expects itself: the sum of the doubts of its verdicts.
    pub expected_errors: f64,
    /// The mean share of arms that the campaign's verdicts decide.
    pub decided: f64,
}

/// The smallest budget at which a campaign meets the goal, and its 95 % interval.
///
/// Rates are first made non-increasing by isotonic regression; between two budgets ln p is linear in ln T. The ends of the interval are
/// where the lower and the upper ends of the rates' intervals fall to the target, found in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BudgetAnswer {
    /// The algorithm of the campaign.
    pub algorithm: String,
    /// The smallest budget it was tried at.
    pub tried_from: u32,
    /// The largest.
    pub tried_to: u32,
    /// The budget; `tried_from` if that is already enough, `None` if no budget tried is enough.
    pub budget: Option<u32>,
    /// The lower end of the interval; `None` if it is not above `tried_from`, or above `tried_to` (then the budget is, too).
    pub low: Option<u32>,
    /// The upper end; `None` if it is above `tried_to`.
    pub high: Option<u32>,
}

/// Budgets that a campaign does not take, because its algorithm pulls every arm once first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SkippedBudgets {
    /// The algorithm of the campaign.
    pub algorithm: String,
    /// The budgets.
    pub budgets: Vec<u32>,
}

impl Plan {
    /// The forecast from the counts of [`Plan::play`] with the same budgets.
    #[must_use]
    pub fn forecast(&self, budgets: &[u32], tally: &PlanTally) -> Forecast {
        let (mut prospects, mut left_out) = (Vec::new(), Vec::new());
        for (position, campaign) in self.campaigns.iter().enumerate() {
            let mut skipped = Vec::new();
            for (column, &budget) in budgets.iter().enumerate() {
                match tally.cell(position, column) {
                    PlanCell { runs: 0, .. } => skipped.push(budget),
                    cell => prospects.push(ForecastRow::new(&campaign.label, budget, &cell, self.arms.n_arms())),
                }
            }
            if !skipped.is_empty() {
                left_out.push(SkippedBudgets { algorithm: campaign.label.clone(), budgets: skipped });
            }
        }
        let curves = prospects.chunk_by(|a, b| a.algorithm == b.algorithm);
        Forecast {
            goal: self.goal.name(),
            target: self.goal.value(),
            pilot: self.prior.rewards().len(),
            answers: curves.map(|curve| answer(curve, self.goal, self.arms.n_arms())).collect(),
            prospects,
            left_out,
        }
    }
}

impl ForecastRow {
    fn new(algorithm: &str, budget: u32, cell: &PlanCell, n_arms: usize) -> Self {
        let runs = cell.runs as f64;
        let (low, high) = wilson(cell.failures, cell.runs);
        let (errors_low, errors_high) = mean_count(cell.errors, cell.squared_errors, cell.runs);
        Self {
            algorithm: algorithm.into(),
            budget,
            runs: cell.runs,
            failures: cell.failures,
            failure_rate: cell.failures as f64 / runs,
            low,
            high,
            mean_errors: cell.errors as f64 / runs,
            errors_low,
            errors_high,
            expected_errors: 1e-6 * cell.doubts as f64 / runs,
            decided: cell.decided as f64 / (runs * n_arms as f64),
        }
    }

    /// The number that the goal is about, and the ends of its interval.
    fn rates(&self, goal: Goal, n_arms: usize) -> [f64; 3] {
        match goal {
            Goal::WrongShare(_) => [self.mean_errors, self.errors_low, self.errors_high].map(|n| n / n_arms as f64),
            Goal::FailureProbability(_) => [self.failure_rate, self.low, self.high],
        }
    }
}

/// The answer from one campaign's curve, budgets ascending.
fn answer(curve: &[ForecastRow], goal: Goal, n_arms: usize) -> BudgetAnswer {
    let budgets: Vec<f64> = curve.iter().map(|row| f64::from(row.budget)).collect();
    let (first, last) = (curve[0].budget, curve[curve.len() - 1].budget);
    // A rate of 0 has no logarithm; below half a wrong call the runs cannot resolve it.
    let per_run = if matches!(goal, Goal::WrongShare(_)) { n_arms as f64 } else { 1.0 };
    let floor = 0.5 / (curve[0].runs.max(1) as f64 * per_run);
    let reached = |which: usize| {
        let rates: Vec<f64> = curve.iter().map(|row| row.rates(goal, n_arms)[which]).collect();
        crossing(&budgets, &falling(&rates), goal.value(), floor)
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it lies between two budgets")]
    let whole = |budget: f64| budget as u32;
    // Rounding in the logarithms must not add a measurement.
    let up = |budget: f64| whole((budget - 1e-9 * budget).ceil()).clamp(first, last);
    let budget = reached(0).map(up);
    let low = reached(1).map(|budget| whole(budget.floor())).filter(|&low| low > first);
    let high = reached(2).map(up);
    BudgetAnswer { algorithm: curve[0].algorithm.clone(), tried_from: first, tried_to: last, budget, low, high }
}

/// The falling sequence at the least squared distance: rising neighbours are pooled (Ayer et al. 1955).
fn falling(rates: &[f64]) -> Vec<f64> {
    let mut pools: Vec<(f64, usize)> = Vec::new();
    for &rate in rates {
        let mut pool = (rate, 1);
        while let Some((sum, n)) = pools.pop_if(|(sum, n)| *sum * (pool.1 as f64) < pool.0 * (*n as f64)) {
            pool = (pool.0 + sum, pool.1 + n);
        }
        pools.push(pool);
    }
    pools.iter().flat_map(|&(sum, n)| std::iter::repeat_n(sum / n as f64, n)).collect()
}

/// Where falling rates reach the target: the first budget if they start there, `None` if they end above it. ln p is
/// linear in ln T; rates below `floor` count as `floor`.
fn crossing(budgets: &[f64], rates: &[f64], target: f64, floor: f64) -> Option<f64> {
    let after = rates.iter().position(|&rate| rate <= target)?;
    let Some(before) = after.checked_sub(1) else { return Some(budgets[0]) };
    let (from, to) = (rates[before], rates[after].max(floor));
    // Where both rates are below the floor, the answer is the second budget.
    let share = if to < from { ((from / target).ln() / (from / to).ln()).min(1.0) } else { 1.0 };
    Some(budgets[before] * (budgets[after] / budgets[before]).powf(share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn falling_rates_stay_and_rising_ones_are_pooled() {
        assert_eq!(falling(&[0.5, 0.25, 0.25, 0.0]), [0.5, 0.25, 0.25, 0.0]);
        assert_eq!(falling(&[0.5, 0.1, 0.3, 0.1]), [0.5, 0.2, 0.2, 0.1]);
        assert_eq!(falling(&[0.0, 0.0, 3.0]), [1.0, 1.0, 1.0]);
        assert_eq!(falling(&[1.0, 4.0, 1.0, 2.0]), [2.5, 2.5, 1.5, 1.5]);
        assert_eq!(falling(&[]), [0.0; 0]);
    }

    /// p = 4/T at T = 8, 16, 32, a straight line in logarithms: the target p is reached at T = 4/p.
    #[test]
    fn the_crossing_of_a_power_law_is_exact() {
        let (budgets, rates) = ([8.0, 16.0, 32.0], [0.5, 0.25, 0.125]);
        for target in [0.49, 0.3, 0.25, 0.2, 0.125] {
            let found = crossing(&budgets, &rates, target, 1e-6).unwrap();
            assert!((found - 4.0 / target).abs() < 1e-9, "{target}: {found}");
        }
        assert_eq!(crossing(&budgets, &rates, 0.5, 1e-6), Some(8.0), "at the first");
        assert_eq!(crossing(&budgets, &rates, 0.124, 1e-6), None, "after the last");
    }

    /// From ¼ to 0 in 100 runs: 0 counts as 0.005, and 0.05 lies ln 5/ln 50 of the way.
    #[test]
    fn zeros_count_as_half_a_failure() {
        let share = 5.0_f64.ln() / 50.0_f64.ln();
        let found = crossing(&[10.0, 20.0], &[0.25, 0.0], 0.05, 0.005).unwrap();
        assert!((found - 10.0 * 2.0_f64.powf(share)).abs() < 1e-9);
        assert_eq!(crossing(&[10.0, 20.0], &[0.25, 0.0], 0.001, 0.005), Some(20.0), "below the resolution of the runs");
        assert_eq!(crossing(&[10.0, 20.0], &[0.004, 0.0], 0.001, 0.005), Some(20.0));
    }

    /// Ten arms, of which a tenth of the failure rate is called wrongly.
    fn row(budget: u32, failure_rate: f64, low: f64, high: f64) -> ForecastRow {
        ForecastRow {
            algorithm: "pivot".into(),
            budget,
            runs: 1000,
            failures: 0,
            failure_rate,
            low,
            high,
            mean_errors: failure_rate,
            errors_low: low,
            errors_high: high,
            expected_errors: 0.0,
            decided: 0.0,
        }
    }

    #[test]
    fn what_is_not_found_is_none() {
        let found = |curve: &[ForecastRow], target| {
            let answer = answer(curve, Goal::FailureProbability(target), 10);
            let by_share = super::answer(curve, Goal::WrongShare(target / 10.0), 10);
            assert_eq!(answer, by_share);
            (answer.budget, answer.low, answer.high)
        };
        let curve = [row(8, 0.5, 0.4, 0.6), row(16, 0.25, 0.2, 0.3), row(32, 0.125, 0.1, 0.15)];
        assert_eq!(found(&curve, 0.25), (Some(16), Some(12), Some(20)));
        assert_eq!(found(&curve, 0.12), (None, Some(26), None));
        assert_eq!(found(&curve, 0.55), (Some(8), None, Some(9)));
        assert_eq!(found(&curve, 0.65), (Some(8), None, Some(8)));
        assert_eq!(found(&curve, 0.05), (None, None, None));
        assert_eq!(found(&curve[..1], 0.45), (None, None, None), "one budget, whose lower end is below the target");
    }
}
