//! Many runs of every entrant, in parallel, bit-identical for any number of threads or splits.
//!
//! Everything random in run r is a function of (seed, purpose, r), and only counts are kept: so any range of runs can be
//! computed anywhere and merged exactly. In a run all entrants have the same instance and, pull by pull, the same noise, so
//! their differences are paired.

use crate::outputs::OutputTimes;
use crate::play::{Outcome, Run, play};
use crate::stopped::StoppingTimes;
use crate::{Experiment, InstanceError};
use cutline::{BatchLearner, SpecError};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::{AddAssign, Range};
use thiserror::Error;

/// Counts of one entrant at one budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// The runs.
    pub runs: u64,
    /// The runs with at least one wrong verdict.
    pub failures: u64,
    /// The wrong verdicts, over all runs.
    pub errors: u64,
    /// The sum over all runs of the square of the number of wrong verdicts.
    pub squared_errors: u128,
}

/// The counts of a range of runs: a [`Cell`], [`StoppingTimes`] and [`OutputTimes`] per entrant and budget, and per pair of entrants the runs that
/// only one of them failed. Tallies of disjoint ranges add up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    n_budgets: usize,
    cells: Vec<Cell>,
    stopped: Vec<StoppingTimes>,
    outputs: Vec<OutputTimes>,
    /// By entrant that failed, entrant that did not, and budget.
    only: Vec<u64>,
}

/// Why a run could not be played.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum RunError {
    /// The instance drawn for a run is refused.
    #[error("run {run}: {error}")]
    Instance {
        /// The run.
        run: u64,
        /// Why.
        error: InstanceError,
    },
    /// An algorithm cannot work with the instance or the budget.
    #[error("algorithm `{label}`: {error}")]
    Algorithm {
        /// The entrant.
        label: String,
        /// Why.
        error: SpecError,
    },
    /// There is not one noise scale per arm.
    #[error("run {run}: there are {found} noise scales, but {expected} arms")]
    Scales {
        /// The run.
        run: u64,
        /// The number of arms.
        expected: usize,
        /// The number of scales.
        found: usize,
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

/// Runs per parallel task; small enough that progress shows and the threads are evenly busy.
const RUNS_PER_TASK: u64 = 16;

/// Plays a range of runs on the threads of the current rayon pool. `watch` is called with the number of runs as they end.
///
/// # Errors
/// If an instance, an algorithm or a budget does not fit. If there are several errors, any one of them is returned.
pub fn simulate(experiment: &Experiment, runs: Range<u64>, watch: &(dyn Fn(u64) + Sync)) -> Result<Tally, RunError> {
    let n_tasks = runs.end.saturating_sub(runs.start).div_ceil(RUNS_PER_TASK);
    (0..n_tasks)
        .into_par_iter()
        .map(|task| {
            let start = runs.start + task * RUNS_PER_TASK;
            let end = runs.end.min(start.saturating_add(RUNS_PER_TASK));
            let mut tally = Tally::new(experiment);
            for first in (start..end).step_by(BatchLearner::GROUP_SIZE) {
                let numbers = first..end.min(first.saturating_add(BatchLearner::GROUP_SIZE as u64));
                let mut runs = numbers.map(|run| Run::new(experiment, run)).collect::<Result<Vec<_>, _>>()?;
                play(experiment, &mut runs)?;
                for run in &runs {
                    tally.count(run.results());
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
        let n_entrants = experiment.entrants().len();
        let n_cells = n_entrants * n_budgets;
        let (cells, stopped) = (vec![Cell::default(); n_cells], vec![StoppingTimes::default(); n_cells]);
        let outputs = vec![OutputTimes::default(); n_cells];
        Self { n_budgets, cells, stopped, outputs, only: vec![0; n_entrants * n_cells] }
    }

    /// Whether it has the same numbers of entrants and budgets as `other`, so that the two can be added.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let shape = |tally: &Self| (tally.n_budgets, tally.cells.len(), tally.stopped.len(), tally.only.len());
        shape(self) == shape(other)
    }

    /// Whether it has the numbers of entrants and budgets of `experiment`.
    #[must_use]
    pub fn fits(&self, experiment: &Experiment) -> bool {
        self.is_like(&Self::new(experiment))
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

    /// When the runs of one entrant at one budget stopped by their criterion.
    ///
    /// # Panics
    /// If there is no such entrant or budget.
    #[must_use]
    pub fn stopped(&self, entrant: usize, budget: usize) -> &StoppingTimes {
        assert!(budget < self.n_budgets, "budget {budget} of {}", self.n_budgets);
        &self.stopped[entrant * self.n_budgets + budget]
    }

    /// When the runs of one entrant at one budget gave their answers.
    ///
    /// # Panics
    /// If there is no such entrant or budget.
    #[must_use]
    pub fn outputs(&self, entrant: usize, budget: usize) -> &OutputTimes {
        assert!(budget < self.n_budgets, "budget {budget} of {}", self.n_budgets);
        &self.outputs[entrant * self.n_budgets + budget]
    }

    /// The runs in which `entrant` failed and `other` did not, by their positions.
    ///
    /// # Panics
    /// If there is no such entrant or budget.
    #[must_use]
    pub fn only(&self, entrant: usize, other: usize, budget: usize) -> u64 {
        assert!(budget < self.n_budgets, "budget {budget} of {}", self.n_budgets);
        let n_entrants = self.cells.len() / self.n_budgets;
        assert!(other < n_entrants, "entrant {other} of {n_entrants}");
        self.only[(entrant * n_entrants + other) * self.n_budgets + budget]
    }

    /// Counts one run.
    fn count(&mut self, results: &[Outcome]) {
        for (stopped, result) in self.stopped.iter_mut().zip(results) {
            if let Some(pulls) = result.stopped_after {
                stopped.count(pulls, result.errors > 0);
            }
        }
        for (times, result) in self.outputs.iter_mut().zip(results) {
            times.count(&result.outputs, result.pulls);
        }
        for (cell, &Outcome { errors, .. }) in self.cells.iter_mut().zip(results) {
            cell.runs += 1;
            cell.failures += u64::from(errors > 0);
            cell.errors += u64::from(errors);
            cell.squared_errors += u128::from(errors).pow(2);
        }
        let mut only = self.only.iter_mut();
        for here in results.chunks(self.n_budgets) {
            for there in results.chunks(self.n_budgets) {
                for ((here, there), only) in here.iter().zip(there).zip(&mut only) {
                    *only += u64::from(here.errors > 0 && there.errors == 0);
                }
            }
        }
    }
}

impl AddAssign<&Tally> for Tally {
    fn add_assign(&mut self, other: &Tally) {
        assert!(self.is_like(other), "tallies of one experiment");
        for (cell, other) in self.cells.iter_mut().zip(&other.cells) {
            cell.runs += other.runs;
            cell.failures += other.failures;
            cell.errors += other.errors;
            cell.squared_errors += other.squared_errors;
        }
        self.stopped.iter_mut().zip(&other.stopped).for_each(|(stopped, other)| *stopped += other);
        self.outputs.iter_mut().zip(&other.outputs).for_each(|(times, other)| *times += other);
        self.only.iter_mut().zip(&other.only).for_each(|(only, other)| *only += other);
    }
}
