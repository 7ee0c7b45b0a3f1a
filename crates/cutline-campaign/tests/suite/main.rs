//! The tests of campaigns, one program.

#[path = "../../../cutline/tests/common/mod.rs"]
mod common;

mod bernoulli;
mod campaign;
mod changes;
mod costs;
mod decision_history;
mod kinds;
mod limits;
mod noise;
mod plan;
mod proved;
