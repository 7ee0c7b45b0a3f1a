//! The processes that tests start: what they do, signals, and how they end.
//!
//! No test depends on how fast the machine is. A test waits for what it needs, and fails after [`PATIENCE`], which only a hang reaches. What must
//! happen soon is tried until it did once: see [`happens_within`].

use std::path::Path;
use std::process::{Child, Command, Output};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// How long tests wait for something before they fail.
pub const PATIENCE: Duration = Duration::from_mins(10);

/// Waits for something that should happen soon.
#[track_caller]
pub fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_there() {
        assert!(begun.elapsed() < PATIENCE, "no {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Calls `attempt`, which returns how long something took, until it took less than `limit`. On a busy machine, a single attempt may take any time;
/// what always takes longer fails here on every machine.
#[track_caller]
pub fn happens_within(limit: Duration, mut attempt: impl FnMut() -> Duration) {
    let mut times = Vec::new();
    while times.len() < 30 {
        let time = attempt();
        if time < limit {
            return;
        }
        times.push(time);
    }
    panic!("not once within {limit:?}: {times:?}");
}

/// Copies a program, in another process. If this one wrote the file, a child that another thread has just forked could still have it open, and
/// then it cannot be executed: "Text file busy".
#[track_caller]
pub fn copy_program(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg(from).arg(to).status().unwrap().success());
}

/// Sends a signal to a process.
#[track_caller]
pub fn signal(process: u32, name: &str) {
    let status = Command::new("kill").args(["-s", name, &process.to_string()]).status().unwrap();
    assert!(status.success(), "process {process} had ended by itself");
}

/// The output of a process that ends by itself.
#[track_caller]
pub fn end(child: Child) -> Output {
    let process = child.id();
    let (ended, output) = channel();
    std::thread::spawn(move || ended.send(child.wait_with_output()));
    let Ok(output) = output.recv_timeout(PATIENCE) else {
        signal(process, "KILL");
        panic!("process {process} does not end");
    };
    output.unwrap()
}

/// Sends a signal to a process, and waits until the process has caught it: one that follows is not merged with it.
#[track_caller]
pub fn signal_and_wait(process: u32, name: &str) {
    signal(process, name);
    wait_for("delivery of the signal", || signals(process, "ShdPnd") == 0);
}

/// A set of signals of a process in `/proc`, as a mask.
fn signals(process: u32, set: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix(set)?.strip_prefix(':')).unwrap_or_default();
    u64::from_str_radix(mask.trim(), 16).unwrap_or(0)
}

/// The fields of a file `stat` in `/proc` that follow the name; none if there is no such process or thread.
fn stat(path: &str) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.rsplit_once(')').map_or_else(Vec::new, |(_, rest)| rest.split_whitespace().map(str::to_owned).collect())
}

/// Whether a process is running.
pub fn is_alive(process: &str) -> bool {
    stat(&format!("/proc/{process}/stat")).first().is_some_and(|state| !["Z", "X"].contains(&&state[..]))
}

/// Waits until a process has used the processor for half a second, and so has begun with its work.
#[track_caller]
pub fn wait_for_work(process: u32) {
    wait_for("work", || {
        let stat = stat(&format!("/proc/{process}/stat"));
        assert!(stat.len() > 12 && stat[0] != "Z", "process {process} has ended by itself");
        // In user mode and in the kernel, in hundredths of a second.
        stat[11].parse::<u64>().unwrap() + stat[12].parse::<u64>().unwrap() >= 50
    });
}

/// Waits until a process catches signals, and all of its threads sleep: it waits for something.
#[track_caller]
pub fn wait_for_sleep(process: u32) {
    const INT: u64 = 1 << 1;
    let mut n_asleep = 0;
    wait_for("process that waits", || {
        let threads = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
        let state = |thread: std::fs::DirEntry| stat(thread.path().join("stat").to_str().unwrap()).into_iter().next();
        let mut states = threads.filter_map(|thread| state(thread.unwrap()));
        let is_asleep = signals(process, "SigCgt") & INT != 0 && states.all(|state| state == "S");
        n_asleep = if is_asleep { n_asleep + 1 } else { 0 };
        n_asleep == 3
    });
}

/// A process that is killed with the test.
pub struct Killed(pub Child);

impl Drop for Killed {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
