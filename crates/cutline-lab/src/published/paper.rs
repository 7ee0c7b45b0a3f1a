//! The four experiments of the LinearAPT paper, compiled into the program.

use crate::experiment::{Experiment, Extensions, Overrides};

/// The names of the experiments and their files, in the paper's order.
pub const EXPERIMENTS: [(&str, &str); 4] = [
    ("uniform-d5", include_str!("../../experiments/uniform-d5.toml")),
    ("uniform-d20", include_str!("../../experiments/uniform-d20.toml")),
    ("iris", include_str!("../../experiments/iris.toml")),
    ("wine", include_str!("../../experiments/wine.toml")),
];

/// The experiment of that name, if it is one of the paper's.
///
/// # Panics
/// Never: the files are compiled in and tested.
#[must_use]
pub fn experiment(name: &str, overrides: Overrides) -> Option<Experiment> {
    let (_, text) = EXPERIMENTS.iter().find(|(known, _)| *known == name)?;
    let experiment = Experiment::read(text, name, "".as_ref(), overrides, &Extensions::default());
    Some(experiment.expect("the file is part of the program"))
}
