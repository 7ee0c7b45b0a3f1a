//! How often campaigns that stop early are wrong: the table of `docs/stopping.md`.
//!
//! `cargo run --release --package cutline-lab --example sure -- [RUNS [MODEL]]`

use cutline::{EstimatorKind, RewardKind, StopCriterion};
use cutline_studies::sure::{RewardLaw, SureSetting, sure_and_wrong};
use std::error::Error;

const DELTA: f64 = 0.05;

/// The rewards, their description, K, d, the gap and the largest number of measurements.
type Case = (RewardLaw, &'static str, usize, usize, f64, u32);

const CASES: [Case; 12] = [
    (RewardLaw::Gaussian(0.01), "Gaussian, 0.01", 20, 5, 0.25, 2_000),
    (RewardLaw::Gaussian(0.1), "Gaussian, 0.1", 20, 5, 0.25, 2_000),
    (RewardLaw::Gaussian(1.0), "Gaussian, 1", 20, 5, 0.25, 5_000),
    (RewardLaw::Gaussian(10.0), "Gaussian, 10", 8, 2, 1.0, 20_000),
    (RewardLaw::Rounded(0.01), "rounded, 0.01", 20, 5, 0.25, 2_000),
    (RewardLaw::Rounded(0.1), "rounded, 0.1", 20, 5, 0.25, 2_000),
    (RewardLaw::Rounded(1.0), "rounded, 1", 20, 5, 0.25, 5_000),
    (RewardLaw::Skewed(0.1), "skewed, 0.1", 20, 5, 0.25, 2_000),
    (RewardLaw::Skewed(1.0), "skewed, 1", 20, 5, 0.25, 5_000),
    (RewardLaw::Bernoulli(0.3), "0/1, 1.7", 20, 5, 0.5, 5_000),
    (RewardLaw::Bernoulli(0.05), "0/1, 10", 8, 2, 1.0, 20_000),
    (RewardLaw::RarePass, "0/1, rare", 20, 2, 1.0, 5_000),
];

fn main() -> Result<(), Box<dyn Error>> {
    let runs: u64 = std::env::args().nth(1).map_or(Ok(500), |runs| runs.parse())?;
    let models: Vec<EstimatorKind> = match std::env::args().nth(2) {
        Some(name) => EstimatorKind::ALL.iter().copied().filter(|model| model.name() == name).collect(),
        None => EstimatorKind::ALL.iter().copied().filter(|model| *model != EstimatorKind::Isotonic).collect(),
    };
    println!(
        "δ = {DELTA}, {runs} runs per cell; runs that ended sure and were wrong / that ended sure, in %, mean pulls\n"
    );
    println!(
        "| rewards, σ/spread | model | `intervals`, σ given | `evidence`, σ given | `evidence`, σ estimated | `evidence`, bernoulli |"
    );
    println!("|---|---|---|---|---|---|");
    for (rewards, name, n_arms, dimension, gap, budget) in CASES {
        for &estimator in &models {
            let mut cells = Vec::new();
            let given = Some(rewards.sigma());
            let (intervals, evidence) = (StopCriterion::Intervals, StopCriterion::Evidence);
            let (gaussian, bernoulli) = (RewardKind::Gaussian, RewardKind::Bernoulli);
            for (kind, criterion, noise) in [
                (gaussian, intervals, given),
                (gaussian, evidence, given),
                (gaussian, evidence, None),
                (bernoulli, evidence, None),
            ] {
                if kind == bernoulli && !matches!(rewards, RewardLaw::Bernoulli(_) | RewardLaw::RarePass) {
                    cells.push("–".into());
                    continue;
                }
                let setting = SureSetting {
                    estimator,
                    criterion,
                    delta: DELTA,
                    kind,
                    noise,
                    rewards,
                    n_arms,
                    dimension,
                    gap,
                    budget,
                    seed: 0,
                };
                let count = sure_and_wrong(&setting, 0..runs)?;
                let percent = |n: u64| 100.0 * n as f64 / count.runs as f64;
                let pulls = count.pulls as f64 / count.runs as f64;
                cells.push(format!("{:.1} / {:.0}, {pulls:.0}", percent(count.sure_and_wrong), percent(count.sure)));
            }
            println!("| {name} | {} | {} |", estimator.name(), cells.join(" | "));
        }
    }
    Ok(())
}
