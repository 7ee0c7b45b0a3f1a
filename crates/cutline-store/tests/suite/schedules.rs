//! Random schedules of operations over several handles, threads and processes. The journal is the history: every answer must be the one
//! that a plain model gives at the place of its events or, if it wrote none, at a place between its call and its return.
//!
//! `CUTLINE_SCHEDULES=n` makes it n times as long.

use crate::common::Place;
use cutline_campaign::{AnyCampaign, CampaignError, CampaignState, Candidates, Event, Record, Request, Settings, Time};
use cutline_store::{Campaign, Clock, Store, StoreError};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const N_ARMS: u64 = 4;
const BUDGET: u32 = 12;
/// Milliseconds.
const LEASE: Time = 3_600_000;

/// Pseudorandom numbers: a counter whose bits are mixed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
}

/// An operation: what, on which ticket or arm or how many, and a number that no other operation has and that its events carry.
#[derive(Clone, Copy, Debug)]
struct Op {
    kind: u64,
    on: u64,
    tag: u64,
}

const ASK: u64 = 0;
const TELL: u64 = 1;
const FAIL: u64 = 2;
const EXPIRE: u64 = 3;
const AMEND: u64 = 4;
const VOID: u64 = 5;
const WITHDRAW: u64 = 6;
const RESTORE: u64 = 7;

impl Op {
    fn random(random: &mut Random, tag: u64) -> Self {
        let kinds = [ASK, ASK, ASK, TELL, TELL, TELL, TELL, FAIL, EXPIRE, EXPIRE, AMEND, VOID, WITHDRAW, RESTORE];
        let kind = kinds[usize::try_from(random.below(kinds.len() as u64)).unwrap()];
        let on = match kind {
            ASK => 1 + random.below(3),
            WITHDRAW | RESTORE => random.below(N_ARMS),
            _ => 1 + random.below(20),
        };
        Self { kind, on, tag }
    }

    /// The reward that it tells.
    fn reward(self) -> f64 {
        self.tag as f64 / 1024.0
    }

    fn perform(self, campaign: &mut Campaign) -> Result<u64, StoreError> {
        let (tag, arm) = (self.tag.to_string(), usize::try_from(self.on).unwrap());
        match self.kind {
            ASK => campaign.ask(arm, &tag, Duration::from_millis(LEASE)).map(|tickets| tickets.len() as u64),
            TELL => campaign.tell(&[(self.on, self.reward())]),
            FAIL => campaign.fail(self.on, &tag).map(u64::from),
            EXPIRE => campaign.expire(&[self.on]),
            AMEND => campaign.amend(&[(self.on, self.reward())], &tag),
            VOID => campaign.void(&[self.on], &tag),
            WITHDRAW => campaign.withdraw(&[arm], &tag),
            RESTORE => campaign.restore(&[arm]),
            _ => unreachable!(),
        }
    }
}

/// A call: the number of events before it and after it, the operation and its answer.
#[derive(Debug)]
struct Call {
    before: u64,
    after: u64,
    op: Op,
    answer: Result<u64, String>,
}

