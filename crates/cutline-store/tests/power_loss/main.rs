//! Power loss: a real run on SQLite is recorded below SQLite, by a library that logs every write and every sync, and the test replays
//! the log up to any point, at which the power fails: what was synced is on the disk, and of what was not, any sectors of 512 bytes.
//!
//! Whatever is left must open. With `durability=full` the store holds everything that was acknowledged, and at most the one change that was
//! being made; with `durability=normal` it holds what it held at some earlier moment. Then it can be used as before.
//!
//! By default a few hundred losses are tried, everywhere in the log; with `CUTLINE_POWER_LOSS=n`, n at every single point of it.

#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod common;
mod disk;

use common::{candidates, reward, settings};
use cutline::{Purpose, Rng, below, stream};
use cutline_campaign::{AnyCampaign, CampaignModel, Candidates, Settings};
use cutline_store::{Campaign, Store, StoreError};
use disk::{Change, Disk, Kind, Loss};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

const LEASE: Duration = Duration::from_hours(1);

/// The name of the store in its directory.
const STORE: &str = "screen.db";

/// The file to which the recorded process writes a line after every change that was acknowledged to it.
const ACKNOWLEDGED: &str = "acknowledged";

/// How many losses of power are tried by default.
const LOSSES: usize = 300;

/// After so many of them, power is lost again while the store recovers, at about as many points.
const RECOVERIES: usize = 20;

#[test]
fn with_full_durability_nothing_acknowledged_is_lost() {
    // The test starts this program to be recorded.
    if let Ok(address) = std::env::var("POWER_LOSS_STORE") {
        return match std::env::var("POWER_LOSS_TRUTH") {
            Ok(truth) => work(&address, Path::new(&truth)),
            Err(_) => recover(&address),
        };
    }
    lose_power("full", 1);
}

#[test]
fn with_normal_durability_an_earlier_state_is_left() {
    lose_power("normal", 2);
}

/// What a store holds: the number of events and of arms of each campaign.
type Contents = BTreeMap<String, (u64, usize)>;

/// A run that touches everything: a store is created, campaigns begin, are asked and told, changed, renamed and deleted, the log is moved
/// into the database, the store is closed and opened again, and at last the process ends without closing it.
fn work(address: &str, truth: &Path) {
    let mut worker = Worker { address: address.into(), truth: truth.into(), held: Contents::new() };
    let store = Store::create(address).unwrap();
    worker.acknowledge(|_| ());
    let mut small = store.begin("small", &plain(400), candidates()).unwrap();
    worker.note(&mut small);
    for batch in 1..20 {
        worker.measure(&mut small, batch % 4 + 1);
    }
    for round in 0..9 {
        // Large campaigns fill the log until it is moved into the database; without them the store stays small.
        let name = format!("large {round}");
        let mut large = store.begin(&name, &plain(9_000), many("arm", 3_000)).unwrap();
        worker.note(&mut large);
        worker.measure(&mut large, 3);
        if round == 0 {
            large.add(&many("more", 500)).unwrap();
            worker.note(&mut large);
            small.withdraw(&[3, 4], "broken").unwrap();
            worker.note(&mut small);
        }
        worker.measure(&mut small, 2);
        worker.keep_truth(&mut large, &name);
        drop(large);
        store.delete(&name).unwrap();
        worker.acknowledge(|held| {
            held.remove(&name);
        });
    }
    for round in 0..3 {
        let name = format!("round {round}");
        let mut campaign = store.begin(&name, &plain(90), many("arm", 30)).unwrap();
        worker.note(&mut campaign);
        worker.measure(&mut campaign, 40);
        worker.keep_truth(&mut campaign, &name);
    }
    worker.keep_truth(&mut small, "small");
    drop((store, small));

    let store = Store::open(address).unwrap();
    store.rename(Some("small"), "screen").unwrap();
    worker.acknowledge(|held| {
        let moved = held.remove("small").unwrap();
        held.insert("screen".into(), moved);
    });
    store.delete("round 1").unwrap();
    worker.acknowledge(|held| {
        held.remove("round 1");
    });
    let mut screen = store.campaign(Some("screen")).unwrap();
    for _ in 0..10 {
        worker.measure(&mut screen, 1);
    }
    worker.keep_truth(&mut screen, "screen");
    std::mem::forget((store, screen));
}

