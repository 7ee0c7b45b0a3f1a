//! The results of every run, for one's own metrics.

use crate::run::play::Run;
use cutline::{SettledArm, StopReason};

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
    /// The number of settled arms, those whose side was fixed for good before the end, per row.
    pub n_settled: Vec<usize>,
    /// The settled arms, in the order in which they were settled, per row. Their side is that in `above`.
    pub settled_arms: Vec<u32>,
    /// The number of rewards after which each of them was settled, per row.
    pub settled_after: Vec<u64>,
}

/// The results of the arms for one entrant at one budget.
pub(crate) struct ArmResults {
    pub(crate) pulls: Vec<u32>,
    pub(crate) means: Vec<f64>,
    pub(crate) above: Vec<bool>,
    pub(crate) settled: Vec<SettledArm>,
}

impl PerRun {
    /// The number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.errors.len()
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
            self.n_settled.push(arms.settled.len());
            let arm_number = |settled: &SettledArm| u32::try_from(settled.arm).unwrap_or(u32::MAX);
            self.settled_arms.extend(arms.settled.iter().map(arm_number));
            self.settled_after.extend(arms.settled.iter().map(|settled| settled.after));
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
        self.n_settled.append(&mut later.n_settled);
        self.settled_arms.append(&mut later.settled_arms);
        self.settled_after.append(&mut later.settled_after);
    }
}
