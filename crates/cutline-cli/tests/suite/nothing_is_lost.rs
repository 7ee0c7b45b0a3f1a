//! Nothing is lost: `cutline run` and workers that use the library are killed at random moments and started again, on SQLite and
//! PostgreSQL; and sixteen processes work on one campaign at once.
//!
//! Every worker logs the rewards that were acknowledged, and the command of `run` logs those that it printed. The journal must have
//! every acknowledged reward exactly once and no reward of `run` that was not printed; the verdicts must be those of a clean replay, to
//! the last bit. `soak` does it for an hour, with more kinds of faults.

#![cfg(unix)]

use crate::common::process::{Killed, PATIENCE, wait_for};
use crate::stored::{Place, candidates, insist};
use cutline::Verdict;
use cutline_campaign as campaign;
use cutline_campaign::{AnyCampaign, Event, Record, Settings};
use cutline_store::{Campaign, Store};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const WORKERS: usize = 3;
const BUDGET: u32 = 240;

/// How often `run` and workers are killed, per database.
const KILLS: [u64; 2] = [150, 500];

#[test]
fn killed_on_sqlite() {
    // The tests start this program as a worker.
    if std::env::var_os("WORKER_STORE").is_some() {
        return worker();
    }
    kill_and_check(&Place::sqlite(), 1);
}

#[test]
fn killed_on_postgres() {
    kill_and_check(&Place::postgres(), 2);
}

#[test]
fn sixteen_at_once_on_sqlite() {
    sixteen_at_once(&Place::sqlite());
}

#[test]
fn sixteen_at_once_on_postgres() {
    sixteen_at_once(&Place::postgres());
}

/// Pseudorandom numbers by SplitMix64.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}

/// A worker: a process of its own, which asks and tells through the library until the campaign ends.
fn worker() {
    let variable = |name: &str| std::env::var(name).expect("a worker is started by a test");
    let lease = Duration::from_millis(variable("WORKER_LEASE").parse().unwrap());
    let mut log = std::fs::File::options().append(true).create(true).open(variable("WORKER_LOG")).unwrap();
    let open = || Store::open(&variable("WORKER_STORE"))?.campaign(Some(&variable("WORKER_CAMPAIGN")));
    let mut campaign = insist(open);
    let name = format!("worker {}", std::process::id());
    let mut random = Random(u64::from(std::process::id()));
    let begun = Instant::now();
    while insist(|| campaign.stop_reason()).is_none() {
        assert!(begun.elapsed() < PATIENCE, "no end of {:?}", campaign.progress().unwrap());
        let n = 1 + usize::try_from(random.below(3)).unwrap();
        let tickets = insist(|| campaign.ask(n, &name, lease));
        if tickets.is_empty() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let rewards: Vec<(u64, f64)> =
            tickets.iter().map(|ticket| (ticket.number, random.below(1 << 53) as f64 / 9e15)).collect();
        // Some leases have run out; late rewards are taken, too.
        let told = insist(|| campaign.tell(&rewards));
        assert_eq!(told, rewards.len() as u64, "tickets that nobody else has");
        // In one write, so that the log has whole lines.
        let mut lines = Vec::new();
        for (ticket, reward) in rewards {
            writeln!(lines, "{ticket} {reward:?}").unwrap();
        }
        log.write_all(&lines).unwrap();
    }
}

/// Starts a worker on a campaign; its lease is in milliseconds.
fn start_worker(place: &Place, campaign: &str, lease: u64) -> Child {
    let mut command = place.command(std::env::current_exe().unwrap());
    command.args(["--exact", "nothing_is_lost::killed_on_sqlite", "--nocapture", "--test-threads", "1"]);
    command.env("WORKER_STORE", &place.address).env("WORKER_CAMPAIGN", campaign);
    command.env("WORKER_LOG", format!("{campaign}.told")).env("WORKER_LEASE", lease.to_string());
    command.stdout(Stdio::null()).spawn().unwrap()
}

/// Starts `cutline run` on a campaign.
fn start_run(place: &Place, campaign: &str) -> Child {
    let log = format!("{campaign}.printed");
    let mut run: Command = place.run(&["--name", campaign, "--jobs", "3", "--retries", "0"]);
    run.args(["--measure", "sh measure.sh {ticket}"]).env("LOG", log);
    run.stderr(std::fs::File::options().append(true).create(true).open(place.path("stderr")).unwrap()).spawn().unwrap()
}

