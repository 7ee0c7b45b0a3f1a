//! Errors in the algorithms of an experiment file, and what is allowed.

use crate::common::{UNIFORM, all_cells, assert_refused, changed, experiment, parse, refusal};
use cutline::ALGORITHMS;
use std::path::Path;

const NAME: &str = "\"linear-apt\"";

#[test]
fn names_labels_and_keys() {
    let known: Vec<String> = ALGORITHMS.iter().map(|algorithm| format!("`{}`", algorithm.name)).collect();
    assert_refused(&[
        (
            NAME,
            "\"linearapt\"",
            &format!("13: `name` is refused: unknown algorithm `linearapt`; known: {}", known.join(", ")),
        ),
        (NAME, "3", "13: `name` must be a text in quotes, not 3"),
        ("name = \"linear-apt\"", "label = \"a\"", "12: [[algorithm]] needs the key `name`; it has `label`"),
        (
            NAME,
            "\"linear-apt\"\nseed = 1",
            "14: unknown key `seed` in [[algorithm]]; allowed are `name`, `label`, `estimator`, `stop`, `lambda`, `centre`, `intercept`, `decision`",
        ),
        (NAME, "\"linear-apt\"\nlabel = 3", "14: `label` must be a text in quotes, not 3"),
        (
            NAME,
            "\"linear-apt\"\nlabel = \"a\\tb\"",
            "14: `label` must be one line of text, without control characters, not the text \"a\\tb\"",
        ),
        (NAME, "\"pivot\"", "15: `algorithm` `pivot` is listed twice; give one a `label`"),
        (NAME, "\"linear-apt\"\nlabel = \"pivot\"", "16: `algorithm` `pivot` is listed twice; give one a `label`"),
        (
            "[[algorithm]]\nname = \"linear-apt\"\n\n[[algorithm]]\n",
            "[algorithm]\n",
            "12: `algorithm` must be a list, [[algorithm]], not a value of type table",
        ),
    ]);
    let head = "algorithm = []\nbudgets = [9]\nthreshold = 0\n[instance]\nkind = \"iris\"\n";
    assert_eq!(refusal(head, Path::new("")), "1: `algorithm` must name at least one algorithm");
}

#[test]
fn parameters() {
    let lambda = "14: `lambda` is refused: `lambda` must be a finite number of at least 1e-12, not";
    assert_refused(&[
        (NAME, "\"linear-apt\"\nlambda = 0", &format!("{lambda} 0")),
        (NAME, "\"linear-apt\"\nlambda = -1.0", &format!("{lambda} -1")),
        (NAME, "\"linear-apt\"\nlambda = inf", "14: `lambda` must be a finite number, not inf"),
        (NAME, "\"linear-apt\"\nlambda = \"1\"", "14: `lambda` must be a finite number, not the text \"1\""),
        (
            NAME,
            "\"apt\"\nlambda = 1.0",
            "14: unknown key `lambda` in [[algorithm]]; allowed are `name`, `label`, `estimator`, `stop`, `decision`",
        ),
        (
            NAME,
            "\"linear-apt\"\nnoise = 1.0",
            "14: unknown key `noise` in [[algorithm]]; allowed are `name`, `label`, `estimator`, `stop`, `lambda`, `centre`, `intercept`, `decision`",
        ),
        (
            NAME,
            "\"linear-apt\"\ncentre = 2",
            "14: `centre` is refused: `centre` must be a finite number between 0 and 1, not 2",
        ),
        (NAME, "\"linear-apt\"\ncentre = true", "14: `centre` must be a finite number, not a value of type boolean"),
        (
            NAME,
            "\"linear-apt\"\nintercept = -1",
            "14: `intercept` is refused: `intercept` must be a finite number of at least 0, not -1",
        ),
        (
            NAME,
            "\"apt\"\ncentre = 1",
            "14: unknown key `centre` in [[algorithm]]; allowed are `name`, `label`, `estimator`, `stop`, `decision`",
        ),
        (NAME, "\"ucbe\"\nexponent = nan", "14: `exponent` must be a finite number, not nan"),
        (
            NAME,
            "\"ucbe\"\ncomplexity = \"mine\"",
            "14: `complexity` must be one of \"as-published\", \"as-specified\", not the text \"mine\"",
        ),
        (
            NAME,
            "\"ucbe\"\nexploration = 1\nexponent = 0",
            "15: unknown key `exponent` in [[algorithm]]; allowed are `name`, `label`, `estimator`, `stop`, `exploration`, `lambda`, `centre`, `intercept`, `decision`",
        ),
    ]);
    let tiny = refusal(&changed(NAME, "\"linear-apt\"\nlambda = 1e-13"), Path::new(""));
    assert!(tiny.starts_with(lambda), "{tiny}");
    parse(&changed(NAME, "\"linear-apt\"\nlambda = 1e-12"));
}

