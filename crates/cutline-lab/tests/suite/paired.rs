//! All entrants face the same instances and noise, so that differences are paired; and every parameter is read.

use crate::common::{GOOD, UNIFORM, all_cells, cells, changed, experiment, parse, play, refusal};
use cutline::ALGORITHMS;
use cutline_lab::{Entrant, rows};

#[test]
fn twins_do_the_same() {
    for algorithm in ALGORITHMS {
        let twin = |label| format!("name = \"{}\"\nlabel = \"{label}\"", algorithm.name);
        let other = if algorithm.name == "random" { "pivot" } else { "random" };
        let experiment = experiment(
            "budgets = [25, 60]\nthreshold = 0.0\nprecision = 0.01\nbaseline = \"a\"",
            UNIFORM,
            &[&twin("a"), &format!("name = \"{other}\"\nlabel = \"c\""), &twin("b")],
        );
        let tally = play(&experiment, 150);
        let [a, b, c] = [0, 2, 1].map(|entrant| cells(&experiment, &tally, entrant));
        assert_eq!(a, b, "{}", algorithm.name);
        assert_ne!(a, c, "{}", algorithm.name);
        let differ = [0, 1].map(|budget| tally.only(0, 2, budget) + tally.only(2, 0, budget));
        assert_eq!(differ, [0, 0], "{}", algorithm.name);
        for row in &rows(&experiment, &tally)[4..] {
            let comparison = row.comparison.as_ref().unwrap();
            assert_eq!((comparison.baseline.as_str(), comparison.difference), ("a", 0.0));
        }
    }
}

/// The counts of runs that only one of the two failed give the difference of their failures, and pairing makes its
/// interval far narrower than that of independent runs would be, if the two are much alike.
#[test]
fn differences_are_paired() {
    let text = changed("runs = 10", "baseline = \"linear-apt\"");
    let experiment = parse(&text.replace("\"pivot\"", "\"linear-apt\"\nlabel = \"λ = 1.2\"\nlambda = 1.2"));
    let runs = 1_000;
    let tally = play(&experiment, runs);
    let (base, other) = (cells(&experiment, &tally, 0), cells(&experiment, &tally, 1));
    let rows = rows(&experiment, &tally);
    for column in 0..2 {
        let (base, other, row) = (base[column], other[column], &rows[2 + column]);
        let (only_other, only_base) = (tally.only(1, 0, column), tally.only(0, 1, column));
        assert_eq!(other.failures + only_base, base.failures + only_other);
        assert!(only_other > 0 && only_base > 0);
        let comparison = row.comparison.as_ref().unwrap();
        assert!((comparison.difference - (row.failure_rate - rows[column].failure_rate)).abs() < 1e-12);
        let spread = |p: f64| p * (1.0 - p) / runs as f64;
        let independent = 3.92 * (spread(row.failure_rate) + spread(rows[column].failure_rate)).sqrt();
        assert!(comparison.difference_high - comparison.difference_low < 0.7 * independent);
    }
}

#[test]
fn every_parameter_of_an_algorithm_matters() {
    let head = "budgets = [30, 60]\nthreshold = 0.2\nprecision = 0.01";
    for (one, other) in [
        ("name = \"linear-apt\"\nlambda = 1.0", "name = \"linear-apt\"\nlambda = 30.0"),
        ("name = \"random\"\nlambda = 1.0", "name = \"random\"\nlambda = 30.0"),
        ("name = \"ucbe\"\nlambda = 1.0", "name = \"ucbe\"\nlambda = 30.0"),
        ("name = \"pivot\"\nlambda = 1.0", "name = \"pivot\"\nlambda = 30.0"),
        ("name = \"pivot\"\nnoise = 1.0", "name = \"pivot\"\nnoise = 3.0"),
        ("name = \"ucbe\"\nexponent = 0", "name = \"ucbe\"\nexponent = 4"),
        ("name = \"ucbe\"\nexponent = 0", "name = \"ucbe\"\ncomplexity = \"as-published\""),
        ("name = \"ucbe\"\nexploration = 0.1", "name = \"ucbe\"\nexploration = 10"),
        ("name = \"apt\"", "name = \"apt\"\nestimator = \"ridge\""),
    ] {
        let cells = |algorithm| all_cells(&experiment(head, UNIFORM, &[algorithm]), 200);
        assert_eq!(cells(one), cells(one));
        assert_ne!(cells(one), cells(other), "{one} and {other}");
    }
}

