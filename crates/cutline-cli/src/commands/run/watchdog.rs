//! A companion process that outlives a killed `run` and ends its measurements, whose results nobody would receive.
//!
//! It reads the numbers of process groups from stdin, with `+` for those that were started and `-` for those that have ended. Its stdin
//! closes when `run` is gone, for whatever reason; the groups that are still running then are ended.

use super::process::{GRACE, signal};
use crate::failure::Failure;
use rustix::process::{Pid, Signal, test_kill_process_group};
use std::collections::BTreeSet;
use std::io::{BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The connection to the companion process; `None` if it could not be started, which does not stop the measurements.
#[derive(Debug)]
pub(super) struct Watchdog(Option<Mutex<ChildStdin>>);

impl Watchdog {
    pub(super) fn start() -> Self {
        let started = std::env::current_exe().and_then(|program| {
            let mut command = Command::new(program);
            // In a group of its own, so that Ctrl-C on a terminal does not reach it.
            command.arg("watchdog").process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn()
        });
        Self(started.ok().and_then(|child| child.stdin).map(Mutex::new))
    }

    /// From now on the group is ended if this process is killed.
    pub(super) fn watch(&self, group: Pid) {
        self.send('+', group);
    }

    /// The group has ended, and its number may soon belong to another.
    pub(super) fn release(&self, group: Pid) {
        self.send('-', group);
    }

    fn send(&self, sign: char, group: Pid) {
        if let Self(Some(stdin)) = self {
            let line = format!("{sign}{}\n", group.as_raw_nonzero());
            // If the companion was killed, the measurements go on without it.
            drop(stdin.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes()));
        }
    }
}

/// The companion process itself.
pub(crate) fn watchdog() -> Result<(), Failure> {
    let mut groups = BTreeSet::new();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        if let Some(group) = line.strip_prefix('+') {
            groups.insert(group.to_owned());
        } else if let Some(group) = line.strip_prefix('-') {
            groups.remove(group);
        }
    }
    let mut left: Vec<Pid> = groups.iter().filter_map(|group| Pid::from_raw(group.parse().ok()?)).collect();
    for &group in &left {
        signal(group, Signal::TERM);
    }
    let asked = Instant::now();
    loop {
        left.retain(|&group| test_kill_process_group(group).is_ok());
        if left.is_empty() || asked.elapsed() > GRACE {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    for group in left {
        signal(group, Signal::KILL);
    }
    Ok(())
}
