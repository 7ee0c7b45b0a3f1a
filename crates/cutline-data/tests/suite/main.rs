//! The tests of reading, one program: the crate and its dependencies are linked once.

mod parquet;
mod tables;
