//! Stores whose rows were changed, by damage or by another program.

mod rewritten;

use arbitrary::{Result, Unstructured};
use cutline_campaign::{AnyCampaign, CampaignModel, Candidates, Change, Settings};
use cutline_store::{Campaign, Store, StoreError};
use rewritten::write_checksums;
use rusqlite::Connection;
use rusqlite::types::Value;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;
use tempfile::TempDir;

const LEASE: Duration = Duration::from_hours(1);

/// The columns that a row may differ in.
const COLUMNS: [(&str, &[&str]); 3] = [
    ("cutline_campaigns", &["id", "name", "created", "settings", "n_arms", "checksum"]),
    ("cutline_arms", &["first", "names", "features", "checksum"]),
    (
        "cutline_events",
        &["number", "at", "kind", "ticket", "arm", "reward", "worker", "until", "reason", "counted", "checksum"],
    ),
];

/// Words that mean something in a store.
const WORDS: [&str; 12] = [
    "asked",
    "told",
    "failed",
    "expired",
    "observed",
    "amended",
    "voided",
    "withdrawn",
    "restored",
    "added",
    "changed",
    "renewed",
];

/// Settings and values that they may be given.
const SETTINGS: [&str; 11] = [
    "threshold",
    "precision",
    "budget",
    "algorithm",
    "estimator",
    "noise",
    "interval",
    "delta",
    "until_sure",
    "seed",
    "rewards",
];
const VALUES: [&str; 18] = [
    "0",
    "1",
    "-1",
    "4294967295",
    "1e308",
    "-1e300",
    "1e-300",
    "0.5",
    "null",
    "\"apt\"",
    "\"lingame\"",
    "\"mixed\"",
    "\"ridge\"",
    "\"sample-mean\"",
    "\"bernoulli\"",
    "\"evidence\"",
    "\"expected-errors 1\"",
    "[]",
];

/// Changes rows of a store and opens it. A change without new checksums is detected or harmless; with them the store may say anything,
/// and is refused or can be used.
pub fn check(data: &[u8]) {
    let template = Template::get();
    let directory = directory();
    let path = directory.path().join("screen.db");
    let mut bytes = Unstructured::new(data);
    let Ok(has_checksums) = template.write_changed(&path, &mut bytes) else { return };
    let found = summary(&path);
    match found {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(found) if !has_checksums => assert!(found == template.summary, "an undetected change: {found}"),
        Ok(_) => use_it(&path),
    }
}

/// A directory in memory, where there is one.
fn directory() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a temporary directory")
}

/// A store with every kind of event.
struct Template {
    file: Vec<u8>,
    summary: String,
}

impl Template {
    fn get() -> &'static Self {
        static TEMPLATE: OnceLock<Template> = OnceLock::new();
        TEMPLATE.get_or_init(|| {
            let directory = directory();
            let path = directory.path().join("screen.db");
            begin(path.to_str().expect("a path in UTF-8")).expect("a new store");
            let connection = Connection::open(&path).expect("a store");
            // In this mode there is one file only.
            connection.pragma_update(None, "journal_mode", "DELETE").expect("nobody else uses it");
            drop(connection);
            let file = std::fs::read(&path).expect("a store");
            Self { file, summary: summary(&path).expect("a good store") }
        })
    }

    /// Writes a store with changes by the bytes. Returns whether its checksums are right again.
    fn write_changed(&self, path: &Path, bytes: &mut Unstructured<'_>) -> Result<bool> {
        let has_checksums = bytes.arbitrary()?;
        let n_changes = if has_checksums { bytes.int_in_range(1..=4)? } else { 1 };
        std::fs::write(path, &self.file).expect("a file in a new directory");
        let mut connection = Connection::open(path).expect("the template");
        connection
            .execute_batch("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; PRAGMA foreign_keys = OFF")
            .expect("valid settings");
        let transaction = connection.transaction().expect("the only one");
        for _ in 0..n_changes {
            change(&transaction, bytes)?;
        }
        if has_checksums {
            write_checksums(&transaction);
        }
        transaction.commit().expect("nothing to wait for");
        Ok(has_checksums)
    }
}

