//! The tests of the program, one program: the crate and its dependencies are linked once.

#[path = "../common/mod.rs"]
mod common;
#[path = "../stored/mod.rs"]
mod stored;

mod algorithms;
mod ask_tell;
mod bad_input;
mod broken_pipe;
mod changes_are_kept;
mod check;
mod costs;
mod diagnose;
mod export;
mod few_threads;
mod hidden_characters;
mod inputs;
mod interrupt;
mod life;
mod manage;
mod mcp;
mod new;
mod nothing_is_lost;
mod overwrite;
mod passwords;
mod per_run;
mod plan;
mod postgres;
mod reading;
#[cfg(unix)]
mod remote;
mod remote_bytes;
mod remote_changes;
#[cfg(unix)]
mod replicas;
mod report;
mod reproduce;
mod resume;
mod run;
#[cfg(unix)]
mod serve;
mod server_limits;
mod server_soak;
mod simulate;
mod soak;
mod spreadsheet;
mod status;
mod stopping;
mod tls;
mod usage;
mod whole_life;
mod worked_example;
mod writing;
