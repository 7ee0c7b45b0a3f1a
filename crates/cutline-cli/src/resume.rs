//! The file of `--resume`: a checkpoint of the finished runs, replaced as they are finished.

use crate::failure::Failure;
use crate::output::{Inputs, check_directory, restore_directory, write_file};
use cutline_lab::{Checkpoint, Experiment, SimulateOptions, Tally, Watch};
use indicatif::ProgressBar;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The least time between two writes.
const INTERVAL: Duration = Duration::from_millis(200);

/// How many times as long as a write took the next one waits, so that a slow disk does not hold up the simulation.
const PATIENCE: u32 = 20;

/// A checkpoint and its file. A process that is killed loses the runs since the last write.
pub(crate) struct Resumed {
    path: PathBuf,
    inputs: Inputs,
    state: Mutex<State>,
    has_failed: AtomicBool,
}

struct State {
    checkpoint: Checkpoint,
    /// When the file may be written again.
    due: Instant,
    /// Why the file could not be written, if `has_failed`.
    failure: Option<Failure>,
}

impl Resumed {
    /// Reads the file, or begins it.
    pub(crate) fn open(path: &Path, inputs: Inputs, experiments: &[Experiment]) -> Result<Self, Failure> {
        inputs.check(path)?;
        check_directory(path)?;
        let checkpoint = match cutline_data::input::read(path) {
            Ok(bytes) => Checkpoint::read(&bytes, experiments)
                .map_err(|error| Failure::Checkpoint { path: path.into(), error })?,
            Err(error) if error.kind() == ErrorKind::NotFound => Checkpoint::new(experiments),
            Err(error) => return Err(Failure::Read { path: path.into(), error, hint: "" }),
        };
        let state = State { checkpoint, due: Instant::now(), failure: None };
        let resumed = Self { path: path.into(), inputs, state: Mutex::new(state), has_failed: AtomicBool::new(false) };
        resumed.write(&mut resumed.lock())?;
        Ok(resumed)
    }

    /// The counts of the experiment in this position, of the runs finished so far.
    pub(crate) fn tally(&self, position: usize) -> Tally {
        self.lock().checkpoint.tally(position).clone()
    }

    /// Plays the runs of an experiment that are not finished, on the current thread pool, and returns the counts of all.
    pub(crate) fn play(&self, position: usize, experiment: &Experiment, bar: &ProgressBar) -> Result<Tally, Failure> {
        let finished = self.tally(position);
        bar.inc(finished.runs().n_runs() * experiment.pulls_per_run());
        let watch = Progress { resumed: self, position, bar, pulls_per_run: experiment.pulls_per_run() };
        for runs in finished.runs().missing(0..experiment.runs()) {
            let options = SimulateOptions { watch: &watch, ..SimulateOptions::default() };
            let played = cutline_lab::simulate(experiment, runs, options).map(|played| played.tally);
            if let Some(failure) = self.lock().failure.take() {
                return Err(failure);
            }
            played?;
        }
        self.write(&mut self.lock())?;
        Ok(self.tally(position))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, state: &mut State) -> Result<(), Failure> {
        let begun = Instant::now();
        let bytes = state.checkpoint.to_bytes();
        restore_directory(&self.path);
        write_file(&self.path, &self.inputs, |out| out.write_all(&bytes))?;
        state.due = Instant::now() + INTERVAL.max(begun.elapsed() * PATIENCE);
        Ok(())
    }
}

/// Adds finished runs of one experiment to the checkpoint.
struct Progress<'a> {
    resumed: &'a Resumed,
    position: usize,
    bar: &'a ProgressBar,
    pulls_per_run: u64,
}

impl Watch for Progress<'_> {
    fn ended(&self, tally: &Tally) {
        let mut state = self.resumed.lock();
        state.checkpoint.add(self.position, tally).expect("runs that were missing");
        if state.failure.is_none() && Instant::now() >= state.due {
            state.failure = self.resumed.write(&mut state).err();
            self.resumed.has_failed.store(state.failure.is_some(), Ordering::Relaxed);
        }
        self.bar.inc(tally.runs().n_runs() * self.pulls_per_run);
    }

    fn is_interrupted(&self) -> bool {
        self.resumed.has_failed.load(Ordering::Relaxed)
    }
}