/// The recorded process.
struct Worker {
    address: String,
    /// Where it writes the events of the campaigns for comparison; this is not recorded.
    truth: PathBuf,
    held: Contents,
}

impl Worker {
    /// Notes a change that has returned, in one write.
    fn acknowledge(&mut self, change: impl FnOnce(&mut Contents)) {
        change(&mut self.held);
        let path = self.address.split('?').next().unwrap().replace(STORE, ACKNOWLEDGED);
        let mut file = std::fs::File::options().append(true).create(true).open(path).unwrap();
        file.write_all(format!("{:?}\n", self.held).as_bytes()).unwrap();
    }

    /// Notes that a change of this campaign has returned. The handle knows its events, so that nothing is read.
    fn note(&mut self, campaign: &mut Campaign) {
        let now = contents(campaign).unwrap();
        self.acknowledge(|held| {
            held.insert(campaign.name().into(), now);
        });
    }

    fn measure(&mut self, campaign: &mut Campaign, n: usize) {
        let tickets = campaign.ask(n, "w", LEASE).unwrap();
        self.note(campaign);
        let rewards: Vec<_> = tickets.iter().map(|t| (t.number, reward(t.number, &t.features))).collect();
        campaign.tell(&rewards).unwrap();
        self.note(campaign);
    }

    fn keep_truth(&self, campaign: &mut Campaign, name: &str) {
        std::fs::write(self.truth.join(name), events(campaign).unwrap().join("\n")).unwrap();
    }
}

/// Settings under which a campaign opens fast.
fn plain(budget: u32) -> Settings {
    let mut settings = settings(budget);
    settings.model = Some(CampaignModel::Independent);
    settings
}

/// Candidates that fill some dozens of pages.
fn many(name: &str, n: u32) -> Candidates {
    let names = (0..n).map(|arm| format!("{name} {arm}")).collect();
    let columns = (0..12).map(|column| format!("x{column}")).collect();
    let features = (0..n * 12).map(|i| f64::from(i).sin()).collect();
    Candidates::new(names, columns, features).unwrap()
}

fn contents(campaign: &mut Campaign) -> Result<(u64, usize), StoreError> {
    Ok((campaign.progress()?.events, campaign.arm_names().len()))
}

/// The events of a campaign, one line each.
fn events(campaign: &mut Campaign) -> Result<Vec<String>, StoreError> {
    Ok(campaign.events(0)?.iter().map(|record| format!("{record:?}")).collect())
}

/// Opens what a loss of power has left, reads it and closes it.
fn recover(address: &str) {
    // There may be none.
    if let Ok(store) = Store::open(address) {
        store.campaigns().unwrap();
    }
}

/// Records what this program changes in a directory.
struct Recorder {
    root: TempDir,
    library: PathBuf,
}

impl Recorder {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let library = root.path().join("record.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/power_loss/record.c");
        let built = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).status();
        assert!(built.expect("a C compiler, which SQLite needs too").success());
        Self { root, library }
    }

    /// The changes of this program in a directory, when it [works](work) and writes the truth elsewhere, or [recovers](recover).
    fn changes(&self, directory: &Path, settings: &str, truth: Option<&Path>) -> Vec<Change> {
        let log = self.root.path().join("log");
        let mut program = Command::new(std::env::current_exe().unwrap());
        program.args(["--exact", "with_full_durability_nothing_acknowledged_is_lost", "--nocapture"]);
        program.env("LD_PRELOAD", &self.library).env("POWER_LOSS_LOG", &log).env("POWER_LOSS_DIRECTORY", directory);
        program.env("POWER_LOSS_STORE", format!("{}{settings}", directory.join(STORE).display()));
        truth.map(|truth| program.env("POWER_LOSS_TRUTH", truth));
        let done = program.output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
        let changes = disk::changes(&std::fs::read(&log).unwrap());
        std::fs::remove_file(log).unwrap();
        changes.into_iter().filter(|change| !change.name.ends_with("-shm")).collect()
    }
}

