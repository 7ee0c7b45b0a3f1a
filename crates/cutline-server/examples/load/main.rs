//! `make bench WHAT=server`: asks and tells per second over HTTP, compared with bare commits to the same kind of database in the same run.
//!
//! Serves a campaign on a loopback address and lets 1 and 64 workers, each with a connection of its own, ask for tickets and tell their rewards, in
//! batches of 1 and 16; also tell only, with tickets that were asked for before. Then a campaign of 10,000 arms with 64 features on the default
//! model. Prints a Markdown table, and writes `target/load.json`.

mod client;

use client::{Measured, Worker};
use cutline_campaign::{CampaignModel, Candidates, Settings};
use cutline_server::{AppState, Limits, serve};
use cutline_store::Store;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// How long each case is measured.
const MEASURED: Duration = Duration::from_secs(3);

/// The tickets of a case in which they are asked for before.
const ASKED_BEFORE: usize = 60_000;

/// The most tickets per request.
const MAX_BATCH: usize = 10_000;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What workers do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    AskAndTell,
    TellOnly,
}

/// A database, and how many bare commits it does per second.
struct Site {
    name: &'static str,
    address: String,
    commits: f64,
}

/// Commits of one small row per second, without anything else.
fn commits_per_second(mut commit: impl FnMut() -> Result<(), Failure>) -> Result<f64, Failure> {
    let (begun, mut n) = (Instant::now(), 0);
    while begun.elapsed() < MEASURED {
        commit()?;
        n += 1;
    }
    Ok(f64::from(n) / begun.elapsed().as_secs_f64())
}

fn sites(directory: &Path) -> Result<Vec<Site>, Failure> {
    let bare = rusqlite::Connection::open(directory.join("bare.db"))?;
    bare.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE rows (x)")?;
    let commits = commits_per_second(|| Ok(bare.execute("INSERT INTO rows VALUES (1)", []).map(drop)?))?;
    let address = directory.join("load.db").display().to_string();
    let mut sites = vec![Site { name: "SQLite `full`", address, commits }];
    if let Ok(server) = std::env::var("CUTLINE_TEST_POSTGRES") {
        let address = format!("{server}/postgres");
        let mut bare = postgres::Client::connect(&address, postgres::NoTls)?;
        bare.batch_execute("CREATE TABLE rows (x INT)")?;
        let insert = bare.prepare("INSERT INTO rows VALUES (1)")?;
        let commits = commits_per_second(|| Ok(bare.execute(&insert, &[]).map(drop)?))?;
        sites.push(Site { name: "PostgreSQL", address, commits });
    }
    Ok(sites)
}

fn candidates(n_arms: u32, n_columns: u32) -> Result<Candidates, Failure> {
    let names = (0..n_arms).map(|arm| format!("arm {arm}")).collect();
    let columns = (0..n_columns).map(|column| format!("x{column}")).collect();
    let features = (0..u64::from(n_arms * n_columns)).map(|i| ((i * 7919) % 10_007) as f64 / 5_003.5 - 1.0).collect();
    Ok(Candidates::new(names, columns, features)?)
}

/// Serves a new campaign `load`, alone in its store, and measures on it.
fn served<T>(
    store: &Store,
    settings: &Settings,
    candidates: Candidates,
    measure: impl FnOnce(SocketAddr) -> Result<T, Failure>,
) -> Result<T, Failure> {
    store.begin("load", settings, candidates)?;
    let state = AppState::new(store.clone(), Limits::default(), true)?;
    let server = Runtime::new()?;
    let listener = server.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let address = listener.local_addr()?;
    let (end, is_ended) = tokio::sync::oneshot::channel::<()>();
    let serving = server.spawn(serve(listener, state, None, async move { drop(is_ended.await) }));
    let measured = measure(address)?;
    drop(end);
    server.block_on(serving)?;
    // Campaigns are closed before their store is used again.
    drop(server);
    store.delete("load")?;
    Ok(measured)
}

