//! What must hold for any input, as functions of bytes: one `check` per module, which panics if it does not hold.
//!
//! `make fuzz` runs each of them under libFuzzer, which looks for bytes that reach new code. The test `seeded` runs each on its kept
//! corpus and on a few thousand seeded mutations of it.

#![expect(clippy::missing_panics_doc, reason = "to panic is what a check is for")]

pub mod address;
pub mod csv;
pub mod engine;
pub mod events;
pub mod experiment;
pub mod parquet;
pub mod rows;
pub mod tell;

mod dense;
mod model;
mod numbers;

/// A check of one input.
pub type Check = fn(&[u8]);

/// Every check, with its name: that of its module, its corpus and its fuzzing target.
pub const CHECKS: [(&str, Check); 8] = [
    ("address", address::check),
    ("csv", csv::check),
    ("engine", engine::check),
    ("events", events::check),
    ("experiment", experiment::check),
    ("parquet", parquet::check),
    ("rows", rows::check),
    ("tell", tell::check),
];

/// The longest input that is tried. Longer ones find nothing that shorter ones do not.
pub const MAX_BYTES: usize = 1 << 14;
