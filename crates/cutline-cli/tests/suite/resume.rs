//! `cutline simulate --resume`: a simulation that is killed goes on, and its results are those of one that was not.

#![cfg(unix)]

use crate::common::process::{happens_within, wait_for};
use crate::common::{Place, SMALL};
use std::process::Stdio;
use std::time::{Duration, Instant};

const RESUME: [&str; 6] = ["simulate", "small.toml", "--resume", "runs.json", "--format", "json"];

/// Runs that take seconds, so that several checkpoints are written.
const LONG: &str = "150000";

fn finished_runs(place: &Place) -> u64 {
    let text = std::fs::read_to_string(place.path("runs.json")).unwrap();
    let checkpoint: serde_json::Value = serde_json::from_str(&text).expect("whole");
    let runs = checkpoint["experiments"][0]["tally"]["runs"].as_array().unwrap();
    runs.iter().map(|range| range["end"].as_u64().unwrap() - range["start"].as_u64().unwrap()).sum()
}

/// Kills a simulation with SIGKILL at several moments, counted from the first write of its checkpoint and from later ones, and lets it
/// go on each time; then lets it end.
#[test]
fn a_killed_simulation_goes_on_with_the_same_bits() {
    let place = Place::new();
    place.write("small.toml", SMALL.replace("[12, 30]", "[120, 300]"));
    let begun = Instant::now();
    let whole = place.good(&["simulate", "small.toml", "--runs", LONG, "--format", "json", "--out", "whole"]);
    let played = begun.elapsed();
    let args = [&RESUME[..], &["--runs", LONG]].concat();
    let (mut n_finished, mut n_early) = (0, 0);
    for moment in 0..6_u32 {
        let mut child = place.cutline(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let before = n_finished;
        // Waits for a checkpoint with more runs, then for a while, so that kills fall between writes and into them.
        wait_for("checkpoint", || {
            let has_more = place.path("runs.json").exists() && (moment == 0 || finished_runs(&place) > before);
            has_more || child.try_wait().unwrap().is_some()
        });
        std::thread::sleep(Duration::from_millis(u64::from(moment) * 47 % 130));
        child.kill().unwrap();
        child.wait().unwrap();
        n_finished = finished_runs(&place);
        assert!(n_finished >= before, "no finished run is lost");
        n_early += u32::from(n_finished > before && n_finished.to_string() != LONG);
    }
    assert!(n_early >= 2, "{n_early} kills came between the first and the last run");
    let resumed = place.good(&args);
    assert_eq!(resumed.stdout, whole.stdout);
    assert_eq!(place.text("results/results.csv"), place.text("whole/results.csv"));
    // A finished simulation is read from its checkpoint, and not played again.
    happens_within(played / 2, || {
        let begun = Instant::now();
        assert_eq!(place.good(&args).stdout, whole.stdout);
        begun.elapsed()
    });
}

#[test]
fn more_runs_continue_a_finished_simulation() {
    let place = Place::new();
    place.good(&RESUME);
    assert_eq!(finished_runs(&place), 40);
    let more = place.good(&[&RESUME[..], &["--runs", "100"]].concat());
    assert_eq!(finished_runs(&place), 100);
    let whole = place.good(&["simulate", "small.toml", "--runs", "100", "--format", "json"]);
    assert_eq!(more.stdout, whole.stdout);
    let line = place.run(&RESUME).failed(1);
    let expected = "error: runs.json is a checkpoint of `small` with run 99, but only 40 runs are to be played; raise `--runs`, or name \
                    another file with `--resume`";
    assert_eq!(line, expected);
}

#[test]
fn a_checkpoint_of_another_experiment_is_refused_and_kept() {
    let place = Place::new();
    place.good(&RESUME);
    let before = place.text("runs.json");
    let line = place.run(&[&RESUME[..], &["--seed", "9"]].concat()).failed(1);
    let expected = "error: runs.json is a checkpoint of another experiment, `small`, or of one with other settings; name another file \
                    with `--resume`";
    assert_eq!(line, expected);
    assert_eq!(place.text("runs.json"), before);
    place.write("runs.json", "my notes");
    let line = place.run(&RESUME).failed(1);
    assert_eq!(line, "error: runs.json is not a checkpoint of a simulation; name another file with `--resume`");
    assert_eq!(place.text("runs.json"), "my notes");
}

#[test]
fn the_experiment_is_not_overwritten() {
    let place = Place::new();
    let ran = place.run(&["simulate", "small.toml", "--resume", "small.toml"]);
    let line = ran.failed(2);
    let expected =
        "error: small.toml is an input of this command and would be overwritten; choose another place with `--resume`";
    assert_eq!(line, expected);
    assert_eq!(place.text("small.toml"), SMALL);
}

/// Variants share a checkpoint.
#[test]
fn variants_are_resumed_one_by_one() {
    let place = Place::new();
    place.write("small.toml", format!("{SMALL}\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\nseed = 8\n"));
    let first = place.good(&RESUME);
    let plain = place.good(&["simulate", "small.toml", "--format", "json"]);
    assert_eq!(first.stdout, plain.stdout);
    assert_eq!(place.good(&RESUME).stdout, plain.stdout);
}