fn call(campaign: &mut Campaign, op: Op) -> Call {
    let before = campaign.state().unwrap().n_events();
    let answer = match op.perform(campaign) {
        Ok(answer) => Ok(answer),
        Err(StoreError::CampaignError(refusal)) => Err(format!("{refusal:?}")),
        Err(error) => panic!("{op:?}: {error}"),
    };
    Call { before, after: campaign.state().unwrap().n_events(), op, answer }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Status {
    Open(Time),
    Told(f64),
    Failed,
    Expired,
    Voided,
}

/// A campaign as it is described in docs/campaigns.md: tickets, a budget and withdrawn arms.
#[derive(Clone, Default)]
struct Model {
    tickets: Vec<(Status, Option<f64>)>,
    withdrawn: BTreeSet<u64>,
}

impl Model {
    fn count(&self, is_so: impl Fn(Status) -> bool) -> usize {
        self.tickets.iter().filter(|(status, _)| is_so(*status)).count()
    }

    /// Whether nothing can be handed out.
    fn is_exhausted(&self) -> bool {
        let used = self.count(|status| matches!(status, Status::Open(_) | Status::Told(_)));
        used >= BUDGET as usize || self.withdrawn.len() as u64 == N_ARMS
    }

    /// What an operation that hands out nothing answers here.
    fn answer(&self, op: Op) -> Result<u64, CampaignError> {
        let (ticket, reward) = (op.on, op.reward());
        if op.kind == ASK {
            return Ok(0);
        }
        if [WITHDRAW, RESTORE].contains(&op.kind) {
            return Ok(u64::from(self.withdrawn.contains(&op.on) != (op.kind == WITHDRAW)));
        }
        let last = self.tickets.len() as u64;
        let position = usize::try_from(ticket - 1).unwrap();
        let &(status, first) = self.tickets.get(position).ok_or(CampaignError::NoTicket { ticket, last })?;
        match (op.kind, status) {
            (TELL, Status::Open(_) | Status::Expired) | (VOID, Status::Told(_)) => Ok(1),
            (TELL, Status::Told(told)) if told == reward || first == Some(reward) => Ok(0),
            (TELL, Status::Told(told)) => Err(CampaignError::OtherReward { ticket, told, reward }),
            (TELL, Status::Failed) => Err(CampaignError::Failed { ticket }),
            (TELL | AMEND, Status::Voided) => Err(CampaignError::Voided { ticket }),
            (FAIL, Status::Told(reward)) => Err(CampaignError::AlreadyTold { ticket, reward }),
            (FAIL | EXPIRE, status) => Ok(u64::from(matches!(status, Status::Open(_)))),
            (AMEND, Status::Told(told)) => Ok(u64::from(told != reward)),
            (VOID, Status::Voided) => Ok(0),
            (AMEND | VOID, _) => Err(CampaignError::NotTold { ticket }),
            other => unreachable!("{other:?}"),
        }
    }

    fn apply(&mut self, event: &Event) {
        let mut set = |ticket: u64, status: Status| {
            let (before, first) = &mut self.tickets[usize::try_from(ticket - 1).unwrap()];
            if let (Status::Told(told), Status::Told(_) | Status::Voided) = (*before, status) {
                first.get_or_insert(told);
            }
            *before = status;
        };
        match *event {
            Event::Asked { until, .. } => self.tickets.push((Status::Open(until), None)),
            Event::Told { ticket, reward } | Event::Amended { ticket, reward, .. } => set(ticket, Status::Told(reward)),
            Event::Failed { ticket, .. } => set(ticket, Status::Failed),
            Event::Expired { ticket } => set(ticket, Status::Expired),
            Event::Voided { ticket, .. } => set(ticket, Status::Voided),
            Event::Withdrawn { arm, .. } => drop(self.withdrawn.insert(arm as u64)),
            Event::Restored { arm } => drop(self.withdrawn.remove(&(arm as u64))),
            ref other => panic!("nobody did {other:?}"),
        }
    }
}

/// The operation whose event this is, by its tag; those that expire and restore carry none.
fn tag_of(event: &Event) -> Option<u64> {
    match event {
        Event::Asked { worker: text, .. }
        | Event::Failed { reason: text, .. }
        | Event::Amended { reason: text, .. }
        | Event::Voided { reason: text, .. }
        | Event::Withdrawn { reason: text, .. } => text.parse().ok(),
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "rewards are tags")]
        Event::Told { reward, .. } => Some((reward * 1024.0) as u64),
        _ => None,
    }
}