/// Begins a campaign, and makes an event of every kind.
fn begin(address: &str) -> std::result::Result<(), StoreError> {
    let store = Store::create(address)?;
    let mut settings = Settings::new(0.25, 60);
    settings.model = Some(CampaignModel::Linear);
    let columns = vec!["x".to_owned(), "y".to_owned()];
    let candidates = |names: &[&str], features: Vec<f64>| {
        Candidates::new(names.iter().map(ToString::to_string).collect(), columns.clone(), features)
    };
    let first = candidates(&["a", "b", "c d", "e"], vec![0.5, 1.0, -1.0, 0.25, 0.0, 2.0, 1.5, -0.5])?;
    let mut campaign = store.begin("screen", &settings, first)?;
    campaign.observe(&[(0, 0.5), (1, -0.25)], false)?;
    let tickets = campaign.ask(6, "worker", LEASE)?;
    let rewards: Vec<(u64, f64)> = tickets.iter().take(3).map(|ticket| (ticket.number, 0.125)).collect();
    campaign.tell(&rewards)?;
    campaign.fail(4, "lost")?;
    campaign.expire(&[5])?;
    campaign.amend(&[(1, 2.0)], "typo")?;
    campaign.void(&[2], "wrong")?;
    campaign.withdraw(&[1], "gone")?;
    campaign.restore(&[1])?;
    campaign.add(&candidates(&["f"], vec![1.0, 1.0])?)?;
    campaign.change(&Change::new().with("budget", 70))?;
    drop(campaign.ask(2, "worker", LEASE)?);
    Ok(())
}

/// Everything that a campaign reports.
fn summary(path: &Path) -> std::result::Result<String, StoreError> {
    let mut campaign = open(path)?;
    let verdicts = campaign.verdicts()?;
    let (progress, events) = (campaign.progress()?, campaign.events(0)?);
    let (name, settings, arms) = (campaign.name(), campaign.settings(), campaign.arm_names());
    Ok(format!("{name:?} {settings:?} {arms:?} {verdicts:?} {progress:?} {events:?}"))
}

fn open(path: &Path) -> std::result::Result<Campaign, StoreError> {
    Store::open(path.to_str().expect("a path in UTF-8"))?.campaign(None)
}

/// Uses a store that opens: everything is done or refused, and afterwards it still opens.
fn use_it(path: &Path) {
    let mut campaign = open(path).expect("it has opened before");
    let tickets = campaign.ask(2, "worker", LEASE).unwrap_or_default();
    for ticket in tickets {
        drop(campaign.tell(&[(ticket.number, 1.0)]));
    }
    let state = campaign.state().expect("it has opened before");
    drop((state.diagnose(), state.stop_reason()));
    drop(campaign);
    summary(path).expect("it has opened before");
}

/// Changes or deletes one row.
fn change(connection: &Connection, bytes: &mut Unstructured<'_>) -> Result<()> {
    let (table, columns) = *bytes.choose(&COLUMNS)?;
    let key = match table {
        "cutline_campaigns" => "id",
        "cutline_arms" => "first",
        _ => "number",
    };
    let row = bytes.int_in_range(0..=40_u32)?;
    let of_row = format!(
        "{key} = (SELECT {key} FROM {table} ORDER BY {key} LIMIT 1 OFFSET {row} % (SELECT COUNT(*) FROM {table}))"
    );
    let column = *bytes.choose(columns)?;
    let statement = match bytes.int_in_range(0..=19_u8)? {
        0 => format!("DELETE FROM {table} WHERE {of_row}"),
        1..=4 if table == "cutline_campaigns" => {
            let (setting, value) = (bytes.choose(&SETTINGS)?, bytes.choose(&VALUES)?);
            let changed = format!("json_set(settings, '$.{setting}', json('{value}'))");
            format!("UPDATE {table} SET settings = {changed} WHERE {of_row}")
        }
        5 if table == "cutline_events" => {
            let (setting, value) = (bytes.choose(&SETTINGS)?, bytes.choose(&VALUES)?);
            format!("UPDATE {table} SET reason = json_object('{setting}', json('{value}')) WHERE kind = 'changed'")
        }
        _ => {
            let value = value(bytes)?;
            // A key that exists is refused, and so is a missing value where there must be one.
            drop(connection.execute(&format!("UPDATE {table} SET {column} = ?1 WHERE {of_row}"), [value]));
            return Ok(());
        }
    };
    // The settings may be no JSON any more.
    drop(connection.execute_batch(&statement));
    Ok(())
}

fn value(bytes: &mut Unstructured<'_>) -> Result<Value> {
    Ok(match bytes.int_in_range(0..=9_u8)? {
        0 => Value::Null,
        1 => Value::Integer(bytes.arbitrary()?),
        2 => Value::Integer(*bytes.choose(&[0, 1, -1, i64::MAX, i64::MIN, u32::MAX.into(), 1 << 33])?),
        3..=5 => Value::Integer(bytes.int_in_range(-1..=12)?),
        6 => Value::Real(crate::numbers::any(bytes)?),
        7 => Value::Text((*bytes.choose(&WORDS)?).into()),
        8 => Value::Text(bytes.arbitrary::<&str>()?.into()),
        _ => Value::Blob(bytes.arbitrary::<&[u8]>()?.into()),
    })
}
