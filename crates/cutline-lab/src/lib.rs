//! The lab of Cutline: it knows the truth, so it can say how often an algorithm gets it wrong.
//!
//! An [`Experiment`] is a TOML file: instances, noise, budgets and the algorithms that compete. [`simulate`] plays any range of
//! its runs, in parallel and bit-identical however they are spread; [`rows`](rows()) turns the counts into results.
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
pub mod coverage;
pub mod dataset;
mod entrant;
pub mod exact;
mod experiment;
#[cfg(feature = "figure")]
pub mod figures;
mod file;
mod forecast;
mod instance;
mod keys;
pub mod metrics;
mod monte_carlo;
mod noise;
mod numpy;
pub mod paper;
mod plan;
mod planned;
mod play;
mod prior;
mod published;
pub mod rewards;
mod rows;
mod source;
mod stopped;
pub mod theory;

pub use allocation::Allocation;
pub use entrant::{Entrant, Oracle};
pub use experiment::{Experiment, ExperimentError, Extensions, Overrides, Published};
pub use forecast::{BudgetAnswer, Forecast, ForecastRow, SkippedBudgets, Theorem1Row};
pub use instance::{Instance, InstanceError, Threshold};
pub use keys::FileError;
pub use monte_carlo::{Cell, RunError, Tally, simulate};
pub use noise::{Noise, NoiseError, NoiseKind};
pub use numpy::RandomState;
pub use plan::{Plan, PlanError};
pub use planned::PlanReport;
pub use prior::{Prior, PriorError, ThetaPosterior};
pub use published::{PublishedCell, PublishedResult, compared, within_band};
pub use rows::{Comparison, Row, StoppingRow, compare, rows, z_against};
pub use source::{Draw, Instances, Source, SourceKind, Truth};
pub use stopped::StoppingTimes;
