//! A PostgreSQL server that does not answer: every command ends with one clear line, and every wait can be interrupted.

#![cfg(target_os = "linux")]

use crate::common::process::{Killed, end, happens_within, signal, signal_and_wait, wait_for};
use crate::stored::{Place, PrivateServer, named};
use cutline_campaign::{AnyCampaign, Settings};
use postgres::{Client, NoTls};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Runs `cutline` until it ends; code and stderr.
fn cutline(place: &Place, args: &[&str]) -> (Option<i32>, String) {
    let mut command = place.command(env!("CARGO_BIN_EXE_cutline"));
    let output = end(command.args(args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// Every command on a store, `S`.
const COMMANDS: &[&[&str]] = &[
    &["new", "S", "arms.csv", "--threshold", "0.5", "--budget", "9"],
    &["ask", "S"],
    &["tell", "S", "1", "0.5"],
    &["amend", "S", "1", "0.5"],
    &["withdraw", "S", "a"],
    &["extend", "S", "--budget", "15"],
    &["status", "S"],
    &["report", "S", "--out", "out.html"],
    &["export", "S", "--events"],
    &["check", "S"],
    &["list", "S"],
    &["show", "S"],
    &["rename", "S", "x"],
    &["delete", "S", "--yes", "x"],
    &["copy", "S", "x"],
    &["plan", "S"],
    &["run", "S", "--measure", "echo 1"],
];

/// Runs every command on a server that accepts connections and says nothing.
fn all_end(address: &str) {
    let place = Place::sqlite();
    place.write("arms.csv", "name,x\na,1\nb,2\n");
    for command in COMMANDS {
        let args: Vec<&str> = command.iter().map(|&arg| if arg == "S" { address } else { arg }).collect();
        let (code, stderr) = cutline(&place, &args);
        let last = stderr.lines().last().unwrap_or_default();
        assert_eq!(code, Some(1), "{command:?}: {stderr}");
        assert!(last.starts_with("error: postgresql://"), "{command:?}: {stderr}");
        assert!(last.ends_with("the server did not answer within 1 s (`connect_timeout`)"), "{command:?}: {stderr}");
        assert!(!stderr.contains("SECRET"), "{command:?}: {stderr}");
    }
}

#[test]
fn a_black_hole() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    all_end(&format!("postgresql://me:SECRET@{}/db?connect_timeout=1", listener.local_addr().unwrap()));
}

#[test]
fn a_stopped_postmaster() {
    let server = PrivateServer::start();
    let postmaster = server.postmaster();
    signal(postmaster, "STOP");
    let place = Place::sqlite();
    let address = format!("{}/postgres?connect_timeout=1", server.address);
    let (code, stderr) = cutline(&place, &["status", &address]);
    signal(postmaster, "CONT");
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("did not answer within 1 s (`connect_timeout`)"), "{stderr}");
}

/// A campaign whose row another connection has locked.
fn locked(place: &Place) -> Client {
    place.begin("screen", &Settings::new(0.5, 10), named(&["a", "b"]));
    let mut other = Client::connect(&place.address, NoTls).unwrap();
    other.batch_execute("BEGIN; SELECT id FROM cutline_campaigns FOR UPDATE").unwrap();
    other
}

#[test]
fn a_held_lock() {
    let place = Place::postgres();
    let other = locked(&place);
    let address = format!("{}?lock_timeout=1s", place.address);
    let (code, stderr) = cutline(&place, &["ask", &address]);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.ends_with("another process has kept it locked for 1 s (`lock_timeout`); try again\n"), "{stderr}");
    drop(other);
    assert_eq!(place.campaign("screen").progress().unwrap().events, 0);
}

/// The process of the server that serves the program's connection stops, on a connection that is open. It must be stopped before the server itself
/// ends the statement, so the limit is higher where that was too late.
#[test]
fn a_stopped_backend() {
    let place = Place::postgres();
    let other = locked(&place);
    let is_in_time = (0..7).map(|power| 1 << power).any(|seconds| is_stopped_in_time(&place, seconds));
    assert!(is_in_time, "{}", place.text("stderr"));
    drop(other);
    assert_eq!(place.campaign("screen").progress().unwrap().events, 0);
}

/// Whether the process was stopped before the server ended the statement.
fn is_stopped_in_time(place: &Place, seconds: u32) -> bool {
    let address = format!("{}?statement_timeout={seconds}s&lock_timeout=0", place.address);
    let mut ask = place.command(env!("CARGO_BIN_EXE_cutline"));
    let mut child =
        Killed(ask.args(["ask", &address]).stderr(place_file(place)).stdout(Stdio::null()).spawn().unwrap());
    let mut backend = None;
    wait_for("wait for a lock, or end", || {
        backend = waiting_now(place);
        backend.is_some() || child.0.try_wait().unwrap().is_some()
    });
    let Some(backend) = backend else { return false };
    signal(backend, "STOP");
    wait_for("end", || child.0.try_wait().unwrap().is_some());
    signal(backend, "CONT");
    assert_eq!(child.0.wait().unwrap().code(), Some(1));
    let stderr = place.text("stderr");
    let message = format!("has not answered for {seconds} s (`statement_timeout`); nothing was saved");
    assert!(stderr.contains(&message) || stderr.contains(&format!("(`statement_timeout` is {seconds} s)")), "{stderr}");
    stderr.contains(&message)
}

