//! Decisions among very many arms: compared with reading the features once, on the mixed model compared with reading its columns twice, and
//! lazy scans compared with full scans.
//!
//! `make bench WHAT=large` prints the tables and writes them to target/bench-large.json. The first two have the fastest of several
//! decisions on all threads; the last one the mean over many pulls on one thread.

#![expect(clippy::disallowed_macros, clippy::disallowed_methods, reason = "a bench reads the clock and prints")]

use cutline::estimators::{DesignedRidge, Mixed, MixedSettings, Ridge};
use cutline::rules::{Apt, Indexed, Pivot};
use cutline::{Arms, AskTell, Budget, Learner, Purpose, Question, Threads, stream};
use rand_core::Rng as _;
use std::fmt::Write as _;
use std::hint::black_box;
use std::time::{Duration, Instant};

fn main() {
    let mut json = String::from("{\n");
    // First, so that its memory is not what others have returned.
    compare_mixed(&mut json);
    compare_with_reading(&mut json);
    compare_scans(&mut json);
    json.push_str("}\n");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/bench-large.json");
    std::fs::write(path, json).expect("target/ can be written");
    eprintln!("wrote target/bench-large.json");
}

/// One decision (tell and ask) for a million arms with 64 features, compared with the time to read the features once.
fn compare_with_reading(json: &mut String) {
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
    let mut plain = apt(&arms, false);
    row("linear-apt, full scan", 1.0, &mut plain);
    drop(plain);
    row("linear-apt", 1.0, &mut apt(&arms, true));
    let rule = Pivot::new(1.0).expect("noise of 1");
    let ridge = DesignedRidge::new(&arms, 1.0).expect("small features");
    let mut pivot = Learner::new(rule, ridge, budget(), question(), 0).expect("no opening");
    row("pivot, two products per pull", 2.0, &mut pivot);
    println!();
}

/// One decision on the mixed model of 100,000 arms with 32 features and 64 landmarks, compared with the time to read the p columns twice.
/// Both are measured in turn, and medians are compared.
fn compare_mixed(json: &mut String) {
    const N_ARMS: usize = 100_000;
    const DIMENSION: usize = 32;
    const LANDMARKS: usize = 64;
    const COLUMNS: usize = DIMENSION + 1 + LANDMARKS;
    let before = resident();
    let arms = Arms::from_slice(&values(N_ARMS, DIMENSION), DIMENSION).expect("finite features");
    let arms = arms.with_executor(Threads::executor());
    let settings = MixedSettings { landmarks: LANDMARKS, ..MixedSettings::default() };
    let mixed = Mixed::new(&arms, question(), &settings, 1).expect("settings in range");
    let rule = Pivot::new(1.0).expect("noise of 1");
    let mut learner = Learner::new(rule, mixed, budget(), question(), 0).expect("no opening");
    let mut noise = noise();
    let mut decide = || {
        let start = Instant::now();
        let arm = learner.ask().expect("a large budget");
        learner.tell(arm, mean(&arms, arm) + noise()).unwrap();
        start.elapsed()
    };
    // From then on the variances are learnt only about every 45 rewards.
    let mut slowest = (0..300).map(|_| decide()).max().unwrap_or_default();
    let features = size_of::<f64>() * N_ARMS * DIMENSION;
    let columns = vec![1.0; N_ARMS * COLUMNS];
    let bytes = size_of_val(&*columns);
    let memory = (resident() - before - bytes - features) as f64 / bytes as f64;
    let (mut decisions, mut readings) = (Vec::new(), Vec::new());
    for _ in 0..100 {
        readings.push(2 * fastest(1, || read(&columns)));
        decisions.push(decide());
    }
    slowest = slowest.max(decisions.iter().copied().max().unwrap_or_default());
    let median = |times: &mut Vec<Duration>| {
        times.sort();
        ms(times[times.len() / 2])
    };
    let (reading, decision, slowest) = (median(&mut readings), median(&mut decisions), ms(slowest));
    println!("| mixed, K = {N_ARMS}, p = {COLUMNS}, {} threads | ms | of reading |", rayon::current_num_threads());
    println!("|---|---|---|");
    println!("| reading the columns twice | {reading:.1} | 1 |");
    println!("| pivot on mixed | {decision:.1} | {:.2} |", decision / reading);
    println!("| the slowest, with learning | {slowest:.1} | {:.2} |", slowest / reading);
    println!("\nmemory of the learner, relative to its columns: {memory:.2}\n");
    writeln!(
        json,
        r#" "mixed": {{"ms": {decision:.3}, "slowest_ms": {slowest:.3}, "reading_ms": {reading:.3}, "memory": {memory:.3}}},"#
    )
    .expect("a string");
}

/// The time per pull after the opening, up to a budget of 1.2 K.
fn compare_scans(json: &mut String) {
    const DIMENSION: usize = 16;
    println!("| K, d = {DIMENSION}, pulls K to 1.2 K | full scan, µs per pull | lazy scan, µs per pull | ratio |");
    println!("|---|---|---|---|");
    for n_arms in [1_000, 10_000, 30_000, 100_000, 1_000_000] {
        let arms = Arms::from_slice(&values(n_arms, DIMENSION), DIMENSION).expect("finite features");
        let pulls = n_arms / 5;
        // 200,000 full scans of a million arms would take an hour, and every scan takes the same time.
        let plain = time_per_pull(&mut apt(&arms, false), pulls.min(20_000_000 / n_arms));
        let lazy = time_per_pull(&mut apt(&arms, true), pulls);
        println!("| {n_arms} | {plain:.1} | {lazy:.1} | {:.0} |", plain / lazy);
        let comma = if n_arms == 1_000_000 { "" } else { "," };
        writeln!(json, r#" "{n_arms}": {{"plain_us": {plain:.3}, "lazy_us": {lazy:.3}}}{comma}"#).expect("a string");
    }
}

fn apt(arms: &Arms, is_lazy: bool) -> Learner<Indexed<Apt>, Ridge, Budget> {
    let rule = Indexed::new(Apt, arms.n_arms()).with_lazy_scan(is_lazy);
    let ridge = Ridge::new(arms, 1.0).expect("small features");
    let mut learner = Learner::new(rule, ridge, budget(), question(), 0).expect("a large budget");
    let mut noise = noise();
    for arm in 0..arms.n_arms() {
        learner.tell(arm, mean(arms, arm) + noise()).unwrap();
    }
    learner
}

/// The fastest of several decisions, after a few that warm up.
fn decision(learner: &mut dyn AskTell, rounds: u32) -> Duration {
    let mut noise = noise();
    let mut arm = learner.ask().expect("a large budget");
    fastest(rounds, || {
        learner.tell(arm, noise()).unwrap();
        arm = learner.ask().expect("a large budget");
    })
}

fn time_per_pull(learner: &mut dyn AskTell, pulls: usize) -> f64 {
    let mut noise = noise();
    let start = Instant::now();
    for _ in 0..pulls {
        let arm = learner.ask().expect("a large budget");
        learner.tell(arm, noise()).unwrap();
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

/// Reads all values on all threads at full speed: the sums do not wait for each other.
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

/// The true mean of an arm: the average of its first and its last feature.
fn mean(arms: &Arms, arm: usize) -> f64 {
    let row = arms.row(arm).expect("features");
    f64::midpoint(row[0], row[row.len() - 1])
}

/// The resident memory of this process in bytes, on Linux; 0 elsewhere.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = pages.and_then(|text| text.split_whitespace().nth(1)?.parse::<usize>().ok());
    pages.unwrap_or(0) * 4096
}
