//! Directories that cannot be written to, and full disks.

#![cfg(unix)]

use crate::common;

use crate::common::Place;

const SIMULATE: [&str; 4] = ["simulate", "small.toml", "--out", "out"];
const FILES: [&str; 4] = ["report.html", "results.csv", "small.png", "small.svg"];

#[test]
fn directories_that_cannot_be_written_to() {
    let place = Place::new();
    for (out, error) in [
        ("small.toml", "not a directory"),
        ("small.toml/x", "Not a directory (os error 20)"),
        ("/proc/nope", "No such file or directory (os error 2)"),
        ("/dev/null", "not a directory"),
    ] {
        let line = place.run(&["simulate", "small.toml", "--runs", "1000000000", "--out", out]).failed(1);
        assert_eq!(line, format!("error: cannot write {out}: {error}; choose another place with `--out`"));
    }
    assert_eq!(place.text("small.toml"), common::SMALL);
    assert_eq!(place.names(""), ["small.toml"]);
}

/// A limit on the size of files stands in for a full disk: each file is there as a whole or not at all.
#[test]
fn a_disk_that_fills_up() {
    let place = Place::new();
    place.good(&["simulate", "small.toml", "--out", "whole"]);
    let whole = place.files("whole");
    let first = whole["small.svg"].len().div_ceil(512);
    assert!(first * 512 < whole["report.html"].len());
    for (blocks, expected) in [(0, &[][..]), (first, &["small.svg"])] {
        let limited = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
        let ran = place.shell(&limited, &SIMULATE);
        assert_eq!(ran.code, Some(1), "{}", ran.stderr);
        assert!(ran.stderr.starts_with("error: cannot write out/small.") && ran.stderr.lines().count() == 1);
        assert!(ran.stdout.contains("linear-apt"), "the results are printed all the same");
        let files = place.files("out");
        assert!(files.iter().all(|(name, bytes)| whole[name] == *bytes), "half a file");
        assert!(expected.iter().all(|name| files.contains_key(*name)), "{:?}", place.names("out"));
    }
}

#[test]
fn files_are_replaced_and_others_are_not_touched() {
    let place = Place::new();
    assert!(place.good(&SIMULATE).stderr.contains("wrote out/report.html"));
    let before = place.files("out");
    place.write("out/results.csv", "old");
    place.write("out/mine.txt", "mine");
    assert!(place.good(&SIMULATE).stderr.contains("replaced out/report.html"));
    let mut after = place.files("out");
    assert_eq!(after.remove("mine.txt").as_deref(), Some(&b"mine"[..]));
    assert!(before == after, "the files differ");
}

#[test]
fn files_are_ordinary_ones() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    for (umask, expected) in [("022", 0o644), ("002", 0o664), ("077", 0o600)] {
        place.shell(&format!("umask {umask}; exec \"$@\""), &SIMULATE);
        let mode = std::fs::metadata(place.path("out/report.html")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, expected, "umask {umask}");
    }
}

#[test]
fn stdout_on_a_full_disk() {
    for format in ["table", "json", "csv"] {
        let place = Place::new();
        let ran = place.shell("exec \"$@\" >/dev/full", &[&SIMULATE[..], &["--format", format]].concat());
        let last = ran.stderr.lines().last();
        assert_eq!((ran.code, last), (Some(1), Some("error: cannot print: No space left on device (os error 28)")));
        assert_eq!(place.names("out"), FILES);
        let line = place.shell("exec \"$@\" >/dev/full", &["algorithms", "--format", format]).failed(1);
        assert_eq!(line, "error: cannot print: No space left on device (os error 28)");
    }
}

/// The messages are lost, but the exit code is right.
#[test]
fn stderr_on_a_full_disk() {
    let place = Place::new();
    for stderr in ["/dev/full", "&-"] {
        let script = format!("exec \"$@\" 2>{stderr}");
        assert_eq!(place.shell(&script, &SIMULATE).code, Some(0));
        assert_eq!(place.shell(&script, &["simulate", "no.toml"]).code, Some(1));
    }
    assert_eq!(place.names("out"), FILES);
}
