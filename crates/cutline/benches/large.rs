//! Decisions among very many arms: against a plain reading of the features, and leaving arms alone against looking at all.
//!
//! `make bench-large` prints both tables and writes them to target/bench-large.json. Decisions are the fastest of several, on all
//! threads; leaving arms alone is a mean over many pulls, on one.

#![expect(clippy::disallowed_macros, clippy::disallowed_methods, reason = "a bench reads the clock and prints")]

use cutline::estimators::{DesignedRidge, Ridge};
use cutline::rules::{Apt, Indexed, Pivot};
use cutline::{Arms, AskTell, Budget, Learner, Purpose, Question, Threads, stream};
use rand_core::Rng as _;
use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

fn main() {
    let mut json = String::from("{\n");
    reading(&mut json);
    leaving_alone(&mut json);
    json.push_str("}\n");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/bench-large.json");
    std::fs::write(path, json).expect("target/ can be written");
    eprintln!("wrote target/bench-large.json");
}

/// One decision (tell and ask) for a million arms with 64 features, beside the time to read the features once.
fn reading(json: &mut String) {
    const N_ARMS: usize = 1_000_000;
    const DIMENSION: usize = 64;
    let before = resident();
    let values = values(N_ARMS, DIMENSION);
    let bytes = size_of_val(&*values);
    let once = fastest(5, || read(&values));
    let arms = Arms::from_slice(&values, DIMENSION).expect("finite features").with_executor(Threads::executor());
    drop(values);
    println!(
        "| K = {N_ARMS}, d = {DIMENSION}, {} threads | ms | of reading | memory of the features |",
        rayon::current_num_threads()
    );
    println!("|---|---|---|---|");
    println!("| reading the features once | {:.1} | 1 | |", ms(once));
    let mut row = |name: &str, passes: f64, learner: &mut dyn AskTell| {
        let time = decision(learner, 7);
        let memory = (resident() - before) as f64 / bytes as f64;
        println!("| {name} | {:.1} | {:.2} | {memory:.2} × |", ms(time), ms(time) / ms(once) / passes);
        writeln!(
            json,
            r#" "{name}": {{"ms": {:.3}, "reading_ms": {:.3}, "passes": {passes}, "memory": {memory:.3}}},"#,
            ms(time),
            ms(once)
        )
        .expect("a string");
    };
    let mut plain = apt(&arms, true);
    row("linear-apt, every arm looked at", 1.0, &mut plain);
    drop(plain);
    row("linear-apt", 1.0, &mut apt(&arms, false));
    let rule = Pivot::new(1.0).expect("noise of 1");
    let ridge = DesignedRidge::new(&arms, 1.0).expect("small features");
    let mut pivot = Learner::new(rule, ridge, budget(), question(), 0).expect("no opening");
    row("pivot, two products a pull", 2.0, &mut pivot);
    println!();
}

/// Time a pull after the opening, up to a budget of 1.2 K.
fn leaving_alone(json: &mut String) {
    const DIMENSION: usize = 16;
    println!(
        "| K, d = {DIMENSION}, pulls K to 1.2 K | every arm looked at, µs a pull | most left alone, µs a pull | ratio |"
    );
    println!("|---|---|---|---|");
    for n_arms in [1_000, 10_000, 30_000, 100_000, 1_000_000] {
        let arms = Arms::from_slice(&values(n_arms, DIMENSION), DIMENSION).expect("finite features");
        let pulls = n_arms / 5;
        // A million arms looked at 200,000 times would take an hour; they take the same time every time.
        let plain = time_a_pull(&mut apt(&arms, true), pulls.min(20_000_000 / n_arms));
        let lazy = time_a_pull(&mut apt(&arms, false), pulls);
        println!("| {n_arms} | {plain:.1} | {lazy:.1} | {:.0} |", plain / lazy);
        let comma = if n_arms == 1_000_000 { "" } else { "," };
        writeln!(json, r#" "{n_arms}": {{"plain_us": {plain:.3}, "lazy_us": {lazy:.3}}}{comma}"#).expect("a string");
    }
}

fn apt(arms: &Arms, looks_at_all: bool) -> Learner<Indexed<Apt>, Ridge, Budget> {
    let rule = Indexed::new(Apt, arms.n_arms()).with_lazy_scan(!looks_at_all);
    let ridge = Ridge::new(arms, 1.0).expect("small features");
    let mut learner = Learner::new(rule, ridge, budget(), question(), 0).expect("a large budget");
    let mut noise = noise();
    for arm in 0..arms.n_arms() {
        learner.tell(arm, mean(arms, arm) + noise());
    }
    learner
}

/// The fastest of several decisions, after a few that warm up.
fn decision(learner: &mut dyn AskTell, rounds: u32) -> Duration {
    let mut noise = noise();
    let mut arm = learner.ask().expect("a large budget");
    fastest(rounds, || {
        learner.tell(arm, noise());
        arm = learner.ask().expect("a large budget");
    })
}

fn time_a_pull(learner: &mut dyn AskTell, pulls: usize) -> f64 {
    let mut noise = noise();
    let start = Instant::now();
    for _ in 0..pulls {
        let arm = learner.ask().expect("a large budget");
        learner.tell(arm, noise());
    }
    start.elapsed().as_secs_f64() * 1e6 / pulls as f64
}

fn fastest(rounds: u32, mut work: impl FnMut()) -> Duration {
    let time = |_| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..rounds).map(time).min().unwrap_or_default()
}

/// Reads all of it on all threads, as fast as it comes: sums that do not wait for each other.
fn read(values: &[f64]) {
    use rayon::prelude::*;
    let sum = |part: &[f64]| {
        let mut sums = [0.0; 32];
        for block in part.as_chunks::<32>().0 {
            for (sum, value) in sums.iter_mut().zip(block) {
                *sum += value;
            }
        }
        sums.iter().sum::<f64>()
    };
    black_box(values.par_chunks(1 << 18).map(sum).sum::<f64>());
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn budget() -> Budget {
    Budget::new(u32::MAX).expect("more than 0")
}

fn question() -> Question {
    Question::new(0.0, 0.01).expect("a threshold of 0")
}

/// Features uniform on [−1, 1].
fn values(n_arms: usize, dimension: usize) -> Vec<f64> {
    let mut rng = stream(0, Purpose::Instance, 0);
    (0..n_arms * dimension).map(|_| f64::from(rng.next_u32()) / f64::from(u32::MAX) * 2.0 - 1.0).collect()
}

/// Noise uniform on [−1, 1].
fn noise() -> impl FnMut() -> f64 {
    let mut rng = stream(1, Purpose::Noise, 0);
    move || f64::from(rng.next_u32()) / f64::from(u32::MAX) * 2.0 - 1.0
}

/// The truth: the mean of the first feature and the last.
fn mean(arms: &Arms, arm: usize) -> f64 {
    let row = arms.row(arm).expect("features");
    f64::midpoint(row[0], row[row.len() - 1])
}

/// The bytes of memory that this process holds, as Linux tells; 0 elsewhere.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|text| text.split_whitespace().nth(1)?.parse::<usize>().ok());
    pages.unwrap_or(0) * 4096
}
