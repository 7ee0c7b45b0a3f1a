//! One trajectory serves all budgets, and gives at each what an experiment of that budget alone would.

mod common;

use common::{UNIFORM, all_cells, experiment};

const BUDGETS: [u32; 4] = [20, 33, 34, 70];

/// What an algorithm does at all budgets from one experiment, and from one experiment each.
fn together_and_alone(algorithm: &str, instance: &str) {
    let run = |budgets: &[u32]| {
        let head = format!("budgets = {budgets:?}\nthreshold = 0.1\nprecision = 0.01");
        all_cells(&experiment(&head, instance, &[algorithm]), 120)
    };
    let together = run(&BUDGETS);
    let alone: Vec<_> = BUDGETS.iter().flat_map(|&budget| run(&[budget])).collect();
    assert_eq!(together, alone, "{algorithm}");
    assert!(together.windows(2).all(|pair| pair[0] != pair[1]), "{algorithm}: the budgets differ");
}

#[test]
fn algorithms_that_do_not_know_the_budget() {
    for name in ["random", "apt", "linear-apt", "pivot"] {
        together_and_alone(&format!("name = \"{name}\""), UNIFORM);
    }
}

#[test]
fn ucbe_whose_exploration_depends_on_the_budget() {
    for keys in ["exponent = -1", "exponent = 0", "exponent = 4", "complexity = \"as-published\"", "exploration = 2"] {
        together_and_alone(&format!("name = \"ucbe\"\n{keys}"), UNIFORM);
    }
}

#[test]
fn one_instance_for_all_runs() {
    for name in ["random", "apt", "linear-apt", "ucbe", "pivot"] {
        together_and_alone(&format!("name = \"{name}\""), &format!("{UNIFORM}draw = \"published\""));
    }
}

/// Before its opening ends, APT has pulled the first T arms once each: with T = 1 of two arms it knows nothing of the
/// second, calls it above, and so always fails where that one is below.
#[test]
fn budgets_within_the_opening() {
    let instance = "kind = \"means\"\nmeans = [50.0, -50.0]";
    let experiment = experiment("budgets = [1, 2]\nthreshold = 0.0", instance, &["name = \"apt\""]);
    let failures: Vec<u64> = all_cells(&experiment, 50).iter().map(|cell| cell.failures).collect();
    assert_eq!(failures, [50, 0]);
}
