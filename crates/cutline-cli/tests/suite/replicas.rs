//! Several `cutline serve` on one PostgreSQL database: workers and watchers use any of them, and some are killed under load.
//!
//! Workers repeat a request at the next replica when its answer is lost, and keep what was acknowledged. The journal must have all of it
//! exactly once and never exceed the budget. Every watcher must see every event of the journal once and in order, whichever replica wrote it.

use crate::common::process::{PATIENCE, wait_for};
use crate::nothing_is_lost::recount;
use crate::serve::{Server, fetch};
use crate::stored::{Place, candidates};
use cutline_campaign::{AnyCampaign, Settings};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const BUDGET: u32 = 300;
const REPLICAS: usize = 3;
const WORKERS: usize = 8;
const CAMPAIGN: &str = "/v1/campaigns/screen";

fn serve(place: &Place) -> Server {
    let mut command = place.command(env!("CARGO_BIN_EXE_cutline"));
    Server::spawn(command.args(["serve", &place.address, "--bind", "127.0.0.1:0", "--log", "error"]))
}

/// The answer to a POST; an error if there is none, or if it says to try again.
fn post(address: &str, what: &str, key: Option<&str>, body: &Value) -> std::io::Result<Value> {
    let key = key.map_or_else(String::new, |key| format!("idempotency-key: {key}\r\n"));
    let (status, answer) = fetch(address, "POST", &format!("{CAMPAIGN}/{what}"), &key, &body.to_string())?;
    match status.as_str() {
        "HTTP/1.1 200 OK" => Ok(serde_json::from_str(&answer).unwrap()),
        "HTTP/1.1 503 Service Unavailable" => Err(ErrorKind::ResourceBusy.into()),
        _ => panic!("{what} {body}: {status}: {answer}"),
    }
}

/// A reward that is a function of its ticket, so that it can be told again.
pub fn reward(ticket: u64) -> f64 {
    ((ticket * 7919) % 9973) as f64 / 9973.0
}

/// The numbers of the tickets in an answer.
pub fn numbers(asked: &Value) -> Vec<u64> {
    asked["tickets"].as_array().unwrap().iter().map(|ticket| ticket["ticket"].as_u64().unwrap()).collect()
}

#[test]
fn an_ask_and_its_tell_at_different_replicas() {
    let place = Place::postgres();
    place.begin("screen", &Settings::new(0.5, 9), candidates(6));
    let [one, two] = [serve(&place), serve(&place)];
    let ask = json!({"worker": "w", "count": 2});
    let asked = post(&one.address, "asks", Some("a"), &ask).unwrap();
    assert_eq!(post(&two.address, "asks", Some("a"), &ask).unwrap(), asked, "a repetition, wherever it arrives");
    let tell = json!([{"ticket": asked["tickets"][1]["ticket"], "reward": 0.25}]);
    assert_eq!(post(&two.address, "tells", None, &tell).unwrap()["changed"], 1);
    let (_, report) = fetch(&one.address, "GET", &format!("{CAMPAIGN}/report"), "", "").unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["told"], &report["open"]), (&json!(1), &json!(1)));
}

/// What workers and watchers share: where the replicas are, and what has happened so far.
struct Shared {
    addresses: Mutex<Vec<String>>,
    /// The number of the last event, once nobody works any more; 0 before.
    last_event: AtomicU64,
    /// How many rewards each replica has acknowledged.
    acknowledged: [AtomicU64; REPLICAS],
    /// How many requests got no whole answer.
    unanswered: AtomicU64,
    /// How many rewards may be acknowledged before the next replica is killed; what comes later waits for that.
    limit: AtomicU64,
}

impl Shared {
    fn address(&self, replica: usize) -> String {
        self.addresses.lock().unwrap()[replica % REPLICAS].clone()
    }

    fn n_acknowledged(&self) -> u64 {
        self.acknowledged.iter().map(|n| n.load(Ordering::Relaxed)).sum()
    }

