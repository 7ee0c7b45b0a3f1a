//! Everything at once, for an hour: sixteen processes on SQLite and sixteen on PostgreSQL, while processes are killed and stopped, the disk is
//! full, clocks jump, locks are held and the server restarts.
//!
//! Each campaign is used up by workers and by `cutline run`. In the end the journal must have every acknowledged reward exactly once, the budget
//! must hold at every event, and the verdicts must be those of a clean replay; nothing may hang, and what lives long may not grow. Run by `make
//! soak`, for `SOAK_MINUTES`; it mounts small file systems, for which it has to be root.

#![cfg(target_os = "linux")]

mod faults;
mod figures;
mod worker;

use crate::common::process::{Killed, PATIENCE, copy_program, signal};
use crate::nothing_is_lost;
use crate::nothing_is_lost::{Random, bits};
use crate::stored::{Place, PrivateServer, candidates};
use cutline_campaign::{AnyCampaign, Settings};
use cutline_store::Store;
pub use faults::size;
use faults::{Clocks, SmallDisk};
use figures::Figures;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, RwLock};
use std::time::{Duration, Instant};
use worker::Worker;

/// Rewards per campaign.
const BUDGET: u32 = 1_000;

/// How many `cutline run` and how many workers are killed and started again. One more worker lives as long as the test.
const RUNS: usize = 3;
const WORKERS: usize = 12;

/// How long a process lives at most before it is killed, in milliseconds.
const LIFE: u64 = 20_000;

/// How many different clocks there are.
const CLOCKS: usize = 5;

/// Where clocks jump to, in seconds from the real time.
const JUMPS: [i64; 6] = [0, 0, 600, 3 * 3600, -3 * 3600, 24 * 3600];

