#![doc = include_str!("../README.md")]

pub mod dataset;
pub mod edges;
mod exported;
pub mod input;
pub mod rewards;
pub mod spreadsheet;
