//! Foreign files, damaged stores, full disks and read-only disks.

use crate::common::{Place, begin, candidates, reward, settings};
use cutline_campaign::{AnyCampaign, CampaignModel};
use cutline_store::{Campaign, Store, StoreError};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const LEASE: Duration = Duration::from_hours(1);

fn open(path: &Path) -> Result<Campaign, StoreError> {
    Store::open(path.to_str().unwrap())?.campaign(None)
}

fn measure(campaign: &mut Campaign, n: usize) -> Result<(), StoreError> {
    let tickets = campaign.ask(n, "w", LEASE)?;
    let rewards: Vec<_> = tickets.iter().map(|t| (t.number, reward(t.number, &t.features))).collect();
    campaign.tell(&rewards).map(drop)
}

#[test]
fn a_foreign_file_is_refused_and_not_changed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes.db");
    let other = directory.path().join("other.db");
    let sqlite = rusqlite::Connection::open(&other).unwrap();
    sqlite.execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (1)").unwrap();
    drop(sqlite);
    let mut short = std::fs::read(&other).unwrap();
    short.truncate(50);
    for bytes in [b"name,a\nx,1\n".to_vec(), vec![0; 5_000], std::fs::read(&other).unwrap(), short] {
        std::fs::write(&path, &bytes).unwrap();
        for result in [Store::open(path.to_str().unwrap()), Store::create(path.to_str().unwrap())] {
            let error = result.unwrap_err();
            assert!(matches!(error, StoreError::Foreign(_)), "{error}");
            assert_eq!(std::fs::read(&path).unwrap(), bytes);
        }
        let mut left: Vec<_> =
            std::fs::read_dir(directory.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["notes.db", "other.db"], "no file was created beside it");
    }
}

#[test]
fn a_missing_store_is_reported_and_not_created() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("screen.db");
    let message = Store::open(path.to_str().unwrap()).unwrap_err().to_string();
    assert_eq!(message, format!("there is no store at {}", path.display()));
    assert!(!path.exists());
    std::fs::write(&path, "").unwrap();
    assert!(matches!(Store::open(path.to_str().unwrap()), Err(StoreError::Missing(_))));
    assert!(Store::create(path.to_str().unwrap()).is_ok(), "an empty file can become a store");
    let nowhere = directory.path().join("no/such/directory/screen.db");
    let message = Store::create(nowhere.to_str().unwrap()).unwrap_err().to_string();
    assert!(message.contains("directory exists"), "{message}");
    let message = Store::create(directory.path().to_str().unwrap()).unwrap_err().to_string();
    assert!(message.contains("cannot open it"), "{message}");
}

#[test]
fn a_store_of_a_later_version_is_refused() {
    let place = Place::sqlite();
    begin(&place, 10);
    let sqlite = rusqlite::Connection::open(&place.address).unwrap();
    sqlite.execute_batch("UPDATE cutline_schema SET version = 9").unwrap();
    drop(sqlite);
    let message = Store::open(&place.address).unwrap_err().to_string();
    assert!(
        message.ends_with("has schema 9, and this version of Cutline knows up to 5; use a later version"),
        "{message}"
    );
}

/// Everything a campaign reports: name, settings, arms and verdicts.
fn summary(campaign: &mut Campaign) -> Result<String, StoreError> {
    let verdicts = campaign.verdicts()?;
    Ok(format!("{:?} {:?} {:?} {verdicts:?}", campaign.name(), campaign.settings(), campaign.arm_names()))
}

/// Whichever byte of the file changes, either an error is reported or the campaign reports the same as before.
#[test]
fn damage_is_detected_or_harmless() {
    let place = Place::sqlite();
    // Enough events that much of the file is not empty.
    let mut campaign = begin(&place, 400).campaign(None).unwrap();
    for _ in 0..100 {
        measure(&mut campaign, 3).unwrap();
    }
    let expected = summary(&mut campaign).unwrap();
    drop(campaign);
    let whole = std::fs::read(&place.address).unwrap();
    let damaged = place.directory().join("damaged.db");
    let (mut detected, mut harmless) = (0, 0);
    for trial in 0..400 {
        let mut bytes = whole.clone();
        let position = (trial * 7_919 + trial * trial * 104_729) % bytes.len();
        bytes[position] ^= 1 << (trial % 8);
        std::fs::write(&damaged, bytes).unwrap();
        for suffix in ["-wal", "-shm"] {
            drop(std::fs::remove_file(format!("{}{suffix}", damaged.display())));
        }
        match open(&damaged).and_then(|mut campaign| summary(&mut campaign)) {
            Err(error) => {
                detected += 1;
                assert!(!error.to_string().contains('\n'), "{error}");
            }
            Ok(summary) => {
                harmless += 1;
                assert!(summary == expected, "the change of byte {position} was not detected");
            }
        }
    }
    assert!(detected > 50 && harmless > 50, "{detected} detected, {harmless} harmless");
    std::fs::write(&damaged, &whole[..whole.len() / 2]).unwrap();
    assert!(open(&damaged).is_err(), "half of the file is missing");
}

