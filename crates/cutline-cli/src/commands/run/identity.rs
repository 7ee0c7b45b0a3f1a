//! Who a worker is, so that others on its machine can see whether it is still there.
//!
//! A worker is called `name:pid:start:place`. The start is the moment its process began, in ticks of the kernel, and the place is
//! the machine since it was last started and the space its process numbers are of: two workers with one place see each other's
//! processes, whatever their machines are called. All of it comes from Linux's `/proc`; elsewhere a worker is `name:pid`, and leases
//! say when it is gone.

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use std::fs;

/// This process, as a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    name: String,
    pid: u32,
    /// When it began and where, if the system says so.
    origin: Option<(u64, String)>,
}

impl Identity {
    /// This process, called `name`; without one, by its machine's.
    pub(super) fn own(name: Option<&str>) -> Self {
        let machine = || rustix::system::uname().nodename().to_string_lossy().replace(char::is_control, "");
        let pid = std::process::id();
        let origin = process(pid).map(|(_, start)| start).zip(place());
        Self { name: name.map_or_else(machine, str::to_owned), pid, origin }
    }

    /// What it is called in the journal.
    pub(super) fn worker(&self) -> String {
        let Self { name, pid, origin } = self;
        match origin {
            Some((start, place)) => format!("{name}:{pid}:{start}:{place}"),
            None => format!("{name}:{pid}"),
        }
    }

    /// Whether a worker is known to be gone: it was in this place, and its process has ended.
    pub(super) fn knows_gone(&self, worker: &str) -> bool {
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

/// Whether the process of that number which began then has ended. What cannot be seen is taken to be there.
fn has_ended(pid: u32, start: u64) -> bool {
    let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return false };
    if test_kill_process(number) == Err(Errno::SRCH) {
        return true;
    }
    // A process that nobody has waited for yet has ended too.
    process(pid).is_some_and(|(state, began)| began != start || matches!(state, 'Z' | 'X'))
}

/// The state of a process and when it began.
fn process(pid: u32) -> Option<(char, u64)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name stands in parentheses and may have any in it.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, fields.nth(18)?.parse().ok()?))
}

/// The machine since it was started, and the space of its process numbers.
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
        let own = Identity::own(Some("other: a name"));
        let (_, start) = process(child.id()).unwrap();
        Identity { pid: child.id(), origin: own.origin.map(|(_, place)| (start, place)), ..own }.worker()
    }

    #[test]
    fn a_process_is_there_until_it_has_ended() {
        let own = Identity::own(None);
        assert!(!own.knows_gone(&own.worker()));
        let mut child = Command::new("sleep").arg("100").stdin(Stdio::null()).spawn().unwrap();
        let worker = worker_of(&child);
        assert!(!own.knows_gone(&worker));
        child.kill().unwrap();
        // It is a zombie now, or soon.
        let begun = std::time::Instant::now();
        while !own.knows_gone(&worker) {
            assert!(begun.elapsed().as_secs() < 20, "{worker} is dead");
        }
        child.wait().unwrap();
        assert!(own.knows_gone(&worker));
    }

    #[test]
    fn another_process_of_the_same_number_is_another() {
        let own = Identity::own(None);
        let (start, place) = own.origin.clone().unwrap();
        let before = Identity { origin: Some((start - 1, place.clone())), ..own.clone() };
        assert!(own.knows_gone(&before.worker()));
        let elsewhere = Identity { origin: Some((start - 1, format!("{place}1"))), ..own.clone() };
        assert!(!own.knows_gone(&elsewhere.worker()), "another machine's process is none of ours");
    }

    #[test]
    fn other_names_say_nothing() {
        let own = Identity::own(None);
        let (start, place) = own.origin.clone().unwrap();
        for worker in ["", "me", "a:b:c:d", ":::", "m:1:2", &format!("{}:{}:{place}", u32::MAX, start)] {
            assert!(!own.knows_gone(worker), "{worker}");
        }
        assert!(!own.knows_gone(&format!("m:{}:{start}:{place}", u64::MAX)));
    }
}
