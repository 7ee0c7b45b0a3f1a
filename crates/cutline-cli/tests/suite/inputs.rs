//! Input files are regular files of a size that can be read: pipes, sockets, devices and bombs are refused in one line, at once.

#![cfg(unix)]

use crate::common::process::end;
use crate::common::{Place, Ran, screen};
use std::io::Write;
use std::process::{Command, Stdio};

/// Commands with one input, which is to replace `?`.
const COMMANDS: [&[&str]; 9] = [
    &["new", "n.db", "?", "--threshold", "0.5", "--budget", "9"],
    &["new", "n.db", "arms.csv", "--threshold", "0.5", "--budget", "9", "--observed", "?"],
    &["new", "n.db", "arms.csv", "--threshold", "0.5", "--budget", "9", "--graph", "?"],
    &["plan", "?", "--threshold", "0.5", "--runs", "2", "--budgets", "9"],
    &["plan", "arms.csv", "--threshold", "0.5", "--runs", "2", "--budgets", "9", "--pilot", "?"],
    &["diagnose", "?", "rewards.csv"],
    &["diagnose", "arms.csv", "?"],
    &["tell", "screen.db", "--file", "?"],
    &["simulate", "?"],
];

fn with(command: &[&str], input: &str) -> Vec<String> {
    command.iter().map(|&word| if word == "?" { input.to_owned() } else { word.to_owned() }).collect()
}

fn failed(place: &Place, args: &[String]) -> String {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut command = place.cutline(&args);
    Ran::from(end(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())).failed(1)
}

#[test]
fn what_is_not_a_file_is_refused() {
    let place = screen(&["--budget", "9"]);
    place.write("rewards.csv", "arm,reward\na,1\n");
    assert!(Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(place.path("socket")).unwrap();
    for (input, what) in [("pipe", "a pipe"), ("socket", "a socket"), ("/dev/zero", "a device")] {
        for command in COMMANDS {
            let line = failed(&place, &with(command, input));
            assert!(line.contains(&format!("cannot read {input}: it is {what}, not a file")), "{command:?}: {line}");
        }
        // A store is a file, too.
        let line = place.run(&["status", input]).failed(1);
        assert_eq!(line, format!("error: {input} is not a Cutline store; it was left as it is"));
    }
    for command in COMMANDS {
        assert!(failed(&place, &with(command, ".")).contains("Is a directory"), "{command:?}");
    }
}

/// Stdin may be a pipe.
#[test]
fn stdin_is_read_where_files_are() {
    let place = screen(&["--budget", "9"]);
    let mut child =
        place.cutline(&["diagnose", "arms.csv", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"arm,reward\na,1\na,2\nb,1\n").unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
}

#[test]
fn large_inputs_are_refused_unless_the_limit_is_raised() {
    let place = screen(&["--budget", "9"]);
    place.write("rewards.csv", "arm,reward\na,1\n");
    let rows: Vec<String> = (0..40_000).map(|arm| format!("{arm},{arm}.5\n")).collect();
    place.write("large.csv", format!("x,y\n{}", rows.concat()));
    for command in COMMANDS {
        let mut args = with(command, "large.csv");
        args.extend(["--max-input-size", "100KiB"].map(String::from));
        let line = failed(&place, &args);
        let is_expected = line.starts_with("error: cannot read large.csv: it is larger than 100 KiB; ")
            && line.ends_with("; raise the limit with `--max-input-size`");
        assert!(is_expected, "{command:?}: {line}");
    }
    let new = ["new", "n.db", "large.csv", "--threshold", "0.5", "--budget", "50000"];
    place.good(&[&new[..], &["--max-input-size", "1M"]].concat());
    // What it decompresses to counts.
    let packed = Command::new("gzip").args(["-9", "-c", "large.csv"]).current_dir(place.path("")).output().unwrap();
    place.write("large.csv.gz", &packed.stdout);
    let args = ["new", "g.db", "large.csv.gz", "--threshold", "0.5", "--budget", "9", "--max-input-size", "400K"];
    assert_eq!(
        place.run(&args).failed(1),
        "error: cannot read large.csv.gz: it is larger than 400 KiB once decompressed; raise the limit with `--max-input-size`"
    );
    for size in ["-1", "1.5G", "G", "99999999999T", ""] {
        let ran = place.run(&["status", "screen.db", &format!("--max-input-size={size}")]);
        assert_eq!(ran.code, Some(2), "{size}: {}", ran.stderr);
    }
}

/// A stream that ends late or never, on stdin.
#[test]
fn stdin_has_the_same_limit() {
    let place = screen(&["--budget", "9"]);
    let zeros = std::fs::File::open("/dev/zero").unwrap();
    let args = ["tell", "screen.db", "--file", "-", "--max-input-size", "1M"];
    let output = place.cutline(&args).stdin(zeros).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said, "error: cannot read stdin: it is larger than 1 MiB; raise the limit with `--max-input-size`\n");
}
