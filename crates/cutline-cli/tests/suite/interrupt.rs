//! Ctrl-C: exit code 130 at once, and no file is left half-written.

#![cfg(target_os = "linux")]

use crate::common;
use crate::common::process::{end, happens_within, signal, wait_for, wait_for_sleep, wait_for_work};
use crate::common::{Place, Ran};
use cutline_campaign::{AnyCampaign, Time};
use cutline_store::{Clock, Store, SystemClock};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const LONG: [&str; 6] = ["simulate", "small.toml", "--out", "out", "--runs", "1000000000000"];

fn start(place: &Place, args: &[&str]) -> Child {
    place.cutline(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Sends a signal to the program; how it ends, and how long that takes.
fn interrupted(child: Child, name: &str) -> (Ran, Duration) {
    let asked = Instant::now();
    signal(child.id(), name);
    let ran = Ran::from(end(child));
    (ran, asked.elapsed())
}

#[test]
fn a_long_simulation_ends_within_a_second() {
    for name in ["INT", "TERM"] {
        happens_within(Duration::from_secs(1), || {
            let place = Place::new();
            let child = start(&place, &LONG);
            wait_for_work(child.id());
            let (ran, time) = interrupted(child, name);
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(130), ""));
            assert_eq!(ran.stderr, "\ninterrupted; no file was left half-written\n");
            assert_eq!(place.names("out"), [""; 0]);
            time
        });
    }
}

#[test]
fn a_replay_ends_within_a_second() {
    happens_within(Duration::from_secs(1), || {
        let place = Place::new();
        let child = start(&place, &["reproduce", "--exact"]);
        wait_for_work(child.id());
        let (ran, time) = interrupted(child, "INT");
        assert_eq!(ran.code, Some(130));
        time
    });
}

/// One run of minutes, in a batch and on its own.
#[test]
fn a_single_long_run_ends_within_a_second() {
    for n_arms in [200, 2000] {
        happens_within(Duration::from_secs(1), || {
            let place = Place::new();
            let text =
                common::SMALL.replace("[12, 30]", "[20000000]").replace("n_arms = 6", &format!("n_arms = {n_arms}"));
            place.write("small.toml", text.replace("dimension = 3", "dimension = 20"));
            let child = start(&place, &["simulate", "small.toml", "--out", "out", "--runs", "1"]);
            wait_for_work(child.id());
            let (ran, time) = interrupted(child, "INT");
            assert_eq!((ran.code, place.names("out")), (Some(130), Vec::<String>::new()));
            time
        });
    }
}

/// A request for a million tickets that is interrupted hands out none.
#[test]
fn a_large_ask_ends_within_a_second() {
    let place = Place::new();
    let arms: Vec<String> = (0..3000_u32).map(|arm| format!("a{arm},{},{}", arm % 61, arm % 97)).collect();
    place.write("arms.csv", format!("name,x,y\n{}\n", arms.join("\n")));
    place.good(&["new", "screen.db", "arms.csv", "--threshold", "30", "--budget", "1000000"]);
    happens_within(Duration::from_secs(1), || {
        let child = start(&place, &["ask", "screen.db", "-n", "1000000"]);
        wait_for_work(child.id());
        let (ran, time) = interrupted(child, "INT");
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(130), ""));
        let status: serde_json::Value = place.json(&["status", "screen.db"]);
        assert_eq!(status["tickets"], serde_json::json!([]), "{status}");
        time
    });
}

