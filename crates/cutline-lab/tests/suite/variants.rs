//! Files with variants: each variant is the same experiment as a separate file with its keys.

use crate::common;

use crate::common::all_cells;
use cutline_lab::{Entrant, Experiment, Extensions, Overrides, PublishedCurve};
use std::path::Path;

fn read(text: &str) -> Vec<Experiment> {
    Experiment::read_all(text, "file", Path::new(""), Overrides::default(), &Extensions::default())
        .unwrap_or_else(|error| panic!("line {error} of\n{text}"))
}

const FILE: &str = r#"
runs = 10
budgets = [40, 80]
threshold = 0.0
noise = 1.0

[instance]
kind = "uniform"
n_arms = 20
dimension = 5

[[algorithm]]
name = "linear-apt"

[[variant]]
name = "plain"

[[variant]]
name = "changed"
seed = 3
noise = 2.0
budgets = [30]
instance = { n_arms = 9, offset = 1.0 }
algorithm = [{ name = "pivot" }]
baseline = "pivot"

[[variant]]
name = "in tables"
threshold = "mean"

[variant.instance]
redraw = false

[[variant.algorithm]]
name = "apt"
"#;

/// `FILE` up to its first variant, after changes.
fn alone(changes: &[(&str, &str)], more: &str) -> Experiment {
    let head = FILE.split("[[variant]]").next().unwrap();
    let text = changes.iter().fold(head.to_owned(), |text, (from, to)| {
        assert_eq!(text.matches(from).count(), 1, "`{from}` occurs once");
        text.replace(from, to)
    });
    common::parse(&format!("{text}{more}"))
}

#[test]
fn a_variant_equals_the_experiment_of_a_separate_file() {
    let experiments = read(FILE);
    let names: Vec<&str> = experiments.iter().map(Experiment::name).collect();
    assert_eq!(names, ["plain", "changed", "in tables"]);
    let expected = [
        alone(&[], ""),
        alone(
            &[
                ("runs = 10", "seed = 3\nbaseline = \"pivot\""),
                ("noise = 1.0", "noise = 2.0"),
                ("[40, 80]", "[30]"),
                ("n_arms = 20", "n_arms = 9\noffset = 1.0"),
            ],
            "[[algorithm]]\nname = \"pivot\"",
        ),
        alone(
            &[("threshold = 0.0", "threshold = \"mean\""), ("dimension = 5", "dimension = 5\nredraw = false")],
            "[[algorithm]]\nname = \"apt\"",
        ),
    ];
    for (ours, alone) in experiments.iter().zip(&expected) {
        let labels = |experiment: &Experiment| -> Vec<String> {
            experiment.entrants().iter().map(|entrant: &Entrant| entrant.label().to_owned()).collect()
        };
        assert_eq!(labels(ours), labels(alone), "{}", ours.name());
        assert_eq!((ours.seed(), ours.baseline()), (alone.seed(), alone.baseline()), "{}", ours.name());
        assert_eq!(all_cells(ours, 60), all_cells(alone, 60), "{}", ours.name());
    }
    let [plain, changed, _] = &experiments[..] else { unreachable!() };
    assert_ne!(all_cells(plain, 60)[0], all_cells(changed, 60)[0], "a variant changes the results");
}

#[test]
fn published_curves_are_added() {
    let curve = |success: &str| format!("curve = \"linear-apt\"\nruns = 9\nsuccess = {success}\n");
    let head = FILE.split("[[variant]]").next().unwrap();
    let text = format!(
        "{head}[[published]]\n{}[[variant]]\nname = \"a\"\n[[variant.published]]\n{}[[variant]]\nname = \"b\"\n",
        curve("[0.1, 0.2]"),
        curve("[0.3, 0.4]")
    );
    let experiments = read(&text);
    let success = |position: usize| -> Vec<&[f64]> {
        experiments[position].published().iter().map(PublishedCurve::success).collect()
    };
    assert_eq!(success(0), [[0.1, 0.2], [0.3, 0.4]]);
    assert_eq!(success(1), [[0.1, 0.2]]);
}

#[test]
fn overrides_apply_to_every_variant() {
    let overrides = Overrides { runs: Some(7), seed: Some(9), redraw: true };
    let read = Experiment::read_all(FILE, "file", Path::new(""), overrides, &Extensions::default()).unwrap();
    for experiment in &read {
        assert_eq!((experiment.runs(), experiment.seed()), (7, 9));
        assert!(experiment.name().ends_with("-redrawn") && experiment.source().fixed().is_none());
    }
}

/// A file with variants is not one experiment, unless it has just one.
#[test]
fn one_experiment_is_wanted() {
    let error = common::refusal(FILE, Path::new(""));
    assert_eq!(error, "1: the file holds several variants, not one experiment: `plain`, `changed`, `in tables`");
    let one = format!("{}[[variant]]\nname = \"only\"\n", FILE.split("[[variant]]").next().unwrap());
    assert_eq!(common::parse(&one).name(), "only");
}

/// The example of docs/experiments.md.
#[test]
fn the_documented_example() {
    let page = include_str!("../../../../docs/experiments.md");
    let example = page.split("## Variants").nth(1).and_then(|section| section.split("```toml").nth(1)).unwrap();
    let experiments = read(example.split("```").next().unwrap());
    let shown: Vec<_> =
        experiments.iter().map(|e| (e.name(), e.source().is_standardised(), e.entrants().len())).collect();
    assert_eq!(shown, [("iris-raw", false, 2), ("iris-standardised", true, 3)]);
}
