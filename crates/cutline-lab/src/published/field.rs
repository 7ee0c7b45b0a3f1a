//! Experiments with published numbers of other papers, compiled into the program.

use crate::experiment::{Experiment, Extensions, Overrides};

/// The names of the experiments and their files.
pub const EXPERIMENTS: &[(&str, &str)] = &[
    ("osi", include_str!("../../experiments/osi.toml")),
    ("gai-1", include_str!("../../experiments/gai-1.toml")),
    ("gai-2", include_str!("../../experiments/gai-2.toml")),
    ("monotone", include_str!("../../experiments/monotone.toml")),
    ("index-o1", include_str!("../../experiments/index-o1.toml")),
    ("index-s3", include_str!("../../experiments/index-s3.toml")),
    ("index-l1", include_str!("../../experiments/index-l1.toml")),
    ("index-l2", include_str!("../../experiments/index-l2.toml")),
    ("index-l3", include_str!("../../experiments/index-l3.toml")),
    ("csar", include_str!("../../experiments/csar.toml")),
    ("grapl-cliques", include_str!("../../experiments/grapl-cliques.toml")),
    ("grapl-blocks", include_str!("../../experiments/grapl-blocks.toml")),
    ("level-sets", include_str!("../../experiments/level-sets.toml")),
    ("thr", include_str!("../../experiments/thr.toml")),
];

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
