//! How often the intervals of `fixed` and `anytime` contain the true means: the table of `docs/verdicts.md`.
//!
//! `cargo run --release --package cutline-lab --example coverage -- [RUNS]`

use cutline::{Confidence, IntervalKind, Spec};
use cutline_lab::{Noise, NoiseKind};
use cutline_studies::coverage::{CoverageSetting, coverage};
use std::error::Error;

const DELTA: f64 = 0.1;

/// An algorithm, its estimator, λ, K, d, T, the noise and its σ.
type Case = (&'static str, &'static str, f64, usize, usize, u32, NoiseKind, f64);

const CASES: [Case; 9] = [
    ("linear-apt", "ridge", 1.0, 20, 5, 200, NoiseKind::Gaussian, 1.0),
    ("pivot", "ridge", 1.0, 20, 5, 200, NoiseKind::Gaussian, 1.0),
    ("random", "ridge", 1.0, 20, 5, 200, NoiseKind::Gaussian, 1.0),
    ("pivot", "ridge", 0.1, 60, 10, 60, NoiseKind::Gaussian, 0.5),
    ("pivot", "ridge", 1.0, 20, 5, 200, NoiseKind::Rademacher, 1.0),
    ("random", "ridge", 0.1, 2, 1, 400, NoiseKind::Gaussian, 1.0),
    ("random", "sample-mean", 1.0, 20, 0, 400, NoiseKind::Gaussian, 1.0),
    ("apt", "sample-mean", 1.0, 20, 0, 400, NoiseKind::Gaussian, 1.0),
    ("apt", "sample-mean", 1.0, 20, 0, 400, NoiseKind::Rademacher, 1.0),
];

fn main() -> Result<(), Box<dyn Error>> {
    let runs: u64 = std::env::args().nth(1).map_or(Ok(5_000), |runs| runs.parse())?;
    println!(
        "δ = {DELTA}, {runs} runs; share of arms at the end (± standard error) / of runs with all arms at all times\n"
    );
    println!("| algorithm | estimator | λ | K | d | T | noise | fixed | anytime | width, anytime : fixed |");
    println!("|---|---|---|---|---|---|---|---|---|---|");
    for (name, estimator, lambda, n_arms, dimension, budget, kind, sigma) in CASES {
        let mut spec = Spec::named(name)?.with_estimator(estimator)?;
        for (parameter, value) in [("lambda", lambda), ("noise", sigma)] {
            if spec.parameters().any(|known| known.name == parameter) {
                spec = spec.with(parameter, value)?;
            }
        }
        let setting = CoverageSetting { spec, n_arms, dimension, budget, noise: Noise::new(kind, sigma)?, seed: 0 };
        let confidences = [IntervalKind::Fixed, IntervalKind::Anytime].map(|kind| Confidence::new(kind, DELTA, sigma));
        let [fixed, anytime] = confidences;
        let covered = coverage(&setting, &[fixed?, anytime?], 0..runs)?;
        let cell = |position: usize| {
            let (share, error) = covered[position].share_at_end();
            format!("{share:.4} ± {error:.4} / {:.4}", covered[position].runs_always_covered() as f64 / runs as f64)
        };
        let ratio = covered[1].mean_width() / covered[0].mean_width();
        let noise = kind.name();
        let size =
            if dimension == 0 { format!("| {n_arms} | |") } else { format!("{lambda} | {n_arms} | {dimension} |") };
        println!(
            "| {name} | {estimator} | {size} {budget} | {noise}, σ = {sigma} | {} | {} | {ratio:.2} |",
            cell(0),
            cell(1)
        );
    }
    Ok(())
}