/// Checks the answers of all calls against the journal.
fn check(what: &str, records: &[Record], calls: &[Call], fresh: CampaignState) {
    let mut engine = fresh;
    let mut models = vec![Model::default()];
    let mut written: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (position, record) in records.iter().enumerate() {
        let mut model = models[position].clone();
        assert_eq!(record.number, position as u64 + 1, "{what}: a gap");
        if let Event::Asked { worker, until, .. } = &record.event {
            assert!(!model.is_exhausted(), "{what}: beyond the budget: {record:?}");
            let chosen = engine.next_tickets(&Request::new(1, worker, until - record.at), record.at);
            assert_eq!(chosen, std::slice::from_ref(&record.event), "{what}: event {}", record.number);
        }
        if let Some(tag) = tag_of(&record.event) {
            written.entry(tag).or_default().push(position);
        }
        model.apply(&record.event);
        engine.extend(std::slice::from_ref(record)).unwrap();
        let counted = model.count(|status| matches!(status, Status::Told(_))).min(BUDGET as usize);
        assert_eq!(engine.progress().counted as usize, counted, "{what}: event {}", record.number);
        models.push(model);
    }
    for call in calls {
        let window = usize::try_from(call.before).unwrap()..=usize::try_from(call.after).unwrap();
        let positions = written.remove(&call.op.tag).unwrap_or_default();
        let context = || format!("{what}: {call:?}, whose events are {positions:?}");
        let is_within = |&position: &usize| position >= *window.start() && position < *window.end();
        assert!(positions.iter().all(is_within), "{}", context());
        let is_so = match (&call.answer, call.op.kind) {
            (Ok(n), ASK) => {
                let is_complete = *n == call.op.on || models[window.clone()].iter().any(Model::is_exhausted);
                is_complete && positions.len() as u64 == *n
            }
            (Ok(0) | Err(_), _) | (_, EXPIRE | RESTORE) => {
                let answers =
                    models[window.clone()].iter().map(|model| model.answer(call.op).map_err(|e| format!("{e:?}")));
                positions.is_empty() && answers.into_iter().any(|answer| answer == call.answer)
            }
            (Ok(n), _) => match positions[..] {
                [position] => models[position].answer(call.op) == Ok(*n),
                _ => false,
            },
        };
        assert!(is_so, "{}", context());
    }
    assert!(written.is_empty(), "{what}: events of nobody: {written:?}");
}

fn longer() -> u64 {
    std::env::var("CUTLINE_SCHEDULES").map_or(1, |n| n.parse().expect("CUTLINE_SCHEDULES is a whole number"))
}

fn begin(store: &Store, name: &str) -> Campaign {
    let names = (0..N_ARMS).map(|arm| format!("arm {arm}")).collect();
    store.begin(name, &Settings::new(0.5, BUDGET), Candidates::new(names, vec![], vec![]).unwrap()).unwrap()
}

fn fresh(campaign: &mut Campaign) -> CampaignState {
    let state = campaign.state().unwrap();
    CampaignState::new(state.arms().clone(), state.terms().clone()).unwrap()
}

/// A clock for all handles.
struct Shared(Mutex<Time>);

impl Clock for Shared {
    fn now(&self) -> Time {
        *self.0.lock().unwrap()
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.now())
    }
}

/// Schedules over three handles of one thread, on which time passes. Every answer has exactly one place.
fn in_turn(store: &Store, n_schedules: u64) {
    let clock = Arc::new(Shared(Mutex::new(1_000_000_000_000)));
    let store = store.clone().with_clock(clock.clone());
    for schedule in 0..n_schedules {
        let mut random = Random(schedule);
        let name = format!("schedule {schedule}");
        let mut handles = vec![begin(&store, &name)];
        let first = fresh(&mut handles[0]);
        handles.extend((0..2).map(|_| store.campaign(Some(&name)).unwrap()));
        let mut calls = Vec::new();
        for tag in 1..=45 {
            if random.below(8) == 0 {
                *clock.0.lock().unwrap() += LEASE / 2;
            }
            let handle = &mut handles[usize::try_from(random.below(3)).unwrap()];
            calls.push(call(handle, Op::random(&mut random, tag)));
        }
        let records = handles[0].events(0).unwrap();
        check(&name, &records, &calls, first);
        drop(handles);
        store.delete(&name).unwrap();
    }
}

#[test]
fn in_turn_in_memory() {
    in_turn(&Store::memory(), 1_500 * longer());
}

#[test]
fn in_turn_on_sqlite() {
    let place = Place::sqlite();
    in_turn(&Store::create(&format!("{}?durability=normal", place.address)).unwrap(), 40 * longer());
}

#[test]
fn in_turn_on_postgres() {
    in_turn(&Store::create(&Place::postgres().address).unwrap(), 6 * longer());
}

/// The calls of one worker; its tags are its own.
fn work(campaign: &mut Campaign, worker: u64, n_calls: u64) -> Vec<Call> {
    let mut random = Random(worker);
    let tags = 1 + worker * n_calls..;
    tags.take(usize::try_from(n_calls).unwrap()).map(|tag| call(campaign, Op::random(&mut random, tag))).collect()
}

