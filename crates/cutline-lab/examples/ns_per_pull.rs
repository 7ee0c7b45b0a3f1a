//! Nanoseconds per pull on one thread, for the cases and in the format of `benches/peers/linear_apt_peers.py`.
//!
//! `cargo run --release --package cutline-lab --example ns_per_pull -- linear-apt pivot`
//!
//! With `--case N --runs R` it plays R runs of one case only, for tools that count instructions.

use cutline_lab::{Experiment, simulate};
use std::error::Error;
use std::path::Path;
use std::time::Instant;

/// K, d, T and the number of runs.
const CASES: [(u32, u32, u32, u64); 4] =
    [(20, 5, 200, 10_000), (20, 20, 200, 10_000), (150, 4, 400, 2_000), (178, 13, 400, 2_000)];

fn main() -> Result<(), Box<dyn Error>> {
    let mut names = Vec::new();
    let (mut only_case, mut n_runs) = (None, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--case" => only_case = Some(arguments.next().ok_or("--case takes a number")?.parse::<usize>()?),
            "--runs" => n_runs = Some(arguments.next().ok_or("--runs takes a number")?.parse::<u64>()?),
            _ => names.push(argument),
        }
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    for (case, (n_arms, dimension, budget, runs)) in CASES.into_iter().enumerate() {
        if only_case.is_some_and(|only| only != case) {
            continue;
        }
        let runs = n_runs.unwrap_or(runs);
        for name in &names {
            let experiment = Experiment::parse(&file(name, n_arms, dimension, budget), Path::new(""))?;
            let start = Instant::now();
            let tally = pool.install(|| simulate(&experiment, 0..runs, &|_| ()))?;
            let (pulls, runs_f) = ((runs * u64::from(budget)) as f64, runs as f64);
            let ns = start.elapsed().as_secs_f64() / pulls * 1e9;
            let rate = tally.cell(0, 0).failures as f64 / runs_f;
            println!(
                r#"{{"peer": "{name}", "arms": {n_arms}, "dimension": {dimension}, "budget": {budget}, "runs": {runs}, "ns_per_pull": {ns:.1}, "failure_rate": {rate:.4}}}"#
            );
        }
    }
    Ok(())
}

fn file(name: &str, n_arms: u32, dimension: u32, budget: u32) -> String {
    format!(
        r#"
        budgets = [{budget}]
        threshold = 0.0
        precision = 0.01
        seed = 1
        [instance]
        kind = "uniform"
        n_arms = {n_arms}
        dimension = {dimension}
        [[algorithm]]
        name = "{name}"
        "#
    )
}
