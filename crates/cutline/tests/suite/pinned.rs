//! The arms that each algorithm pulls for a fixed seed: a change here breaks the reproducibility of seeds.

use crate::common::{Problem, arms_of, spec};
use cutline::ALGORITHMS;
use std::fmt::Write;

/// One row per algorithm: the pulls after the first 8, which are the opening where there is one. An algorithm that settles arms may end
/// before its budget of 28.
const PINNED: &[(&str, &[usize])] = &[
    ("linear-apt", &[1, 7, 1, 1, 5, 5, 5, 5, 0, 0, 7, 7, 0, 0, 2, 2, 1, 2, 7, 7]),
    ("apt", &[4, 1, 2, 0, 4, 0, 2, 0, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 2, 2]),
    ("random", &[5, 2, 5, 6, 1, 1, 5, 6, 7, 1, 2, 1, 3, 7, 0, 7, 7, 7, 1, 7]),
    ("ucbe", &[1, 7, 5, 0, 2, 4, 0, 2, 5, 1, 3, 7, 6, 5, 2, 1, 2, 5, 7, 1]),
    ("straddle", &[0, 1, 1, 1, 3, 2, 0, 2, 2, 2, 2, 1, 2, 2, 3, 2, 2, 1, 2, 2]),
    ("clucb", &[0, 1, 2, 4, 0, 1, 2, 2, 3, 5, 6, 7, 3, 4, 5, 6, 7, 0, 0, 0]),
    ("lingame", &[2, 7, 6, 3, 4, 0, 6, 3, 0, 6, 4, 3, 1, 3, 6, 3, 4, 3, 2, 6]),
    ("lingape", &[6, 6, 0, 4, 0, 0, 0, 3, 3, 6, 0, 3, 0, 0, 3, 6, 0, 0, 0, 0]),
    ("csar", &[0, 1, 2, 4, 5, 6, 7, 1, 2, 7, 1, 2, 1, 1, 1, 1]),
    ("lsa", &[4, 1, 2, 0, 5, 7, 6, 4, 0, 2, 1, 5, 3, 6, 0, 4, 1, 3, 2, 5]),
    ("fwt", &[0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 4, 5, 6, 7, 3, 0, 1, 2, 4]),
    ("fwt-gaps", &[0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 4]),
    ("hdoc", &[2, 4, 1, 0, 0, 0, 0]),
    ("lucb-g", &[2, 4, 1, 0, 0, 0, 0]),
    ("apt-g", &[4, 1, 2, 0, 4, 0, 2, 0, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 2, 2]),
    ("lil-hdoc", &[2, 2, 4, 2, 1, 1, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]),
    ("explore", &[5, 6, 3, 5, 5, 6, 3, 5, 3, 3, 5, 5, 6, 6, 7, 7]),
    ("pivot", &[0, 6, 3, 0, 0, 3, 0, 3, 3, 3, 6, 0, 3, 3, 0, 6, 3, 3, 0, 3]),
    ("grapl", &[7, 7, 7, 5, 7, 7, 1, 0, 2, 5, 0, 2, 0, 5, 5, 5, 2, 5, 0, 2]),
    ("random-straddle", &[0, 3, 1, 1, 0, 3, 1, 1, 1, 0, 0, 0, 0, 1, 6, 1, 1, 1, 0, 1]),
    ("lse", &[0, 1, 1, 1, 1, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 2, 1, 6, 3, 1]),
    ("lucb", &[4, 1, 2, 0, 5, 7, 6, 4, 0, 2, 1, 3, 5, 0, 4, 5, 6, 1, 7, 2]),
    ("easiest", &[3, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 7, 7, 7, 6]),
    ("fws", &[0, 1, 2, 3, 4, 5, 6, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
    ("g-allocation", &[4, 2, 5, 5, 6, 3, 4, 2, 6, 3, 0, 6, 4, 3, 6, 4, 4, 1, 5, 6]),
    ("t-adaptive", &[4, 2, 5, 5, 6, 3, 4, 2, 6, 3, 6, 6, 4, 3, 6, 0, 3, 6, 4, 2]),
];

fn pulls(name: &str) -> Vec<usize> {
    let problem = Problem::uniform(8, 3, 42);
    let mut learner = spec(name).learner(&problem.arms(), problem.question, 28, 7).unwrap();
    arms_of(learner.as_mut(), &problem, 7)
}

#[test]
fn every_algorithm_is_pinned() {
    let mut missing = String::new();
    for algorithm in ALGORITHMS {
        let arms = pulls(algorithm.name);
        match PINNED.iter().find(|(name, _)| *name == algorithm.name) {
            Some((_, pinned)) => assert_eq!(arms[8..], **pinned, "{}", algorithm.name),
            None => writeln!(missing, "pin `{}`: (\"{0}\", &{:?}),", algorithm.name, &arms[8..]).unwrap(),
        }
    }
    assert!(missing.is_empty(), "{missing}");
}
