//! Many runs of every entrant, in parallel, bit-identical for any number of threads or splits.
//!
//! Everything random in run r is a function of (seed, purpose, r), and only counts are kept: so any range of runs can be
//! computed anywhere and merged exactly. In a run all entrants have the same instance and, pull by pull, the same noise, so
//! their differences are paired.

use crate::run::play::{Manner, Run, play};
use crate::{Experiment, InstanceError, PerRun, Tally};
use cutline::{BatchLearner, SpecError, TellError};
use rayon::prelude::*;
use std::ops::Range;
use thiserror::Error;

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
    /// The noise is so large that a reward is not finite.
    #[error("run {run}: {error}")]
    Reward {
        /// The run.
        run: u64,
        /// The arm and its reward.
        error: TellError,
    },
    /// A [`Watch`] wanted the simulation to end.
    #[error("the simulation was interrupted")]
    Interrupted,
}

/// Watches a simulation. Its methods are called from all threads that play.
pub trait Watch: Sync {
    /// Some runs have ended, and these are their counts.
    fn ended(&self, tally: &Tally);

    /// Whether to give up; asked regularly, also within a run. The simulation then ends with [`RunError::Interrupted`].
    fn is_interrupted(&self) -> bool {
        false
    }
}

/// How to simulate, beside the experiment and the runs; the default watches nothing and keeps counts only.
#[derive(Clone, Copy)]
pub struct SimulateOptions<'a> {
    /// Follows the simulation, and may end it.
    pub watch: &'a dyn Watch,
    /// Whether to keep the results of every run, so that memory grows with the number of runs.
    pub keeps_runs: bool,
}

/// The results of a simulation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Simulated {
    /// The counts, which [`rows`](crate::rows()) turns into results.
    pub tally: Tally,
    /// The results of every run, if they were [kept](SimulateOptions::keeps_runs).
    pub per_run: Option<PerRun>,
}

/// A function is called with the number of runs as they end.
impl<F: Fn(u64) + Sync> Watch for F {
    fn ended(&self, tally: &Tally) {
        self(tally.runs().n_runs());
    }
}

impl Default for SimulateOptions<'_> {
    fn default() -> Self {
        Self { watch: &|_| (), keeps_runs: false }
    }
}

/// The most runs per parallel task; few enough that progress shows and the threads are evenly busy.
const RUNS_PER_TASK: u64 = 16;

/// The pulls of a task; a task has fewer runs if they are longer than this.
const PULLS_PER_TASK: u64 = 1 << 16;

/// Plays a range of runs on the threads of the current rayon pool.
///
/// # Errors
/// If an instance, an algorithm or a budget does not fit, or the watch interrupts it. If there are several errors, any one of them is returned.
///
/// # Panics
/// Only if custom code does.
pub fn simulate(
    experiment: &Experiment,
    runs: Range<u64>,
    options: SimulateOptions<'_>,
) -> Result<Simulated, RunError> {
    let SimulateOptions { watch, keeps_runs } = options;
    let group = BatchLearner::GROUP_SIZE as u64;
    let runs_per_task = (PULLS_PER_TASK / experiment.pulls_per_run().max(1)).clamp(group, RUNS_PER_TASK);
    let n_tasks = runs.end.saturating_sub(runs.start).div_ceil(runs_per_task);
    let manner = Manner { records_arms: keeps_runs, is_interrupted: &|| watch.is_interrupted() };
    let play_task = |task: u64| {
        let start = runs.start + task * runs_per_task;
        let end = runs.end.min(start.saturating_add(runs_per_task));
        let (mut tally, mut per_run) = (Tally::new(experiment), PerRun::default());
        for first in (start..end).step_by(BatchLearner::GROUP_SIZE) {
            let numbers = first..end.min(first.saturating_add(group));
            let mut runs = numbers.map(|run| Run::new(experiment, run)).collect::<Result<Vec<_>, _>>()?;
            play(experiment, &mut runs, manner)?;
            for run in &runs {
                tally.count(run.number(), run.results());
                if keeps_runs {
                    per_run.push(run);
                }
            }
        }
        watch.ended(&tally);
        Ok((tally, per_run))
    };
    // The reduction keeps the order of the tasks.
    let (tally, per_run) = (0..n_tasks).into_par_iter().map(play_task).try_reduce(
        || (Tally::new(experiment), PerRun::default()),
        |(mut sum, mut all), (tally, later)| {
            sum.merge(&tally).expect("other runs of the same experiment");
            all.append(later);
            Ok((sum, all))
        },
    )?;
    Ok(Simulated { tally, per_run: keeps_runs.then_some(per_run) })
}
