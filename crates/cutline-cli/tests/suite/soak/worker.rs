//! The worker of the soak test: a process that asks and tells through the library, whatever happens to the store.

use super::super::nothing_is_lost::Random;
use crate::common::process::PATIENCE;
use cutline_campaign::AnyCampaign;
use cutline_store::{Campaign, Store, StoreError};
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::time::{Duration, Instant};

/// How long a worker keeps a ticket.
const LEASE: Duration = Duration::from_secs(4);

/// The content of [`Worker::current`] that ends a worker.
pub const END: &str = "end";

/// A process of its own, started by the test in its directory, that works on the campaign that the file `current` names: until that campaign
/// ends or, if it is to follow, until the file says so.
pub struct Worker {
    store: String,
    random: Random,
    name: String,
    errors: File,
    slow: File,
    longest: Duration,
}

impl Worker {
    pub fn of_this_process() -> Self {
        let id = std::process::id();
        Self {
            store: std::env::var("SOAK_STORE").expect("a worker is started by the test"),
            random: Random(u64::from(id)),
            name: format!("worker {id}"),
            errors: appended("errors"),
            slow: appended("slow"),
            longest: Duration::from_secs(1),
        }
    }

    pub fn work(&mut self) {
        let follows = std::env::var_os("SOAK_FOLLOW").is_some();
        loop {
            let current = std::fs::read_to_string("current").unwrap();
            if current == END {
                return;
            }
            self.work_on(&current);
            if !follows {
                return;
            }
            while std::fs::read_to_string("current").unwrap() == current {
                std::thread::sleep(Duration::from_millis(50));
            }
        }
    }

    fn work_on(&mut self, name: &str) {
        let mut told = appended(&format!("{name}.told"));
        let mut campaign = None;
        while self.persist(&mut campaign, name, Campaign::stop_reason).is_none() {
            let n = 1 + usize::try_from(self.random.below(4)).unwrap();
            let worker = self.name.clone();
            let tickets = self.persist(&mut campaign, name, |campaign| campaign.ask(n, &worker, LEASE));
            std::thread::sleep(Duration::from_millis(100 + self.random.below(600)));
            let rewards: Vec<(u64, f64)> =
                tickets.iter().map(|ticket| (ticket.number, self.random.below(1 << 53) as f64 / 9e15)).collect();
            // Whatever has happened to the leases meanwhile. Telling the same reward again does nothing, so it may be repeated.
            self.persist(&mut campaign, name, |campaign| campaign.tell(&rewards));
            let mut lines = String::new();
            for (ticket, reward) in rewards {
                writeln!(lines, "{ticket} {reward:?}").unwrap();
            }
            // In one write, so that the log has whole lines.
            told.write_all(lines.as_bytes()).unwrap();
        }
    }

    /// Repeats an operation while the store fails in a way that may pass, with a new connection each time.
    fn persist<T>(
        &mut self,
        campaign: &mut Option<Campaign>,
        name: &str,
        mut operation: impl FnMut(&mut Campaign) -> Result<T, StoreError>,
    ) -> T {
        let begun = Instant::now();
        loop {
            let tried = Instant::now();
            let done = match campaign {
                Some(campaign) => operation(campaign),
                None => Store::open(&self.store)
                    .and_then(|store| store.campaign(Some(name)))
                    .and_then(|opened| operation(campaign.insert(opened))),
            };
            if tried.elapsed() > self.longest {
                self.longest = tried.elapsed();
                // In one write: other workers write to the same file.
                self.slow.write_all(format!("{}\n", self.longest.as_millis()).as_bytes()).unwrap();
            }
            match done {
                Ok(done) => return done,
                Err(error) => {
                    self.errors.write_all(format!("{error}\n").as_bytes()).unwrap();
                    assert!(error.may_pass(), "{name}: {error}");
                    assert!(begun.elapsed() < PATIENCE, "{name}: no end of {error}");
                    *campaign = None;
                    std::thread::sleep(Duration::from_millis(300));
                }
            }
        }
    }
}

pub fn appended(path: &str) -> File {
    File::options().append(true).create(true).open(path).unwrap()
}
