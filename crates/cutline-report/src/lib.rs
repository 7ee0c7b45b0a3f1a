#![doc = include_str!("../README.md")]

mod plan_figure;

pub use plan_figure::plan_figure;
