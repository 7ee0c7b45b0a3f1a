//! Theorem 1 as the paper prints it fails, and as corrected it holds, by simulation.
//!
//! Seeds are fixed. Rates are compared with what is expected to 4.75 standard errors: a correct program would fail a comparison for one
//! seed in 10⁶.

use cutline::{Arms, Purpose, Spec, stream};
use cutline_lab::theory::Theorem1;
use cutline_lab::{Instance, Noise, NoiseKind, Threshold};

/// The number of runs of LinearAPT with noise N(0, 1) in which some arm is on the wrong side after `budget` pulls.
fn failures(instance: &Instance, budget: u32, runs: u64) -> u64 {
    let spec = Spec::named("linear-apt").unwrap();
    let noise = Noise::new(NoiseKind::Gaussian, 1.0).unwrap();
    let mut variates = vec![0.0; budget as usize];
    let fails = |run: u64, variates: &mut [f64]| {
        let mut learner = spec.learner(instance.arms(), instance.question(), budget, run).unwrap();
        noise.draw(&mut stream(3, Purpose::Noise, run), variates);
        for &variate in &*variates {
            let arm = learner.ask().unwrap();
            learner.tell(arm, noise.reward(instance.means()[arm], variate)).unwrap();
        }
        let mut beliefs = learner.beliefs();
        beliefs
            .means()
            .iter()
            .zip(instance.means())
            .any(|(&estimate, &mean)| instance.question().is_error(mean, estimate))
    };
    (0..runs).filter(|&run| fails(run, &mut variates)).count() as u64
}

/// K = T = 3200, so every arm is pulled once: x₁ = (1, 0), the others (0, 566), θ = (1, 0.1), τ = ε = 0. After its pull, the estimate of
/// arm 1 is (1 + noise)/2, negative with probability Φ(−1) = 0.1587. The paper's condition holds, with a bound of 2.7e-9.
#[test]
fn the_counterexample() {
    let mut rows = vec![[0.0, 566.0]; 3_200];
    rows[0] = [1.0, 0.0];
    let arms = Arms::from_rows(&rows).unwrap();
    let instance = Instance::linear(arms, vec![1.0, 0.1], Threshold::Value(0.0), 0.0).unwrap();
    let theorem = Theorem1::new(&instance, 1.0).unwrap();
    let printed = theorem.bound_as_printed(3_200).unwrap();
    assert!((2.6e-9..2.8e-9).contains(&printed), "{printed:e}");
    assert_eq!(theorem.bound(3_200), None, "T = K");
    let runs = 1_000;
    let (expected, error) = (158.7, 4.75 * (runs as f64 * 0.1587 * 0.8413).sqrt());
    let failures = failures(&instance, 3_200, runs) as f64;
    assert!((failures - expected).abs() <= error, "{failures} of {runs} runs, not {expected} ± {error}");
}

/// The least budget at which the corrected bound is at most `most`.
fn budget_for(theorem: &Theorem1, most: f64) -> u32 {
    (1..1_000_000).find(|&budget| theorem.bound(budget).is_some_and(|bound| bound <= most)).unwrap()
}

/// Where the corrected bound says something, no more runs fail than it allows; d = 1 and more, few arms and many.
#[test]
fn the_corrected_bound_holds_where_it_applies() {
    let spread: Vec<[f64; 2]> = (0..12).map(|i| f64::from(i).sin_cos()).map(|(x, y)| [2.0 * x, 2.0 * y]).collect();
    let cases: [(Vec<Vec<f64>>, Vec<f64>, f64); 4] = [
        (vec![vec![1.0], vec![-1.0]], vec![1.0], 0.0),
        (vec![vec![1.0, 0.0], vec![0.0, 1.0]], vec![0.6, -0.6], 0.3),
        (vec![vec![1.0, 0.0, 0.0], vec![0.0, 1.0, 0.0], vec![0.0, 0.0, 1.0]], vec![0.8, -0.8, 0.8], 0.2),
        (spread.iter().map(|row| row.to_vec()).collect(), vec![0.5, 0.5], 0.5),
    ];
    for (rows, theta, precision) in cases {
        let arms = Arms::from_rows(&rows).unwrap();
        let instance = Instance::linear(arms, theta, Threshold::Value(0.0), precision).unwrap();
        let theorem = Theorem1::new(&instance, 1.0).unwrap();
        for most in [0.5, 0.01] {
            let budget = budget_for(&theorem, most);
            let (runs, bound) = (200, theorem.bound(budget).unwrap());
            let allowed = 200.0 * bound + 4.75 * (200.0 * bound * (1.0 - bound)).sqrt();
            let failed = failures(&instance, budget, runs);
            assert!(failed as f64 <= allowed, "{failed} of {runs} runs failed at T = {budget}, allowed {allowed}");
        }
    }
}
