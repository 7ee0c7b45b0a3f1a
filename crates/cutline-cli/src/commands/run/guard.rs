//! A process that outlives this one if it is killed, to end the measurements that nobody will hear of.
//!
//! It reads the numbers of process groups, `+` for those that work and `-` for those that have ended. Its stdin closes when the
//! process that writes to it is gone, however that came; what works then is ended.

use super::process::{GRACE, signal};
use crate::failure::Failure;
use rustix::process::{Pid, Signal, test_kill_process_group};
use std::collections::BTreeSet;
use std::io::{BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A guard over process groups; none if the system starts no process for it, and measurements are made all the same.
#[derive(Debug)]
pub(super) struct Guard(Option<Mutex<ChildStdin>>);

impl Guard {
    pub(super) fn start() -> Self {
        let started = std::env::current_exe().and_then(|program| {
            let mut command = Command::new(program);
            // In a group of its own, so that Ctrl-C on a terminal does not reach it.
            command.arg("guard").process_group(0).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn()
        });
        Self(started.ok().and_then(|child| child.stdin).map(Mutex::new))
    }

    /// From now on the group ends when this process does.
    pub(super) fn watch(&self, group: Pid) {
        self.say('+', group);
    }

    /// The group has ended, and its number may soon be another's.
    pub(super) fn release(&self, group: Pid) {
        self.say('-', group);
    }

    fn say(&self, sign: char, group: Pid) {
        if let Self(Some(guard)) = self {
            let line = format!("{sign}{}\n", group.as_raw_nonzero());
            // If the guard was killed, so be it.
            drop(guard.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes()));
        }
    }
}

/// What the guard does.
pub(crate) fn guard() -> Result<(), Failure> {
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