/// A run that was recorded.
struct Recorded {
    changes: Vec<Change>,
    /// What the store held after each acknowledged change, as text; `None` before it was created.
    held: Vec<Option<String>>,
    /// The events of each campaign in the end.
    truth: Truth,
}

/// The events of each campaign, one line each.
type Truth = BTreeMap<String, Vec<String>>;

/// Records a run with this durability.
fn record(recorder: &Recorder, durability: &str) -> Recorded {
    let root = recorder.root.path().canonicalize().unwrap();
    let [directory, truth] = ["disk", "truth"].map(|name| root.join(name));
    std::fs::create_dir(&directory).unwrap();
    std::fs::create_dir(&truth).unwrap();
    let changes = recorder.changes(&directory, &format!("?durability={durability}"), Some(&truth));
    assert_complete(&changes, &directory);
    let held = std::fs::read_to_string(directory.join(ACKNOWLEDGED)).unwrap();
    let held = [None].into_iter().chain(held.lines().map(|line| Some(line.to_owned()))).collect();
    let lines = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, std::fs::read_to_string(path).unwrap().lines().map(str::to_owned).collect())
    };
    let truth = std::fs::read_dir(truth).unwrap().map(|entry| lines(entry.unwrap().path())).collect();
    Recorded { changes, held, truth }
}

/// Checks that the log has every change of a file: replaying it gives the files.
fn assert_complete(changes: &[Change], directory: &Path) {
    let mut disk = Disk::default();
    for change in changes {
        disk.apply(change);
    }
    let mut rng = stream(0, Purpose::Noise, 0);
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        found.insert(name, std::fs::read(path).unwrap());
    }
    found.retain(|name, _| !name.ends_with("-shm"));
    assert!(disk.after_loss(Loss::Nothing, &mut rng) == found, "the log lacks a change");
}

fn lose_power(durability: &str, seed: u64) {
    let recorder = Recorder::new();
    let Recorded { changes, held, truth } = record(&recorder, durability);
    let phases = database_phases(&changes);
    assert!(
        phases > 2,
        "the database was written to in {phases} phases: the log was not moved into it while it was used"
    );
    let per_point = std::env::var("CUTLINE_POWER_LOSS").ok().map(|n| n.parse::<usize>().expect("a whole number"));
    // Files are synced at once in memory, where there is such a disk.
    let memory = Path::new("/dev/shm");
    let image = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap();
    let image = image.path().canonicalize().unwrap();
    let mut rng = stream(seed, Purpose::Noise, 0);
    let (mut disk, mut acknowledged, mut losses, mut again) = (Disk::default(), 0, 0, 0);
    for (point, change) in changes.iter().enumerate() {
        disk.apply(change);
        if change.name == ACKNOWLEDGED && matches!(change.kind, Kind::Write { .. }) {
            acknowledged += 1;
        }
        let sampled = usize::from(below(&mut rng, changes.len()) < LOSSES);
        // Few points belong to the creation of the store, and much can go wrong there.
        let tries = per_point.unwrap_or(if acknowledged == 0 { Loss::ALL.len() } else { sampled });
        for _ in 0..tries {
            let loss = Loss::ALL[below(&mut rng, Loss::ALL.len())];
            let mut files = disk.after_loss(loss, &mut rng);
            files.remove(ACKNOWLEDGED);
            add_shared_memory(&mut files, &mut rng);
            disk::place(&files, &image);
            let last = held.len().min(acknowledged + 2);
            let allowed = if durability == "full" { &held[acknowledged..last] } else { &held[..last] };
            let context = format!("{durability}, {loss:?} at point {point} of {}, {change:?}", changes.len());
            let context: String = context.chars().take(300).collect();
            let left = check(&image, allowed, &truth, &context);
            losses += 1;
            if losses % RECOVERIES == 0 {
                disk::place(&files, &image);
                again += lose_power_again(&recorder, &image, &[left], &truth, &mut rng, &context);
            }
        }
    }
    assert_eq!(acknowledged + 1, held.len());
    println!("durability={durability}: {losses} losses of power at {} points, {again} while recovering", changes.len());
    assert!(losses >= LOSSES / 2 && again > 0);
}

