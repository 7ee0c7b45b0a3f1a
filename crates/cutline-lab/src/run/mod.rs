//! Runs: one simulated campaign after another, on all threads, the same bits in any order.

pub(crate) mod checkpoint;
pub(crate) mod entrant;
pub(crate) mod monte_carlo;
pub(crate) mod per_run;
pub(crate) mod play;
pub(crate) mod ranges;