#[test]
fn estimators() {
    assert_refused(&[
        (
            "\"pivot\"",
            "\"pivot\"\nestimator = \"sample-mean\"",
            "17: `estimator` is refused: the rule `pivot` needs variances, which the estimator `sample-mean` does not have",
        ),
        (
            NAME,
            "\"linear-apt\"\nestimator = \"median\"",
            "14: `estimator` is refused: unknown estimator `median`; known: `sample-mean`, `isotonic`, `ridge`, `mixed`",
        ),
        (NAME, "\"linear-apt\"\nestimator = 1", "14: `estimator` must be a text in quotes, not 1"),
        (
            "\"pivot\"",
            "\"lingame\"\nestimator = \"mixed\"",
            "17: `estimator` is refused: the rule `lingame` needs a σ that does not change, and the estimator `mixed` learns σ from the \
             rewards",
        ),
        (
            "\"pivot\"",
            "\"pivot\"\nestimator = \"mixed\"\nlambda = 1",
            "18: unknown key `lambda` in [[algorithm]]; allowed are `name`, `label`, `estimator`, `stop`, `noise`, `landmarks`, `length`, \
             `additive`, `linear`, `smooth`, `own`, `known_noise`, `explore`, `decision`",
        ),
        (
            NAME,
            "\"linear-apt\"\nestimator = \"sample-mean\"\nlambda = 1",
            "15: unknown key `lambda` in [[algorithm]]; allowed are `name`, `label`, `estimator`, `stop`, `decision`",
        ),
    ]);
}

#[test]
fn linear_apt_with_sample_means_is_apt() {
    let linear = "name = \"linear-apt\"\nestimator = \"sample-mean\"";
    let experiment =
        experiment("budgets = [40, 80]\nthreshold = 0.1\n", UNIFORM, &[linear, "name = \"apt\"", "name = \"random\""]);
    let cells = all_cells(&experiment, 200);
    assert_eq!(cells[..2], cells[2..4]);
    assert_ne!(cells[..2], cells[4..]);
}

#[test]
fn apt_with_ridge_is_linear_apt() {
    let ridge = "name = \"apt\"\nestimator = \"ridge\"\nlambda = 0.5";
    let experiment = experiment(
        "budgets = [40]\nthreshold = 0.1\n",
        UNIFORM,
        &[ridge, "name = \"linear-apt\"\nlambda = 0.5", "name = \"linear-apt\"\nlabel = \"λ = 1\""],
    );
    let cells = all_cells(&experiment, 200);
    assert_eq!(cells[0], cells[1]);
    assert_ne!(cells[0], cells[2]);
}

/// Only algorithms that open with every arm need T ≥ K: anytime ones at the last budget, UCB-E at each.
#[test]
fn budgets_below_the_number_of_arms() {
    let small = |budget, label| {
        format!(
            "12: `algorithm` `{label}` does not fit: a budget of {budget} is too small for 20 arms: every arm is pulled once first"
        )
    };
    let refused = |budgets: &str, name: &str| {
        let text = changed("[40, 80]", budgets).replace(NAME, &format!("\"{name}\""));
        refusal(&text, Path::new(""))
    };
    for name in ["linear-apt", "apt", "random"] {
        assert_eq!(refused("[10, 19]", name), small(19, name));
        parse(&changed("[40, 80]", "[10, 20]").replace(NAME, &format!("\"{name}\"")));
    }
    assert_eq!(refused("[10, 20]", "ucbe"), small(10, "ucbe(0)"));
    parse(&changed("[40, 80]", "[1, 2]").replace(NAME, "\"pivot\"\nlabel = \"too\""));
}

/// The error has the line of the algorithm that does not fit, not of the first.
#[test]
fn the_one_that_does_not_fit_is_named() {
    let text = changed("[40, 80]", "[10]").replace("\"pivot\"", "\"random\"").replace(NAME, "\"pivot\"");
    let error = refusal(&text, Path::new(""));
    assert!(error.starts_with("15: `algorithm` `random` does not fit: a budget of 10"), "{error}");
}
