//! The answer to a plan: failure rates and wrong verdicts against budget, the smallest budget that is enough, and Theorem 1.

use super::Plan;
use super::simulation::{accepts, first_instance};
use crate::metrics::mean_count;
use crate::theory::Theorem1;
use crate::{Experiment, RunError, Tally, rows};
use rayon::prelude::*;
use serde::Serialize;

/// The forecast of a plan, for all algorithms and budgets.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Forecast {
    /// The failure probability to reach.
    pub target: f64,
    /// The number of measurements in the pilot.
    pub pilot: usize,
    /// One per algorithm that took part, in their order.
    pub answers: Vec<BudgetAnswer>,
    /// One row per algorithm and budget that it takes.
    pub prospects: Vec<ForecastRow>,
    /// The guarantee of the corrected Theorem 1 for LinearAPT at each budget; empty with a pilot, which the theorem does not cover.
    pub theorem_1: Vec<Theorem1Row>,
    /// The budgets that algorithms do not take.
    pub left_out: Vec<SkippedBudgets>,
}

/// One algorithm at one budget.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ForecastRow {
    /// The algorithm.
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
}

/// The smallest budget at which an algorithm's failure probability is at most the target, and its 95 % interval.
///
/// Failure rates are first made non-increasing by isotonic regression; between two budgets ln p is linear in ln T. The ends of the
/// interval are where the lower and the upper ends of the rates' intervals fall to the target, found in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BudgetAnswer {
    /// The algorithm.
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

/// The guarantee of Theorem 1, corrected, for LinearAPT with λ = 1, averaged over the prior.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Theorem1Row {
    /// The budget.
    pub budget: u32,
    /// The share of runs on whose instance the theorem applies with a bound below 1.
    pub share: f64,
    /// The bound on the failure probability, averaged over all runs; a run without a bound below 1 counts as 1. `None` if
    /// no run has one.
    pub bound: Option<f64>,
}

/// Budgets that an algorithm does not take, because it pulls every arm once first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SkippedBudgets {
    /// The algorithm.
    pub algorithm: String,
    /// The budgets.
    pub budgets: Vec<u32>,
}

impl Plan {
    /// The forecast from the counts of [`Plan::experiment`]'s runs.
    ///
    /// # Errors
    /// If an instance is refused; playing the runs would have failed with the same error.
    pub fn forecast(&self, experiment: &Experiment, tally: &Tally) -> Result<Forecast, RunError> {
        let left_out = skipped(self, experiment)?;
        let is_skipped = |algorithm: &str, budget: u32| {
            left_out.iter().any(|skipped| skipped.algorithm == algorithm && skipped.budgets.contains(&budget))
        };
        let mut prospects = forecast_rows(experiment, tally);
        prospects.retain(|row| !is_skipped(&row.algorithm, row.budget));
        let answers = prospects.chunk_by(|a, b| a.algorithm == b.algorithm).map(|curve| answer(curve, self.target));
        Ok(Forecast {
            target: self.target,
            pilot: experiment.pilot().len(),
            answers: answers.collect(),
            theorem_1: if experiment.pilot().is_empty() { guarantees(experiment)? } else { Vec::new() },
            prospects,
            left_out,
        })
    }
}

fn forecast_rows(experiment: &Experiment, tally: &Tally) -> Vec<ForecastRow> {
    let n_budgets = experiment.budgets().len();
    let forecast_row = |(position, row): (usize, crate::Row)| {
        let cell = tally.cell(position / n_budgets, position % n_budgets);
        let (errors_low, errors_high) = mean_count(cell.errors, cell.squared_errors, cell.runs);
        ForecastRow {
            algorithm: row.algorithm,
            budget: row.budget,
            runs: row.runs,
            failures: row.failures,
            failure_rate: row.failure_rate,
            low: row.low,
            high: row.high,
            mean_errors: row.mean_errors,
            errors_low,
            errors_high,
        }
    };
    rows(experiment, tally).into_iter().enumerate().map(forecast_row).collect()
}

