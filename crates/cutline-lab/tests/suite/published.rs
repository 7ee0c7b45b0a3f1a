//! Published means of several metrics next to ours.

use crate::common::{parse, play};
use cutline_lab::{Metric, OptimalGamma, PublishedCell, compared, compared_lines, field, within_band};

/// Two arms at ±1 and noise ±3 in turn: after two pulls the outcome is a matter of two coins.
fn experiment(published: &str) -> cutline_lab::Experiment {
    parse(&format!(
        r#"
        budgets = [2]
        threshold = 0
        noise = {{ kind = "rademacher", scale = 3 }}
        instance = {{ kind = "means", means = [1, -1] }}
        algorithm = [{{ name = "apt" }}, {{ name = "clucb", label = "other" }}]
        published = [{published}]
        "#
    ))
}

fn cell(published: &str) -> PublishedCell {
    let experiment = experiment(published);
    let tally = play(&experiment, 400);
    compared(&experiment, &tally)[0].published.clone().expect("the first entrant has a published number")
}

/// An arm is wrong with probability ½, so 1 arm of 2 is on average, with variance ½; both arms are right with probability ¼.
#[test]
fn z_scores_by_hand() {
    let given = cell(r#"{ curve = "apt", metric = "wrong arms", values = [2], errors = [0.5] }"#);
    assert!((given.ours - 1.0).abs() < 0.2, "{}", given.ours);
    let experiment = experiment(r#"{ curve = "apt", metric = "wrong arms", values = [2], errors = [0.5] }"#);
    let counts = play(&experiment, 400).cell(0, 0);
    let (n, sum, squares) = (400.0, counts.errors as f64, counts.squared_errors as f64);
    let variance = (squares - sum * sum / n) / (n - 1.0);
    let ours = sum / n;
    let z = |error_squared: f64| (ours - 2.0) / (variance / n + error_squared).sqrt();
    assert!((given.z - z(0.25)).abs() < 1e-12);
    let deviations = r#"{ curve = "apt", metric = "wrong arms", values = [2], deviations = [5], runs = 100 }"#;
    assert!((cell(deviations).z - z(0.25)).abs() < 1e-12, "5/√100 = 0.5");
    let runs = r#"{ curve = "apt", metric = "wrong arms", values = [2], runs = 100 }"#;
    assert!((cell(runs).z - z(variance / 100.0)).abs() < 1e-12, "with our deviation");
    let (rate, pooled) = (counts.failures as f64 / n, (counts.failures as f64 + 50.0) / 500.0);
    let failures = cell(r#"{ curve = "apt", metric = "failure rate", values = [0.5], runs = 100 }"#);
    let expected = (rate - 0.5) / (pooled * (1.0 - pooled) * (1.0 / n + 0.01)).sqrt();
    assert!((failures.z - expected).abs() < 1e-12 && failures.ours == rate);
}

#[test]
fn every_entrant_has_the_metrics_of_the_experiment() {
    let experiment = experiment(
        r#"{ curve = "APT", algorithm = "apt", metric = "pulls", values = [2], runs = 9 },
           { curve = "apt", metric = "wrong arms", values = [1], runs = 9 },
           { curve = "again", algorithm = "apt", metric = "wrong arms", values = [1.5], errors = [0.01] }"#,
    );
    let tally = play(&experiment, 100);
    let lines = compared_lines(&experiment, &tally);
    let found: Vec<_> = lines
        .iter()
        .map(|line| {
            let curve = line.published.as_ref().map(|cells| cells[0].curve.as_str());
            (line.algorithm.as_str(), line.metric, curve)
        })
        .collect();
    let expected = [
        ("apt", Metric::Pulls, Some("APT")),
        ("apt", Metric::WrongArms, Some("apt")),
        ("apt", Metric::WrongArms, Some("again")),
        ("other", Metric::Pulls, None),
        ("other", Metric::WrongArms, None),
    ];
    assert_eq!(found, expected);
    assert_eq!((lines[0].ours[0], lines[3].ours[0]), (2.0, 2.0));
    let rows = compared(&experiment, &tally);
    assert_eq!((rows.len(), within_band(&rows)), (4, (2, 3)), "1.5 ± 0.01 is far away");
}

/// γ and the pulls of the bound follow from the instance: they need no runs, only the entrant that uses them has them, and z is the
/// difference in units of the last digit.
#[test]
fn gamma_is_compared_to_all_digits() {
    let experiment = parse(
        r#"
        budgets = [2]
        threshold = 0
        precision = 0.1
        noise = 0.5
        instance = { kind = "graph", model = "cliques", n_cliques = 2, size = 3, ridge = 1e-5 }
        algorithm = [{ name = "grapl" }, { name = "grapl", gamma = "optimal" }]
        published = [
          { curve = "a", algorithm = "grapl(optimal)", metric = "gamma", values = [130.5], errors = [0.5] },
          { curve = "a", algorithm = "grapl(optimal)", metric = "pulls of the bound", values = [17], errors = [0.5] },
        ]
        "#,
    );
    let instance = experiment.source().fixed().unwrap();
    let optimal = OptimalGamma::new(instance, 0.5, 1e-8).unwrap();
    let tally = play(&experiment, 1);
    let lines = compared_lines(&experiment, &tally);
    let found: Vec<_> = lines.iter().map(|line| (line.algorithm.as_str(), line.metric, line.ours[0])).collect();
    let name = "grapl(optimal)";
    assert_eq!(found, [(name, Metric::Gamma, optimal.gamma), (name, Metric::BoundPulls, optimal.pulls)]);
    let z = lines[0].published.as_ref().unwrap()[0].z;
    assert!((z - (optimal.gamma - 130.5) / 0.5).abs() < 1e-12, "{z}");
    assert_eq!(compared(&experiment, &tally).len(), 3, "the entrant without it has a row too");
}

#[test]
fn metrics_have_their_names() {
    for name in ["failure rate", "wrong arms", "pulls", "output 1", "output 12", "gamma", "pulls of the bound"] {
        assert_eq!(Metric::named(name).unwrap().to_string(), name);
    }
    for bad in ["output 0", "output", "output -1", "Pulls", ""] {
        assert_eq!(Metric::named(bad), None, "{bad}");
    }
}

/// Every experiment of the field has published numbers, and its file the name of the experiment or of its variants.
#[test]
fn experiments_of_the_field_are_good() {
    for (name, _) in field::EXPERIMENTS {
        let experiments = field::experiments(name, cutline_lab::Overrides::default()).expect("it is listed");
        for experiment in experiments {
            assert!(experiment.name().starts_with(name), "{} in {name}", experiment.name());
            assert!(!experiment.published_means().is_empty(), "{name}");
        }
    }
    assert!(field::experiments("osi-2", cutline_lab::Overrides::default()).is_none());
}
