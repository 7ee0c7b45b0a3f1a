//! What happened during the soak test.

use crate::stored::Place;
use cutline_campaign::{Event, Record};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// What happened on one database.
#[derive(Default)]
pub struct Figures {
    pub name: &'static str,
    pub campaigns: AtomicU64,
    told_by_run: AtomicU64,
    told_by_workers: AtomicU64,
    told_late: AtomicU64,
    acknowledged: AtomicU64,
    pub kills_of_run: AtomicU64,
    pub kills_of_workers: AtomicU64,
    pub asked_to_end: AtomicU64,
    /// How often `run` ended with an error by itself.
    pub gave_up: AtomicU64,
    pub full_disks: AtomicU64,
    pub restarts: AtomicU64,
    pub crashes: AtomicU64,
    /// How often the server ended by itself.
    pub gave_up_servers: AtomicU64,
    pub stalls: AtomicU64,
    pub stops: AtomicU64,
    pub jumps: AtomicU64,
    longest_wait: AtomicU64,
    begun: Mutex<Option<Instant>>,
    /// Memory in kB and open files of the worker that lives as long as the test, after each campaign.
    sizes: Mutex<Vec<(u64, u64)>>,
    /// How often workers got an error, by its first words after the address.
    errors: Mutex<BTreeMap<String, u64>>,
}

impl Figures {
    pub fn new(name: &'static str) -> Self {
        Self { name, ..Self::default() }
    }

    pub fn begin(&self) {
        *self.begun.lock().unwrap() = Some(Instant::now());
    }

    pub fn sample(&self, size: (u64, u64)) {
        self.sizes.lock().unwrap().push(size);
    }

    /// Counts a campaign that was checked.
    pub fn count_round(&self, [by_run, by_workers]: [u64; 2], acknowledged: usize, records: &[Record]) {
        self.campaigns.fetch_add(1, Relaxed);
        self.told_by_run.fetch_add(by_run, Relaxed);
        self.told_by_workers.fetch_add(by_workers, Relaxed);
        self.acknowledged.fetch_add(acknowledged as u64, Relaxed);
        let mut expired = BTreeSet::new();
        for record in records {
            match record.event {
                Event::Expired { ticket } => drop(expired.insert(ticket)),
                Event::Told { ticket, .. } if expired.contains(&ticket) => drop(self.told_late.fetch_add(1, Relaxed)),
                _ => (),
            }
        }
        let begun = self.begun.lock().unwrap().expect("it has begun");
        println!("{}: {} campaigns in {:.0?}", self.name, self.campaigns.load(Relaxed), begun.elapsed());
    }

    /// Reads what the workers have logged, and refuses a panic.
    pub fn read_logs(&self, place: &Place) {
        let slow = place.text("slow").lines().map(|line| line.parse().unwrap()).max().unwrap_or(0);
        self.longest_wait.store(slow, Relaxed);
        let address = format!("{}: ", place.address);
        for line in place.text("errors").lines() {
            let what = line.strip_prefix(&address).unwrap_or(line);
            *self.errors.lock().unwrap().entry(what.into()).or_default() += 1;
        }
        let stderr = place.text("stderr");
        assert!(!stderr.contains("panicked"), "{}: {stderr}", self.name);
        print!("{}: last words of processes that ended with an error:\n{}", self.name, last_words(&stderr));
    }

