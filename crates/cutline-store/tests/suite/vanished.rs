//! Stores whose files are deleted, moved or replaced while they are in use.

use crate::common::{Place, begin, candidates, reward, settings};
use cutline_campaign::AnyCampaign;
use cutline_store::{Campaign, Store, StoreError};
use std::path::{Path, PathBuf};
use std::time::Duration;

const LEASE: Duration = Duration::from_hours(1);

/// A campaign with one open ticket, and the path of its store.
fn open_ticket(place: &Place) -> (Campaign, PathBuf, (u64, f64)) {
    let mut campaign = begin(place, 60).campaign(None).unwrap();
    let ticket = campaign.ask(1, "w", LEASE).unwrap().remove(0);
    let told = (ticket.number, reward(ticket.number, &ticket.features));
    (campaign, PathBuf::from(&place.address), told)
}

/// Every kind of write must fail with this error.
fn assert_gone(campaign: &mut Campaign, told: (u64, f64), is_expected: impl Fn(&StoreError) -> bool) {
    let errors = [
        campaign.tell(&[told]).unwrap_err(),
        campaign.ask(1, "w", LEASE).unwrap_err(),
        campaign.observe(&[(0, 0.5)], false).unwrap_err(),
    ];
    for error in errors {
        assert!(error.is_store_gone() && is_expected(&error), "{error}");
    }
}

fn is_vanished(error: &StoreError) -> bool {
    matches!(error, StoreError::Vanished { .. })
}

fn counted(path: &Path) -> u32 {
    Store::open(path.to_str().unwrap()).unwrap().campaign(None).unwrap().progress().unwrap().counted
}

#[test]
fn a_deleted_store_is_noticed() {
    let place = Place::sqlite();
    let (mut campaign, path, told) = open_ticket(&place);
    for suffix in ["", "-wal", "-shm"] {
        std::fs::remove_file(format!("{}{suffix}", path.display())).unwrap();
    }
    assert_gone(&mut campaign, told, is_vanished);
    let message = campaign.tell(&[told]).unwrap_err().to_string();
    let path = path.display();
    assert_eq!(
        message,
        format!("the store {path} is gone: {path} was deleted or moved while it was in use, so nothing more was saved")
    );
}

#[test]
fn a_deleted_log_is_noticed() {
    let place = Place::sqlite();
    let (mut campaign, path, told) = open_ticket(&place);
    std::fs::remove_file(format!("{}-wal", path.display())).unwrap();
    assert_gone(
        &mut campaign,
        told,
        |error| matches!(error, StoreError::Vanished { file, .. } if file.ends_with("screen.db-wal")),
    );
}

#[test]
fn a_deleted_directory_is_noticed() {
    let place = Place::sqlite();
    let (mut campaign, _, told) = open_ticket(&place);
    std::fs::remove_dir_all(place.directory()).unwrap();
    assert_gone(&mut campaign, told, is_vanished);
    std::fs::write(place.directory(), "a file in place of the directory").unwrap();
    assert_gone(&mut campaign, told, is_vanished);
    std::fs::remove_file(place.directory()).unwrap();
}

/// Nothing is written to the store that was moved away, and it works again once it is back.
#[test]
fn a_moved_store_is_noticed() {
    let place = Place::sqlite();
    let (mut campaign, path, told) = open_ticket(&place);
    let elsewhere = path.with_file_name("elsewhere.db");
    std::fs::rename(&path, &elsewhere).unwrap();
    assert_gone(&mut campaign, told, is_vanished);
    std::fs::rename(&elsewhere, &path).unwrap();
    assert_eq!(campaign.tell(&[told]).unwrap(), 1);
    drop(campaign);
    assert_eq!(counted(&path), 1);
}

#[test]
fn a_replaced_store_is_noticed() {
    let place = Place::sqlite();
    let (mut campaign, path, told) = open_ticket(&place);
    let copy = path.with_file_name("copy.db");
    Store::create(copy.to_str().unwrap()).unwrap().begin("screen", &settings(60), candidates()).unwrap();
    std::fs::rename(&copy, &path).unwrap();
    assert_gone(&mut campaign, told, |error| matches!(error, StoreError::Replaced { .. }));
}

#[cfg(unix)]
#[test]
fn a_link_to_a_store_may_not_change_either() {
    let place = Place::sqlite();
    let (campaign, path, told) = open_ticket(&place);
    drop(campaign);
    let link = path.with_file_name("link.db");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let mut campaign = Store::open(link.to_str().unwrap()).unwrap().campaign(None).unwrap();
    assert_eq!(campaign.tell(&[told]).unwrap(), 1);
    std::fs::remove_file(&link).unwrap();
    assert_gone(&mut campaign, told, is_vanished);
}

/// A backup that is restored into the store, as `sqlite3 screen.db ".restore backup.db"` does it, keeps the file, but not what is in it.
#[test]
fn a_store_that_another_one_is_restored_into_is_noticed() {
    for n_events in [0, 1, 5] {
        let place = Place::sqlite();
        let (mut campaign, path, told) = open_ticket(&place);
        let other = path.with_file_name("other.db");
        let mut backup =
            Store::create(other.to_str().unwrap()).unwrap().begin("screen", &settings(60), candidates()).unwrap();
        (0..n_events).for_each(|_| backup.observe(&[(1, 0.25)], true).unwrap());
        drop(backup);
        let tables = ["cutline_events", "cutline_arms", "cutline_campaigns"];
        let restore =
            tables.map(|table| format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM other.{table};"));
        let restore = format!(
            "PRAGMA foreign_keys = OFF; ATTACH '{}' AS other; BEGIN; {} COMMIT;",
            other.display(),
            restore.concat()
        );
        rusqlite::Connection::open(&path).unwrap().execute_batch(&restore).unwrap();
        let error = campaign.tell(&[told]).unwrap_err();
        assert!(matches!(error, StoreError::Damaged { .. }), "{n_events}: {error}");
        drop(campaign);
        assert_eq!(counted(&path), n_events, "the backup is as it was");
    }
}
