//! The published numbers, replayed with the authors' random stream.

use crate::errors::{input, run};
use crate::experiment::Experiment;
use crate::pool::pool;
use cutline_lab::RunError;
use cutline_lab::exact::{ReplayedCell, replay_all};
use pyo3::prelude::*;
use serde::Serialize;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// How often Python gets control, for Ctrl-C and progress.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

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
    let (done, is_cancelled) = (AtomicU64::new(0), AtomicBool::new(false));
    let count = |pulls| {
        done.fetch_add(pulls, Relaxed);
        if is_cancelled.load(Relaxed) { Err(Interrupted::Cancelled) } else { Ok(()) }
    };
    let caller = thread::current();
    let replayed = thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let replayed = pool.install(|| replay_all(&experiments, &count));
            caller.unpark();
            replayed
        });
        let mut outcome = Ok(());
        while outcome.is_ok() && !worker.is_finished() {
            py.detach(|| thread::park_timeout(POLL_INTERVAL));
            outcome = py.check_signals().and_then(|()| watch.call1((done.swap(0, Relaxed),)).map(drop));
        }
        is_cancelled.store(outcome.is_err(), Relaxed);
        let replayed = py.detach(|| worker.join()).unwrap_or_else(|panic| resume_unwind(panic));
        outcome.map(|()| replayed)
    })?;
    watch.call1((done.into_inner(),))?;
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