    /// Checks that every kind of fault was felt, and that nothing has grown.
    pub fn check(&self) {
        let name = self.name;
        let errors = self.errors.lock().unwrap();
        let felt = |what: &str| assert!(errors.keys().any(|error| error.contains(what)), "{name}: nobody felt {what}");
        if self.restarts.load(Relaxed) + self.crashes.load(Relaxed) == 0 {
            felt("the disk is full");
        } else {
            felt("terminating connection");
        }
        assert!(self.longest_wait.load(Relaxed) > 1_000, "{name}: nobody felt a lock");
        assert!(self.told_late.load(Relaxed) > 0, "{name}: no reward came late");
        for counter in [&self.told_by_run, &self.told_by_workers, &self.kills_of_run, &self.kills_of_workers] {
            assert!(counter.load(Relaxed) > 0, "{name}: there was no load");
        }
        let [(memory, files), (last_memory, last_files)] = self.growth();
        assert!(
            last_memory <= memory + memory / 4 + 4_096,
            "{name}: memory has grown from {memory} to {last_memory} kB"
        );
        assert!(last_files <= files + 4, "{name}: open files have grown from {files} to {last_files}");
    }

    /// The largest sizes in the first and in the last third of the time.
    fn growth(&self) -> [(u64, u64); 2] {
        let sizes = self.sizes.lock().unwrap();
        let third = sizes.len().div_ceil(3);
        let largest =
            |sizes: &[(u64, u64)]| sizes.iter().fold((0, 0), |most, size| (most.0.max(size.0), most.1.max(size.1)));
        [largest(&sizes[..third]), largest(&sizes[sizes.len() - third..])]
    }

    /// The rows of the table.
    fn rows(&self) -> Vec<(&'static str, String)> {
        let count = |counter: &AtomicU64| counter.load(Relaxed).to_string();
        let [(memory, files), (last_memory, last_files)] = self.growth();
        let errors: u64 = self.errors.lock().unwrap().values().sum();
        vec![
            ("campaigns", count(&self.campaigns)),
            ("rewards told by `run`", count(&self.told_by_run)),
            ("rewards told by workers", count(&self.told_by_workers)),
            ("of these acknowledged to a worker that lived on, and found in the journal", count(&self.acknowledged)),
            ("rewards told after their lease had ended", count(&self.told_late)),
            ("SIGKILL to `run`", count(&self.kills_of_run)),
            ("SIGKILL to workers", count(&self.kills_of_workers)),
            ("SIGTERM to `run`", count(&self.asked_to_end)),
            ("SIGSTOP for seconds", count(&self.stops)),
            ("full disks", count(&self.full_disks)),
            ("server stopped by a full disk", count(&self.gave_up_servers)),
            ("restarts, `fast`", count(&self.restarts)),
            ("restarts, `immediate`", count(&self.crashes)),
            ("locks held for seconds", count(&self.stalls)),
            ("clock jumps", count(&self.jumps)),
            ("errors that workers got and outlived", errors.to_string()),
            ("`run` ended with an error", count(&self.gave_up)),
            ("longest operation", format!("{:.1} s", self.longest_wait.load(Relaxed) as f64 / 1e3)),
            ("memory of the longest-lived worker, first and last third", format!("{memory} kB, {last_memory} kB")),
            ("its open files", format!("{files}, {last_files}")),
        ]
    }
}

/// The lines of errors, with how often each appears; at most twenty.
fn last_words(stderr: &str) -> String {
    let mut lines: BTreeMap<&str, u64> = BTreeMap::new();
    for line in stderr.lines().filter(|line| line.starts_with("error") || line.contains("not saved")) {
        *lines.entry(line).or_default() += 1;
    }
    let lines: Vec<String> = lines.iter().take(20).map(|(line, n)| format!("  {n} × {line}\n")).collect();
    lines.concat()
}

/// Prints the table.
pub fn print(minutes: f64, figures: &[Figures; 2]) {
    for figures in figures {
        println!("{}: errors that workers got:", figures.name);
        for (error, n) in figures.errors.lock().unwrap().iter() {
            println!("  {n} × {error}");
        }
    }
    println!("\n| in {minutes} minutes | {} | {} |\n|---|---:|---:|", figures[0].name, figures[1].name);
    for ((label, first), (_, second)) in figures[0].rows().into_iter().zip(figures[1].rows()) {
        println!("| {label} | {first} | {second} |");
    }
}