/// Kills `run` and workers often enough, over as many campaigns as that takes, and checks every campaign.
fn kill_and_check(place: &Place, seed: u64) {
    place
        .write("measure.sh", "reward=0.$(($1 * 7919 % 9973 + 10000))\necho \"$1 $reward\" >> \"$LOG\"\necho $reward\n");
    let mut random = Random(seed);
    let mut kills = [0; 2];
    let begun = Instant::now();
    let mut told = [0; 2];
    for round in 0.. {
        let name = format!("round {round}");
        let verdicts = round_of_kills(place, &name, &mut random, &mut kills);
        for (all, told) in told.iter_mut().zip(check(place, &name, &verdicts)) {
            *all += told;
        }
        if kills.iter().zip(KILLS).all(|(&kills, wanted)| kills >= wanted) {
            break;
        }
    }
    println!("{kills:?} kills, {told:?} rewards told, by `run` and by workers, in {:?}", begun.elapsed());
    assert!(told.iter().all(|&told| told > 0), "{told:?}: one of them did nothing");
}

/// One campaign, whose workers are killed at random moments until it ends; the verdicts of a handle that was open all the time.
fn round_of_kills(place: &Place, name: &str, random: &mut Random, kills: &mut [u64; 2]) -> Vec<[u64; 4]> {
    let mut settings = Settings::new(0.5, BUDGET);
    settings.seed = 7;
    let mut campaign = place.begin(name, &settings, candidates(30));
    let start = |kind: usize| if kind == 0 { start_run(place, name) } else { start_worker(place, name, 400) };
    // How long a process takes to record its first reward depends on the machine; lifetimes are up to three times as long.
    let begun = Instant::now();
    let mut first = Killed(start(0));
    wait_for("first reward", || campaign.progress().unwrap().counted > 0);
    let life = u64::try_from(begun.elapsed().as_millis()).unwrap().clamp(10, 2000) * 3;
    first.0.kill().unwrap();
    first.0.wait().unwrap();
    let mut lives: Vec<(usize, Killed, Instant)> = Vec::new();
    let deadline = |random: &mut Random| Instant::now() + Duration::from_millis(random.below(life));
    for kind in [0].into_iter().chain([1; WORKERS]) {
        lives.push((kind, Killed(start(kind)), deadline(random)));
    }
    let patience = Instant::now();
    while campaign.stop_reason().unwrap().is_none() {
        assert!(patience.elapsed() < PATIENCE, "{name}: no end of {:?}", campaign.progress().unwrap());
        std::thread::sleep(Duration::from_millis(2));
        for (kind, process, end) in &mut lives {
            if Instant::now() < *end {
                continue;
            }
            if process.0.try_wait().unwrap().is_none() {
                process.0.kill().unwrap();
                process.0.wait().unwrap();
                kills[*kind] += 1;
            }
            *process = Killed(start(*kind));
            *end = deadline(random);
        }
    }
    for (kind, mut process, _) in lives {
        let status = process.0.wait().unwrap();
        assert!(status.success(), "{name}: kind {kind} ended with {status}: {}", place.text("stderr"));
    }
    bits(&campaign.verdicts().unwrap())
}

fn sixteen_at_once(place: &Place) {
    let budget = 400;
    let mut campaign = place.begin("together", &Settings::new(0.5, budget), candidates(30));
    let processes: Vec<Killed> = (0..16).map(|_| Killed(start_worker(place, "together", 3_600_000))).collect();
    for mut process in processes {
        assert!(process.0.wait().unwrap().success());
    }
    let seen = bits(&campaign.verdicts().unwrap());
    let told = check(place, "together", &seen);
    assert_eq!(told, [0, u64::from(budget)]);
    assert_eq!(lines(place, "together.told").len() as u64, told[1], "every reward was acknowledged");
    let workers: BTreeSet<String> = campaign.events(0).unwrap().into_iter().filter_map(worker_of).collect();
    assert!(workers.len() > 1, "{workers:?} did it alone");
}

fn worker_of(record: Record) -> Option<String> {
    if let Event::Asked { worker, .. } = record.event { Some(worker) } else { None }
}

pub fn bits(verdicts: &[Verdict]) -> Vec<[u64; 4]> {
    verdicts.iter().map(|v| [v.mean, v.lower, v.upper, v.doubt].map(f64::to_bits)).collect()
}

/// The whole lines of a log: tickets and rewards.
pub fn lines(place: &Place, log: &str) -> Vec<(u64, f64)> {
    let text = place.text(log);
    let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    let entry = |line: &str| {
        let (ticket, reward) = line.trim().split_once(' ').unwrap_or_else(|| panic!("{log}: {line:?}"));
        (ticket.parse().unwrap(), reward.parse().unwrap())
    };
    whole.map(entry).collect()
}

