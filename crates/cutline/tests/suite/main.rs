//! The engine's tests, one program: the crate and its dependencies are linked once.

#[path = "../common/mod.rs"]
mod common;

mod batch;
mod bernoulli;
mod campaign;
mod centre;
mod changes;
mod contract;
mod costs;
mod covariance;
mod custom;
mod decision_history;
mod diagnostics;
mod examples;
mod grapl;
mod lazy;
mod level_sets;
mod limits;
mod many_arms;
mod mixed;
mod noise;
mod numerics;
mod pinned;
mod plain;
mod shown;
mod stops;
mod units;
mod verdicts;