fn at_once(store: &Store, n_schedules: u64) {
    for schedule in 0..n_schedules {
        let name = format!("schedule {schedule}");
        let mut campaign = begin(store, &name);
        let first = fresh(&mut campaign);
        let start = &std::sync::Barrier::new(3);
        let calls: Vec<Call> = std::thread::scope(|scope| {
            let work = |worker| {
                let mut campaign = store.campaign(Some(&name)).unwrap();
                scope.spawn(move || {
                    start.wait();
                    work(&mut campaign, 3 * schedule + worker, 20)
                })
            };
            let workers: Vec<_> = (0..3).map(work).collect();
            workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
        });
        check(&name, &campaign.events(0).unwrap(), &calls, first);
    }
}

#[test]
fn at_once_in_memory() {
    at_once(&Store::memory(), 300 * longer());
}

#[test]
fn at_once_on_sqlite() {
    let place = Place::sqlite();
    at_once(&Store::create(&format!("{}?durability=normal", place.address)).unwrap(), 15 * longer());
}

#[test]
fn at_once_on_postgres() {
    at_once(&Store::create(&Place::postgres().address).unwrap(), 4 * longer());
}

/// Two processes, which write their calls to files.
#[test]
fn two_processes_on_sqlite() {
    if let Ok(address) = std::env::var("SCHEDULES_STORE") {
        let worker = std::env::var("SCHEDULES_WORKER").unwrap().parse().unwrap();
        let mut campaign = Store::open(&address).unwrap().campaign(None).unwrap();
        let mut lines = String::new();
        for Call { before, after, op: Op { kind, on, tag }, answer } in work(&mut campaign, worker, 60) {
            writeln!(lines, "{before}\t{after}\t{kind}\t{on}\t{tag}\t{answer:?}").unwrap();
        }
        return std::fs::write(std::env::var("SCHEDULES_LOG").unwrap(), lines).unwrap();
    }
    for schedule in 0..2 * longer() {
        let place = Place::sqlite();
        let mut campaign = begin(&Store::create(&place.address).unwrap(), "screen");
        let first = fresh(&mut campaign);
        let log = |worker: u64| place.directory().join(format!("{worker}.log"));
        let start = |worker: u64| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", "schedules::two_processes_on_sqlite", "--nocapture"]);
            command.env("SCHEDULES_STORE", &place.address).env("SCHEDULES_WORKER", worker.to_string());
            command.env("SCHEDULES_LOG", log(worker)).stdout(std::process::Stdio::null()).spawn().unwrap()
        };
        let workers = [2 * schedule, 2 * schedule + 1];
        for mut process in workers.map(start) {
            assert!(process.wait().unwrap().success());
        }
        let mut calls = Vec::new();
        for line in
            workers.iter().map(|&worker| std::fs::read_to_string(log(worker)).unwrap()).collect::<String>().lines()
        {
            let fields: Vec<&str> = line.split('\t').collect();
            let number = |position: usize| fields[position].parse::<u64>().unwrap();
            let op = Op { kind: number(2), on: number(3), tag: number(4) };
            let text = fields[5].trim_end_matches(')');
            let answer = match text.strip_prefix("Ok(") {
                Some(n) => Ok(n.parse().unwrap()),
                None => Err(text.trim_start_matches("Err(").trim_matches('"').to_owned()),
            };
            calls.push(Call { before: number(0), after: number(1), op, answer });
        }
        check(&format!("processes {workers:?}"), &campaign.events(0).unwrap(), &calls, first);
    }
}

/// The check itself finds wrong answers.
#[test]
fn a_wrong_answer_is_found() {
    let store = Store::memory();
    let mut campaign = begin(&store, "screen");
    let calls = work(&mut campaign, 5, 30);
    let records = campaign.events(0).unwrap();
    let told = calls.iter().position(|call| call.op.kind == TELL && call.answer == Ok(1)).unwrap();
    let wrong = |change: &dyn Fn(&mut Call)| {
        let mut calls = work(&mut begin(&store, "another"), 5, 30);
        store.delete("another").unwrap();
        change(&mut calls[told]);
        let first = fresh(&mut store.campaign(None).unwrap());
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check("wrong", &records, &calls, first))).is_err()
    };
    assert!(!wrong(&|_| ()));
    assert!(wrong(&|call| call.answer = Ok(0)));
    assert!(wrong(&|call| call.answer = Err("Failed { ticket: 1 }".into())));
    assert!(wrong(&|call| call.after = call.before));
    assert!(wrong(&|call| call.op.kind = AMEND));
}
