//! Shared by the suites about stored campaigns: a directory with a store of either kind, and the program run in it.

#![allow(dead_code, reason = "each suite uses a part of it")]

use crate::common::process::{Killed, PATIENCE};
use cutline_campaign::{Candidates, Event, Record, Settings};
use cutline_store::{Campaign, Store, StoreError};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A temporary directory and the address of a store without campaigns.
pub struct Place {
    directory: TempDir,
    pub address: String,
}

impl Place {
    /// A file in the directory.
    pub fn sqlite() -> Self {
        Self::directory("screen.db").with_store()
    }

    /// A directory for a store at an address in it, without the store.
    pub fn directory(address: &str) -> Self {
        Self { directory: tempfile::tempdir().unwrap(), address: address.into() }
    }

    /// A database of its own on the server of `CUTLINE_TEST_POSTGRES`.
    pub fn postgres() -> Self {
        let server = std::env::var("CUTLINE_TEST_POSTGRES").expect(
            "CUTLINE_TEST_POSTGRES must be the URL of a PostgreSQL server; `checks/with-postgres cargo test` starts one",
        );
        Self::directory("").on(&server)
    }

    /// This directory, with a database of its own on a server.
    pub fn on(self, server: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("cutline_run_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let mut client = postgres::Client::connect(&format!("{server}/postgres"), postgres::NoTls).unwrap();
        client.batch_execute(&format!("CREATE DATABASE {name}")).unwrap();
        Self { address: format!("{server}/{name}"), ..self }.with_store()
    }

    pub fn with_store(self) -> Self {
        Store::create(&self.address_here()).unwrap();
        self
    }

    /// The address for this process, whose current directory is another.
    pub fn address_here(&self) -> String {
        if self.address.contains("://") { self.address.clone() } else { self.path(&self.address).display().to_string() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// The content of a text file; empty if there is none.
    pub fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    pub fn begin(&self, name: &str, settings: &Settings, candidates: Candidates) -> Campaign {
        insist(|| Store::open(&self.address_here())).begin(name, settings, candidates).unwrap()
    }

    pub fn campaign(&self, name: &str) -> Campaign {
        insist(|| Store::open(&self.address_here())?.campaign(Some(name)))
    }

    /// A command that runs in this directory.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.directory.path()).stdin(Stdio::null());
        command
    }

    /// `cutline run`, with these arguments after the store.
    pub fn run(&self, args: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_cutline"));
        command.args(["run", &self.address]).args(args);
        command
    }
}

/// Repeats an operation on a store while it fails in a way that may pass: on a very busy machine, a lock or an answer may take longer than the limits
/// of the store.
#[track_caller]
pub fn insist<T>(mut operation: impl FnMut() -> Result<T, StoreError>) -> T {
    let begun = Instant::now();
    loop {
        match operation() {
            Ok(done) => return done,
            Err(error) => assert!(error.may_pass() && begun.elapsed() < PATIENCE, "{error}"),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Arms `arm 0` and so on, with the features `x` and `y`.
pub fn candidates(n_arms: u32) -> Candidates {
    let names = (0..n_arms).map(|arm| format!("arm {arm}")).collect();
    let features = (0..2 * n_arms).map(|i| f64::from((i * 7919) % 1000) / 500.0 - 1.0).collect();
    Candidates::new(names, ["x", "y"].map(String::from).to_vec(), features).unwrap()
}

/// Arms of these names, without features.
pub fn named(names: &[&str]) -> Candidates {
    Candidates::new(names.iter().map(ToString::to_string).collect(), vec![], vec![]).unwrap()
}

/// The events of a campaign.
pub fn events(campaign: &mut Campaign) -> Vec<Event> {
    campaign.events(0).unwrap().into_iter().map(|Record { event, .. }| event).collect()
}

/// A PostgreSQL server of a test's own, which it may stop and reconfigure.
pub struct PrivateServer {
    script: Killed,
    /// The address without a database.
    pub address: String,
    /// The command of `pg_ctl` for this server.
    control: Vec<String>,
    stdin: Option<std::process::ChildStdin>,
}

impl PrivateServer {
    pub fn start() -> Self {
        Self::start_in(&std::env::temp_dir())
    }

    /// A server whose files are in a directory of its own in this one.
    pub fn start_in(directory: &std::path::Path) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../checks/with-postgres");
        let mut command = Command::new(script);
        // The server lives as long as the end of the pipe that this process holds.
        command.args(["sh", "-c", "echo $CUTLINE_TEST_POSTGRES; echo $CUTLINE_TEST_PG_CTL; cat > /dev/null"]);
        command.env_remove("CUTLINE_TEST_POSTGRES").env("TMPDIR", directory);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take();
        let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
        let mut line = || lines.next().expect("a server").unwrap();
        let address = line();
        let control = line().split_whitespace().map(String::from).collect();
        Self { script: Killed(child), address, control, stdin }
    }

    /// Calls `pg_ctl`; whether it succeeded.
    pub fn control(&self, args: &[&str]) -> bool {
        let mut command = Command::new(&self.control[0]);
        command.args(&self.control[1..]).args(args).current_dir("/");
        command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success()
    }

    pub fn client(&self) -> postgres::Client {
        postgres::Client::connect(&format!("{}/postgres", self.address), postgres::NoTls).unwrap()
    }

    /// The process that accepts connections.
    pub fn postmaster(&self) -> u32 {
        let row = self.client().query_one("SELECT pg_read_file('postmaster.pid')", &[]).unwrap();
        row.get::<_, String>(0).lines().next().unwrap().parse().unwrap()
    }
}

impl Drop for PrivateServer {
    fn drop(&mut self) {
        // The script then stops the server; killed, it could not.
        self.stdin = None;
        drop(self.script.0.wait());
    }
}
