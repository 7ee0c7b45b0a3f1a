//! Wrong command lines: exit code 2, a message, and nothing written.

use crate::common::process::wait_for_work;
use crate::common::{Place, Ran};

fn usage_error(args: &[&str]) -> String {
    let place = Place::new();
    let Ran { code, stdout, stderr } = place.run(args);
    assert_eq!((code, stdout.as_str()), (Some(2), ""), "{args:?}");
    assert_eq!(place.names(""), ["small.toml"], "{args:?} wrote something");
    stderr
}

#[test]
fn unknown_experiments() {
    let message = usage_error(&["reproduce", "uniform-d6"]);
    assert!(message.starts_with("error: invalid value 'uniform-d6'"), "{message}");
    assert!(message.contains("uniform-d5, uniform-d20, iris, wine"), "{message}");
}

#[test]
fn exact_conflicts_with_options_that_would_change_it() {
    let others: [&[&str]; 7] = [
        &["--runs", "5"],
        &["--seed", "1"],
        &["--instances", "both"],
        &["--out", "x"],
        &["--format", "json"],
        &["--all"],
        &["--verbose"],
    ];
    for other in others {
        let message = usage_error(&[&["reproduce", "--exact"], other].concat());
        assert!(message.starts_with("error: the argument '--") && message.contains("--exact"), "{message}");
        assert!(message.contains("cannot be used with"), "{message}");
    }
    let message = usage_error(&["reproduce", "--exact", "wine", "csar"]);
    assert_eq!(message, "error: `--exact` is for the experiments of the LinearAPT paper, and `csar` is not one\n");
}

#[test]
fn numbers_out_of_range() {
    for (option, value) in [
        ("--runs", "0"),
        ("--runs", "-1"),
        ("--runs", "1.5"),
        ("--runs", "1125899906842625"),
        ("--runs", "99999999999999999999999"),
        ("--threads", "0"),
        ("--threads", "4097"),
        ("--threads", "x"),
        ("--seed", "-1"),
        ("--seed", "18446744073709551616"),
        ("--format", "xml"),
        ("--out", ""),
    ] {
        for command in [&["simulate", "small.toml"][..], &["reproduce", "uniform-d5"]] {
            let message = usage_error(&[command, &[option, value]].concat());
            assert!(message.starts_with("error: "), "{message}");
        }
    }
}

#[test]
fn missing_and_unknown_commands() {
    for args in [&[][..], &["simulate"], &["simulat", "small.toml"], &["simulate", "small.toml", "small.toml"]] {
        assert!(usage_error(args).contains("Usage: cutline"), "{args:?}");
    }
    assert!(usage_error(&["reproduce", "--instances", "mine"]).contains("published, redrawn, both"));
}

/// The largest number of runs starts: the number of its pulls does not overflow.
#[test]
fn the_largest_number_of_runs() {
    let place = Place::new();
    let args = ["reproduce", "--runs", "1125899906842623", "--threads", "1"];
    let mut child =
        place.cutline(&args).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    wait_for_work(child.id());
    assert_eq!(child.try_wait().unwrap(), None, "still at work");
    child.kill().unwrap();
    child.wait().unwrap();
}
