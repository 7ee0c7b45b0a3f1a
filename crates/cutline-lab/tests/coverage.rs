//! Intervals contain the true means as often as they claim. `make coverage` measures the same in more runs and settings.
//!
//! Seeds are fixed. A share is compared with its level to 4.9 standard errors, and a level of "at least" to 4.75 below it:
//! a correct program would fail a comparison for one seed in 10⁶.

use cutline::{Confidence, IntervalKind, Spec};
use cutline_lab::coverage::{Coverage, CoverageSetting, coverage};
use cutline_lab::{Noise, NoiseKind, RunError};

const DELTA: f64 = 0.1;
const RUNS: u64 = 1_000;

/// Problems of one size with Gaussian noise of σ = ½.
fn setting(name: &str, estimator: &str, n_arms: usize, dimension: usize, budget: u32) -> CoverageSetting {
    let mut spec = Spec::named(name).unwrap().with_estimator(estimator).unwrap();
    for (parameter, value) in [("lambda", 0.5), ("noise", 0.5)] {
        if spec.parameters().any(|known| known.name == parameter) {
            spec = spec.with(parameter, value).unwrap();
        }
    }
    CoverageSetting { spec, n_arms, dimension, budget, noise: Noise::new(NoiseKind::Gaussian, 0.5).unwrap(), seed: 4 }
}

/// The coverage of both kinds, with intervals for this noise.
fn covered(setting: &CoverageSetting, noise: f64) -> [Coverage; 2] {
    let confidences =
        [IntervalKind::Fixed, IntervalKind::Anytime].map(|kind| Confidence::new(kind, DELTA, noise).unwrap());
    coverage(setting, &confidences, 0..RUNS).unwrap().try_into().unwrap()
}

fn assert_exact(coverage: &Coverage, what: &str) {
    let (share, error) = coverage.share_at_end();
    assert!((share - (1.0 - DELTA)).abs() <= 4.9 * error, "{what}: {share} ± {error}");
}

fn assert_always(coverage: &Coverage, what: &str) {
    let runs = RUNS as f64;
    let least = runs * (1.0 - DELTA) - 4.75 * (runs * DELTA * (1.0 - DELTA)).sqrt();
    assert!(
        coverage.runs_always_covered() as f64 >= least,
        "{what}: {} of {RUNS} runs",
        coverage.runs_always_covered()
    );
}

/// θ is drawn from the prior of ridge, so `fixed` is exact under every rule, and `anytime` holds at all times.
#[test]
fn ridge_under_every_rule() {
    for (name, n_arms, dimension, budget) in [
        ("linear-apt", 10, 3, 50),
        ("pivot", 10, 3, 50),
        ("random", 10, 3, 50),
        ("pivot", 12, 4, 8),
        ("pivot", 1, 1, 30),
    ] {
        let [fixed, anytime] = covered(&setting(name, "ridge", n_arms, dimension, budget), 0.5);
        assert_exact(&fixed, name);
        assert_always(&anytime, name);
        assert!(anytime.mean_width() > fixed.mean_width());
    }
}

/// `fixed` is exact for pulls that do not depend on rewards, `anytime` holds for any.
#[test]
fn sample_means() {
    let [fixed, anytime] = covered(&setting("random", "sample-mean", 5, 0, 60), 0.5);
    assert_exact(&fixed, "random");
    assert_always(&anytime, "random");
    assert_always(&covered(&setting("apt", "sample-mean", 5, 0, 60), 0.5)[1], "apt");
}

/// Undercoverage is detected: `fixed` does not cover all arms at all times, and neither kind covers noise twice as large as
/// stated.
#[test]
fn undercoverage_is_detected() {
    for (name, estimator) in [("random", "ridge"), ("random", "sample-mean")] {
        let setting = setting(name, estimator, 5, 2, 60);
        let few = RUNS / 2;
        assert!(covered(&setting, 0.5)[0].runs_always_covered() < few, "fixed, at all times, {estimator}");
        let [fixed, anytime] = covered(&setting, 0.25);
        assert!(fixed.share_at_end().0 < 0.75, "fixed, noise understated, {estimator}");
        assert!(
            estimator == "ridge" || anytime.runs_always_covered() < few,
            "anytime, noise understated: {}",
            anytime.runs_always_covered()
        );
    }
}

#[test]
fn the_same_on_any_number_of_threads() {
    let setting = setting("pivot", "ridge", 6, 2, 20);
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| covered(&setting, 0.5))
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn what_does_not_fit_is_an_error() {
    let confidence = Confidence::new(IntervalKind::Fixed, DELTA, 1.0).unwrap();
    let small = coverage(&setting("linear-apt", "ridge", 9, 2, 8), &[confidence], 0..3);
    assert!(matches!(small, Err(RunError::Algorithm { .. })), "{small:?}");
    let none = coverage(&setting("linear-apt", "ridge", 9, 0, 20), &[confidence], 0..3);
    assert!(matches!(none, Err(RunError::Instance { .. })), "{none:?}");
}