#[test]
fn changes_made_with_sql_are_detected() {
    for change in [
        "UPDATE cutline_events SET reward = reward + 1 WHERE number = 3",
        "UPDATE cutline_events SET arm = 99 - arm WHERE number = 1",
        "DELETE FROM cutline_events WHERE number = 3",
        "DELETE FROM cutline_events WHERE number = 4",
        "DELETE FROM cutline_events WHERE kind = 'head'",
        "DELETE FROM cutline_arms WHERE first = 0",
        "UPDATE cutline_campaigns SET settings = replace(settings, '0.25', '0.75')",
        "UPDATE cutline_campaigns SET n_arms = 99",
    ] {
        let place = Place::sqlite();
        let mut campaign = begin(&place, 10).campaign(None).unwrap();
        measure(&mut campaign, 2).unwrap();
        drop(campaign);
        let sqlite = rusqlite::Connection::open(&place.address).unwrap();
        sqlite.execute_batch(change).unwrap();
        drop(sqlite);
        let error = Store::open(&place.address).unwrap().campaign(None).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{change}: {error}");
    }
}

#[test]
fn many_threads_may_create_a_store_at_once() {
    let place = Place::sqlite();
    let begun = std::thread::scope(|scope| {
        let begin = |worker: usize| {
            let store = Store::create(&place.address)?;
            store.begin(&format!("campaign {}", worker % 3), &settings(10), candidates()).map(drop)
        };
        let workers: Vec<_> = (0..12).map(|worker| scope.spawn(move || begin(worker))).collect();
        let results: Vec<_> = workers.into_iter().map(|worker| worker.join().unwrap()).collect();
        for error in results.iter().filter_map(|result| result.as_ref().err()) {
            assert!(matches!(error, StoreError::NameTaken(_)), "{error}");
        }
        results.iter().filter(|result| result.is_ok()).count()
    });
    assert_eq!(begun, 3);
    assert_eq!(Store::open(&place.address).unwrap().campaigns().unwrap().len(), 3);
}

/// Runs a test with its own disk of this size: the test binary starts itself again in a mount namespace, with the disk's path in the
/// environment.
fn on_a_separate_disk(size: &str, test: &str, inside: fn(&Path)) {
    if let Some(disk) = std::env::var_os("CUTLINE_TEST_DISK") {
        return inside(Path::new(&disk));
    }
    let directory = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o size=$SIZE tmpfs \"$CUTLINE_TEST_DISK\" && exec \"$0\" --exact \"$1\" --nocapture";
    let done = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script])
        .arg(std::env::current_exe().unwrap())
        .arg(test)
        .env("SIZE", size)
        .env("CUTLINE_TEST_DISK", directory.path())
        .output()
        .unwrap();
    let output = format!("{}{}", String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success() && output.contains("1 passed"), "{output}");
}

#[test]
fn a_full_disk_loses_nothing() {
    on_a_separate_disk("600k", "damage::a_full_disk_loses_nothing", on_a_small_disk);
}

