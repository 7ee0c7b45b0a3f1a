//! Tallies add up only if they are of one experiment and have no run in common; checkpoints hold them.

use crate::common;

use crate::common::parse;
use cutline_lab::{Checkpoint, CheckpointError, Experiment, Overrides, SimulateOptions, Tally, TallyError, simulate};
use std::path::Path;

const TEXT: &str = r#"name = "one"
seed = 3
runs = 40
budgets = [12, 30]
threshold = 0.1
precision = 0.02
noise = { kind = "gaussian", scale = 1.0 }
[instance]
kind = "uniform"
n_arms = 6
dimension = 3
redraw = true
[[algorithm]]
name = "linear-apt"
lambda = 1.0
[[algorithm]]
name = "pivot"
stop = { confidence = 0.1, by = "evidence" }
"#;

fn part(experiment: &Experiment, runs: std::ops::Range<u64>) -> Tally {
    simulate(experiment, runs, SimulateOptions::default()).unwrap().tally
}

/// Every change of a setting that determines runs changes the fingerprint.
#[test]
fn every_setting_that_determines_runs_is_in_the_fingerprint() {
    let one = parse(TEXT).fingerprint();
    assert_eq!(one, parse(TEXT).fingerprint());
    let changes = [
        ("seed = 3", "seed = 4"),
        ("budgets = [12, 30]", "budgets = [12, 31]"),
        ("budgets = [12, 30]", "budgets = [30]"),
        ("threshold = 0.1", "threshold = 0.10000000000000002"),
        ("threshold = 0.1", "threshold = \"mean\""),
        ("precision = 0.02", "precision = 0.03"),
        ("scale = 1.0", "scale = 1.5"),
        ("\"gaussian\"", "\"uniform\""),
        ("n_arms = 6", "n_arms = 7"),
        ("dimension = 3", "dimension = 2"),
        ("redraw = true", "redraw = false"),
        ("redraw = true", "redraw = true\nstandardise = true"),
        ("redraw = true", "redraw = true\noffset = 1.0"),
        ("lambda = 1.0", "lambda = 2.0"),
        ("lambda = 1.0", "lambda = 1.0\nintercept = 1.0"),
        ("name = \"linear-apt\"\nlambda = 1.0", "name = \"apt\""),
        ("\"pivot\"", "\"ucbe\"\nexploration = 1.0"),
        ("\"pivot\"", "\"pivot\"\nestimator = \"mixed\""),
        ("confidence = 0.1", "confidence = 0.2"),
        ("by = \"evidence\"", "by = \"intervals\""),
    ];
    let mut found = vec![one];
    for (old, new) in changes {
        let text = TEXT.replace(old, new);
        assert_ne!(text, TEXT, "{old} is in the text");
        let fingerprint = parse(&text).fingerprint();
        assert!(!found.contains(&fingerprint), "{new} gives a fingerprint that is there already");
        found.push(fingerprint);
    }
}

/// The costs of errors are seen by one rule alone, and by no other part of a run.
#[test]
fn costs_are_in_the_fingerprint() {
    let with = |costs: &str| {
        let instance = format!("kind = \"means\"\nmeans = [0.0, 1.0]\n{costs}");
        common::experiment("budgets = [9]\nthreshold = 0.5", &instance, &["name = \"fwt\""]).fingerprint()
    };
    assert_eq!(with("costs = [1.0, 2.0]"), with("costs = [1.0, 2.0]"));
    assert_ne!(with("costs = [1.0, 2.0]"), with("costs = [2.0, 1.0]"));
    assert_ne!(with(""), with("costs = [2.0, 1.0]"));
}

#[test]
fn names_and_the_number_of_runs_are_not() {
    let one = parse(TEXT).fingerprint();
    for (old, new) in
        [("\"one\"", "\"two\""), ("runs = 40", "runs = 50"), ("\"linear-apt\"", "\"linear-apt\"\nlabel = \"a\"")]
    {
        assert_eq!(parse(&TEXT.replace(old, new)).fingerprint(), one, "{new}");
    }
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let (one, other) = (parse(TEXT), parse(&TEXT.replace("seed = 3", "seed = 4")));
    let mut sum = part(&one, 10..20);
    let before = sum.clone();
    assert_eq!(sum.merge(&part(&other, 0..10)), Err(TallyError::Experiments));
    assert!(!part(&other, 0..1).fits(&one) && sum.fits(&one));
    let overlap = sum.merge(&part(&one, 5..13)).unwrap_err();
    assert_eq!(overlap, TallyError::Overlap(10..13));
    assert_eq!(overlap.to_string(), "runs 10 to 12 are in both tallies, so they cannot be added");
    let again = sum.merge(&before).unwrap_err();
    assert_eq!(again, TallyError::Overlap(10..20));
    assert_eq!(
        sum.merge(&part(&one, 19..21)).unwrap_err().to_string(),
        "run 19 is in both tallies, so they cannot be added"
    );
    assert_eq!(sum, before, "a refusal adds nothing");
    sum.merge(&part(&one, 0..10)).unwrap();
    assert_eq!(sum, part(&one, 0..20));
}

fn variants() -> Vec<Experiment> {
    let text = format!("{TEXT}\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\nseed = 9\n");
    Experiment::read_all(&text, "x", Path::new(""), Overrides::default(), &cutline_lab::Extensions::default()).unwrap()
}

#[test]
fn a_checkpoint_comes_back() {
    let both = variants();
    let mut checkpoint = Checkpoint::new(&both);
    checkpoint.add(1, &part(&both[1], 8..12)).unwrap();
    checkpoint.add(1, &part(&both[1], 20..30)).unwrap();
    let read = Checkpoint::read(&checkpoint.to_bytes(), &both).unwrap();
    assert_eq!(read, checkpoint);
    assert_eq!(read.tally(0).runs().n_runs(), 0);
    assert_eq!(read.tally(1).runs().missing(0..40), [0..8, 12..20, 30..40]);
    let swapped = [both[1].clone(), both[0].clone()];
    let found = Checkpoint::read(&checkpoint.to_bytes(), &swapped).unwrap();
    assert_eq!(found.tally(0), checkpoint.tally(1), "an experiment is found by its fingerprint");
}

#[test]
fn a_checkpoint_of_something_else_is_refused() {
    let both = variants();
    let mut checkpoint = Checkpoint::new(&both[..1]);
    checkpoint.add(0, &part(&both[0], 0..12)).unwrap();
    let bytes = checkpoint.to_bytes();
    let refused = |bytes: &[u8], experiments: &[Experiment]| Checkpoint::read(bytes, experiments).unwrap_err();
    assert_eq!(refused(&bytes, &both[1..]), CheckpointError::Experiment("a".into()));
    let few = parse(&TEXT.replace("runs = 40", "runs = 11"));
    assert_eq!(refused(&bytes, &[few]), CheckpointError::Runs { name: "a".into(), run: 11, runs: 11 });
    let text = String::from_utf8(bytes.clone()).unwrap();
    let older = text.replace(env!("CARGO_PKG_VERSION"), "0.0.9");
    assert_eq!(refused(older.as_bytes(), &both), CheckpointError::Version("0.0.9".into()));
    for damaged in ["", "{}", "[1]", &text[..text.len() - 1], &text.replace("\"start\":0", "\"start\":90")] {
        assert_eq!(refused(damaged.as_bytes(), &both), CheckpointError::NotACheckpoint, "{damaged}");
    }
}
