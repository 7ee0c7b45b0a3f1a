//! Shared by the test suites: a valid experiment to change, and ways to run one.

#![allow(dead_code, reason = "each suite uses a part of it")]

use cutline::ALGORITHMS;
use cutline_lab::{Cell, Experiment, SimulateOptions, Tally, simulate};
use std::path::Path;

/// A small valid experiment. Errors about changed copies name its lines: `[instance]` is line 7, the algorithms are lines 12
/// and 15.
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

/// The keys of `[instance]` in [`GOOD`].
pub const UNIFORM: &str = "kind = \"uniform\"\nn_arms = 20\ndimension = 5\n";

/// [`GOOD`] with `from`, which occurs in it once, replaced by `to`.
pub fn changed(from: &str, to: &str) -> String {
    assert_eq!(GOOD.matches(from).count(), 1, "`{from}` occurs once");
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

/// The error of an experiment file: "line: message", and the message is one line.
pub fn refusal(text: &str, directory: &Path) -> String {
    let error = match Experiment::parse(text, directory) {
        Ok(_) => panic!("this should be refused:\n{text}"),
        Err(error) => error.to_string(),
    };
    assert!(!error.contains(char::is_control), "not one line: {error:?}");
    error
}

/// Checks the error of [`GOOD`] after each change: the text to replace, its replacement, and the error.
pub fn assert_refused(table: &[(&str, &str, &str)]) {
    for &(from, to, expected) in table {
        assert_eq!(refusal(&changed(from, to), Path::new("")), expected, "`{from}` replaced by `{to}`");
    }
}

/// Runs 0 to `runs` of an experiment.
pub fn play(experiment: &Experiment, runs: u64) -> Tally {
    simulate(experiment, 0..runs, SimulateOptions::default()).expect("it was checked").tally
}

/// The cells of one entrant, one per budget.
pub fn cells(experiment: &Experiment, tally: &Tally, entrant: usize) -> Vec<Cell> {
    (0..experiment.budgets().len()).map(|budget| tally.cell(entrant, budget)).collect()
}

/// An experiment in which every algorithm takes part under its own name, with `keys` where it has a parameter λ.
pub fn all_algorithms(head: &str, instance: &str, keys: &str) -> Experiment {
    let algorithm = |algorithm: &cutline::Algorithm| {
        let keys = if algorithm.parameters().any(|parameter| parameter.name == "lambda") { keys } else { "" };
        format!("name = \"{0}\"\nlabel = \"{0}\"\n{keys}", algorithm.name)
    };
    let takes_stop = |algorithm: &&cutline::Algorithm| !(head.contains("stop =") && algorithm.starves_arms);
    let algorithms: Vec<String> = ALGORITHMS.iter().filter(takes_stop).map(algorithm).collect();
    experiment(head, instance, &algorithms.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The cells of every entrant of an experiment after so many runs, in one list.
pub fn all_cells(experiment: &Experiment, runs: u64) -> Vec<Cell> {
    let tally = play(experiment, runs);
    (0..experiment.entrants().len()).flat_map(|entrant| cells(experiment, &tally, entrant)).collect()
}
