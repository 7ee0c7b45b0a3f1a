//! The published numbers, replayed from the authors' own random stream.

use crate::errors::input;
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

/// How long to replay before Python is let in, so that Ctrl-C works and progress shows.
const A_WHILE: Duration = Duration::from_millis(100);

/// A replayed cell as JSON has it.
#[derive(Serialize)]
struct Row<'a> {
    experiment: &'a str,
    #[serde(flatten)]
    cell: &'a ReplayedCell,
    matches: bool,
}

/// Why a replay ended.
enum Ended {
    Refused(RunError),
    /// Nobody wants it any more.
    Unwanted,
}

impl From<RunError> for Ended {
    fn from(error: RunError) -> Self {
        Self::Refused(error)
    }
}

/// Replays the published numbers of experiments side by side: a row a cell, as JSON. `watch` is called with the number of pulls
/// now and then.
#[pyfunction]
pub(crate) fn replay(
    py: Python<'_>,
    experiments: Vec<Bound<'_, Experiment>>,
    threads: Option<&Bound<'_, PyAny>>,
    watch: &Bound<'_, PyAny>,
) -> PyResult<String> {
    let pool = pool(threads)?;
    let experiments: Vec<_> = experiments.iter().map(|experiment| experiment.get().0.clone()).collect();
    let (done, is_unwanted) = (AtomicU64::new(0), AtomicBool::new(false));
    let count = |pulls| {
        done.fetch_add(pulls, Relaxed);
        if is_unwanted.load(Relaxed) { Err(Ended::Unwanted) } else { Ok(()) }
    };
    let caller = thread::current();
    let replayed = thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let replayed = pool.install(|| replay_all(&experiments, &count));
            caller.unpark();
            replayed
        });
        let mut heard = Ok(());
        while heard.is_ok() && !worker.is_finished() {
            py.detach(|| thread::park_timeout(A_WHILE));
            heard = py.check_signals().and_then(|()| watch.call1((done.swap(0, Relaxed),)).map(drop));
        }
        is_unwanted.store(heard.is_err(), Relaxed);
        let replayed = py.detach(|| worker.join()).unwrap_or_else(|panic| resume_unwind(panic));
        heard.map(|()| replayed)
    })?;
    watch.call1((done.into_inner(),))?;
    let replayed = replayed.map_err(|ended| match ended {
        Ended::Refused(error) => input(error),
        Ended::Unwanted => input("the replay was ended"),
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
