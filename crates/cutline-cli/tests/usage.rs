//! Calls that make no sense end with 2 and say what would.

mod common;

use common::{Place, Ran};

fn misused(args: &[&str]) -> String {
    let place = Place::new();
    let Ran { code, stdout, stderr } = place.run(args);
    assert_eq!((code, stdout.as_str()), (Some(2), ""), "{args:?}");
    assert_eq!(place.names(""), ["small.toml"], "{args:?} wrote something");
    stderr
}

#[test]
fn unknown_experiments() {
    let message = misused(&["reproduce", "uniform-d6"]);
    assert!(message.starts_with("error: invalid value 'uniform-d6'"), "{message}");
    assert!(message.contains("uniform-d5, uniform-d20, iris, wine"), "{message}");
}

#[test]
fn exact_takes_nothing_that_would_change_it() {
    let others: [&[&str]; 5] =
        [&["--runs", "5"], &["--seed", "1"], &["--instances", "both"], &["--out", "x"], &["--format", "json"]];
    for other in others {
        let message = misused(&[&["reproduce", "--exact"], other].concat());
        assert!(message.starts_with("error: the argument '--exact' cannot be used with"), "{message}");
    }
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
            let message = misused(&[command, &[option, value]].concat());
            assert!(message.starts_with("error: "), "{message}");
        }
    }
}

#[test]
fn nothing_or_nonsense() {
    for args in [&[][..], &["simulate"], &["simulat", "small.toml"], &["simulate", "small.toml", "small.toml"]] {
        assert!(misused(args).contains("Usage: cutline"), "{args:?}");
    }
    assert!(misused(&["reproduce", "--instances", "mine"]).contains("published, redrawn, both"));
}

/// The largest number of runs that is allowed starts, and its pulls overflow nothing.
#[test]
fn as_many_runs_as_allowed() {
    let place = Place::new();
    let args = ["reproduce", "--runs", "1125899906842623", "--threads", "1"];
    let mut child =
        place.cutline(&args).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(500));
    let ended = child.try_wait().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(ended, None, "still at work");
}
