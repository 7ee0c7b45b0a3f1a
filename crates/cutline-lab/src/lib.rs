//! The lab of Cutline: it knows the true means, so it can measure how often an algorithm is wrong.
//!
//! An [`Experiment`] is a TOML file: instances, noise, budgets and the algorithms that compete. [`simulate`] plays any range of
//! its runs, in parallel and bit-identical for any number of threads or splits; [`rows`](rows()) turns the counts into results.
//! A [`Plan`] plays campaigns whose true means are drawn from a prior: it finds the budget that a campaign needs.
//!
//! ```
//! use cutline_lab::{Overrides, SimulateOptions, paper, rows, simulate};
//!
//! let experiment = paper::experiment("uniform-d5", Overrides::default()).expect("one of the paper's");
//! let tally = simulate(&experiment, 0..100, SimulateOptions::default())?.tally;
//! let row = &rows(&experiment, &tally)[0];
//! assert_eq!((row.algorithm.as_str(), row.budget, row.runs), ("random", 40, 100));
//! # Ok::<(), cutline_lab::RunError>(())
//! ```

mod experiment;
mod instance;
mod published;
mod results;
mod run;
pub mod theory;

pub use experiment::fingerprint::Fingerprint;
pub use experiment::keys::FileError;
pub use experiment::noise::{ArmScales, CustomNoise, ExperimentNoise};
pub use experiment::{Experiment, ExperimentError, Extensions, Overrides, PublishedCurve};
pub use instance::graphs::{GraphModel, GraphPrior};
pub use instance::noise::{Noise, NoiseError, NoiseKind};
pub use instance::source::{CustomInstances, DrawSchedule, InstanceKind, InstanceSource, Truth};
pub use instance::tables;
pub use instance::{Instance, InstanceError, Threshold};
pub use published::numpy::RandomState;
pub use published::{
    ComparedLine, Metric, PublishedCell, PublishedMeans, PublishedResult, compared, compared_lines, within_band,
};
pub use published::{exact, field, paper};
#[cfg(feature = "figure")]
pub use results::figures;
pub use results::outputs::{OutputTimes, WholeSum};
pub use results::rows::{Comparison, Row, StoppingRow, compare, rows, z_against};
pub use results::stopped::StoppingTimes;
pub use results::tally::{Cell, Tally, TallyError};
pub use run::checkpoint::{Checkpoint, CheckpointError};
pub use run::entrant::{Entrant, Oracle};
pub use run::monte_carlo::{RunError, SimulateOptions, Simulated, Watch, simulate};
pub use run::per_run::PerRun;
pub use run::ranges::RunRanges;
pub use theory::allocation::Allocation;
pub use theory::optimal_gamma::OptimalGamma;
pub use theory::tracking::{ORACLE, oracle_spec};