/// Lets workers work: asks, tells, and how long it took.
fn play(
    address: SocketAddr,
    case: Case,
    workers: usize,
    batch: usize,
) -> Result<(Measured, Measured, Duration), Failure> {
    // One thread has all workers, so that they do not crowd out the server.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut tickets = Vec::new();
        if case == Case::TellOnly {
            let mut asker = Worker::connect(address, 0).await?;
            while tickets.len() < ASKED_BEFORE {
                tickets.extend(asker.ask(MAX_BATCH).await?.0);
            }
        }
        let mut players = Vec::new();
        for number in 0..workers {
            players.push(Worker::connect(address, number).await?);
        }
        let (begun, share) = (Instant::now(), tickets.len() / workers);
        let end = begun + MEASURED;
        let tasks: Vec<_> = players
            .into_iter()
            .map(|player| match case {
                Case::AskAndTell => tokio::spawn(player.ask_and_tell(batch, end)),
                Case::TellOnly => tokio::spawn(player.tell_all(tickets.split_off(tickets.len() - share), batch, end)),
            })
            .collect();
        let (mut asks, mut tells) = (Measured::default(), Measured::default());
        for task in tasks {
            let [asked, told] = task.await??;
            asks.join(asked);
            tells.join(told);
        }
        Ok((asks, tells, begun.elapsed()))
    })
}

/// A row of the table. Returns the rate.
fn row(
    site: &Site,
    what: &str,
    case: (usize, usize),
    measured: &mut Measured,
    time: Duration,
    rows: &mut Vec<Value>,
) -> f64 {
    let ((workers, batch), rate) = (case, measured.tickets as f64 / time.as_secs_f64());
    let (p50, p99, of_floor) = (measured.within(0.5), measured.within(0.99), rate / site.commits);
    println!("| {} | {what} | {workers} | {batch} | {rate:.0} | {p50:.1} | {p99:.1} | {of_floor:.2} |", site.name);
    rows.push(json!({
        "store": site.name, "what": what, "workers": workers, "batch": batch, "per_second": rate,
        "p50_ms": p50, "p99_ms": p99, "per_bare_commit": of_floor,
    }));
    rate
}

fn main() -> Result<(), Failure> {
    let directory = tempfile::tempdir_in(std::env::current_dir()?)?;
    let mut rows = Vec::new();
    let mut notes = Vec::new();
    println!("| store | what | workers | batch | per second | p50, ms | p99, ms | per bare commit |");
    println!("|---|---|---:|---:|---:|---:|---:|---:|");
    for site in sites(directory.path())? {
        let store = Store::create(&site.address)?;
        notes.push(format!("{}: {:.0} bare commits per second.", site.name, site.commits));
        let mut settings = Settings::new(0.1, u32::MAX);
        // The time of the store and the server is to be measured, not that of the model.
        settings.model = Some(CampaignModel::Independent);
        settings.noise = Some(1.0);
        for case in [Case::AskAndTell, Case::TellOnly] {
            served(&store, &settings, candidates(200, 4)?, |address| {
                for batch in [1, 16] {
                    let mut rates = Vec::new();
                    for workers in [1, 64] {
                        let (mut asks, mut tells, time) = play(address, case, workers, batch)?;
                        let what = if case == Case::AskAndTell {
                            row(&site, "asks", (workers, batch), &mut asks, time, &mut rows);
                            "tells"
                        } else {
                            "tells only"
                        };
                        rates.push(row(&site, what, (workers, batch), &mut tells, time, &mut rows));
                    }
                    let (what, ratio) =
                        (if case == Case::AskAndTell { "tells" } else { "tells only" }, rates[1] / rates[0]);
                    notes.push(format!(
                        "{}: {what} in batches of {batch}: 64 workers get {ratio:.1} times what one gets.",
                        site.name
                    ));
                }
                Ok(())
            })?;
        }
        served(&store, &Settings::new(0.1, u32::MAX), candidates(10_000, 64)?, |address| {
            for workers in [1, 16] {
                let (mut asks, mut tells, time) = play(address, Case::AskAndTell, workers, 1)?;
                row(&site, "asks, K = 10,000, p = 64", (workers, 1), &mut asks, time, &mut rows);
                row(&site, "tells, K = 10,000, p = 64", (workers, 1), &mut tells, time, &mut rows);
            }
            Ok(())
        })?;
    }
    println!("\n{}", notes.join("\n"));
    std::fs::write("target/load.json", serde_json::to_string_pretty(&json!({"rows": rows, "notes": notes}))?)?;
    Ok(())
}
