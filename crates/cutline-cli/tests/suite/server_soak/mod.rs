//! `cutline serve` under everything that clients do to it, well and badly, on SQLite and PostgreSQL: first it is killed now and then, after that it
//! lives on and must not grow.
//!
//! Workers ask, tell, fail and amend until a campaign has ended; then its journal must be what was acknowledged, and the next campaign begins. Meanwhile
//! others open and drop streams, read pages, guess tokens, send what is not HTTP, and leave connections half open. `make soak-server` does that for
//! `SOAK_MINUTES`, and `make test` for some seconds.

#![cfg(target_os = "linux")]

mod client;
mod nuisances;

use crate::nothing_is_lost::Random;
use crate::replicas::{numbers, reward};
use crate::serve::Server;
use crate::soak::{Over, size};
use crate::stored::{Place, candidates};
use client::Client;
use cutline_campaign::{Event, Settings};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::{Duration, Instant};

/// Rewards per campaign.
const BUDGET: u32 = 400;
const WORKERS: usize = 6;

#[test]
fn nothing_is_lost_and_nothing_grows() {
    soak(Duration::from_secs(10));
}

#[test]
#[ignore = "takes ten minutes: `make soak-server`"]
fn for_long() {
    let minutes: f64 =
        std::env::var("SOAK_MINUTES").map_or(10.0, |text| text.parse().expect("SOAK_MINUTES is a number"));
    soak(Duration::from_secs_f64(minutes * 60.0));
}

