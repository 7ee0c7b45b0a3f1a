//! Times campaigns in stores, and the bare database in the same run; writes `target/bench-store.json`.
//!
//! - An ask and a tell are two commits. The floor is two bare commits of a similar row, measured alternately with them.
//! - Opening a campaign reads its arms and events and computes its state.

use cutline_campaign::{AnyCampaign, CampaignModel, Candidates, Settings};
use cutline_store::Store;
use std::path::Path;
use std::time::{Duration, Instant};

const LEASE: Duration = Duration::from_hours(1);

fn main() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let mut results = Vec::new();
    let mut row = |what: &str, milliseconds: f64, floor: Option<f64>| {
        let ratio = floor.map_or_else(String::new, |floor| format!("{:.2} × {floor:.3} ms", milliseconds / floor));
        println!("{what:<52} {milliseconds:>9.3} ms  {ratio}");
        let (floor, ratio) = (floor.unwrap_or(f64::NAN), floor.map_or(f64::NAN, |floor| milliseconds / floor));
        results.push(format!(
            "{{\"what\": {what:?}, \"ms\": {milliseconds}, \"floor_ms\": {}, \"ratio\": {}}}",
            json(floor),
            json(ratio)
        ));
    };
    println!("ask + tell, one worker, K = 20, d = 5, median; the floor is two bare commits");
    for (durability, synchronous, rounds) in [("full", "FULL", 200), ("normal", "NORMAL", 3_000)] {
        let path = directory.path().join(format!("{durability}.db"));
        let address = format!("{}?durability={durability}", path.display());
        let bare = directory.path().join(format!("{durability}-bare.db"));
        let (ours, floor) = ask_and_tell(&address, CampaignModel::Linear, Some((&bare, synchronous)), rounds);
        row(&format!("SQLite, durability {durability}"), ours, floor);
    }
    let address = format!("{}?durability=normal", directory.path().join("mixed.db").display());
    let bare = directory.path().join("mixed-bare.db");
    let (ours, floor) = ask_and_tell(&address, CampaignModel::Mixed, Some((&bare, "NORMAL")), 3_000);
    row("SQLite, durability normal, mixed", ours, floor);
    row("memory", ask_and_tell("memory", CampaignModel::Linear, None, 20_000).0, None);
    row("memory, mixed", ask_and_tell("memory", CampaignModel::Mixed, None, 20_000).0, None);
    if let Ok(server) = std::env::var("CUTLINE_TEST_POSTGRES") {
        let (ours, _) = ask_and_tell(&format!("{server}/postgres"), CampaignModel::Linear, None, 300);
        row("PostgreSQL on this machine, durability full", ours, None);
    }
    println!("opening a campaign, best of 5");
    for (n_arms, dimension, events, model) in [
        (1_000, 8, 10_000, CampaignModel::Linear),
        (10_000, 32, 100_000, CampaignModel::Linear),
        (100_000, 32, 4_000, CampaignModel::Linear),
        (2_000, 23, 20_000, CampaignModel::Mixed),
    ] {
        let path = directory.path().join(format!("{n_arms}.db"));
        let address = format!("{}?durability=normal", path.display());
        fill(&address, n_arms, dimension, events, model);
        let open = || {
            let start = Instant::now();
            let mut campaign = Store::open(&address).and_then(|store| store.campaign(None)).expect("it was just made");
            assert_eq!(campaign.progress().expect("it was just made").events, events);
            start.elapsed().as_secs_f64() * 1e3
        };
        let best = (0..5).map(|_| open()).fold(f64::MAX, f64::min);
        row(&format!("K = {n_arms}, d = {dimension}, {events} events, {}", model.name()), best, None);
    }
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/bench-store.json");
    std::fs::write(&target, format!("[\n  {}\n]\n", results.join(",\n  "))).expect("the target directory");
}

fn json(number: f64) -> String {
    if number.is_nan() { "null".into() } else { number.to_string() }
}

fn candidates(n_arms: u32, dimension: u32) -> Candidates {
    let columns = (0..dimension).map(|column| format!("x{column}")).collect();
    let feature = |i: u32| f64::from(i.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 23) - 1.0;
    Candidates::new(Vec::new(), columns, (0..n_arms * dimension).map(feature).collect()).expect("finite features")
}

/// The median time of an ask and a tell, and of two bare commits measured alternately with them, in milliseconds.
fn ask_and_tell(address: &str, model: CampaignModel, bare: Option<(&Path, &str)>, rounds: u32) -> (f64, Option<f64>) {
    let store = if address == "memory" { Store::memory() } else { Store::create(address).expect("a new store") };
    let mut settings = Settings::new(0.1, rounds);
    settings.model = Some(model);
    let mut campaign = store.begin("bench", &settings, candidates(20, 5)).expect("a new campaign");
    let bare = bare.map(|(path, synchronous)| {
        let connection = rusqlite::Connection::open(path).expect("a new file");
        let pragmas = format!("PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous};");
        connection.execute_batch(&pragmas).expect("pragmas");
        connection
            .execute_batch("CREATE TABLE t (number INTEGER PRIMARY KEY, reward REAL, worker TEXT)")
            .expect("a table");
        connection
    });
    let (mut ours, mut floor) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let start = Instant::now();
        let ticket = campaign.ask(1, "worker", LEASE).expect("an ask").pop().expect("a budget");
        campaign.tell(&[(ticket.number, f64::from(round % 7) / 7.0)]).expect("a tell");
        ours.push(start.elapsed().as_secs_f64() * 1e3);
        if let Some(bare) = &bare {
            let start = Instant::now();
            for _ in 0..2 {
                let mut insert =
                    bare.prepare_cached("INSERT INTO t (reward, worker) VALUES (0.5, 'worker')").expect("sql");
                insert.execute([]).expect("an insert");
            }
            floor.push(start.elapsed().as_secs_f64() * 1e3);
        }
    }
    (median(ours), (!floor.is_empty()).then(|| median(floor)))
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Makes a campaign with this many events: one half asks, the other half rewards.
fn fill(address: &str, n_arms: u32, dimension: u32, events: u64, model: CampaignModel) {
    let store = Store::create(address).expect("a new store");
    let budget = u32::try_from(events / 2).expect("a budget");
    let mut settings = Settings::new(0.1, budget);
    settings.model = Some(model);
    let is_random = model == CampaignModel::Linear && budget >= n_arms;
    settings.algorithm = is_random.then(|| "random".into());
    let mut campaign = store.begin("bench", &settings, candidates(n_arms, dimension)).expect("a new campaign");
    let mut told = 0;
    while told < budget {
        let tickets = campaign.ask(1_000.min((budget - told) as usize), "worker", LEASE).expect("an ask");
        let reward = |number: u64| (number.wrapping_mul(0x9e37_79b9) % 1000) as f64 / 500.0 - 1.0;
        let rewards: Vec<(u64, f64)> = tickets.iter().map(|ticket| (ticket.number, reward(ticket.number))).collect();
        campaign.tell(&rewards).expect("a tell");
        told += u32::try_from(rewards.len()).expect("a batch");
    }
}
