//! Why a command failed: one line that says what to do.

use cutline_lab::rewards::RewardsError;
use cutline_lab::{ExperimentError, PlanError, PriorError, RunError};
use cutline_store::StoreError;
use std::path::PathBuf;
use thiserror::Error;

#[derive(Debug, Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Plan(#[from] PlanError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It was called wrongly, in a way that only showed later.
    #[error("{0}")]
    Usage(String),
    #[error("cannot read {}: {error}{hint}", path.display())]
    Read { path: PathBuf, error: std::io::Error, hint: &'static str },
    #[error("{}: {error}", path.display())]
    Csv { path: PathBuf, error: RewardsError },
    #[error("{}: {error}", path.display())]
    ThetaPosterior { path: PathBuf, error: PriorError },
    #[error("cannot write {}: {error}; choose another place with `--out`", path.display())]
    Write { path: PathBuf, error: std::io::Error },
    #[error("cannot start {threads} threads: {error}; ask for fewer with `--threads`")]
    Threads { threads: usize, error: rayon::ThreadPoolBuildError },
    #[error("cannot draw {name}: {error}")]
    Figure { name: String, error: cutline_figure::PngError },
    #[error("cannot write the report: {0}")]
    Report(#[from] askama::Error),
    #[error("cannot print: {0}")]
    Print(std::io::Error),
    #[error("{missing} of {cells} cells do not match the published numbers")]
    Mismatch { missing: usize, cells: usize },
    #[error("{tickets} tickets failed in a row, the last one because {reason}; see to the command and run it again")]
    GaveUp { tickets: u32, reason: String },
    #[error("cannot start `{program}`: {error}; name a program that can be executed with `--measure`")]
    NotStarted { program: String, error: std::io::Error },
    /// Whoever read our output has closed it, as `head` does. That is no failure.
    #[error("the reader of the output is gone")]
    ReaderGone,
}

impl Failure {
    /// What the program ends with.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::ReaderGone => 0,
            Self::Usage(_) => 2,
            _ => 1,
        }
    }

    /// The message on one line, whatever the names in it contain.
    pub(crate) fn line(&self) -> String {
        let escaped = |c: char| if c.is_control() { c.escape_default().collect() } else { String::from(c) };
        self.to_string().chars().map(escaped).collect()
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        if error.kind() == std::io::ErrorKind::BrokenPipe { Self::ReaderGone } else { Self::Print(error) }
    }
}
