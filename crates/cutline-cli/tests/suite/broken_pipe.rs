//! Readers that close the output early, as `head` does: no message and exit code 0, for every command that prints on stdout.

#![cfg(unix)]

use crate::common::{Place, Ran};
use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

/// More arms than a pipe of 64 KB holds rows of.
const N_ARMS: usize = 5_000;

/// A place with a campaign over many arms, some of them measured.
fn place() -> Place {
    let place = Place::new();
    let arms = (0..N_ARMS).map(|arm| format!("an arm with quite a long name, number {arm}\n"));
    place.write("arms.csv", format!("name\n{}", arms.collect::<String>().replace(", ", " ")));
    place.good(&["new", "screen.db", "arms.csv", "--threshold", "0.5", "--budget", "20000"]);
    let tickets = place.good(&["ask", "screen.db", "-n", "3000", "--format", "csv"]).stdout;
    assert!(tickets.len() > 1 << 16);
    place
}

/// Runs a command whose output is closed after one line: exit code 0. What it printed on stderr.
fn closed_after_a_line(place: &Place, args: &[&str]) -> String {
    let mut child = place.cutline(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = Vec::new();
    let mut stdout = BufReader::with_capacity(16, child.stdout.take().unwrap());
    stdout.read_until(b'\n', &mut line).unwrap();
    assert!(!line.is_empty(), "{args:?} printed nothing");
    drop(stdout);
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
    ran.stderr
}

/// Runs a command whose output is closed before it prints: exit code 0. What it printed on stderr.
fn closed_at_once(place: &Place, args: &[&str]) -> String {
    let mut child = place.cutline(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
    ran.stderr
}

#[test]
fn long_outputs() {
    let place = place();
    for what in ["--events", "--verdicts"] {
        for format in ["csv", "json", "parquet"] {
            let args = ["export", "screen.db", what, "--format", format];
            let whole = place.cutline(&args).output().unwrap();
            assert!(format == "parquet" || whole.stdout.len() > 1 << 17, "a pipe would hold {args:?}");
            assert_eq!(closed_after_a_line(&place, &args), "", "{args:?}");
            assert_eq!(closed_at_once(&place, &args), "", "{args:?}");
        }
    }
    for format in ["table", "json", "csv"] {
        let args = ["ask", "screen.db", "-n", "3000", "--lease", "1s", "--format", format];
        assert_eq!(closed_after_a_line(&place, &args), "", "{args:?}");
    }
}

/// Tickets that were not read are returned to the budget.
#[test]
fn tickets_that_were_not_read_expire() {
    let place = place();
    for format in ["table", "json", "csv"] {
        assert_eq!(closed_at_once(&place, &["ask", "screen.db", "-n", "2000", "--format", format]), "");
    }
    let status = place.json(&["status", "screen.db"]);
    assert_eq!((status["tickets"].as_array().unwrap().len(), &status["expired"]), (3000, &6000.into()));
}

#[test]
fn short_outputs() {
    let place = Place::new();
    place.write("arms.csv", "name,x\na,1\nb,2\nc,3\n");
    place.write("rewards.csv", "arm,reward\na,1\nb,2\nc,2.5\na,1.5\n");
    place.good(&["new", "screen.db", "arms.csv", "--threshold", "0.5", "--budget", "9"]);
    for format in ["table", "json", "csv"] {
        for args in [
            &["algorithms"][..],
            &["ask", "screen.db"],
            &["status", "screen.db"],
            &["report", "screen.db"],
            &["diagnose", "arms.csv", "rewards.csv"],
            &["simulate", "small.toml", "--out", "out"],
            &["plan", "arms.csv", "--threshold", "0.5", "--runs", "20", "--budgets", "9", "--out", "out"],
            &["reproduce", "uniform-d5", "--runs", "2", "--out", "out"],
        ] {
            let args = [args, &["--format", format]].concat();
            let stderr = closed_at_once(&place, &args);
            assert!(!stderr.contains("error") && !stderr.contains("pipe") && !stderr.contains("panicked"), "{stderr}");
        }
    }
    assert_eq!(closed_at_once(&place, &["status", "screen.db", "--watch"]), "");
    let files = place.names("out");
    let expected = ["report.html", "results.csv", "small.svg", "uniform-d5.png"];
    assert!(expected.iter().all(|name| files.iter().any(|file| file == name)), "the files are written: {files:?}");
    assert!(place.path("report.html").exists(), "and so is the report of the campaign");
}

/// A named pipe whose reader is gone is no different.
#[test]
fn a_named_pipe() {
    let place = place();
    assert!(std::process::Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    let args = ["export", "screen.db", "--verdicts", "--out", "pipe"];
    let child = place.cutline(&args).stderr(Stdio::piped()).spawn().unwrap();
    let mut reader = std::fs::File::open(place.path("pipe")).unwrap();
    reader.read_exact(&mut [0; 10]).unwrap();
    drop(reader);
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

/// The same through a shell with `head`, as users write it.
#[test]
fn head() {
    let place = place();
    for script in ["\"$@\" | head -n 1", "set -o pipefail; \"$@\" | head -n 1"] {
        let script = format!("bash -c '{script}' bash \"$@\"");
        let ran = place.shell(&script, &["export", "screen.db", "--verdicts"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{script}");
        assert_eq!(
            ran.stdout,
            "arm,index,side,mean,lower,upper,pulls,doubt,settled_after,withdrawn,at_threshold,basis,probability_above,evidence,own_mean\n"
        );
    }
}
