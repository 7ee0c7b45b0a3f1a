//! What the test suites share: a good experiment to spoil, and ways to run one.

#![allow(dead_code, reason = "each suite uses a part of it")]

use cutline_lab::{Cell, Experiment, Tally, simulate};
use std::path::Path;

/// A small experiment with nothing wrong. Complaints about changed ones name its lines: `[instance]` is line 7, the
/// algorithms are lines 12 and 15.
pub const GOOD: &str = r#"runs = 10
budgets = [40, 80]
threshold = 0.0
precision = 0.01
noise = 1.0

[instance]
kind = "uniform"
n_arms = 20
dimension = 5

[[algorithm]]
name = "linear-apt"

[[algorithm]]
name = "pivot"
"#;

/// What stands after `[instance]` in [`GOOD`].
pub const UNIFORM: &str = "kind = \"uniform\"\nn_arms = 20\ndimension = 5\n";

/// [`GOOD`] with `from`, which it has once, replaced by `to`.
pub fn changed(from: &str, to: &str) -> String {
    assert_eq!(GOOD.matches(from).count(), 1, "`{from}` is there once");
    GOOD.replace(from, to)
}

/// An experiment from its parts; each of `algorithms` is the inside of its table.
pub fn experiment(head: &str, instance: &str, algorithms: &[&str]) -> Experiment {
    let algorithms: Vec<String> = algorithms.iter().map(|keys| format!("[[algorithm]]\n{keys}\n")).collect();
    parse(&format!("{head}\n[instance]\n{instance}\n{}", algorithms.concat()))
}

pub fn parse(text: &str) -> Experiment {
    Experiment::parse(text, Path::new("")).unwrap_or_else(|error| panic!("line {error} of\n{text}"))
}

/// Why an experiment file is refused: "line: message", and the message is one line.
pub fn refusal(text: &str, directory: &Path) -> String {
    let error = match Experiment::parse(text, directory) {
        Ok(_) => panic!("this should be refused:\n{text}"),
        Err(error) => error.to_string(),
    };
    assert!(!error.contains(char::is_control), "not one line: {error:?}");
    error
}

/// Checks that [`GOOD`] is refused after each change: what to replace, by what, and the refusal.
pub fn assert_refused(table: &[(&str, &str, &str)]) {
    for &(from, to, expected) in table {
        assert_eq!(refusal(&changed(from, to), Path::new("")), expected, "`{from}` replaced by `{to}`");
    }
}

/// Runs 0 to `runs` of an experiment.
pub fn play(experiment: &Experiment, runs: u64) -> Tally {
    simulate(experiment, 0..runs, &|_| ()).expect("it was checked")
}

/// The cells of one entrant, a budget each.
pub fn cells(experiment: &Experiment, tally: &Tally, entrant: usize) -> Vec<Cell> {
    (0..experiment.budgets().len()).map(|budget| tally.cell(entrant, budget)).collect()
}

/// The cells of every entrant of an experiment after so many runs, in one list.
pub fn all_cells(experiment: &Experiment, runs: u64) -> Vec<Cell> {
    let tally = play(experiment, runs);
    (0..experiment.entrants().len()).flat_map(|entrant| cells(experiment, &tally, entrant)).collect()
}