/// The published UCBE ignores its exponent by design.
#[test]
fn the_published_ucbe_ignores_its_exponent() {
    let head = "budgets = [30, 60]\nthreshold = 0.2\nprecision = 0.01";
    let entrants = ["-1", "4"].map(|i| format!("name = \"ucbe\"\nexponent = {i}\ncomplexity = \"as-published\""));
    let experiment = experiment(head, UNIFORM, &[&entrants[0], &entrants[1]]);
    let labels: Vec<&str> = experiment.entrants().iter().map(Entrant::label).collect();
    assert_eq!(labels, ["ucbe(-1, as-published)", "ucbe(4, as-published)"]);
    let cells = all_cells(&experiment, 100);
    assert_eq!(cells[..2], cells[2..]);
}

#[test]
fn every_setting_of_an_experiment_matters() {
    for (from, to) in [
        ("threshold = 0.0", "threshold = 0.3"),
        ("threshold = 0.0", "threshold = \"mean\""),
        ("precision = 0.01", "precision = 0.2"),
        ("noise = 1.0", "noise = 2.0"),
        ("noise = 1.0", "noise = { kind = \"rademacher\" }"),
        ("noise = 1.0", "noise = { kind = \"uniform\" }"),
        ("noise = 1.0", "noise = { kind = \"uniform\", scale = 2 }"),
        ("n_arms = 20", "n_arms = 19"),
        ("dimension = 5", "dimension = 6"),
        ("dimension = 5", "dimension = 5\nredraw = false"),
        ("dimension = 5", "dimension = 5\ndraw = \"published\""),
    ] {
        assert_ne!(all_cells(&parse(GOOD), 200), all_cells(&parse(&changed(from, to)), 200), "{to}");
    }
    for same in ["noise = { kind = \"gaussian\" }", "noise = { scale = 1, kind = \"gaussian\" }", ""] {
        assert_eq!(all_cells(&parse(GOOD), 200), all_cells(&parse(&changed("noise = 1.0", same)), 200), "{same}");
    }
}

/// Pivot gets the experiment's noise scale, unless it sets its own.
#[test]
fn pivot_gets_the_noise_of_the_experiment() {
    let pivot = |keys: &str| {
        let head = "budgets = [30, 60]\nthreshold = 0.2\nnoise = 3.0";
        all_cells(&experiment(head, UNIFORM, &[&format!("name = \"pivot\"\n{keys}")]), 200)
    };
    assert_eq!(pivot(""), pivot("noise = 3.0"));
    assert_ne!(pivot(""), pivot("noise = 1.0"));
}

/// The joint decision changes answers, and not for the worse: with this seed 89 runs fail only without it and 65 only with it. If both were equally
/// good, the second number would be so much larger with a probability below 1e-3.
#[test]
fn a_joint_decision_is_not_worse() {
    let experiment = experiment(
        "seed = 3\nbudgets = [50]\nthreshold = \"mean\"\nprecision = 0.1",
        "kind = \"iris\"\nredraw = true",
        &["name = \"pivot\"\ndecision = \"separate\"", "name = \"pivot\"\nlabel = \"joint\"\ndecision = \"joint\""],
    );
    let tally = play(&experiment, 2_000);
    let (only_separate, only_joint) = (tally.only(0, 1, 0) as f64, tally.only(1, 0, 0) as f64);
    assert!(only_separate > 0.0 && only_joint > 0.0, "{only_separate} and {only_joint}");
    assert!(only_joint - only_separate < 3.1 * (only_joint + only_separate).sqrt(), "{only_separate} and {only_joint}");
    let text = changed("name = \"pivot\"\n", "name = \"pivot\"\ndecision = \"together\"\n");
    let expected = "17: `decision` must be one of \"separate\", \"joint\", not the text \"together\"";
    assert_eq!(refusal(&text, std::path::Path::new("")), expected);
}
