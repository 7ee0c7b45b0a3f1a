//! What the soak test does to the surroundings of a store: the disk, the locks, the clocks, the server.

use crate::stored::PrivateServer;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A small file system of its own, in memory.
pub struct SmallDisk {
    at: PathBuf,
}

impl SmallDisk {
    pub fn mount(at: PathBuf, megabytes: u32) -> Self {
        fs::create_dir(&at).unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={megabytes}m,mode=755"), "cutline-soak"])
            .arg(&at)
            .status();
        assert!(
            mounted.is_ok_and(|status| status.success()),
            "cannot mount a small file system: run `make soak` as root"
        );
        Self { at }
    }

    pub fn path(&self) -> &Path {
        &self.at
    }

    /// Leaves no room for so long.
    pub fn fill(&self, time: Duration) {
        let path = self.at.join("ballast");
        let mut ballast = File::create(&path).unwrap();
        for chunk in [1 << 20, 1 << 12, 1] {
            let bytes = vec![0; chunk];
            while ballast.write(&bytes).is_ok() {}
        }
        std::thread::sleep(time);
        fs::remove_file(path).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("--lazy").arg(&self.at).status());
    }
}

/// The clocks of the processes: each process follows one of them.
pub struct Clocks {
    library: PathBuf,
    clocks: Vec<PathBuf>,
}

impl Clocks {
    /// Builds the library that moves clocks.
    pub fn new(directory: &Path, n: usize) -> Self {
        let library = directory.join("clock.so");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/soak/clock.c");
        let built = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).status();
        assert!(built.expect("a C compiler, which SQLite needs too").success());
        let clocks: Vec<PathBuf> = (0..n).map(|clock| directory.join(format!("clock {clock}"))).collect();
        for clock in &clocks {
            fs::write(clock, 0_i64.to_ne_bytes()).unwrap();
        }
        Self { library, clocks }
    }

    /// Makes a process follow a clock.
    pub fn apply(&self, command: &mut Command, clock: usize) {
        command.env("LD_PRELOAD", &self.library).env("SOAK_CLOCK", &self.clocks[clock]);
    }

    /// Sets a clock ahead or back of the real time by so many seconds.
    pub fn set(&self, clock: usize, seconds: i64) {
        // In place: the file is mapped by the processes that follow it.
        let mut file = File::options().write(true).open(&self.clocks[clock]).unwrap();
        file.write_all(&seconds.to_ne_bytes()).unwrap();
    }
}

/// Holds the write lock of a database in SQLite for so long.
pub fn hold_sqlite(path: &Path, time: Duration) {
    let script = "import sqlite3, sys, time\n\
                  store = sqlite3.connect(sys.argv[1], timeout=60, isolation_level=None)\n\
                  store.execute('BEGIN IMMEDIATE')\n\
                  time.sleep(float(sys.argv[2]))\n\
                  store.execute('ROLLBACK')";
    let mut python = Command::new("python3");
    python.args(["-c", script]).arg(path).arg(time.as_secs_f64().to_string()).stderr(Stdio::null());
    // The disk may be full.
    drop(python.status());
}

/// Locks the campaigns of a database on a server for so long, if it can be reached.
pub fn hold_postgres(address: &str, time: Duration) {
    let Ok(mut client) = postgres::Client::connect(address, postgres::NoTls) else { return };
    let sleep = time.as_secs_f64();
    drop(client.batch_execute(&format!(
        "BEGIN; SELECT id FROM cutline_campaigns FOR UPDATE; SELECT pg_sleep({sleep}); ROLLBACK"
    )));
}

/// Restarts a server, politely or as after a crash, and waits until it takes connections.
pub fn restart(server: &PrivateServer, mode: &str) {
    server.control(&["restart", "--mode", mode]);
    revive(server);
}

/// Starts the server again if it gave up, as it does if it cannot write its log.
pub fn revive(server: &PrivateServer) -> bool {
    let mut was_down = false;
    for _ in 0..30 {
        if postgres::Client::connect(&format!("{}/postgres", server.address), postgres::NoTls).is_ok() {
            return was_down;
        }
        if !server.control(&["status"]) {
            was_down |= server.control(&["start"]);
        }
        std::thread::sleep(Duration::from_secs(1));
    }
    panic!("the server does not come back");
}

/// The memory of a process in kB and the number of its open files.
pub fn size(id: u32) -> (u64, u64) {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let memory = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).expect("a running process");
    let memory = memory.trim().trim_end_matches(" kB").parse().unwrap();
    (memory, fs::read_dir(format!("/proc/{id}/fd")).unwrap().count() as u64)
}