/// The budgets that each algorithm refuses. Simulation counts anytime learners at smaller budgets too, but no campaign could
/// be started with those.
fn skipped(plan: &Plan, experiment: &Experiment) -> Result<Vec<SkippedBudgets>, RunError> {
    let instance = first_instance(experiment)?;
    let mut all = Vec::new();
    for spec in &plan.algorithms {
        let algorithm = spec.algorithm().name;
        let entrant = experiment.entrants().iter().find(|entrant| entrant.label() == algorithm);
        let mut budgets = Vec::new();
        for &budget in experiment.budgets() {
            let is_accepted = match entrant {
                Some(entrant) => accepts(experiment, entrant, &instance, budget)?.is_ok(),
                None => false,
            };
            budgets.extend((!is_accepted).then_some(budget));
        }
        if !budgets.is_empty() {
            all.push(SkippedBudgets { algorithm: algorithm.into(), budgets });
        }
    }
    Ok(all)
}

/// The answer from one algorithm's curve, budgets ascending.
fn answer(curve: &[ForecastRow], target: f64) -> BudgetAnswer {
    let budgets: Vec<f64> = curve.iter().map(|row| f64::from(row.budget)).collect();
    let (first, last) = (curve[0].budget, curve[curve.len() - 1].budget);
    // A rate of 0 has no logarithm; below half a failure the runs cannot resolve it.
    let floor = 0.5 / curve[0].runs.max(1) as f64;
    let reached = |rate: fn(&ForecastRow) -> f64| {
        let rates: Vec<f64> = curve.iter().map(rate).collect();
        crossing(&budgets, &falling(&rates), target, floor)
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it lies between two budgets")]
    let whole = |budget: f64| budget as u32;
    // Rounding in the logarithms must not add a measurement.
    let up = |budget: f64| whole((budget - 1e-9 * budget).ceil()).clamp(first, last);
    let budget = reached(|row| row.failure_rate).map(up);
    let low = reached(|row| row.low).map(|budget| whole(budget.floor())).filter(|&low| low > first);
    let high = reached(|row| row.high).map(up);
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

/// Runs per batch: their theorems are computed in parallel and summed in the order of the runs.
const RUNS_PER_BATCH: u64 = 4096;

/// Theorem 1 at each budget, averaged over the instances of all runs. LinearAPT does not take budgets below K.
fn guarantees(experiment: &Experiment) -> Result<Vec<Theorem1Row>, RunError> {
    let (sigma, runs) = (experiment.noise().scale(), experiment.runs());
    let n_arms = first_instance(experiment)?.arms().n_arms();
    let mut sums = vec![(0_u64, 0.0); experiment.budgets().len()];
    for start in (0..runs).step_by(usize::try_from(RUNS_PER_BATCH).unwrap_or(usize::MAX)) {
        let batch = start..runs.min(start.saturating_add(RUNS_PER_BATCH));
        let theorem = |run: u64| {
            let instance = experiment.source().instance(run).map_err(|error| RunError::Instance { run, error })?;
            Ok(Theorem1::new(&instance, sigma))
        };
        let theorems = batch.into_par_iter().map(theorem).collect::<Result<Vec<_>, RunError>>()?;
        for ((n_bounds, sum), &budget) in sums.iter_mut().zip(experiment.budgets()) {
            for theorem in &theorems {
                let bound = theorem.and_then(|theorem| theorem.bound(budget)).filter(|&bound| bound < 1.0);
                let bound = bound.filter(|_| budget as usize >= n_arms);
                *n_bounds += u64::from(bound.is_some());
                *sum += bound.unwrap_or(1.0);
            }
        }
    }
    let guarantee = |(&(n_bounds, sum), &budget): (&(u64, f64), &u32)| {
        let share = n_bounds as f64 / runs.max(1) as f64;
        // A bound that underflows is still not 0.
        let bound = (n_bounds > 0).then(|| (sum / runs as f64).max(f64::MIN_POSITIVE));
        Theorem1Row { budget, share, bound }
    };
    Ok(sums.iter().zip(experiment.budgets()).map(guarantee).collect())
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

    fn row(budget: u32, failure_rate: f64, low: f64, high: f64) -> ForecastRow {
        let (algorithm, failures, runs) = ("pivot".into(), 0, 1000);
        let (mean_errors, errors_low, errors_high) = (0.0, 0.0, 0.0);
        ForecastRow { algorithm, budget, runs, failures, failure_rate, low, high, mean_errors, errors_low, errors_high }
    }

    #[test]
    fn what_is_not_found_is_none() {
        let found = |curve: &[ForecastRow], target| {
            let answer = answer(curve, target);
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