/// In how many phases, with acknowledged changes in between, the database itself was written to: its creation, whenever the log is moved
/// into it, and its end.
fn database_phases(changes: &[Change]) -> usize {
    let (mut acknowledged, mut phases) = (0, BTreeSet::new());
    for change in changes.iter().filter(|change| matches!(change.kind, Kind::Write { .. })) {
        match change.name.as_str() {
            ACKNOWLEDGED => acknowledged += 1,
            STORE => {
                phases.insert(acknowledged);
            }
            _ => (),
        }
    }
    phases.len()
}

/// Opens what a loss of power has left, and loses power again at points of that. What was left is still there. Returns the number of
/// losses.
fn lose_power_again(
    recorder: &Recorder,
    image: &Path,
    left: &[Option<String>],
    truth: &Truth,
    rng: &mut Rng,
    context: &str,
) -> usize {
    let mut disk = Disk::of(image);
    let changes = recorder.changes(image, "", None);
    let mut losses = 0;
    for (point, change) in changes.iter().enumerate() {
        disk.apply(change);
        if below(rng, changes.len()) < RECOVERIES {
            let loss = Loss::ALL[below(rng, Loss::ALL.len())];
            disk::place(&disk.after_loss(loss, rng), image);
            let context = format!("{context}; then {loss:?} at point {point} of {} of opening it", changes.len());
            check(image, left, truth, &context);
            losses += 1;
        }
    }
    losses
}

/// After a loss of power, the file that processes share may hold anything. SQLite does not read it.
fn add_shared_memory(files: &mut BTreeMap<String, Vec<u8>>, rng: &mut Rng) {
    if below(rng, 2) == 0 {
        let byte = u8::try_from(below(rng, 256)).unwrap();
        files.insert(format!("{STORE}-shm"), vec![byte; 32_768]);
    }
}

/// Opens what is left, checks what it holds, and uses it. Returns what it held.
fn check(directory: &Path, allowed: &[Option<String>], truth: &Truth, context: &str) -> Option<String> {
    let address = directory.join(STORE).display().to_string();
    let held = recovered(&address, truth, context);
    assert!(allowed.contains(&held), "{context}: {held:?} is left, and not one of {allowed:?}");
    let store = Store::create(&address).unwrap_or_else(|error| panic!("{context}: {error}"));
    let mut campaign = store.begin("afterwards", &plain(9), many("arm", 2)).unwrap();
    let tickets = campaign.ask(2, "w", LEASE).unwrap();
    campaign.tell(&tickets.iter().map(|ticket| (ticket.number, 0.5)).collect::<Vec<_>>()).unwrap();
    drop((store, campaign));
    let store = Store::open(&address).unwrap();
    assert_eq!(contents(&mut store.campaign(Some("afterwards")).unwrap()).unwrap(), (4, 2));
    store.delete("afterwards").unwrap();
    drop(store);
    let afterwards = recovered(&address, truth, context);
    assert_eq!(afterwards, Some(held.clone().unwrap_or_else(|| "{}".into())), "{context}: it was used");
    held
}

/// What the store holds, as text; `None` if there is none.
fn recovered(address: &str, truth: &Truth, context: &str) -> Option<String> {
    let failed = |error: StoreError| -> ! { panic!("{context}: {error}") };
    let store = match Store::open(address) {
        Err(StoreError::Missing(_)) => return None,
        store => store.unwrap_or_else(|error| failed(error)),
    };
    let mut held = Contents::new();
    for summary in store.campaigns().unwrap_or_else(|error| failed(error)) {
        let name = summary.name;
        let mut campaign = store.campaign(Some(&name)).unwrap_or_else(|error| failed(error));
        let events = events(&mut campaign).unwrap_or_else(|error| failed(error));
        assert!(truth[&name].starts_with(&events), "{context}: {name} has other events");
        held.insert(name, contents(&mut campaign).unwrap_or_else(|error| failed(error)));
    }
    Some(format!("{held:?}"))
}
