//! CLUCB and CSAR against the numbers of an independent program. Seeds are fixed. A tolerance is 4.9 standard errors of the difference, so that a
//! correct program would fail a comparison for one seed in 10⁶; there are 11.
//!
//! `cargo test --release --package cutline-lab --test combinatorial -- --ignored --nocapture` plays as many runs as the other program and prints
//! z of every number.

use crate::common::{all_cells, experiment};
use cutline::{Arms, Purpose, Question, Spec, stream};
use cutline_lab::{Noise, NoiseKind};
use rayon::prelude::*;

const FOUR: &[f64] = &[-1.0, -0.5, 0.5, 1.0];
const L1: &[f64] = &[0.1, 0.1, 0.1, 0.35, 0.45, 0.55, 0.65, 0.9, 0.9, 0.9];
const L2: &[f64] = &[0.2, 0.25, 0.3, 0.35, 0.45, 0.55, 0.65, 0.7, 0.75, 0.8];
const L3: &[f64] = &[0.2, 0.36, 0.392, 0.3984, 0.45, 0.55, 0.6016, 0.608, 0.64, 0.8];

/// The pulls of CLUCB until no arm is undecided, |μ̂ᵢ − τ| < σ√(2 ln(4Kt³/δ)/Tᵢ), which ends the published algorithm; panics if an arm is then
/// on the wrong side.
fn clucb(means: &[f64], threshold: f64, noise: Noise, run: u64) -> f64 {
    let (k, sigma) = (means.len(), noise.scale());
    let spec = Spec::named("clucb").unwrap().with_noise_scale(sigma).unwrap();
    let arms = Arms::without_features(k).unwrap();
    let mut learner = spec.learner(&arms, Question::new(threshold, 0.0).unwrap(), 1_000_000, run).unwrap();
    let (mut rng, mut variate) = (stream(6, Purpose::Noise, run), [0.0]);
    loop {
        let arm = learner.ask().unwrap();
        noise.draw(&mut rng, &mut variate);
        learner.tell(arm, noise.reward(means[arm], variate[0])).unwrap();
        let mut beliefs = learner.beliefs();
        let (t, pulls) = (beliefs.total_pulls as f64, beliefs.pulls);
        let log = (4.0 * k as f64 * t.powi(3) / 0.05).ln();
        let is_decided =
            |(&mean, &n): (&f64, &u32)| n > 0 && (mean - threshold).abs() >= sigma * (2.0 * log / f64::from(n)).sqrt();
        if beliefs.means().iter().zip(pulls).all(is_decided) {
            let is_right = |(estimate, mean): (&f64, &f64)| (*estimate >= threshold) == (*mean >= threshold);
            assert!(beliefs.means().iter().zip(means).all(is_right), "run {run}");
            return t;
        }
    }
}

/// Plays CLUCB on three instances, with one run for `fewer` of the other program.
fn compare_clucb(fewer: u64, mut check: impl FnMut(&str, f64, f64, f64)) {
    let gaussian = Noise::new(NoiseKind::Gaussian, 1.0).unwrap();
    let bernoulli = Noise::new(NoiseKind::Bernoulli, 1.0).unwrap();
    let six: &[f64] = &[0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
    let rows = [
        ("four arms", FOUR, 0.0, gaussian, 2_000, 483.1, 2.1),
        ("L1", L1, 0.5, bernoulli, 200, 16_105.0, 207.0),
        ("six arms", six, 0.35, bernoulli, 200, 15_847.0, 169.0),
    ];
    for (name, means, threshold, noise, others, theirs, their_error) in rows {
        let runs = others / fewer;
        let ends: Vec<f64> = (0..runs).into_par_iter().map(|run| clucb(means, threshold, noise, run)).collect();
        let n = runs as f64;
        let ours = ends.iter().sum::<f64>() / n;
        let variance = ends.iter().map(|end| (end - ours).powi(2)).sum::<f64>() / (n - 1.0);
        let error: f64 = their_error;
        check(name, ours, theirs, (ours - theirs) / (variance / n + error * error).sqrt());
    }
}

/// Plays CSAR on four instances at two budgets each, with one run for `fewer` of the other program.
fn compare_csar(fewer: u64, mut check: impl FnMut(&str, f64, f64, f64)) {
    let gaussian = "threshold = 0.0\nnoise = 1.0";
    let bernoulli = "threshold = 0.5\nnoise = { kind = \"bernoulli\" }";
    let rows = [
        ("four arms", FOUR, gaussian, [50, 100], [0.0233, 0.0014]),
        ("L1", L1, bernoulli, [500, 1000], [0.2215, 0.0818]),
        ("L2", L2, bernoulli, [500, 1000], [0.2316, 0.0802]),
        ("L3", L3, bernoulli, [500, 1000], [0.3608, 0.1142]),
    ];
    for (name, means, head, budgets, failures) in rows {
        let head = format!("seed = 9\nbudgets = {budgets:?}\n{head}");
        let instance = format!("kind = \"means\"\nmeans = {means:?}");
        let cells = all_cells(&experiment(&head, &instance, &["name = \"csar\""]), 20_000 / fewer);
        for ((cell, theirs), budget) in cells.iter().zip(failures).zip(budgets) {
            let n = cell.runs as f64;
            let (ours, error) =
                (cell.failures as f64 / n, (theirs * (1.0 - theirs) * (1.0 / n + 1.0 / 20_000.0)).sqrt());
            check(&format!("{name}, T = {budget}"), ours, theirs, (ours - theirs) / error);
        }
    }
}

#[test]
fn clucb_ends_when_another_program_says() {
    compare_clucb(10, |what, ours, theirs, z| assert!(z.abs() <= 4.9, "{what}: {ours} against {theirs}, z = {z}"));
}

#[test]
fn csar_fails_as_often_as_another_program_says() {
    compare_csar(10, |what, ours, theirs, z| assert!(z.abs() <= 4.9, "{what}: {ours} against {theirs}, z = {z}"));
}

/// The pulls that CSAR uses depend on K and T alone.
#[test]
fn csar_leaves_a_few_pulls_unused() {
    for (n_arms, budget, used) in [(4, 50, 49), (4, 100, 99), (10, 500, 493), (10, 1000, 996)] {
        let arms = Arms::without_features(n_arms).unwrap();
        let mut learner =
            Spec::named("csar").unwrap().learner(&arms, Question::new(0.0, 0.0).unwrap(), budget, 0).unwrap();
        while let Some(arm) = learner.ask() {
            learner.tell(arm, arm as f64 - 1.5).unwrap();
        }
        assert_eq!(learner.beliefs().total_pulls, used, "K = {n_arms}, T = {budget}");
    }
}

#[test]
#[ignore = "a minute"]
fn every_number() {
    let print = |what: &str, ours: f64, theirs: f64, z: f64| println!("{what}: {ours:.4} against {theirs}, z = {z:.2}");
    compare_clucb(1, print);
    compare_csar(1, print);
}
