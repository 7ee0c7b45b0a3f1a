//! Checkpoints: the counts of the runs that a simulation has finished, so that another process can go on with the others.

use crate::{Experiment, Tally, TallyError};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The finished runs of one or several experiments. As bytes it is JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    #[serde(rename = "cutline_checkpoint")]
    format: u32,
    version: String,
    experiments: Vec<Finished>,
}

/// The finished runs of one experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Finished {
    name: String,
    tally: Tally,
}

/// Only the version of a checkpoint, whatever else is in it.
#[derive(Deserialize)]
struct Header {
    #[serde(rename = "cutline_checkpoint")]
    format: u32,
    version: String,
}

/// Why a checkpoint was refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The bytes are not a checkpoint, or a damaged one.
    #[error("not a checkpoint of a simulation")]
    NotACheckpoint,
    /// Another version of Cutline wrote it, whose runs may differ.
    #[error("a checkpoint of Cutline {0}; this is Cutline {version}", version = env!("CARGO_PKG_VERSION"))]
    Version(String),
    /// It has runs of an experiment that is not played.
    #[error("a checkpoint of another experiment, `{0}`, or of one with other settings")]
    Experiment(String),
    /// It has runs that are not to be played.
    #[error("a checkpoint of `{name}` with run {run}, but only {runs} runs are to be played")]
    Runs {
        /// The experiment.
        name: String,
        /// A run that is too many.
        run: u64,
        /// The number of runs to be played.
        runs: u64,
    },
}

/// The format of the file.
const FORMAT: u32 = 1;

impl Checkpoint {
    /// A checkpoint before the first run.
    #[must_use]
    pub fn new(experiments: &[Experiment]) -> Self {
        let begin =
            |experiment: &Experiment| Finished { name: experiment.name().into(), tally: Tally::new(experiment) };
        Self {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            experiments: experiments.iter().map(begin).collect(),
        }
    }

    /// Reads a checkpoint of these experiments. An experiment that is not in it has no finished runs.
    ///
    /// # Errors
    /// If the bytes are not a checkpoint of this version of Cutline, or have runs that these experiments do not have.
    pub fn read(bytes: &[u8], experiments: &[Experiment]) -> Result<Self, CheckpointError> {
        let header: Header = serde_json::from_slice(bytes).map_err(|_| CheckpointError::NotACheckpoint)?;
        if (header.format, header.version.as_str()) != (FORMAT, env!("CARGO_PKG_VERSION")) {
            return Err(CheckpointError::Version(header.version));
        }
        let read: Self = serde_json::from_slice(bytes).map_err(|_| CheckpointError::NotACheckpoint)?;
        let mut checkpoint = Self::new(experiments);
        for Finished { name, tally } in read.experiments {
            let Some(position) = experiments.iter().position(|experiment| tally.fits(experiment)) else {
                return Err(CheckpointError::Experiment(name));
            };
            let runs = experiments[position].runs();
            if let Some(last) = tally.runs().as_slice().last().filter(|last| last.end > runs) {
                return Err(CheckpointError::Runs { name, run: last.end - 1, runs });
            }
            checkpoint.add(position, &tally).map_err(|_| CheckpointError::NotACheckpoint)?;
        }
        Ok(checkpoint)
    }

    /// The checkpoint as JSON.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The counts of the finished runs of the experiment in this position.
    ///
    /// # Panics
    /// If there is no such experiment.
    #[must_use]
    pub fn tally(&self, position: usize) -> &Tally {
        &self.experiments[position].tally
    }

    /// Adds finished runs of the experiment in this position.
    ///
    /// # Errors
    /// If they do not [add up](Tally::merge).
    ///
    /// # Panics
    /// If there is no such experiment.
    pub fn add(&mut self, position: usize, tally: &Tally) -> Result<(), TallyError> {
        self.experiments[position].tally.merge(tally)
    }
}
