//! One trajectory serves all budgets, and gives at each what an experiment with only that budget gives.

use crate::common::{UNIFORM, all_cells, experiment};
use cutline::ALGORITHMS;

const BUDGETS: [u32; 4] = [20, 33, 34, 70];

/// Checks that one experiment with all budgets gives the cells of one experiment per budget; whether all of them differ.
fn assert_budgets_agree(algorithm: &str, instance: &str) -> bool {
    let run = |budgets: &[u32]| {
        let head = format!("budgets = {budgets:?}\nthreshold = 0.1\nprecision = 0.01");
        all_cells(&experiment(&head, instance, &[algorithm]), 120)
    };
    let together = run(&BUDGETS);
    let separate: Vec<_> = BUDGETS.iter().flat_map(|&budget| run(&[budget])).collect();
    assert_eq!(together, separate, "{algorithm}");
    together.windows(2).all(|pair| pair[0] != pair[1])
}

#[test]
fn algorithms_that_do_not_depend_on_the_budget() {
    for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.name != "ucbe") {
        let differ = assert_budgets_agree(&format!("name = \"{}\"", algorithm.name), UNIFORM);
        assert!(differ || algorithm.settles, "{}: the budgets differ", algorithm.name);
    }
}

#[test]
fn ucbe_whose_exploration_depends_on_the_budget() {
    for keys in ["exponent = -1", "exponent = 0", "exponent = 4", "complexity = \"as-published\"", "exploration = 2"] {
        assert!(assert_budgets_agree(&format!("name = \"ucbe\"\n{keys}"), UNIFORM), "{keys}: the budgets differ");
    }
}

#[test]
fn one_instance_for_all_runs() {
    for algorithm in ALGORITHMS {
        let instance = format!("{UNIFORM}draw = \"published\"");
        let differ = assert_budgets_agree(&format!("name = \"{}\"", algorithm.name), &instance);
        assert!(differ || algorithm.settles, "{}: the budgets differ", algorithm.name);
    }
}

/// In its opening APT pulls each arm once: with T = 1 of two arms it has no reward of the second, calls it above, and so
/// always fails where that one is below.
#[test]
fn budgets_within_the_opening() {
    let instance = "kind = \"means\"\nmeans = [50.0, -50.0]";
    let experiment = experiment("budgets = [1, 2]\nthreshold = 0.0", instance, &["name = \"apt\""]);
    let failures: Vec<u64> = all_cells(&experiment, 50).iter().map(|cell| cell.failures).collect();
    assert_eq!(failures, [50, 0]);
}
