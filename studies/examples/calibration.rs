//! Whether verdicts on the mixed model mean what they say: the tables of `docs/verdicts.md`.
//!
//! `cargo run --release --package cutline-lab --example calibration -- [RUNS] [K]`; with K, for that number of arms only

use cutline_studies::calibration::{Calibration, KnownTruth, MeanFunction, MeasurementNoise, calibrate, default_terms};
use std::error::Error;
use std::io::Write as _;

const FUNCTIONS: [(&str, MeanFunction); 5] = [
    ("linear", MeanFunction::Linear { own: 0.0 }),
    ("10 % own", MeanFunction::Linear { own: 0.1 }),
    ("30 % own", MeanFunction::Linear { own: 0.3 }),
    ("smooth", MeanFunction::Smooth),
    ("unrelated", MeanFunction::Linear { own: 1.0 }),
];

/// The number of arms and of features.
const SIZES: [(usize, usize); 3] = [(50, 5), (100, 5), (300, 8)];

/// Budgets, in units of the number of arms.
const BUDGETS: [u32; 3] = [1, 2, 5];

fn noises() -> Vec<(String, MeasurementNoise)> {
    type WithScale = fn(f64) -> MeasurementNoise;
    let kinds: [(&str, WithScale); 3] = [
        ("Gaussian", MeasurementNoise::Gaussian),
        ("t₃", MeasurementNoise::HeavyTails),
        ("unequal", MeasurementNoise::Unequal),
    ];
    let with_scales = kinds.iter().flat_map(|(name, kind)| [0.3, 1.0, 3.0].map(|s| (format!("{name}, {s}"), kind(s))));
    with_scales.chain([("0 or 1".into(), MeasurementNoise::Bernoulli)]).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let runs: u64 = std::env::args().nth(1).map_or(Ok(20), |runs| runs.parse())?;
    let only: Option<usize> = std::env::args().nth(2).map(|n_arms| n_arms.parse()).transpose()?;
    println!("Coverage of 95 % intervals, {runs} campaigns per cell, T = K / 2K / 5K:\n");
    let names: Vec<&str> = FUNCTIONS.iter().map(|(name, _)| *name).collect();
    println!("| K, d | noise, σ/spread | {} |\n|---|---|{}", names.join(" | "), "---|".repeat(names.len()));
    let mut all: Vec<Calibration> = vec![Calibration::default(); BUDGETS.len()];
    for (n_arms, dimension) in SIZES.into_iter().filter(|&(n_arms, _)| only.is_none_or(|only| only == n_arms)) {
        for (name, noise) in noises() {
            print!("| {n_arms}, {dimension} | {name} |");
            for (_, function) in FUNCTIONS {
                let budgets = BUDGETS.map(|times| times * u32::try_from(n_arms).expect("a few hundred"));
                let truth = |run| KnownTruth::synthetic(function, noise, n_arms, dimension, run);
                let found = calibrate(truth, default_terms, &budgets, 0..runs)?;
                let shares: Vec<String> = found.iter().map(|c| format!("{:.3}", c.coverage())).collect();
                print!(" {} |", shares.join(" / "));
                std::io::stdout().flush()?;
                all.iter_mut().zip(&found).for_each(|(sum, found)| sum.add(found));
            }
            println!();
        }
    }
    println!("\nDoubt and share of wrong calls, by doubt; all cells together:\n");
    reliability(&all);
    Ok(())
}

fn reliability(budgets: &[Calibration]) {
    println!(
        "| T | below 0.001 | to 0.01 | to 0.05 | to 0.15 | to 0.3 | above | all: doubts, wrong calls per campaign |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for (times, found) in BUDGETS.iter().zip(budgets) {
        let bin = |&(n, doubts, wrong): &(u64, f64, u64)| {
            format!("{:.4} → {:.4} ({n})", doubts / n as f64, wrong as f64 / n as f64)
        };
        let bins: Vec<String> = found.bins.iter().map(bin).collect();
        let per_run = |total: f64| total / found.runs as f64;
        let (doubts, wrong) = (per_run(found.doubts), per_run(found.wrong as f64));
        println!("| {times}K | {} | {doubts:.1}, {wrong:.1} |", bins.join(" | "));
    }
}