/// The events of a ticket, for the message of a failed assertion.
fn history(records: &[Record], number: u64) -> String {
    let is_its = |record: &&Record| record.event.ticket() == Some(number);
    format!("ticket {number}: {:#?}", records.iter().filter(is_its).collect::<Vec<_>>())
}

/// Checks the journal of a campaign that has ended against the logs, and its verdicts against a clean replay; how many rewards
/// `run` and workers told.
pub fn check(place: &Place, name: &str, seen: &[[u64; 4]]) -> [u64; 2] {
    let mut campaign = place.campaign(name);
    let (told, records) = check_journal(place, name, &mut campaign);
    let state = campaign.state().unwrap();
    // A clean replay, at once and event by event.
    for piece in [records.len(), 1] {
        let mut replay = campaign::CampaignState::new(state.arms().clone(), state.terms().clone()).unwrap();
        records.chunks(piece).for_each(|records| replay.extend(records).unwrap());
        assert_eq!(bits(&replay.verdicts()), seen, "{name}: verdicts of a replay in pieces of {piece}");
        assert_eq!(replay.progress(), state.progress());
    }
    assert_eq!(bits(&campaign.verdicts().unwrap()), seen, "{name}: verdicts of the store");
    told
}

/// Checks the journal of a campaign that has ended against the logs; how many rewards `run` and workers told, and the journal.
pub fn check_journal(place: &Place, name: &str, campaign: &mut Campaign) -> ([u64; 2], Vec<Record>) {
    let budget = u64::from(campaign.settings().budget);
    let records = campaign.events(0).unwrap();
    let (told, workers) = recount(name, &records, budget);
    assert!(told.len() as u64 >= budget, "{name}: it ended before its budget was used");
    let counted = campaign.progress().unwrap().counted;
    assert_eq!(u64::from(counted), budget, "{name}: no more count than the budget");
    for (ticket, reward) in lines(place, &format!("{name}.told")) {
        let found = told.get(&ticket).map(|reward| reward.to_bits());
        let what = "was acknowledged, and the journal does not have it";
        assert_eq!(found, Some(reward.to_bits()), "{name}: {reward:?} {what}; {}", history(&records, ticket));
    }
    let printed: BTreeMap<u64, f64> = lines(place, &format!("{name}.printed")).into_iter().collect();
    let by_run: Vec<_> = told.iter().filter(|(ticket, _)| !workers[*ticket].starts_with("worker ")).collect();
    for (ticket, reward) in &by_run {
        let what = "was told, and the command did not print it";
        assert_eq!(printed.get(ticket), Some(*reward), "{name}: {reward:?} {what}; {}", history(&records, **ticket));
    }
    let by_run = by_run.len() as u64;
    let told = [by_run, told.len() as u64 - by_run];
    (told, records)
}

/// Checks a journal without the engine: numbers, tickets, and the budget at every event. The rewards and the workers, by ticket.
pub fn recount(name: &str, records: &[Record], budget: u64) -> (BTreeMap<u64, f64>, BTreeMap<u64, String>) {
    let (mut told, mut workers, mut out) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
    for (number, record) in (1..).zip(records) {
        assert_eq!(record.number, number, "{name}: events have a gap");
        match &record.event {
            Event::Asked { ticket, worker, .. } => {
                let used = (told.len() + out.len()) as u64;
                assert!(used < budget, "{name}: {used} of {budget} are used before event {number}, {record:?}");
                assert!(
                    workers.insert(*ticket, worker.clone()).is_none(),
                    "{name}: twice: {}",
                    history(records, *ticket)
                );
                out.insert(*ticket);
            }
            Event::Told { ticket, reward } => {
                assert!(told.insert(*ticket, *reward).is_none(), "{name}: told twice: {}", history(records, *ticket));
                out.remove(ticket);
            }
            Event::Failed { ticket, .. } | Event::Expired { ticket } => {
                assert!(out.remove(ticket), "{name}: it was not out: {}", history(records, *ticket));
            }
            other => panic!("{name}: nobody did {other:?}"),
        }
    }
    assert!(workers.keys().copied().eq(1..=workers.len() as u64), "{name}: tickets have a gap");
    assert!(out.is_empty() || told.len() as u64 >= budget, "{name}: {out:?} are out");
    (told, workers)
}