fn place_file(place: &Place) -> std::fs::File {
    std::fs::File::create(place.path("stderr")).unwrap()
}

/// The process of the server that waits for a lock on behalf of the program.
fn waiting(place: &Place) -> u32 {
    let mut found = None;
    wait_for("wait for a lock", || {
        found = waiting_now(place);
        found.is_some()
    });
    found.unwrap()
}

/// This process, if there is one at the moment.
fn waiting_now(place: &Place) -> Option<u32> {
    let mut client = Client::connect(&place.address, NoTls).unwrap();
    let statement = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'cutline' \
                     AND datname = current_database()";
    let found = client.query_opt(statement, &[]).unwrap();
    found.map(|row| u32::try_from(row.get::<_, i32>(0)).unwrap())
}

/// `run` with a reward in hand that the store does not take, because it is locked. Signals end it, and the reward is kept in a file.
fn interrupted(signals: &[&str], within: Duration) {
    happens_within(within, || interrupted_by(signals));
}

/// How long `run` takes to end.
fn interrupted_by(signals: &[&str]) -> Duration {
    let place = Place::postgres();
    place.begin("screen", &Settings::new(0.5, 10), named(&["a", "b"]));
    place.write("measure.sh", "touch measuring\nwhile [ ! -e locked ]; do sleep 0.05; done\necho 0.7\n");
    let mut command: Command = place.run(&["--measure", "sh measure.sh", "--jobs", "1"]);
    let mut run = Killed(command.stderr(place_file(&place)).spawn().unwrap());
    wait_for("measurement", || place.path("measuring").exists());
    let mut other = Client::connect(&place.address, NoTls).unwrap();
    other.batch_execute("BEGIN; SELECT id FROM cutline_campaigns FOR UPDATE").unwrap();
    place.write("locked", "");
    waiting(&place);
    let asked = Instant::now();
    for name in signals {
        signal_and_wait(run.0.id(), name);
    }
    wait_for("end", || run.0.try_wait().unwrap().is_some());
    let time = asked.elapsed();
    let stderr = place.text("stderr");
    assert_eq!(run.0.wait().unwrap().code(), Some(130), "{stderr}");
    assert!(stderr.contains("1 reward was not saved in the store; it is in screen.unsaved-rewards.csv"), "{stderr}");
    assert!(
        stderr.contains("interrupted; ") && stderr.contains("interrupted while waiting for the server"),
        "{stderr}"
    );
    let unsaved = place.text("screen.unsaved-rewards.csv");
    assert!(unsaved.ends_with(",0.7\n") && unsaved.lines().count() == 2, "{unsaved}");
    other.batch_execute("ROLLBACK").unwrap();
    let file = place.path("screen.unsaved-rewards.csv");
    let (code, stderr) = cutline(&place, &["tell", &place.address, "--file", file.to_str().unwrap()]);
    assert_eq!((code, place.campaign("screen").progress().unwrap().counted), (Some(0), 1), "{stderr}");
    time
}

#[test]
fn the_first_interruption_ends_run() {
    interrupted(&["INT"], Duration::from_secs(15));
}

#[test]
fn sigterm_ends_run() {
    interrupted(&["TERM"], Duration::from_secs(15));
}

#[test]
fn the_second_interruption_ends_run_sooner() {
    interrupted(&["INT", "INT"], Duration::from_secs(5));
}

/// `new` and `delete` wait for a lock, and Ctrl-C ends them; `ask` has three seconds to return its tickets.
#[test]
fn other_commands_can_be_interrupted() {
    let place = Place::postgres();
    place.write("arms.csv", "name,x\na,1\nb,2\n");
    place.begin("screen", &Settings::new(0.5, 10), named(&["a", "b"]));
    let mut other = Client::connect(&place.address, NoTls).unwrap();
    let all = "BEGIN; SELECT id FROM cutline_campaigns FOR UPDATE; SELECT pg_advisory_xact_lock(1131770956)";
    other.batch_execute(all).unwrap();
    let new = ["new", &place.address, "arms.csv", "--threshold", "0.5", "--budget", "9", "--name", "other"];
    for args in [&new[..], &["delete", &place.address, "--yes", "screen"], &["ask", &place.address]] {
        happens_within(Duration::from_secs(5), || {
            let mut command = place.command(env!("CARGO_BIN_EXE_cutline"));
            let child = command.args(args).stdout(Stdio::null()).stderr(place_file(&place)).spawn().unwrap();
            let backend = waiting(&place);
            let asked = Instant::now();
            signal(child.id(), "INT");
            let code = end(child).status.code();
            let time = asked.elapsed();
            assert_eq!(code, Some(130), "{args:?}: {}", place.text("stderr"));
            // The server's process goes on waiting, and must not be taken for that of the next command.
            other.execute("SELECT pg_terminate_backend($1, 600000)", &[&i32::try_from(backend).unwrap()]).unwrap();
            time
        });
    }
}
