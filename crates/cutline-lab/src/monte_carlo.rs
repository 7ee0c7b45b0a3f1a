//! Many runs of every entrant, in parallel, the same to the last bit however they are spread.
//!
//! Everything random in run r is a function of (seed, purpose, r), and all that is kept is counts: so any range of
//! runs can be computed anywhere and merged exactly. All entrants face the same instance and, pull by pull, the same
//! noise in a run, so their differences are paired.

use crate::play::{Outcome, Run, TOGETHER, play};
use crate::stopped::Stopped;
use crate::{Experiment, InstanceError};
use cutline::SpecError;
use rayon::prelude::*;
use std::ops::{AddAssign, Range};
use thiserror::Error;

/// Counts of one entrant at one budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// The runs.
    pub runs: u64,
    /// The runs in which some arm was called wrongly.
    pub failures: u64,
    /// The arms called wrongly, over all runs.
    pub errors: u64,
    /// The squares of the numbers of arms called wrongly, over all runs.
    pub squared_errors: u128,
    /// The runs in which this entrant failed and the baseline did not.
    pub only_here: u64,
    /// The runs in which the baseline failed and this entrant did not.
    pub only_baseline: u64,
}

/// The counts of a range of runs: a [`Cell`] and a [`Stopped`] for every entrant and budget. Tallies of disjoint ranges add up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tally {
    n_budgets: usize,
    cells: Vec<Cell>,
    stopped: Vec<Stopped>,
}

/// Why a run could not be played.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RunError {
    /// What was drawn for a run makes no instance.
    #[error("run {run}: {error}")]
    Instance {
        /// The run.
        run: u64,
        /// What is wrong with it.
        error: InstanceError,
    },
    /// An algorithm cannot work with the instance or the budget.
    #[error("algorithm `{label}`: {error}")]
    Algorithm {
        /// The entrant.
        label: String,
        /// What is wrong with it.
        error: SpecError,
    },
    /// Bernoulli rewards need means in [0, 1].
    #[error("run {run}: arm {arm} has mean {mean}; bernoulli noise needs means between 0 and 1")]
    NoProbability {
        /// The run.
        run: u64,
        /// The arm.
        arm: usize,
        /// Its mean.
        mean: f64,
    },
}

/// Runs that are played by one task; small enough that progress shows and work spreads evenly.
const RUNS_A_TASK: u64 = 16;

/// Plays a range of runs on the threads of the current rayon pool. `watch` is told of runs as they end.
///
/// # Errors
/// If an instance, an algorithm or a budget does not fit; of several, any one.
pub fn simulate(experiment: &Experiment, runs: Range<u64>, watch: &(dyn Fn(u64) + Sync)) -> Result<Tally, RunError> {
    let n_tasks = runs.end.saturating_sub(runs.start).div_ceil(RUNS_A_TASK);
    (0..n_tasks)
        .into_par_iter()
        .map(|task| {
            let start = runs.start + task * RUNS_A_TASK;
            let end = runs.end.min(start.saturating_add(RUNS_A_TASK));
            let mut tally = Tally::new(experiment);
            for first in (start..end).step_by(TOGETHER) {
                let numbers = first..end.min(first.saturating_add(TOGETHER as u64));
                let mut runs = numbers.map(|run| Run::new(experiment, run)).collect::<Result<Vec<_>, _>>()?;
                play(experiment, &mut runs)?;
                for run in &runs {
                    tally.count(run.results(), experiment.baseline());
                }
            }
            watch(end - start);
            Ok(tally)
        })
        .try_reduce(
            || Tally::new(experiment),
            |mut sum, tally| {
                sum += &tally;
                Ok(sum)
            },
        )
}

impl Tally {
    fn new(experiment: &Experiment) -> Self {
        let n_budgets = experiment.budgets().len();
        let n_cells = experiment.entrants().len() * n_budgets;
        Self { n_budgets, cells: vec![Cell::default(); n_cells], stopped: vec![Stopped::default(); n_cells] }
    }

    /// The counts of one entrant at one budget, by their positions.
    ///
    /// # Panics
    /// If there is no such entrant or budget.
    #[must_use]
    pub fn cell(&self, entrant: usize, budget: usize) -> Cell {
        assert!(budget < self.n_budgets, "budget {budget} of {}", self.n_budgets);
        self.cells[entrant * self.n_budgets + budget]
    }

    /// When the runs of one entrant at one budget ended because they were sure.
    ///
    /// # Panics
    /// If there is no such entrant or budget.
    #[must_use]
    pub fn stopped(&self, entrant: usize, budget: usize) -> &Stopped {
        assert!(budget < self.n_budgets, "budget {budget} of {}", self.n_budgets);
        &self.stopped[entrant * self.n_budgets + budget]
    }

    /// Counts one run.
    fn count(&mut self, results: &[Outcome], baseline: Option<usize>) {
        for (stopped, result) in self.stopped.iter_mut().zip(results) {
            if let Some(pulls) = result.sure_after {
                stopped.count(pulls, result.errors > 0);
            }
        }
        for (i, (cell, &Outcome { errors: errors_here, .. })) in self.cells.iter_mut().zip(results).enumerate() {
            cell.runs += 1;
            cell.failures += u64::from(errors_here > 0);
            cell.errors += u64::from(errors_here);
            cell.squared_errors += u128::from(errors_here).pow(2);
            if let Some(baseline) = baseline {
                let errors_there = results[baseline * self.n_budgets + i % self.n_budgets].errors;
                cell.only_here += u64::from(errors_here > 0 && errors_there == 0);
                cell.only_baseline += u64::from(errors_here == 0 && errors_there > 0);
            }
        }
    }
}

impl AddAssign<&Tally> for Tally {
    fn add_assign(&mut self, other: &Tally) {
        assert_eq!((self.n_budgets, self.cells.len()), (other.n_budgets, other.cells.len()), "one experiment");
        for (cell, other) in self.cells.iter_mut().zip(&other.cells) {
            cell.runs += other.runs;
            cell.failures += other.failures;
            cell.errors += other.errors;
            cell.squared_errors += other.squared_errors;
            cell.only_here += other.only_here;
            cell.only_baseline += other.only_baseline;
        }
        self.stopped.iter_mut().zip(&other.stopped).for_each(|(stopped, other)| *stopped += other);
    }
}
