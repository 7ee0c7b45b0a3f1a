//! The lab's tests, one program: the crate and its dependencies are linked once.

#[path = "../common/mod.rs"]
mod common;

mod allocation;
mod anytime;
mod bad_algorithms;
mod bad_files;
mod bad_instances;
mod bad_variants;
mod combinatorial;
mod confidence;
mod costs;
mod custom;
mod determinism;
mod diagnostics;
mod good_arms;
mod index_rules;
mod instances;
mod lingame;
mod mixed;
mod monotone;
mod osi;
mod paired;
mod per_run;
mod pilot;
mod planning;
mod published;
mod related;
mod replay;
mod statistics;
mod stopping;
mod tallies;
mod theorem_1;
mod variants;
