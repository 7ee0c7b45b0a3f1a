#![doc = include_str!("../README.md")]

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
