//! Experiments with published numbers of other papers, compiled into the program.

use crate::experiment::{Experiment, Extensions, Overrides};

/// The names of the experiments and their files.
pub const EXPERIMENTS: &[(&str, &str)] = &[("index-o1", include_str!("../../../experiments/index-o1.toml"))];

/// The experiments of that name, if there are any: one, or one per variant of its file.
///
/// # Panics
/// Never: the files are compiled in and tested.
#[must_use]
pub fn experiments(name: &str, overrides: Overrides) -> Option<Vec<Experiment>> {
    let (_, text) = EXPERIMENTS.iter().find(|(known, _)| *known == name)?;
    let experiments = Experiment::read_all(text, name, "".as_ref(), overrides, &Extensions::default());
    Some(experiments.expect("the file is part of the program"))
}
