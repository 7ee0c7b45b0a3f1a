//! Processes that change a campaign are killed at random moments, on SQLite and PostgreSQL: corrected and void rewards, withdrawn and added
//! candidates, a higher budget. Whatever was acknowledged is in the journal, and the campaign opens and goes on.

#![cfg(unix)]

use crate::common::process::{Killed, PATIENCE};
use crate::stored::{Place, candidates, insist};
use cutline::Verdict;
use cutline_campaign::{AnyCampaign, Candidates, Change, Event, Settings};
use cutline_store::Store;
use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const WORKERS: usize = 3;

/// How often workers are killed, per database.
const KILLS: u64 = 120;

#[test]
fn killed_on_sqlite() {
    // The test starts this program as a worker.
    if std::env::var_os("WORKER_STORE").is_some() {
        return worker();
    }
    kill_and_check(&Place::sqlite());
}

#[test]
fn killed_on_postgres() {
    kill_and_check(&Place::postgres());
}

/// A worker: a process of its own that changes the campaign in every way until it is killed, and logs what was acknowledged.
fn worker() {
    let variable = |name: &str| std::env::var(name).expect("a worker is started by a test");
    let mut log = std::fs::File::options().append(true).create(true).open(variable("WORKER_LOG")).unwrap();
    let mut acknowledged = |line: String| log.write_all(format!("{line}\n").as_bytes()).unwrap();
    let mut campaign = insist(|| Store::open(&variable("WORKER_STORE"))?.campaign(None));
    let id = std::process::id();
    for step in 0_u32.. {
        let unique = f64::from(id) + f64::from(step) / 1024.0;
        let tickets = insist(|| campaign.ask(2, "worker", Duration::from_millis(200)));
        for ticket in &tickets {
            // Its lease may have run out.
            if campaign.tell(&[(ticket.number, unique)]).is_ok() {
                acknowledged(format!("told {}", ticket.number));
                if step % 3 == 0 && campaign.amend(&[(ticket.number, -unique)], "test").is_ok() {
                    acknowledged(format!("amended {} {:?}", ticket.number, -unique));
                }
                if step % 7 == 0 && campaign.void(&[ticket.number], "test").is_ok() {
                    acknowledged(format!("voided {}", ticket.number));
                }
            }
        }
        let name = format!("{id} {step}");
        match step % 4 {
            0 => {
                let arm = (step as usize + id as usize) % 30;
                if insist(|| campaign.withdraw(&[arm], &name)) > 0 {
                    acknowledged(format!("withdrawn {arm} {name}"));
                }
                insist(|| campaign.restore(&[arm]));
            }
            1 => {
                let columns = campaign.columns().to_vec();
                let features = vec![unique.fract(); columns.len()];
                let added = Candidates::new(vec![name.clone()], columns, features).unwrap();
                insist(|| campaign.add(&added));
                acknowledged(format!("added {name}"));
            }
            _ => {
                let budget = campaign.settings().budget + 3;
                if campaign.change(&Change::new().with("budget", budget)).is_ok() {
                    acknowledged(format!("changed {budget}"));
                }
            }
        }
    }
}

fn start(place: &Place) -> Child {
    let mut command = place.command(std::env::current_exe().unwrap());
    command.args(["--exact", "changes_are_kept::killed_on_sqlite", "--nocapture", "--test-threads", "1"]);
    command.env("WORKER_STORE", &place.address).env("WORKER_LOG", "acknowledged");
    command.stdout(Stdio::null()).spawn().unwrap()
}

fn kill_and_check(place: &Place) {
    let mut campaign = place.begin("changing", &Settings::new(0.5, 20), candidates(30));
    let mut kills = 0;
    let begun = Instant::now();
    let mut lives: Vec<(Killed, Instant)> = (0..WORKERS).map(|_| (Killed(start(place)), Instant::now())).collect();
    while kills < KILLS || !has_all_kinds(place) {
        assert!(begun.elapsed() < PATIENCE, "{kills} kills only, or not every kind of change");
        std::thread::sleep(Duration::from_millis(3));
        for (process, since) in &mut lives {
            // Lifetimes of 20 to 200 ms, different for every process; later longer ones, for machines on which a process cannot do
            // much in that time.
            let life = Duration::from_millis((20 + u64::from(process.0.id()) * 7919 % 180) * (1 + kills / KILLS));
            if since.elapsed() < life {
                continue;
            }
            assert!(process.0.try_wait().unwrap().is_none(), "a worker ended by itself");
            process.0.kill().unwrap();
            process.0.wait().unwrap();
            kills += 1;
            (*process, *since) = (Killed(start(place)), Instant::now());
        }
    }
    drop(lives);
    let kinds = check(place);
    println!("{kills} kills, {kinds:?} acknowledged, in {:?}", begun.elapsed());
    let bits = |verdicts: Vec<Verdict>| -> Vec<_> {
        verdicts.iter().map(|v| [v.mean, v.lower, v.upper, v.doubt].map(f64::to_bits)).collect()
    };
    let seen = bits(campaign.verdicts().unwrap());
    assert_eq!(seen, bits(place.campaign("changing").verdicts().unwrap()), "opened again");
    assert_eq!(seen, bits(campaign.snapshot().unwrap().0.verdicts()), "a clean replay");
    campaign.ask(1, "afterwards", Duration::from_mins(1)).unwrap();
}

/// Whether every kind of change was acknowledged at least once.
fn has_all_kinds(place: &Place) -> bool {
    let log = std::fs::read_to_string(place.path("acknowledged")).unwrap_or_default();
    ["told", "amended", "voided", "withdrawn", "changed", "added"].iter().all(|kind| log.contains(kind))
}

/// Checks that whatever was acknowledged is in the journal; which kinds of changes there were.
fn check(place: &Place) -> BTreeSet<String> {
    let mut campaign = place.campaign("changing");
    let mut written = BTreeSet::new();
    let mut n_arms = 30;
    for record in campaign.events(0).unwrap() {
        written.insert(match record.event {
            Event::Told { ticket, .. } => format!("told {ticket}"),
            Event::Amended { ticket, reward, .. } => format!("amended {ticket} {reward:?}"),
            Event::Voided { ticket, .. } => format!("voided {ticket}"),
            Event::Withdrawn { arm, reason } => format!("withdrawn {arm} {reason}"),
            Event::Changed { budget, .. } => format!("changed {budget}"),
            Event::Added { first, n_arms: added } => {
                assert_eq!(first, n_arms, "arms are added behind the others");
                n_arms += added;
                format!("added {}", campaign.arm_names()[first])
            }
            _ => continue,
        });
    }
    assert_eq!(campaign.arm_names().len(), n_arms);
    let log = place.text("acknowledged");
    let lines = log.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    let mut kinds = BTreeSet::new();
    for line in lines {
        assert!(written.contains(line), "`{line}` was acknowledged, and the journal does not have it");
        kinds.insert(line.split(' ').next().unwrap_or_default().to_owned());
    }
    assert_eq!(kinds.len(), 6, "{kinds:?}");
    kinds
}
