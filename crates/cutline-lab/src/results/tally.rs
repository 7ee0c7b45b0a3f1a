//! The counts of runs, which add up exactly wherever they were counted.

use crate::results::outputs::OutputTimes;
use crate::results::stopped::StoppingTimes;
use crate::run::play::EntrantResult;
use crate::{Experiment, Fingerprint, RunRanges};
use cutline::StopReason;
use serde::{Deserialize, Serialize};
use std::ops::Range;
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

/// The counts of some runs of an experiment: a [`Cell`], [`StoppingTimes`] and [`OutputTimes`] per entrant and budget, and per pair of entrants the
/// runs that only one of them failed. Tallies of one experiment that have no run in common [add up](Tally::merge).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    fingerprint: Fingerprint,
    runs: RunRanges,
    n_budgets: usize,
    cells: Vec<Cell>,
    stopped: Vec<StoppingTimes>,
    outputs: Vec<OutputTimes>,
    /// By entrant that failed, entrant that did not, and budget.
    only: Vec<u64>,
}

/// Why tallies do not add up.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum TallyError {
    /// They are not of one experiment, or not of one version of Cutline.
    #[error("tallies of different experiments cannot be added")]
    Experiments,
    /// Some runs are in both.
    #[error("{} in both tallies, so they cannot be added", describe(.0))]
    Overlap(Range<u64>),
}

fn describe(runs: &Range<u64>) -> String {
    let last = runs.end.saturating_sub(1);
    if runs.start == last { format!("run {last} is") } else { format!("runs {} to {last} are", runs.start) }
}

impl Tally {
    /// The tally of no runs.
    #[must_use]
    pub fn new(experiment: &Experiment) -> Self {
        let n_budgets = experiment.budgets().len();
        let n_entrants = experiment.entrants().len();
        let n_cells = n_entrants * n_budgets;
        Self {
            fingerprint: experiment.fingerprint(),
            runs: RunRanges::default(),
            n_budgets,
            cells: vec![Cell::default(); n_cells],
            stopped: vec![StoppingTimes::default(); n_cells],
            outputs: vec![OutputTimes::default(); n_cells],
            only: vec![0; n_entrants * n_cells],
        }
    }

    /// The fingerprint of its experiment.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// The runs that it counts.
    #[must_use]
    pub fn runs(&self) -> &RunRanges {
        &self.runs
    }

    /// Whether its runs are of `experiment`.
    #[must_use]
    pub fn fits(&self, experiment: &Experiment) -> bool {
        self.is_like(&Self::new(experiment))
    }

    /// Whether it has the fingerprint and the numbers of entrants and budgets of `other`.
    fn is_like(&self, other: &Self) -> bool {
        let kind = |tally: &Self| {
            let lengths = (tally.cells.len(), tally.stopped.len(), tally.outputs.len(), tally.only.len());
            (tally.fingerprint, tally.n_budgets, lengths)
        };
        kind(self) == kind(other)
    }

    /// Adds the counts of other runs of the same experiment.
    ///
    /// # Errors
    /// If the tallies are of different experiments or have a run in common; nothing is added then.
    pub fn merge(&mut self, other: &Self) -> Result<(), TallyError> {
        if !self.is_like(other) {
            return Err(TallyError::Experiments);
        }
        if let Some(common) = self.runs.overlap(&other.runs) {
            return Err(TallyError::Overlap(common));
        }
        self.runs.extend(&other.runs);
        for (cell, other) in self.cells.iter_mut().zip(&other.cells) {
            cell.runs += other.runs;
            cell.failures += other.failures;
            cell.errors += other.errors;
            cell.squared_errors += other.squared_errors;
        }
        self.stopped.iter_mut().zip(&other.stopped).for_each(|(stopped, other)| *stopped += other);
        self.outputs.iter_mut().zip(&other.outputs).for_each(|(times, other)| *times += other);
        self.only.iter_mut().zip(&other.only).for_each(|(only, other)| *only += other);
        Ok(())
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

    /// Counts a run that is not counted yet.
    pub(crate) fn count(&mut self, run: u64, results: &[EntrantResult]) {
        self.runs.extend(&RunRanges::new(run..run + 1));
        for (stopped, result) in self.stopped.iter_mut().zip(results) {
            if result.stop != StopReason::Budget {
                stopped.count(result.pulls, result.errors > 0);
            }
        }
        for (times, result) in self.outputs.iter_mut().zip(results) {
            times.count(&result.outputs, result.pulls);
        }
        for (cell, &EntrantResult { errors, .. }) in self.cells.iter_mut().zip(results) {
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
