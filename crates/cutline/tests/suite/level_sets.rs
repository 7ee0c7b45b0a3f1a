//! Level sets of a function on a grid, with a kernel: the picks of an independent program for rewards without noise.

use cutline::{Arms, Kernel, Purpose, Question, Spec, stream};
use rand_core::Rng as _;

/// f = sin 3πx + 0.3 cos 9x on 41 points of [0, 1].
fn grid() -> (Arms, Vec<f64>) {
    let points: Vec<[f64; 1]> = (0..41).map(|i| [f64::from(i) / 40.0]).collect();
    let f = |[x]: &[f64; 1]| (3.0 * std::f64::consts::PI * x).sin() + 0.3 * (9.0 * x).cos();
    let means = points.iter().map(f).collect();
    (Arms::from_rows(&points).unwrap().with_kernel(Kernel::Rbf, 0.15).unwrap(), means)
}

/// The algorithm for noise of standard deviation 0.3 and a prior variance of 1.
fn spec(name: &str) -> Spec {
    Spec::named(name).unwrap().with_noise_scale(0.3).unwrap().with("lambda", 0.09).unwrap()
}

fn picks(spec: &Spec, precision: f64) -> Vec<usize> {
    let (arms, means) = grid();
    let mut learner = spec.learner(&arms, Question::new(0.2, precision).unwrap(), 12, 0).unwrap();
    let ask = || {
        let arm = learner.ask()?;
        learner.tell(arm, means[arm]).unwrap();
        Some(arm)
    };
    std::iter::from_fn(ask).collect()
}

#[test]
fn the_grid_is_that_of_the_reference() {
    let (_, means) = grid();
    assert_eq!(means.iter().filter(|&&mean| mean >= 0.2).count(), 24);
    let smallest = means.iter().map(|mean| (mean - 0.2).abs()).fold(f64::INFINITY, f64::min);
    assert!((smallest - 0.0616403).abs() < 0.5e-7);
}

#[test]
fn picks_of_straddle() {
    assert_eq!(picks(&spec("straddle"), 0.0), [0, 12, 36, 26, 19, 6, 40, 27, 11, 38, 0, 26]);
}

#[test]
fn picks_of_lse() {
    let constant = spec("lse").with("beta", 9.0).unwrap();
    assert_eq!(picks(&constant, 0.1), [0, 11, 23, 40, 32, 5, 27, 15, 37, 11, 0, 38]);
    let growing = spec("lse").with("delta", 0.05).unwrap();
    assert_eq!(picks(&growing, 0.1), [0, 8, 16, 25, 32, 40, 11, 37, 27, 3, 0, 38]);
}

/// arg max of √(−2 ln U) s − |μ̂ − τ|, with one U per choice from the stream of the rule.
#[test]
fn random_straddle_agrees_with_its_definition() {
    let (arms, means) = grid();
    let question = Question::new(0.2, 0.0).unwrap();
    let mut learner = spec("random-straddle").learner(&arms, question, 200, 5).unwrap();
    let mut others = 0;
    for pull in 0..200 {
        let uniform = ((stream(5, Purpose::Rule, pull).next_u64() >> 11) + 1) as f64 / 2.0_f64.powi(53);
        let beliefs = learner.beliefs();
        let posterior = beliefs.estimator.posterior();
        let value = |arm: usize| {
            let half = (-2.0 * uniform.ln()).sqrt() * 0.3 * posterior.variances[arm].sqrt();
            half - (posterior.means[arm] - 0.2).abs()
        };
        let most = (0..41).map(value).fold(f64::NEG_INFINITY, f64::max);
        let nearly: Vec<usize> = (0..41).filter(|&arm| value(arm) >= most - 1e-9).collect();
        let arm = learner.ask().unwrap();
        assert!(nearly.contains(&arm), "pull {pull}: {arm}, not {nearly:?}");
        others += usize::from(arm != 0);
        learner.tell(arm, means[arm]).unwrap();
    }
    assert!(others > 100, "{others}");
}
