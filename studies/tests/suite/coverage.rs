//! Intervals contain the true means as often as they claim. `make study WHAT=coverage` measures the same in more runs and settings.
//!
//! Seeds are fixed. A share is compared with its level to 4.9 standard errors, and a level of "at least" to 4.75 below it:
//! a correct program would fail a comparison for one seed in 10⁶.

use cutline::{Arms, Confidence, IntervalKind, Purpose, Question, Spec, stream};
use cutline_lab::{Noise, NoiseKind, RunError};
use cutline_studies::coverage::{Coverage, CoverageSetting, coverage};

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

/// With σ estimated from ten degrees of freedom, intervals of Student's t distribution are exact, and those of the normal one hold in about
/// 92 % instead of 95 %.
#[test]
fn fixed_intervals_allow_for_the_error_of_an_estimated_noise() {
    let (runs, n, delta) = (20_000, 11, 0.05);
    let arms = Arms::without_features(1).unwrap();
    let question = Question::new(0.0, 0.0).unwrap();
    let noise = Noise::new(NoiseKind::Gaussian, 3.0).unwrap();
    let (mut rewards, mut rng) = (vec![0.0; n], stream(9, Purpose::Noise, 0));
    let mut covered = [0.0_f64; 2];
    for _ in 0..runs {
        noise.draw(&mut rng, &mut rewards);
        let mut learner = Spec::named("apt").unwrap().learner(&arms, question, 100, 0).unwrap();
        for &reward in &rewards {
            learner.tell(0, reward).unwrap();
        }
        let mean = rewards.iter().sum::<f64>() / n as f64;
        let squares: f64 = rewards.iter().map(|reward| (reward - mean).powi(2)).sum();
        let normal = Confidence::new(IntervalKind::Fixed, delta, (squares / 10.0).sqrt()).unwrap();
        for (covered, confidence) in covered.iter_mut().zip([normal.with_degrees_of_freedom(10.0).unwrap(), normal]) {
            let verdict = learner.beliefs().verdicts(&confidence).next().unwrap();
            *covered += f64::from(u8::from((verdict.lower..=verdict.upper).contains(&0.0)));
        }
    }
    let [t, normal] = covered.map(|covered| covered / f64::from(runs));
    assert!((t - 0.95).abs() <= 4.9 * (0.95 * 0.05 / f64::from(runs)).sqrt(), "{t}");
    assert!((normal - 0.922).abs() <= 4.9 * (0.922 * 0.078 / f64::from(runs)).sqrt(), "{normal}");
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