fn on_a_small_disk(disk: &Path) {
    let path = disk.join("screen.db");
    let filler = disk.join("filler");
    std::fs::write(&filler, vec![1; 100_000]).unwrap();
    let store = Store::create(path.to_str().unwrap()).unwrap();
    let mut campaign = store.begin("screen", &settings(100_000), candidates()).unwrap();
    let mut acknowledged = 0;
    let error = loop {
        match measure(&mut campaign, 20) {
            Ok(()) => acknowledged += 20,
            Err(error) => break error,
        }
    };
    assert!(error.to_string().contains("the disk is full; make room"), "{error}");
    let counted = |campaign: &mut Campaign| campaign.progress().unwrap().counted;
    assert_eq!(counted(&mut campaign), acknowledged, "no acknowledged reward is lost");
    assert_eq!(counted(&mut open(&path).unwrap()), acknowledged, "and the store can be read");
    std::fs::remove_file(filler).unwrap();
    measure(&mut campaign, 20).unwrap();
    drop(campaign);
    let mut again = open(&path).unwrap();
    assert_eq!(counted(&mut again), acknowledged + 20, "with room it continues");
    // There is no room for another campaign, so no part of it may be written.
    let many = (0..200_000).map(|arm| format!("arm number {arm}")).collect();
    let many = cutline_campaign::Candidates::new(many, vec![], vec![]).unwrap();
    let mut apt = settings(300_000);
    apt.algorithm = Some("apt".into());
    let error = Store::open(path.to_str().unwrap()).unwrap().begin("large", &apt, many).unwrap_err();
    assert!(error.to_string().contains("the disk is full"), "{error}");
    assert_eq!(Store::open(path.to_str().unwrap()).unwrap().campaigns().unwrap().len(), 1);
}

#[test]
fn a_read_only_store_can_be_read() {
    on_a_separate_disk("2m", "damage::a_read_only_store_can_be_read", on_a_read_only_disk);
}

fn on_a_read_only_disk(disk: &Path) {
    let path = disk.join("screen #1?%.db");
    let store = Store::create(path.to_str().unwrap()).unwrap();
    let mut campaign = store.begin("screen", &settings(100), candidates()).unwrap();
    measure(&mut campaign, 10).unwrap();
    let expected = summary(&mut campaign).unwrap();
    drop(campaign);
    let done = Command::new("mount").args(["-o", "remount,ro"]).arg(disk).status().unwrap();
    assert!(done.success());
    let mut campaign = open(&path).unwrap();
    assert_eq!(summary(&mut campaign).unwrap(), expected);
    let error = campaign.ask(1, "w", LEASE).unwrap_err();
    assert!(error.to_string().ends_with("cannot be written to"), "{error}");
    let error = store.begin("other", &settings(100), candidates()).unwrap_err();
    assert!(error.to_string().ends_with("cannot be written to"), "{error}");
    assert_eq!(summary(&mut campaign).unwrap(), expected, "and it can still be read");
    let error = Store::create(disk.join("new.db").to_str().unwrap()).unwrap_err();
    assert!(error.to_string().contains("cannot be opened"), "{error}");
}

/// Damages the candidates through another connection; the same statement repairs them.
const TOGGLE_DAMAGE: &str = "UPDATE cutline_arms SET checksum = -1 - checksum";

/// If the features of a ticket cannot be read, the ticket was not handed out.
fn a_failed_ask_writes_nothing(address: &str, toggle_damage: impl Fn()) {
    let store = Store::create(address).unwrap();
    let mut settings = settings(10);
    // Only where features are prepared are those of a ticket read from the store.
    settings.model = Some(CampaignModel::Linear);
    let mut campaign = store.begin("screen", &settings, candidates()).unwrap();
    let mut other = store.campaign(None).unwrap();
    measure(&mut campaign, 4).unwrap();
    toggle_damage();
    for _ in 0..3 {
        let error = campaign.ask(2, "w", LEASE).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    }
    let progress = other.progress().unwrap();
    assert_eq!((progress.counted, progress.open, progress.events), (4, 0, 8), "nothing was written");
    toggle_damage();
    assert_eq!(campaign.progress().unwrap(), progress);
    assert_eq!(campaign.ask(100, "w", LEASE).unwrap().len(), 6, "the budget is unspent");
}

#[test]
fn a_failed_ask_writes_nothing_to_sqlite() {
    let place = Place::sqlite();
    a_failed_ask_writes_nothing(&place.address, || {
        rusqlite::Connection::open(&place.address).unwrap().execute_batch(TOGGLE_DAMAGE).unwrap();
    });
}

#[test]
fn a_failed_ask_writes_nothing_to_postgres() {
    let place = Place::postgres();
    a_failed_ask_writes_nothing(&place.address, || {
        postgres::Client::connect(&place.address, postgres::NoTls).unwrap().batch_execute(TOGGLE_DAMAGE).unwrap();
    });
}
