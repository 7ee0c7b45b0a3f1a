//! The engine's tests, one program: the crate and its dependencies are linked once.

#[path = "../common/mod.rs"]
mod common;

mod batch;
mod centre;
mod contract;
mod covariance;
mod custom;
mod diagnostics;
mod examples;
mod grapl;
mod lazy;
mod level_sets;
mod many_arms;
mod mixed;
mod numerics;
mod pinned;
mod plain;
mod shown;
mod stops;
mod units;
mod verdicts;