#[test]
#[ignore = "takes an hour, and has to be root: `make soak`"]
fn everything_at_once() {
    // The test starts this program as a worker.
    if std::env::var_os("SOAK_STORE").is_some() {
        return Worker::of_this_process().work();
    }
    let minutes: f64 =
        std::env::var("SOAK_MINUTES").map_or(60.0, |text| text.parse().expect("SOAK_MINUTES is a number"));
    let end = Instant::now() + Duration::from_secs_f64(minutes * 60.0);
    let figures = std::thread::scope(|scope| {
        let sqlite = scope.spawn(|| Site::sqlite().soak(end, 1));
        let postgres = scope.spawn(|| Site::postgres().soak(end, 2));
        [sqlite.join(), postgres.join()]
    });
    let figures = figures.map(|figures| figures.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
    figures::print(minutes, &figures);
    for figures in figures {
        figures.check();
    }
}

/// A store, what surrounds it, and the processes that use it.
struct Site {
    /// Dropped before the disk: the server is on it.
    server: Option<PrivateServer>,
    disk: SmallDisk,
    place: Place,
    clocks: Clocks,
    /// Copies of the programs, so that they can be built again during the test.
    programs: [PathBuf; 2],
    lives: Mutex<Vec<Life>>,
    /// Faults read it, and whoever must not see one writes it.
    calm: RwLock<()>,
    is_over: AtomicBool,
    figures: Figures,
}

/// A process that will be killed.
struct Life {
    process: Killed,
    is_run: bool,
    end: Instant,
    /// When it was asked to end.
    asked: Option<Instant>,
}

/// How a process is.
enum Visit {
    Fine,
    /// It was killed, or ended by itself without success.
    Gone,
    Succeeded,
}

impl Site {
    fn sqlite() -> Self {
        let place = Place::directory("disk/screen.db");
        let disk = SmallDisk::mount(place.path("disk"), 128);
        Self::new("SQLite", None, place.with_store(), disk)
    }

    fn postgres() -> Self {
        let directory = Place::directory("");
        // The server runs as another user.
        let shared = std::os::unix::fs::PermissionsExt::from_mode(0o711);
        std::fs::set_permissions(directory.path(""), shared).unwrap();
        let disk = SmallDisk::mount(directory.path("disk"), 384);
        let server = PrivateServer::start_in(disk.path());
        for statement in ["ALTER SYSTEM SET max_wal_size = '64MB'", "SELECT pg_reload_conf()"] {
            server.client().batch_execute(statement).unwrap();
        }
        let place = directory.on(&server.address);
        Self::new("PostgreSQL", Some(server), place, disk)
    }

    fn new(name: &'static str, server: Option<PrivateServer>, place: Place, disk: SmallDisk) -> Self {
        let program = |source: &Path, name| {
            copy_program(source, &place.path(name));
            place.path(name)
        };
        let programs = [
            program(Path::new(env!("CARGO_BIN_EXE_cutline")), "cutline"),
            program(&std::env::current_exe().unwrap(), "worker"),
        ];
        let clocks = Clocks::new(&place.path(""), CLOCKS);
        place.write(
            "measure.sh",
            "reward=0.$(($1 * 7919 % 9973 + 10000))\nsleep 0.5\necho \"$1 $reward\" >> \"$LOG\"\necho $reward\n",
        );
        let (lives, calm, figures) = (Mutex::default(), RwLock::default(), Figures::new(name));
        Self { server, place, clocks, disk, programs, lives, calm, is_over: AtomicBool::new(false), figures }
    }

    /// Plays campaigns until the end.
    fn soak(self, end: Instant, seed: u64) -> Figures {
        let mut random = Random(seed);
        self.figures.begin();
        std::thread::scope(|scope| {
            scope.spawn(|| self.break_the_outside(Random(seed + 10)));
            scope.spawn(|| self.break_the_inside(Random(seed + 20)));
            let over = Over(&self.is_over);
            let mut eternal = None;
            let mut names = Vec::new();
            while Instant::now() < end {
                let name = format!("round {}", names.len());
                self.round(&name, &mut random, &mut eternal);
                names.push(name);
            }
            self.set_current(worker::END);
            let mut eternal = eternal.expect("at least one round");
            assert!(self.ends_well(&mut eternal, Instant::now()), "{}: the first worker failed", self.figures.name);
            drop(over);
            // Nothing of earlier campaigns has changed since.
            let _calm = self.calm.write().unwrap();
            for name in &names {
                nothing_is_lost::check_journal(&self.place, name, &mut self.place.campaign(name));
            }
        });
        self.check_database();
        self.figures.read_logs(&self.place);
        self.figures
    }

    /// One campaign.
    fn round(&self, name: &str, random: &mut Random, eternal: &mut Option<Killed>) {
        let mut settings = Settings::new(0.5, BUDGET);
        settings.seed = 7;
        {
            let _calm = self.calm.write().unwrap();
            self.place.begin(name, &settings, candidates(30));
        }
        self.set_current(name);
        let eternal = eternal.get_or_insert_with(|| Killed(self.worker(random, true).spawn().unwrap()));
        let start = |is_run, random: &mut Random| Life {
            process: Killed(if is_run { self.run(name, random) } else { self.worker(random, false) }.spawn().unwrap()),
            is_run,
            end: Instant::now() + Duration::from_millis(random.below(LIFE)),
            asked: None,
        };
        *self.lives.lock().unwrap() = (0..RUNS + WORKERS).map(|life| start(life < RUNS, random)).collect();
        let begun = Instant::now();
        let mut has_ended = false;
        while !has_ended {
            std::thread::sleep(Duration::from_millis(200));
            assert!(begun.elapsed() < Duration::from_mins(20), "{}: {name}: no end", self.figures.name);
            assert!(eternal.0.try_wait().unwrap().is_none(), "{}: the first worker ended", self.figures.name);
            self.lives.lock().unwrap().retain_mut(|life| {
                let visit = self.visit(life, random);
                if let Visit::Gone = visit {
                    *life = start(life.is_run, random);
                }
                // A process succeeds when the campaign has ended.
                has_ended |= matches!(visit, Visit::Succeeded);
                !matches!(visit, Visit::Succeeded)
            });
        }
        let ended = Instant::now();
        for mut life in std::mem::take(&mut *self.lives.lock().unwrap()) {
            signal_if_alive(&life.process, "CONT");
            let succeeded = self.ends_well(&mut life.process, ended);
            assert!(succeeded || life.is_run, "{name}: a worker failed: {}", self.place.text("stderr"));
            self.figures.gave_up.fetch_add(u64::from(!succeeded && life.asked.is_none()), Relaxed);
        }
        self.figures.sample(size(eternal.0.id()));
        let _calm = self.calm.write().unwrap();
        let seen = bits(&self.place.campaign(name).verdicts().unwrap());
        let told = nothing_is_lost::check(&self.place, name, &seen);
        let acknowledged = nothing_is_lost::lines(&self.place, &format!("{name}.told")).len();
        self.figures.count_round(told, acknowledged, &self.place.campaign(name).events(0).unwrap());
    }

    /// Looks after a process, and kills it if its time has come.
    fn visit(&self, life: &mut Life, random: &mut Random) -> Visit {
        if let Some(status) = life.process.0.try_wait().unwrap() {
            let is_fine = life.is_run || status.success();
            assert!(is_fine, "{}: a worker ended with {status}: {}", self.figures.name, self.place.text("stderr"));
            self.figures.gave_up.fetch_add(u64::from(!status.success() && life.asked.is_none()), Relaxed);
            return if status.success() { Visit::Succeeded } else { Visit::Gone };
        }
        if let Some(asked) = life.asked {
            assert!(asked.elapsed() < PATIENCE, "{}: `run` does not end", self.figures.name);
            return Visit::Fine;
        }
        if Instant::now() < life.end {
            return Visit::Fine;
        }
        if life.is_run && random.below(4) == 0 {
            signal_if_alive(&life.process, "TERM");
            self.figures.asked_to_end.fetch_add(1, Relaxed);
            life.asked = Some(Instant::now());
            return Visit::Fine;
        }
        life.process.0.kill().unwrap();
        life.process.0.wait().unwrap();
        let kills = if life.is_run { &self.figures.kills_of_run } else { &self.figures.kills_of_workers };
        kills.fetch_add(1, Relaxed);
        Visit::Gone
    }

    /// Waits for the end of a process; whether it succeeded.
    fn ends_well(&self, process: &mut Killed, since: Instant) -> bool {
        loop {
            if let Some(status) = process.0.try_wait().unwrap() {
                return status.success();
            }
            let waited = since.elapsed();
            assert!(waited < PATIENCE, "{}: process {} hangs", self.figures.name, process.0.id());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn worker(&self, random: &mut Random, follows: bool) -> Command {
        let mut command = self.command(1, random);
        command.args(["--exact", "soak::everything_at_once", "--ignored", "--nocapture", "--test-threads", "1"]);
        command.env("SOAK_STORE", &self.place.address).stdout(Stdio::null());
        if follows {
            command.env("SOAK_FOLLOW", "1");
        }
        command
    }

    fn run(&self, campaign: &str, random: &mut Random) -> Command {
        let mut command = self.command(0, random);
        command.args(["run", &self.place.address, "--name", campaign, "--jobs", "2", "--retries", "0"]);
        command.args(["--measure", "sh measure.sh {ticket}"]).env("LOG", format!("{campaign}.printed"));
        command
    }

    fn command(&self, program: usize, random: &mut Random) -> Command {
        let mut command = self.place.command(&self.programs[program]);
        self.clocks.apply(&mut command, index(random, CLOCKS));
        command.stderr(worker::appended(&self.place.path("stderr").display().to_string()));
        command
    }

    /// Names the campaign that is worked on.
    fn set_current(&self, name: &str) {
        self.place.write("next", name);
        std::fs::rename(self.place.path("next"), self.place.path("current")).unwrap();
    }

    /// Waits for a random time; whether the test is not over yet.
    fn wait_for_fault(&self, random: &mut Random) -> bool {
        std::thread::sleep(Duration::from_millis(1_000 + random.below(6_000)));
        !self.is_over.load(Relaxed)
    }

    /// The disk is full, or the server restarts; at random times.
    fn break_the_outside(&self, mut random: Random) {
        while self.wait_for_fault(&mut random) {
            let _fault = self.calm.read().unwrap();
            let time = Duration::from_millis(1_000 + random.below(5_000));
            match (&self.server, random.below(3)) {
                (Some(server), mode @ (0 | 1)) => {
                    faults::restart(server, if mode == 0 { "fast" } else { "immediate" });
                    let restarts = if mode == 0 { &self.figures.restarts } else { &self.figures.crashes };
                    restarts.fetch_add(1, Relaxed);
                }
                (server, _) => {
                    self.disk.fill(time);
                    self.figures.full_disks.fetch_add(1, Relaxed);
                    if server.as_ref().is_some_and(faults::revive) {
                        self.figures.gave_up_servers.fetch_add(1, Relaxed);
                    }
                }
            }
        }
    }

    /// Locks are held, processes stop and clocks jump; at random times.
    fn break_the_inside(&self, mut random: Random) {
        while self.wait_for_fault(&mut random) {
            self.clocks.set(index(&mut random, CLOCKS), JUMPS[index(&mut random, JUMPS.len())]);
            self.figures.jumps.fetch_add(1, Relaxed);
            let _fault = self.calm.read().unwrap();
            let time = Duration::from_millis(1_000 + random.below(5_000));
            if random.below(2) == 0 {
                match self.server {
                    None => faults::hold_sqlite(&self.place.path(&self.place.address), time),
                    Some(_) => faults::hold_postgres(&self.place.address, time),
                }
                self.figures.stalls.fetch_add(1, Relaxed);
            } else {
                let stop = |name| {
                    let lives = self.lives.lock().unwrap();
                    lives.iter().step_by(2).filter(|life| signal_if_alive(&life.process, name)).count() as u64
                };
                self.figures.stops.fetch_add(stop("STOP"), Relaxed);
                std::thread::sleep(time);
                // Those that were started since do not mind.
                stop("CONT");
            }
        }
    }

    /// Checks the database by its own means.
    fn check_database(&self) {
        if self.server.is_none() {
            let script =
                "import sqlite3, sys; print(sqlite3.connect(sys.argv[1]).execute('PRAGMA integrity_check').fetchall())";
            let path = self.place.path(&self.place.address);
            let output = Command::new("python3").args(["-c", script]).arg(path).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "[('ok',)]", "{output:?}");
        }
        let store = Store::open(&self.place.address_here()).unwrap();
        assert_eq!(store.campaigns().unwrap().len() as u64, self.figures.campaigns.load(Relaxed));
    }
}

/// A random index into `n` things.
fn index(random: &mut Random, n: usize) -> usize {
    usize::try_from(random.below(n as u64)).unwrap()
}

/// Sets a flag when it is dropped, also by a panic.
pub struct Over<'a>(pub &'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Sends a signal to a process of which nobody else takes the status meanwhile; whether it has not ended.
fn signal_if_alive(process: &Killed, name: &str) -> bool {
    // A process whose status was not taken keeps its number.
    signal(process.0.id(), name);
    crate::common::process::is_alive(&process.0.id().to_string())
}
