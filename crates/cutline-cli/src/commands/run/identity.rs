//! The identity of a worker, by which others on its machine can see whether its process is still running.
//!
//! A worker is called `name:pid:start:place`. The start is when its process began, in clock ticks of the kernel; the place identifies
//! the boot of the machine and the namespace of its process numbers: two workers with the same place see each other's processes,
//! whatever their machines are called. All of it comes from Linux's `/proc`; elsewhere a worker is called `name:pid`, and its tickets
//! come back when their leases run out.

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use std::fs;

/// This process, as a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    name: String,
    pid: u32,
    /// Start and place, if the system has them.
    origin: Option<(u64, String)>,
}

impl Identity {
    /// This process, called `name` or, without one, like the machine.
    pub(super) fn of_this_process(name: Option<&str>) -> Self {
        let machine = || rustix::system::uname().nodename().to_string_lossy().replace(char::is_control, "");
        let pid = std::process::id();
        let origin = process(pid).map(|(_, start)| start).zip(place());
        Self { name: name.map_or_else(machine, str::to_owned), pid, origin }
    }

    /// Its name in the journal.
    pub(super) fn worker(&self) -> String {
        let Self { name, pid, origin } = self;
        match origin {
            Some((start, place)) => format!("{name}:{pid}:{start}:{place}"),
            None => format!("{name}:{pid}"),
        }
    }

    /// Whether a worker is known to have ended: it was in the same place, and its process is gone.
    pub(super) fn knows_ended(&self, worker: &str) -> bool {
        let Some((_, here)) = &self.origin else { return false };
        let mut parts = worker.rsplitn(4, ':');
        let (place, start, pid) = (parts.next(), parts.next(), parts.next());
        let numbers = (start.and_then(|start| start.parse().ok()), pid.and_then(|pid| pid.parse().ok()));
        match (parts.next(), place, numbers) {
            (Some(_), Some(place), (Some(start), Some(pid))) => place == here && has_ended(pid, start),
            _ => false,
        }
    }
}

/// Whether the process with this number and start has ended. A process that cannot be inspected counts as running.
fn has_ended(pid: u32, start: u64) -> bool {
    let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    if test_kill_process(number) == Err(Errno::SRCH) {
        return true;
    }
    // A zombie has ended too.
    process(pid).is_some_and(|(state, began)| began != start || matches!(state, 'Z' | 'X'))
}

/// The state of a process and its start.
fn process(pid: u32) -> Option<(char, u64)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program is in parentheses and may itself contain some.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, fields.nth(18)?.parse().ok()?))
}

/// The boot of the machine and the namespace of the process numbers.
fn place() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let space = fs::read_link("/proc/self/ns/pid").ok()?;
    let digits = |c: &char| c.is_ascii_digit();
    let space: String = space.to_str()?.chars().filter(digits).collect();
    Some(format!("{}-{space}", boot.trim().replace('-', "")))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    fn worker_of(child: &std::process::Child) -> String {
        let this = Identity::of_this_process(Some("other: a name"));
        let (_, start) = process(child.id()).unwrap();
        Identity { pid: child.id(), origin: this.origin.map(|(_, place)| (start, place)), ..this }.worker()
    }

    #[test]
    fn a_process_runs_until_it_has_ended() {
        let this = Identity::of_this_process(None);
        assert!(!this.knows_ended(&this.worker()));
        let mut child = Command::new("sleep").arg("100").stdin(Stdio::null()).spawn().unwrap();
        let worker = worker_of(&child);
        assert!(!this.knows_ended(&worker));
        child.kill().unwrap();
        // It is a zombie now, or soon.
        let begun = std::time::Instant::now();
        while !this.knows_ended(&worker) {
            assert!(begun.elapsed().as_secs() < 20, "{worker} is dead");
        }
        child.wait().unwrap();
        assert!(this.knows_ended(&worker));
    }

    #[test]
    fn a_reused_process_number_is_another_process() {
        let this = Identity::of_this_process(None);
        let (start, place) = this.origin.clone().unwrap();
        let before = Identity { origin: Some((start - 1, place.clone())), ..this.clone() };
        assert!(this.knows_ended(&before.worker()));
        let elsewhere = Identity { origin: Some((start - 1, format!("{place}1"))), ..this.clone() };
        assert!(!this.knows_ended(&elsewhere.worker()), "processes on other machines cannot be seen");
    }

    #[test]
    fn other_names_are_never_known_to_have_ended() {
        let this = Identity::of_this_process(None);
        let (start, place) = this.origin.clone().unwrap();
        for worker in ["", "me", "a:b:c:d", ":::", "m:1:2", &format!("{}:{}:{place}", u32::MAX, start)] {
            assert!(!this.knows_ended(worker), "{worker}");
        }
        assert!(!this.knows_ended(&format!("m:{}:{start}:{place}", u64::MAX)));
    }
}