    /// The answer of the first replica that gives one, and which it was.
    fn insist(&self, first: usize, what: &str, key: Option<&str>, body: &Value) -> (Value, usize) {
        let begun = Instant::now();
        for replica in first.. {
            match post(&self.address(replica), what, key, body) {
                Ok(answer) => return (answer, replica % REPLICAS),
                Err(error) => {
                    self.unanswered.fetch_add(1, Ordering::Relaxed);
                    assert!(begun.elapsed() < PATIENCE, "{what} {body}: {error}");
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
        }
        unreachable!("there is always another replica to try")
    }

    /// Asks and tells at alternating replicas until the campaign ends; the acknowledged rewards by ticket. With keys, a lost answer to an
    /// ask is got again; without, its tickets expire soon.
    fn work(&self, worker: usize) -> BTreeMap<u64, f64> {
        let (name, has_keys) = (format!("w {worker}"), worker.is_multiple_of(2));
        let mut told = BTreeMap::new();
        for round in 0.. {
            let key = |what: &str| has_keys.then(|| format!("{what} {round} of {name}"));
            let lease = if has_keys { 3600.0 } else { 1.0 };
            let ask = json!({"worker": name, "count": 1 + round % 3, "lease_seconds": lease});
            let (asked, replica) = self.insist(worker + round, "asks", key("ask").as_deref(), &ask);
            let tickets = numbers(&asked);
            if tickets.is_empty() {
                if !asked["ending"].is_null() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(20));
                continue;
            }
            let tell: Vec<Value> =
                tickets.iter().map(|&ticket| json!({"ticket": ticket, "reward": reward(ticket)})).collect();
            wait_for("kill", || self.n_acknowledged() < self.limit.load(Ordering::Relaxed));
            let (_, replica) = self.insist(replica + 1, "tells", key("tell").as_deref(), &tell.into());
            self.acknowledged[replica].fetch_add(tickets.len() as u64, Ordering::Relaxed);
            told.extend(tickets.into_iter().map(|ticket| (ticket, reward(ticket))));
        }
        told
    }

    /// All events as streams send them. A stream that breaks off, or that has sent `most` events, is resumed at the next replica.
    fn watch(&self, first: usize, most: usize) -> Vec<Value> {
        let mut seen: Vec<Value> = Vec::new();
        let is_complete =
            |seen: &[Value]| self.last_event.load(Ordering::Relaxed) == seen.len() as u64 && !seen.is_empty();
        for replica in first.. {
            // A failure means that the replica was killed.
            drop(self.stream(replica, most, &mut seen, &is_complete));
            if is_complete(&seen) {
                break;
            }
        }
        seen
    }

    /// Follows one stream after the events seen so far.
    fn stream(
        &self,
        replica: usize,
        most: usize,
        seen: &mut Vec<Value>,
        is_complete: &dyn Fn(&[Value]) -> bool,
    ) -> std::io::Result<()> {
        let address = self.address(replica);
        let mut stream = TcpStream::connect(&address)?;
        stream.set_read_timeout(Some(Duration::from_millis(200)))?;
        // A client of HTTP/1.0 gets the stream without lengths in between.
        let last = seen.len();
        write!(stream, "GET {CAMPAIGN}/stream HTTP/1.0\r\nhost: {address}\r\nlast-event-id: {last}\r\n\r\n")?;
        let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
        let (mut n_sent, begun) = (0, Instant::now());
        while n_sent < most && !is_complete(seen) {
            assert!(begun.elapsed() < PATIENCE, "{} events, and no end", seen.len());
            match stream.read(&mut part) {
                Ok(0) => return Ok(()),
                Ok(n) => bytes.extend_from_slice(&part[..n]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => (),
                Err(error) => return Err(error),
            }
            // Whole events only.
            while let Some(end) = bytes.windows(2).position(|pair| pair == b"\n\n") {
                let event: Vec<u8> = bytes.drain(..end + 2).collect();
                let event = String::from_utf8(event).unwrap();
                let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
                let (Some(id), Some(data)) = (field("id:"), field("data:")) else { continue };
                let data: Value = serde_json::from_str(data).unwrap();
                assert_eq!(data["number"].to_string(), id);
                seen.push(data);
                n_sent += 1;
            }
        }
        Ok(())
    }
}

/// Two of three replicas are killed under load, one of them after it was replaced.
#[test]
fn killed_replicas_lose_nothing() {
    let place = Place::postgres();
    let mut campaign = place.begin("screen", &Settings::new(0.5, BUDGET), candidates(30));
    let mut replicas: Vec<Server> = (0..REPLICAS).map(|_| serve(&place)).collect();
    let shared = Shared {
        addresses: Mutex::new(replicas.iter().map(|replica| replica.address.clone()).collect()),
        last_event: AtomicU64::new(0),
        acknowledged: Default::default(),
        unanswered: AtomicU64::new(0),
        limit: AtomicU64::new(u64::from(BUDGET / 2)),
    };
    let before = |replica: usize| shared.acknowledged[replica].load(Ordering::Relaxed);
    let (told, seen) = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS)
            .map(|worker| {
                let shared = &shared;
                scope.spawn(move || shared.work(worker))
            })
            .collect();
        // One stays where it is, one is at a replica that is killed, and one moves on all the time.
        let watchers = [(2, usize::MAX), (0, usize::MAX), (0, 7)].map(|(first, most)| {
            scope.spawn({
                let shared = &shared;
                move || shared.watch(first, most)
            })
        });
        for (replica, part, limit) in [(0, 3, BUDGET * 2 / 3), (1, 2, u32::MAX)] {
            wait_for("load", || campaign.progress().unwrap().counted >= BUDGET / part && before(replica) > 0);
            replicas[replica].child.kill().unwrap();
            if replica == 0 {
                replicas.push(serve(&place));
                shared.addresses.lock().unwrap()[0] = replicas[REPLICAS].address.clone();
            }
            shared.limit.store(limit.into(), Ordering::Relaxed);
        }
        let told: Vec<BTreeMap<u64, f64>> = workers.into_iter().map(|worker| worker.join().unwrap()).collect();
        shared.last_event.store(campaign.progress().unwrap().events, Ordering::Relaxed);
        (told, watchers.map(|watcher| watcher.join().unwrap()))
    });
    let unanswered = shared.unanswered.into_inner();
    println!("{unanswered} requests without an answer; acknowledged by replica: {:?}", shared.acknowledged);
    assert!(unanswered > 0, "the replicas were killed too late");
    check(&place, &told, &seen);
}

/// Checks what workers and watchers have seen against the journal.
fn check(place: &Place, told: &[BTreeMap<u64, f64>], seen: &[Vec<Value>]) {
    let mut campaign = place.campaign("screen");
    let records = campaign.events(0).unwrap();
    let (in_journal, _) = recount("screen", &records, BUDGET.into());
    assert_eq!(campaign.progress().unwrap().counted, BUDGET);
    let acknowledged: usize = told.iter().map(BTreeMap::len).sum();
    for (ticket, reward) in told.iter().flatten() {
        assert_eq!(in_journal.get(ticket), Some(reward), "ticket {ticket} was acknowledged");
    }
    assert_eq!(acknowledged, in_journal.len(), "what was recorded was acknowledged to one worker");
    let journal: Vec<(u64, &str)> = records.iter().map(|record| (record.number, record.event.name())).collect();
    for seen in seen {
        let seen: Vec<(u64, &str)> =
            seen.iter().map(|event| (event["number"].as_u64().unwrap(), event["event"].as_str().unwrap())).collect();
        assert_eq!(seen, journal);
    }
}
