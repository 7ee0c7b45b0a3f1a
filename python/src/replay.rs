//! The published numbers, replayed with the authors' random stream.

use crate::errors::{input, run};
use crate::experiment::Experiment;
use crate::interruptible::interruptible;
use crate::pool::pool;
use cutline_lab::RunError;
use cutline_lab::exact::{ReplayedCell, replay_all};
use pyo3::prelude::*;
use serde::Serialize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// A replayed cell as a row of the JSON.
#[derive(Serialize)]
struct Row<'a> {
    experiment: &'a str,
    #[serde(flatten)]
    cell: &'a ReplayedCell,
    matches: bool,
}

/// Why a replay ended early.
enum Interrupted {
    Failed(RunError),
    /// By Ctrl-C, or an exception of `watch`.
    Cancelled,
}

impl From<RunError> for Interrupted {
    fn from(error: RunError) -> Self {
        Self::Failed(error)
    }
}

/// Replays the published numbers of several experiments in parallel; returns one row per cell, as JSON. `watch` is called
/// regularly with the number of pulls since its last call.
#[pyfunction]
pub(crate) fn replay(
    py: Python<'_>,
    experiments: Vec<Bound<'_, Experiment>>,
    threads: Option<&Bound<'_, PyAny>>,
    watch: &Bound<'_, PyAny>,
) -> PyResult<String> {
    let pool = pool(threads)?;
    let experiments: Vec<_> = experiments.iter().map(|experiment| experiment.get().0.clone()).collect();
    let done = AtomicU64::new(0);
    let work = |is_interrupted: &AtomicBool| {
        let count = |pulls| {
            done.fetch_add(pulls, Relaxed);
            if is_interrupted.load(Relaxed) { Err(Interrupted::Cancelled) } else { Ok(()) }
        };
        pool.install(|| replay_all(&experiments, &count))
    };
    let replayed = interruptible(py, work, || watch.call1((done.swap(0, Relaxed),)).map(drop))?;
    let replayed = replayed.map_err(|interrupted| match interrupted {
        Interrupted::Failed(error) => run(&error),
        Interrupted::Cancelled => input("the replay was cancelled"),
    })?;
    let rows: Vec<Row<'_>> = experiments
        .iter()
        .zip(&replayed)
        .flat_map(|(experiment, cells)| {
            cells.iter().map(|cell| Row { experiment: experiment.name(), cell, matches: cell.matches() })
        })
        .collect();
    serde_json::to_string(&rows).map_err(input)
}
