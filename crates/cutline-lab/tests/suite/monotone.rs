//! Monotone means against the numbers of an independent program: the probability that the answer is wrong, for means −g up to arm ⌊K/3⌋ and g
//! after it, N(·, 1), τ = 0, 3,000 runs.
//!
//! The other program's second column pulls every arm ⌊T/K⌋ times and takes the change point that fits best. That is what isotonic means
//! compared with τ give: both maximise Σ nᵢ(ȳᵢ − τ) over the arms called above.
//!
//! Seeds are fixed. A tolerance is 4.9 standard errors of the difference, so that a correct program would fail a comparison for one seed in
//! 10⁶; there are 10.
//!
//! `cargo test --release --package cutline-lab --test monotone -- --ignored --nocapture` plays 3,000 runs and prints z of every number.

use crate::common::{all_cells, experiment};

const OTHERS: f64 = 3_000.0;

/// K, g, T, and the probabilities for Explore and for the best change point.
const ROWS: [(usize, f64, u32, [f64; 2]); 5] = [
    (32, 0.25, 600, [0.581, 0.329]),
    (32, 0.25, 2000, [0.0043, 0.0463]),
    (32, 0.25, 6000, [0.0, 0.0017]),
    (32, 0.5, 600, [0.0007, 0.039]),
    (8, 0.25, 600, [0.150, 0.027]),
];

fn compare(runs: u64, mut check: impl FnMut(String, f64, f64, f64)) {
    let entrants =
        [("explore", "name = \"explore\""), ("change point", "name = \"lsa\"\nalpha = 0.0\nestimator = \"isotonic\"")];
    for (n_arms, g, budget, failures) in ROWS {
        let means: Vec<f64> = (0..n_arms).map(|arm| if arm < n_arms / 3 { -g } else { g }).collect();
        let whole_rounds = budget - budget % u32::try_from(n_arms).unwrap();
        for (((name, algorithm), theirs), pulls) in entrants.into_iter().zip(failures).zip([budget, whole_rounds]) {
            let head = format!("seed = 4\nbudgets = [{pulls}]\nthreshold = 0.0\nnoise = 1.0");
            let instance = format!("kind = \"means\"\nmeans = {means:?}");
            let cell = all_cells(&experiment(&head, &instance, &[algorithm]), runs)[0];
            let n = cell.runs as f64;
            let ours = cell.failures as f64 / n;
            // With no failure, or one, the variance is that of about one.
            let p = theirs.max(ours).max(1.0 / OTHERS);
            let z = (ours - theirs) / (p * (1.0 - p) * (1.0 / n + 1.0 / OTHERS)).sqrt();
            check(format!("K = {n_arms}, g = {g}, T = {budget}, {name}"), ours, theirs, z);
        }
    }
}

#[test]
fn answers_are_wrong_as_often_as_another_program_says() {
    compare(600, |what, ours, theirs, z| assert!(z.abs() <= 4.9, "{what}: {ours} against {theirs}, z = {z}"));
}

#[test]
#[ignore = "a minute"]
fn every_number() {
    compare(3_000, |what, ours, theirs, z| println!("{what}: {ours:.4} against {theirs}, z = {z:.2}"));
}