fn soak(time: Duration) {
    let sites = [("SQLite", Place::sqlite()), ("PostgreSQL", Place::postgres())];
    let figures = std::thread::scope(|scope| {
        let running = sites.map(|(name, place)| scope.spawn(move || Site::new(name, place).soak(time)));
        running.map(|site| site.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    println!("\n| in {:.1} minutes | {} | {} |", time.as_secs_f64() / 60.0, figures[0].name, figures[1].name);
    println!("|---|---:|---:|");
    for ((label, first), (_, second)) in figures[0].rows().iter().zip(figures[1].rows()) {
        println!("| {label} | {first} | {second} |");
    }
    figures.iter().for_each(Figures::check);
}

/// What has happened on one database.
#[derive(Default)]
pub struct Figures {
    name: &'static str,
    campaigns: AtomicU64,
    told: AtomicU64,
    failed: AtomicU64,
    amended: AtomicU64,
    kills: AtomicU64,
    repeated: AtomicU64,
    streams: AtomicU64,
    pages: AtomicU64,
    wrong_tokens: AtomicU64,
    garbage: AtomicU64,
    half_open: AtomicU64,
    /// How long honest requests took while the server was not killed.
    times: Mutex<Vec<Duration>>,
    /// Memory in kB and open files of the server that was not killed.
    sizes: Mutex<Vec<(u64, u64)>>,
}

impl Figures {
    /// The largest memory, and the median of the open files, in the first and in the last third of the time.
    fn growth(&self) -> [(u64, u64); 2] {
        let sizes = self.sizes.lock().unwrap();
        let third = sizes.len().div_ceil(3);
        let of = |sizes: &[(u64, u64)]| {
            let mut files: Vec<u64> = sizes.iter().map(|size| size.1).collect();
            files.sort_unstable();
            (sizes.iter().map(|size| size.0).max().unwrap_or(0), files.get(files.len() / 2).copied().unwrap_or(0))
        };
        [of(&sizes[..third]), of(&sizes[sizes.len() - third..])]
    }

    fn rows(&self) -> Vec<(&'static str, String)> {
        let count = |counter: &AtomicU64| counter.load(Relaxed).to_string();
        let [(memory, files), (last_memory, last_files)] = self.growth();
        let mut times = self.times.lock().unwrap().clone();
        times.sort_unstable();
        let within = |percent: usize| format!("{:.1} ms", times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3);
        vec![
            ("campaigns, each checked in the journal", count(&self.campaigns)),
            ("rewards acknowledged", count(&self.told)),
            ("failures acknowledged", count(&self.failed)),
            ("amendments acknowledged", count(&self.amended)),
            ("SIGKILL to the server", count(&self.kills)),
            ("requests that were repeated for it", count(&self.repeated)),
            ("streams opened and dropped", count(&self.streams)),
            ("pages and reports read", count(&self.pages)),
            ("wrong tokens", count(&self.wrong_tokens)),
            ("connections with garbage", count(&self.garbage)),
            ("connections left half open", count(&self.half_open)),
            ("honest requests while nobody was killed, median and p99", format!("{}, {}", within(50), within(99))),
            ("memory of the server, first and last third", format!("{memory} kB, {last_memory} kB")),
            ("its open files", format!("{files}, {last_files}")),
        ]
    }

    fn check(&self) {
        let name = self.name;
        for counter in [&self.told, &self.failed, &self.amended, &self.kills, &self.streams, &self.pages] {
            assert!(counter.load(Relaxed) > 0, "{name}: there was no load");
        }
        for counter in [&self.wrong_tokens, &self.garbage, &self.half_open] {
            assert!(counter.load(Relaxed) > 0, "{name}: nobody was hostile");
        }
        let [(memory, files), (last_memory, last_files)] = self.growth();
        assert!(last_memory <= memory + memory / 4 + 8_192, "{name}: memory: from {memory} to {last_memory} kB");
        assert!(last_files <= files + files / 4 + 40, "{name}: open files: from {files} to {last_files}");
    }
}

/// A store, and the server on it.
pub struct Site {
    place: Place,
    server: Mutex<Server>,
    address: String,
    token: String,
    /// The campaign that is worked on.
    current: Mutex<String>,
    is_over: AtomicBool,
    figures: Figures,
}

impl Site {
    fn new(name: &'static str, place: Place) -> Self {
        // The store is made first; with a token in it, nobody is served without one.
        drop(place.begin("first", &Settings::new(0.5, 9), candidates(3)));
        let mut create = place.command(env!("CARGO_BIN_EXE_cutline"));
        create.args(["token", "create", &place.address, "--name", "soak", "--role", "admin"]);
        let token = String::from_utf8(create.output().unwrap().stdout).unwrap().trim().to_owned();
        assert!(token.starts_with("cutline_"), "there is no token: {token}");
        // Nobody else uses this address, so that the port is still free when the server is started again.
        let server = serve(&place, "127.0.0.3:0");
        let address = server.address.clone();
        let (current, figures) = (Mutex::new("first".into()), Figures { name, ..Figures::default() });
        Self { place, server: Mutex::new(server), address, token, current, is_over: AtomicBool::new(false), figures }
    }

    fn soak(self, time: Duration) -> Figures {
        let begun = Instant::now();
        std::thread::scope(|scope| {
            nuisances::start(&self, scope);
            let over = Over(&self.is_over);
            let killing = AtomicBool::new(false);
            let n_killed = std::thread::scope(|scope| {
                let end_of_killing = Over(&killing);
                scope.spawn(|| self.kill_now_and_then(&killing));
                let n = self.rounds(0, begun + time / 2);
                drop(end_of_killing);
                n
            });
            // What follows is not killed, and begins from scratch.
            self.restart();
            self.figures.times.lock().unwrap().clear();
            self.figures.sizes.lock().unwrap().clear();
            self.rounds(n_killed, begun + time);
            drop(over);
        });
        let Self { server, figures, .. } = self;
        assert_eq!(server.into_inner().unwrap().end(), Some(0), "it ends when it is asked to");
        figures
    }

    fn restart(&self) {
        let mut server = self.server.lock().unwrap();
        server.kill();
        *server = serve(&self.place, &self.address);
    }

    fn kill_now_and_then(&self, is_over: &AtomicBool) {
        let mut random = Random(3);
        while !is_over.load(Relaxed) {
            std::thread::sleep(Duration::from_millis(500 + random.below(2_000)));
            self.restart();
            self.figures.kills.fetch_add(1, Relaxed);
        }
    }

    /// Campaigns until the end, numbered from `first`; at least one. Returns the next number.
    fn rounds(&self, first: u64, end: Instant) -> u64 {
        for number in first.. {
            self.round(&format!("round {number}"));
            if Instant::now() >= end {
                return number + 1;
            }
        }
        unreachable!("time passes")
    }

    fn round(&self, name: &str) {
        let mut admin = Client::new(&self.address, &self.token);
        let arms: Vec<Value> =
            (0..30).map(|arm| json!({"name": format!("arm {arm}"), "features": [arm % 5, arm % 7]})).collect();
        let new = json!({"name": name, "threshold": 0.5, "budget": BUDGET, "columns": ["a", "b"], "arms": arms});
        admin.insist("/v1/campaigns", Some(&format!("begin {name}")), &new);
        name.clone_into(&mut self.current.lock().unwrap());
        let outcomes: Vec<Expected> = std::thread::scope(|scope| {
            let work = |worker| scope.spawn(move || self.work(name, worker));
            let workers: Vec<_> = (0..WORKERS).map(work).collect();
            workers.into_iter().map(|worker| worker.join().unwrap()).collect()
        });
        self.check(name, &outcomes);
        self.sample();
        let path = format!("/v1/campaigns/{}?confirm={}", encoded(name), encoded(name));
        admin.remove(&path);
        self.figures.campaigns.fetch_add(1, Relaxed);
    }

    /// Works until the campaign has ended; what was acknowledged.
    fn work(&self, campaign: &str, worker: usize) -> Expected {
        let mut random = Random(worker as u64);
        let mut client = Client::new(&self.address, &self.token);
        let mut expected = Expected::default();
        let path = |what: &str| format!("/v1/campaigns/{}/{what}", encoded(campaign));
        for round in 0.. {
            let key = |what: &str| format!("{what} {round} of {worker} in {campaign}");
            // Without a key, a lost answer means tickets that expire soon.
            let (ask_key, lease) = if worker == 0 { (None, 2) } else { (Some(key("ask")), 3600) };
            let ask = json!({"worker": format!("w {worker}"), "count": 1 + round % 4, "lease_seconds": lease});
            let asked = client.insist(&path("asks"), ask_key.as_deref(), &ask);
            let tickets = numbers(&asked);
            if tickets.is_empty() {
                if !asked["ending"].is_null() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(20));
                continue;
            }
            let (failing, telling): (Vec<u64>, Vec<u64>) = tickets.iter().partition(|_| random.below(12) == 0);
            if !failing.is_empty() {
                let body: Vec<Value> =
                    failing.iter().map(|ticket| json!({"ticket": ticket, "reason": "spilt"})).collect();
                client.insist(&path("failures"), Some(&key("fail")), &body.into());
                expected.failed.extend(failing);
            }
            if telling.is_empty() {
                continue;
            }
            let body: Vec<Value> =
                telling.iter().map(|&ticket| json!({"ticket": ticket, "reward": reward(ticket)})).collect();
            client.insist(&path("tells"), Some(&key("tell")), &body.into());
            expected.told.extend(telling.iter().map(|&ticket| (ticket, reward(ticket))));
            self.figures.told.fetch_add(telling.len() as u64, Relaxed);
            if random.below(10) == 0 {
                let (ticket, right) = (telling[0], reward(telling[0]) + 0.25);
                let body = json!({"amendments": [{"ticket": ticket, "reward": right}], "reason": "misread"});
                client.insist(&path("amendments"), Some(&key("amend")), &body);
                expected.told.insert(ticket, right);
                self.figures.amended.fetch_add(1, Relaxed);
            }
        }
        self.figures.failed.fetch_add(expected.failed.len() as u64, Relaxed);
        self.figures.repeated.fetch_add(client.n_repeated, Relaxed);
        self.figures.times.lock().unwrap().append(&mut client.times);
        expected
    }

    /// The journal has what was acknowledged, once, and nothing else; the budget holds at every event.
    fn check(&self, name: &str, outcomes: &[Expected]) {
        let records = self.place.campaign(name).events(0).unwrap();
        let (mut told, mut failed, mut open) = (BTreeMap::new(), Vec::new(), std::collections::BTreeSet::new());
        for record in &records {
            match record.event {
                Event::Asked { ticket, .. } => {
                    assert!(told.len() + open.len() < BUDGET as usize, "{name}: beyond the budget: {record:?}");
                    assert!(open.insert(ticket), "{name}: twice: {record:?}");
                }
                Event::Told { ticket, reward } => {
                    assert!(told.insert(ticket, reward).is_none(), "{name}: twice: {record:?}");
                    open.remove(&ticket);
                }
                Event::Amended { ticket, reward, .. } => drop(told.insert(ticket, reward)),
                Event::Failed { ticket, .. } => {
                    open.remove(&ticket);
                    failed.push(ticket);
                }
                Event::Expired { ticket } => drop(open.remove(&ticket)),
                ref other => panic!("{name}: nobody did {other:?}"),
            }
        }
        let mut expected_told = BTreeMap::new();
        let mut expected_failed: Vec<u64> = Vec::new();
        for expected in outcomes {
            for (&ticket, &reward) in &expected.told {
                assert!(expected_told.insert(ticket, reward).is_none(), "{name}: ticket {ticket} was told by two");
            }
            expected_failed.extend(&expected.failed);
        }
        failed.sort_unstable();
        expected_failed.sort_unstable();
        assert_eq!(told, expected_told, "{name}: {}", self.figures.name);
        assert_eq!(failed, expected_failed, "{name}: {}", self.figures.name);
        // A late reward is never refused.
        assert!(told.len() >= BUDGET as usize, "{name}: {}: {} rewards", self.figures.name, told.len());
    }

    fn sample(&self) {
        // Nobody kills it meanwhile.
        let server = self.server.lock().unwrap();
        self.figures.sizes.lock().unwrap().push(size(server.child.id()));
    }
}

/// What was acknowledged to a worker.
#[derive(Default)]
struct Expected {
    told: BTreeMap<u64, f64>,
    failed: Vec<u64>,
}

fn serve(place: &Place, bind: &str) -> Server {
    let mut command = place.command(env!("CARGO_BIN_EXE_cutline"));
    Server::spawn(command.args(["serve", &place.address, "--bind", bind, "--log", "error"]))
}

fn encoded(name: &str) -> String {
    name.replace(' ', "%20")
}