/// It ends even if the message cannot be written.
#[test]
fn stderr_on_a_full_disk() {
    let place = Place::new();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut child = place.cutline(&LONG).stdout(Stdio::null()).stderr(full).spawn().unwrap();
    wait_for_work(child.id());
    signal(child.id(), "INT");
    wait_for("end", || child.try_wait().unwrap().is_some());
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

/// Interrupts a short simulation at many moments, half of them counted from its start and half from when the first file appears: each
/// file is whole or absent.
#[test]
fn no_moment_leaves_half_a_file() {
    let place = Place::new();
    let short = ["simulate", "small.toml", "--runs", "300", "--out"];
    let begun = Instant::now();
    place.good(&[&short[..], &["whole"]].concat());
    let (whole, duration) = (place.files("whole"), begun.elapsed());
    let mut n_interrupted = 0;
    for moment in 0..60 {
        let out = format!("out{moment}");
        let mut child = start(&place, &[&short[..], &[&out]].concat());
        if moment % 2 == 0 {
            std::thread::sleep(duration * moment / 60);
        } else {
            let has_files = || std::fs::read_dir(place.path(&out)).is_ok_and(|mut entries| entries.next().is_some());
            while !has_files() && child.try_wait().unwrap().is_none() {}
            std::thread::sleep(Duration::from_micros(40) * moment);
        }
        // It may have ended by itself.
        drop(Command::new("kill").args(["-s", "INT", &child.id().to_string()]).stderr(Stdio::null()).status());
        n_interrupted += u32::from(child.wait().unwrap().code() == Some(130));
        for (name, bytes) in place.files(&out) {
            assert!(whole.get(&name) == Some(&bytes), "{name} is not whole, at moment {moment}");
        }
    }
    assert!(n_interrupted > 0, "all of them had ended by themselves");
}

/// A pipe that nobody reads.
#[test]
fn waiting_for_the_reader_of_a_pipe_ends_within_a_second() {
    let place = common::screen(&["--budget", "9"]);
    assert!(Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    for args in [&["export", "screen.db", "--verdicts", "--out", "pipe"][..], &["report", "screen.db", "--out", "pipe"]]
    {
        happens_within(Duration::from_secs(1), || {
            let child = start(&place, args);
            wait_for_sleep(child.id());
            let (ran, time) = interrupted(child, "TERM");
            assert_eq!(ran.code, Some(130));
            time
        });
    }
}

/// A clock that can be stopped: an ask that looks at it then says so, and keeps the write lock of its store until the other end of the channel is
/// dropped.
#[derive(Default)]
struct Stopped(Mutex<Option<(Sender<()>, Receiver<()>)>>);

impl Clock for Stopped {
    fn now(&self) -> Time {
        if let Some((is_locked, stopped)) = &*self.0.lock().unwrap() {
            is_locked.send(()).unwrap();
            // It ends when the sender is dropped.
            stopped.recv().unwrap_err();
        }
        SystemClock.now()
    }

    fn monotonic(&self) -> Duration {
        SystemClock.monotonic()
    }
}

/// Commands that change a store in a file wait for other processes for two minutes, but not after an interruption.
#[test]
fn waiting_for_a_locked_store_ends_soon() {
    let place = common::screen(&["--budget", "9"]);
    let ((end, stopped), (locking, is_locked)) = (channel(), channel());
    let store = Store::open(place.path("screen.db").to_str().unwrap()).unwrap();
    let clock = Arc::new(Stopped::default());
    let mut campaign = store.with_clock(clock.clone()).campaign(None).unwrap();
    *clock.0.lock().unwrap() = Some((locking, stopped));
    let holder = std::thread::spawn(move || campaign.ask(1, "holder", Duration::from_mins(1)).unwrap());
    is_locked.recv().unwrap();
    let new = ["new", "screen.db", "arms.csv", "--threshold", "0.5", "--budget", "9", "--name", "second"];
    for (args, patience) in [
        (&["rename", "screen.db", "other"][..], 2),
        (&["delete", "screen.db", "--yes", "arms"], 2),
        (&["copy", "screen.db", "other"], 2),
        (&["tell", "screen.db", "1", "0.5"], 2),
        (&["ask", "screen.db"], 6),
        (&["run", "screen.db", "--measure", "echo 1"], 12),
        (&new, 2),
    ] {
        happens_within(Duration::from_secs(patience), || {
            let child = start(&place, args);
            wait_for_sleep(child.id());
            let (ran, time) = interrupted(child, "INT");
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(130), ""), "{args:?}: {}", ran.stderr);
            assert!(!ran.stderr.contains("error"), "{args:?}: {}", ran.stderr);
            time
        });
    }
    drop(end);
    assert_eq!(holder.join().unwrap().len(), 1);
    let listed = place.json(&["list", "screen.db"]);
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    assert_eq!(place.json(&["status", "screen.db"])["told"], serde_json::json!(0));
}
