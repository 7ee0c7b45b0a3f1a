//! The lab of Cutline: it knows the true means, so it can measure how often an algorithm is wrong.
//!
//! An [`Experiment`] is a TOML file: instances, noise, budgets and the algorithms that compete. [`simulate`] plays any range of
//! its runs, in parallel and bit-identical for any number of threads or splits; [`rows`](rows()) turns the counts into results.
//! A [`Plan`] plays campaigns whose true means are drawn from a prior: it finds the budget that a campaign needs.
//!
//! ```
//! use cutline_lab::{Overrides, paper, rows, simulate};
//!
//! let experiment = paper::experiment("uniform-d5", Overrides::default()).expect("one of the paper's");
//! let tally = simulate(&experiment, 0..100, &|_| ())?;
//! let row = &rows(&experiment, &tally)[0];
//! assert_eq!((row.algorithm.as_str(), row.budget, row.runs), ("random", 40, 100));
//! # Ok::<(), cutline_lab::RunError>(())
//! ```

mod allocation;
pub mod calibration;
mod checkpoint;
pub mod coverage;
pub mod dataset;
mod dense;
pub mod edges;
mod entrant;
pub mod exact;
mod experiment;
mod experiment_noise;
mod exported;
pub mod field;
#[cfg(feature = "figure")]
pub mod figures;
mod file;
mod fingerprint;
mod graphs;
pub mod input;
mod instance;
mod julia;
mod keys;
mod known_instances;
pub mod metrics;
mod monte_carlo;
mod noise;
mod numpy;
mod optimal_gamma;
mod outputs;
mod pace;
pub mod paper;
mod per_run;
mod plan;
mod play;
mod published;
pub mod rewards;
mod rows;
mod run_ranges;
mod source;
pub mod spreadsheet;
mod standing;
mod stopped;
pub mod sure;
mod tally;
pub mod theory;
mod tracking;

pub use allocation::Allocation;
pub use checkpoint::{Checkpoint, CheckpointError};
pub use entrant::{Decision, Entrant, Oracle};
pub use experiment::{Experiment, ExperimentError, Extensions, Overrides, PublishedCurve};
pub use experiment_noise::{ArmScales, CustomNoise, ExperimentNoise};
pub use fingerprint::Fingerprint;
pub use graphs::{GraphModel, GraphPrior};
pub use instance::{Instance, InstanceError, Threshold};
pub use keys::FileError;
pub use monte_carlo::{RunError, Watch, simulate, simulate_per_run, simulate_watched};
pub use noise::{Noise, NoiseError, NoiseKind};
pub use numpy::RandomState;
pub use optimal_gamma::OptimalGamma;
pub use outputs::{OutputTimes, WholeSum};
pub use pace::Pace;
pub use per_run::PerRun;
pub use plan::{
    BudgetAnswer, Expectation, Forecast, ForecastRow, Goal, Pilot, PilotError, Plan, PlanCell, PlanError, PlanReport,
    PlanTally, PlannedCampaign, Prior, PriorError, Rest, SkippedBudgets, noise_and_spread,
};
pub use published::{
    ComparedLine, Metric, PublishedCell, PublishedMeans, PublishedResult, compared, compared_lines, within_band,
};
pub use rows::{Comparison, Row, StoppingRow, compare, rows, z_against};
pub use run_ranges::RunRanges;
pub use source::{CustomInstances, DrawSchedule, InstanceKind, InstanceSource, Truth};
pub use standing::{MAX_TEST_COST, ModelFit, Standing, serialize_amount};
pub use stopped::StoppingTimes;
pub use tally::{Cell, Tally, TallyError};
pub use tracking::{ORACLE, oracle_spec};
