//! The results of every run, for one's own metrics.

use crate::Experiment;
use crate::play::Run;
use cutline::StopReason;

/// The results of some runs as columns. The rows are ordered by run, then entrant, then budget.
///
/// Columns of arms hold one value per arm for each run or row, one after another; [`PerRun::n_arms`] has the number of arms of each
/// run.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PerRun {
    /// The number of each run.
    pub runs: Vec<u64>,
    /// The number of arms of each run.
    pub n_arms: Vec<usize>,
    /// The threshold τ of each run.
    pub thresholds: Vec<f64>,
    /// The true means of the arms of each run.
    pub true_means: Vec<f64>,
    /// The number of arms on the wrong side, per row.
    pub errors: Vec<u32>,
    /// The number of pulls after which the run ended or reached its budget, per row.
    pub pulls: Vec<u64>,
    /// Why it ended, per row.
    pub stops: Vec<StopReason>,
    /// The pulls of the arms, per row.
    pub arm_pulls: Vec<u32>,
    /// The estimated means of the arms at the end, per row.
    pub means: Vec<f64>,
    /// Whether an arm is classified as above the threshold, per row.
    pub above: Vec<bool>,
}

/// The results of the arms for one entrant at one budget.
pub(crate) struct ArmResults {
    pub(crate) pulls: Vec<u32>,
    pub(crate) means: Vec<f64>,
    pub(crate) above: Vec<bool>,
}

impl PerRun {
    /// The number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.errors.len()
    }

    /// The number of the entries of arms per run of `experiment`, over all its rows; for estimates of memory.
    #[must_use]
    pub fn entries_per_run(experiment: &Experiment, n_arms: usize) -> usize {
        experiment.entrants().len() * experiment.budgets().len() * n_arms
    }

    /// Adds a run; it must have been played with its arms recorded.
    pub(crate) fn push(&mut self, run: &Run<'_>) {
        let instance = run.instance();
        self.runs.push(run.number());
        self.n_arms.push(instance.means().len());
        self.thresholds.push(instance.question().threshold());
        self.true_means.extend_from_slice(instance.means());
        for (outcome, arms) in run.results().iter().zip(run.arms()) {
            self.errors.push(outcome.errors);
            self.pulls.push(outcome.pulls);
            self.stops.push(outcome.stop);
            self.arm_pulls.extend_from_slice(&arms.pulls);
            self.means.extend_from_slice(&arms.means);
            self.above.extend_from_slice(&arms.above);
        }
    }

    /// Adds the runs of `later` after its own.
    pub(crate) fn append(&mut self, mut later: Self) {
        self.runs.append(&mut later.runs);
        self.n_arms.append(&mut later.n_arms);
        self.thresholds.append(&mut later.thresholds);
        self.true_means.append(&mut later.true_means);
        self.errors.append(&mut later.errors);
        self.pulls.append(&mut later.pulls);
        self.stops.append(&mut later.stops);
        self.arm_pulls.append(&mut later.arm_pulls);
        self.means.append(&mut later.means);
        self.above.append(&mut later.above);
    }
}
