//! What runs amount to: counts, rows of results, figures.

#[cfg(feature = "figure")]
pub mod figures;
pub(crate) mod outputs;
pub(crate) mod rows;
pub(crate) mod stopped;
pub(crate) mod tally;
