//! Where the system allows few threads and processes: fewer measurements at once or a clear error, never a panic or a hang, and no ticket
//! stays out.

#![cfg(target_os = "linux")]

use crate::common::process::copy_program;
use crate::common::{Place, Ran, screen};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Runs the program as a user who may have this many threads and processes. The limit does not hold for root, so it becomes another user,
/// who has none yet: the tests have the users 0, 1 and 2 of their process.
fn limited(place: &Place, n: u32, user: u32, args: &[&str]) -> Ran {
    let program = place.path("cutline");
    if !program.exists() {
        copy_program(Path::new(env!("CARGO_BIN_EXE_cutline")), &program);
    }
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0);
    let mut command = Command::new(if is_root { "setpriv" } else { "prlimit" });
    if is_root {
        for entry in std::fs::read_dir(place.path("")).unwrap() {
            std::fs::set_permissions(entry.unwrap().path(), PermissionsExt::from_mode(0o777)).unwrap();
        }
        std::fs::set_permissions(place.path(""), PermissionsExt::from_mode(0o777)).unwrap();
        let user = 30_000 + 3 * (std::process::id() % 10_000) + user;
        command.args([&format!("--reuid={user}"), "--regid=54321", "--clear-groups", "prlimit"]);
    }
    command.arg(format!("--nproc={n}")).arg(program).args(args).env("RAYON_NUM_THREADS", "1");
    Ran::from(command.current_dir(place.path("")).output().unwrap())
}

/// Without a single thread, what needs none works, and `run` says why it cannot.
#[test]
fn not_one_thread() {
    let place = screen(&["--budget", "9"]);
    place.write("rewards.csv", "arm,reward\na,0.4\nb,0.6\na,0.5\nb,0.7\n");
    let note = "note: cannot start threads: Resource temporarily unavailable (os error 11); going on with one\n";
    for args in [
        &["status", "screen.db"][..],
        &["new", "other.db", "arms.csv", "--threshold", "0.5", "--budget", "9"],
        &["diagnose", "arms.csv", "rewards.csv"],
        &["simulate", "small.toml", "--out", "out"],
        &["plan", "arms.csv", "--threshold", "0.5", "--runs", "2", "--budgets", "9", "--out", "plan"],
    ] {
        let ran = limited(&place, 1, 0, args);
        assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.starts_with(note), "{args:?}: {}", ran.stderr);
    }
    let ran = limited(&place, 1, 0, &["simulate", "small.toml", "--out", "out", "--threads", "3"]);
    let error = "error: cannot start 3 threads: Resource temporarily unavailable (os error 11); ask for fewer with `--threads`\n";
    assert_eq!((ran.code, ran.stderr), (Some(1), format!("{note}{error}")));

    let ran = limited(&place, 1, 0, &["run", "screen.db", "--measure", "echo 1", "--jobs", "4"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let error = "error: cannot start a measurement: Resource temporarily unavailable (os error 11); raise the limits on processes";
    assert!(ran.stderr.contains(error) && !ran.stderr.contains("panicked"), "{}", ran.stderr);
    let status = place.json(&["status", "screen.db"]);
    assert_eq!((&status["tickets"], &status["told"]), (&serde_json::json!([]), &serde_json::json!(0)));
}

/// The name of a server is looked up on a thread.
#[test]
fn no_thread_to_look_up_a_server() {
    let place = Place::new();
    let ran = limited(&place, 1, 2, &["status", "postgresql://me@localhost:1/screen"]);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    let error = "error: postgresql://me@localhost:1/screen: cannot look up localhost: Resource temporarily unavailable (os error 11)\n";
    assert!(ran.stderr.ends_with(error) && !ran.stderr.contains("panicked"), "{}", ran.stderr);
}

/// With threads for one or two measurements, those are made, and all get their turn.
#[test]
fn fewer_measurements_than_asked_for() {
    let place = screen(&["--budget", "12"]);
    let ran = limited(&place, 20, 1, &["run", "screen.db", "--measure", "echo 1", "--jobs", "8"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.starts_with("note: cannot run 8 measurements at once: Resource temporarily"), "{}", ran.stderr);
    assert!(ran.stderr.contains("12 measurements made, 0 failed; 12 of 12 rewards in the store"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    assert_eq!(place.json(&["status", "screen.db"])["tickets"], serde_json::json!([]));
}
