//! Shared by the test suites: empty stores of every kind, candidates and rewards.

#![allow(dead_code, unused_macros, reason = "each suite uses a part of it")]

use cutline_campaign::{Candidates, Settings};
use cutline_store::Store;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Runs each promise on memory, SQLite and PostgreSQL.
macro_rules! contract {
    ($($promise:ident),* $(,)?) => {
        mod memory {
            $(#[test] fn $promise() { super::$promise(&super::Store::memory()); })*
        }
        mod sqlite {
            $(#[test] fn $promise() {
                let place = super::Place::sqlite();
                super::$promise(&super::Store::create(&place.address).unwrap());
            })*
        }
        mod postgres {
            $(#[test] fn $promise() {
                let place = super::Place::postgres();
                super::$promise(&super::Store::create(&place.address).unwrap());
            })*
        }
    };
}

/// How long tests wait for something before they fail: only a hang takes as long, however busy the machine is.
pub const PATIENCE: Duration = Duration::from_mins(10);

/// Waits for something that should happen soon.
#[track_caller]
pub fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_there() {
        assert!(begun.elapsed() < PATIENCE, "no {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The address of a store that does not exist yet, and its temporary directory.
pub struct Place {
    pub address: String,
    directory: Option<TempDir>,
}

impl Place {
    /// A file.
    pub fn sqlite() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let address = directory.path().join("screen.db").to_str().unwrap().to_owned();
        Self { address, directory: Some(directory) }
    }

    /// A new database on the server of `CUTLINE_TEST_POSTGRES`.
    pub fn postgres() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let server = std::env::var("CUTLINE_TEST_POSTGRES").expect(
            "CUTLINE_TEST_POSTGRES must be the URL of a PostgreSQL server; `checks/with-postgres cargo test` starts one",
        );
        let name = format!("cutline_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let mut client = postgres::Client::connect(&format!("{server}/postgres"), postgres::NoTls).unwrap();
        client.batch_execute(&format!("CREATE DATABASE {name}")).unwrap();
        Self { address: format!("{server}/{name}"), directory: None }
    }

    /// The directory of an SQLite store.
    pub fn directory(&self) -> &std::path::Path {
        self.directory.as_ref().unwrap().path()
    }
}

/// A hundred candidates with three features, called `arm 0` to `arm 99`.
pub fn candidates() -> Candidates {
    let names = (0..100).map(|arm| format!("arm {arm}")).collect();
    let columns = ["a", "b", "c"].map(String::from).to_vec();
    let features = (0..300).map(|i| f64::from((i * 7919) % 1000) / 500.0 - 1.0).collect();
    Candidates::new(names, columns, features).unwrap()
}

/// A noisy reward. It is a function of the ticket, so that it can be told again.
pub fn reward(ticket: u64, features: &[f64]) -> f64 {
    let mean: f64 = features.iter().zip([1.0, -0.5, 0.25]).map(|(x, w)| x * w).sum();
    mean + (ticket.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / f64::from(1 << 24) - 0.5
}

pub fn settings(budget: u32) -> Settings {
    let mut settings = Settings::new(0.25, budget);
    settings.seed = 7;
    settings
}

/// A store with the campaign `screen`.
pub fn begin(place: &Place, budget: u32) -> Store {
    let store = Store::create(&place.address).unwrap();
    store.begin("screen", &settings(budget), candidates()).unwrap();
    store
}
