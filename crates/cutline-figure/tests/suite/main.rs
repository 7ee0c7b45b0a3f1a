//! The tests of figures, one program: the crate and its dependencies are linked once.

#[path = "../common/mod.rs"]
mod common;

mod decided;
mod figure;
mod verdict;
mod verdict_sizes;
