//! How long a `tell` waits while another handle asks for many measurements of a campaign with many arms; writes nothing.
//!
//! `ARMS`, `TICKETS` and `MODEL` change the size; `CUTLINE_TEST_POSTGRES` adds PostgreSQL.

use cutline_campaign::{AnyCampaign, CampaignModel, Candidates, Settings};
use cutline_store::Store;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const LEASE: Duration = Duration::from_hours(1);

fn main() {
    let number = |name: &str, otherwise: u32| {
        std::env::var(name).map_or(otherwise, |value| value.parse().expect("a whole number"))
    };
    let (n_arms, n_tickets) = (number("ARMS", 100_000), number("TICKETS", 1_000));
    let is_mixed = std::env::var("MODEL").is_ok_and(|model| model == "mixed");
    let model = if is_mixed { CampaignModel::Mixed } else { CampaignModel::Linear };
    println!("K = {n_arms}, d = 8, {}: tells of one handle while another asks for {n_tickets} tickets", model.name());
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("screen.db").display().to_string();
    measure("SQLite", &file, n_arms, n_tickets, model);
    if let Ok(server) = std::env::var("CUTLINE_TEST_POSTGRES") {
        measure("PostgreSQL", &format!("{server}/postgres"), n_arms, n_tickets, model);
    }
}

fn candidates(n_arms: u32, dimension: u32) -> Candidates {
    let columns = (0..dimension).map(|column| format!("x{column}")).collect();
    let feature = |i: u32| f64::from(i.wrapping_mul(2_654_435_761) >> 8) / f64::from(1 << 23) - 1.0;
    Candidates::new(Vec::new(), columns, (0..n_arms * dimension).map(feature).collect()).expect("finite features")
}

fn measure(what: &str, address: &str, n_arms: u32, n_tickets: u32, model: CampaignModel) {
    let store = Store::create(address).expect("a new store");
    let mut settings = Settings::new(0.1, n_tickets + 2_000);
    settings.model = Some(model);
    let mut asker = store.begin("contention", &settings, candidates(n_arms, 8)).expect("a new campaign");
    let mut teller = store.campaign(Some("contention")).expect("it was just made");
    let reward = |ticket: u64| (ticket.wrapping_mul(0x9e37_79b9) % 1000) as f64 / 500.0 - 1.0;
    let first = teller.ask(200, "teller", LEASE).expect("an ask");
    let told: Vec<(u64, f64)> = first[..100].iter().map(|ticket| (ticket.number, reward(ticket.number))).collect();
    teller.tell(&told).expect("a tell");
    let alone = Instant::now();
    teller.tell(&[(first[100].number, 0.5)]).expect("a tell");
    let alone = alone.elapsed();
    asker.progress().expect("the state");
    let is_done = AtomicBool::new(false);
    let (took, mut waits) = std::thread::scope(|scope| {
        let ask = scope.spawn(|| {
            let begun = Instant::now();
            let tickets = asker.ask(n_tickets as usize, "asker", LEASE).expect("an ask");
            is_done.store(true, Ordering::Relaxed);
            assert_eq!(tickets.len(), n_tickets as usize);
            begun.elapsed()
        });
        std::thread::sleep(Duration::from_millis(50));
        let mut waits = Vec::new();
        for ticket in &first[101..] {
            if is_done.load(Ordering::Relaxed) {
                break;
            }
            let begun = Instant::now();
            teller.tell(&[(ticket.number, reward(ticket.number))]).expect("a tell");
            waits.push(begun.elapsed().as_secs_f64() * 1e3);
            std::thread::sleep(Duration::from_millis(100));
        }
        (ask.join().expect("the asker"), waits)
    });
    waits.sort_by(f64::total_cmp);
    let at = |percent: usize| waits[(waits.len() - 1) * percent / 100];
    println!(
        "{what:<12} ask {:>8.1} s; a tell alone {:>7.1} ms; {} tells meanwhile: median {:.1} ms, 95 % {:.1} ms, longest {:.1} ms",
        took.as_secs_f64(),
        alone.as_secs_f64() * 1e3,
        waits.len(),
        at(50),
        at(95),
        at(100)
    );
}
