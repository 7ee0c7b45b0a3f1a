//! The oracle's allocation against closed forms, a theorem, and brute force.

use cutline::{Arms, Purpose, Rng, stream};
use cutline_lab::{Allocation, Instance, Threshold};
use rand::RngExt;

fn linear(rows: &[Vec<f64>], theta: &[f64], threshold: f64, precision: f64) -> Instance {
    let arms = Arms::from_rows(rows).unwrap();
    Instance::linear(arms, theta.to_vec(), Threshold::Value(threshold), precision).unwrap()
}

fn uniform(rng: &mut Rng, n: usize) -> Vec<f64> {
    (0..n).map(|_| 2.0 * rng.random::<f64>() - 1.0).collect()
}

fn random(n_arms: usize, dimension: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut rng = stream(seed, Purpose::Instance, 0);
    let theta = uniform(&mut rng, dimension);
    ((0..n_arms).map(|_| uniform(&mut rng, dimension)).collect(), theta)
}

/// The allocation, checked: weights that sum to 1, and a T* proved to within a millionth.
fn solve(instance: &Instance, sigma: f64) -> Allocation {
    let allocation = Allocation::new(instance, sigma).expect("no arm lies at the threshold");
    assert!((allocation.weights().iter().sum::<f64>() - 1.0).abs() < 1e-9);
    assert!(allocation.weights().iter().all(|&weight| weight >= 0.0));
    let (time, least) = (allocation.time(), allocation.least_time());
    assert!(least <= time * (1.0 + 1e-12) && time <= least * (1.0 + 1.1e-6), "{least} to {time}");
    allocation
}

fn assert_near(ours: f64, theirs: f64, what: &str) {
    assert!((ours / theirs - 1.0).abs() < 2e-6, "{what}: {ours} against {theirs}");
}

/// Orthogonal arms, whatever their lengths, are unrelated: wₖ ∝ Δₖ⁻², T* = 2σ²ΣΔₖ⁻².
#[test]
fn orthogonal_arms_are_unrelated() {
    let rows: Vec<Vec<f64>> =
        (0..4).map(|i| (0..4).map(|j| if i == j { [1.0, 20.0, 0.3, 1e-3][i] } else { 0.0 }).collect()).collect();
    let instance = linear(&rows, &[1.0, -0.1, 2.0, 300.0], 0.25, 0.05);
    let ours = solve(&instance, 0.7);
    let unrelated = Allocation::without_features(&instance, 0.7).unwrap();
    assert_near(ours.time(), unrelated.time(), "T*");
    let gaps = [0.8, 2.3, 0.4, 0.1_f64];
    let h: f64 = gaps.iter().map(|gap| gap.powi(-2)).sum();
    assert_near(unrelated.time(), 2.0 * 0.49 * h, "2σ²H");
    for (arm, gap) in gaps.into_iter().enumerate() {
        assert!((ours.weights()[arm] - gap.powi(-2) / h).abs() < 1e-4, "{:?}", ours.weights());
    }
}

/// In one dimension all pulls go to the longest arm, whose noise is smallest relative to its length: T* = 2σ² maxₖ (xₖ/Δₖ)²/maxᵢ xᵢ².
#[test]
fn one_dimension_has_a_closed_form() {
    let instance = linear(&[vec![0.5], vec![-2.0]], &[1.0], 0.1, 0.0);
    let allocation = solve(&instance, 1.0);
    assert_near(allocation.time(), 2.0 * (0.5_f64 / 0.4).powi(2) / 4.0, "T*");
    assert!(allocation.weights()[1] > 1.0 - 1e-5, "{:?}", allocation.weights());
    let one = solve(&linear(&[vec![3.0]], &[1.0], 1.0, 0.0), 2.0);
    assert_near(one.time(), 2.0 * 4.0 / 4.0, "one arm: 2σ²/Δ²");
    assert_eq!(one.weights(), [1.0]);
}

/// With equal gaps it is G-optimal design, whose value is the rank of the features (Kiefer & Wolfowitz 1960).
#[test]
fn equal_gaps_give_the_theorem_of_kiefer_and_wolfowitz() {
    for (n_arms, dimension, rank) in [(3, 3, 3), (12, 4, 4), (60, 7, 7), (5, 9, 5), (400, 3, 3), (1_000, 6, 6)] {
        let (rows, _) = random(n_arms, dimension, 7);
        // θ = 0: every mean is 0, and every gap is τ + ε = 1.
        let instance = linear(&rows, &vec![0.0; dimension], 0.75, 0.25);
        assert_near(solve(&instance, 1.0).time(), 2.0 * f64::from(rank), &format!("{n_arms} × {dimension}"));
    }
}

/// maxₖ ‖xₖ‖²_{A(w)⁻¹}/Δₖ² in two dimensions, by the formula for the inverse.
fn value(rows: &[Vec<f64>], gaps: &[f64], w: &[f64]) -> f64 {
    let sum = |i: usize, j: usize| rows.iter().zip(w).map(|(x, w)| w * x[i] * x[j]).sum::<f64>();
    let (a, b, c) = (sum(0, 0), sum(0, 1), sum(1, 1));
    let determinant = a * c - b * b;
    if determinant < 1e-9 {
        return f64::INFINITY;
    }
    let norm = |x: &[f64]| (c * x[0] * x[0] - 2.0 * b * x[0] * x[1] + a * x[1] * x[1]) / determinant;
    rows.iter().zip(gaps).map(|(x, gap)| norm(x) / (gap * gap)).fold(0.0, f64::max)
}

/// All weights on a grid of 1/200: none is better, and the best is close.
#[test]
fn brute_force_finds_nothing_better() {
    for seed in 0..6 {
        let (rows, theta) = random(3, 2, seed);
        let instance = linear(&rows, &theta, 0.2, 0.05);
        let gaps: Vec<f64> = instance.means().iter().map(|&mean| instance.question().gap(mean)).collect();
        let allocation = solve(&instance, 1.0);
        let mut best = f64::INFINITY;
        for i in 0..=200 {
            for j in 0..=200 - i {
                let w = [i, j, 200 - i - j].map(|n| f64::from(n) / 200.0);
                best = best.min(2.0 * value(&rows, &gaps, &w));
            }
        }
        assert!(
            best >= allocation.least_time() * (1.0 - 1e-9),
            "seed {seed}: {best} below {}",
            allocation.least_time()
        );
        assert!(best <= allocation.time() * 1.05, "seed {seed}: {best} against {}", allocation.time());
        assert_near(2.0 * value(&rows, &gaps, allocation.weights()), allocation.time(), "the value of the weights");
    }
}

/// Coordinates do not matter: other units of the features, mixtures of them, copies of columns and of arms, arms of zeros.
#[test]
fn equivalent_features_need_the_same_pulls() {
    let (rows, theta) = random(9, 3, 2);
    let base = solve(&linear(&rows, &theta, 0.1, 0.02), 1.0).time();
    let scaled: Vec<Vec<f64>> = rows.iter().map(|x| vec![1e6 * x[0], 1e-6 * x[1], x[2]]).collect();
    let theta_scaled = [1e-6 * theta[0], 1e6 * theta[1], theta[2]];
    assert_near(solve(&linear(&scaled, &theta_scaled, 0.1, 0.02), 1.0).time(), base, "units");
    let wide: Vec<Vec<f64>> = rows.iter().map(|x| vec![x[0], x[1], x[2], x[0], x[1] - x[2]]).collect();
    let theta_wide = [theta[0], theta[1], theta[2], 0.0, 0.0];
    assert_near(solve(&linear(&wide, &theta_wide, 0.1, 0.02), 1.0).time(), base, "dependent columns");
    let twice = [rows.clone(), rows.clone(), vec![vec![0.0; 3]]].concat();
    assert_near(solve(&linear(&twice, &theta, 0.1, 0.02), 1.0).time(), base, "arms twice, and one of zeros");
    assert_near(solve(&linear(&rows, &theta, 0.1, 0.02), 3.0).time(), 9.0 * base, "σ²");
}

/// Features can only help.
#[test]
fn features_never_make_it_harder() {
    for seed in 0..10 {
        let (rows, theta) = random(15, 4, seed);
        let instance = linear(&rows, &theta, 0.0, 0.05);
        let unrelated = Allocation::without_features(&instance, 1.0).unwrap();
        assert!(solve(&instance, 1.0).time() <= unrelated.time() * (1.0 + 1e-6));
    }
}

#[test]
fn no_number_of_pulls_decides_an_arm_at_the_threshold() {
    let rows = [vec![1.0, 0.0], vec![0.0, 1.0]];
    assert_eq!(Allocation::new(&linear(&rows, &[0.5, 1.0], 0.5, 0.0), 1.0), None);
    assert!(Allocation::new(&linear(&rows, &[0.5, 1.0], 0.5, 0.1), 1.0).is_some());
    let means = Instance::unstructured(vec![0.5, 1.0], Threshold::Value(0.5), 0.0).unwrap();
    assert_eq!(Allocation::new(&means, 1.0), None);
    // The mean of an arm of zeros is known without a pull, even at the threshold.
    let zeros = solve(&linear(&[vec![0.0], vec![2.0]], &[1.0], 0.0, 0.0), 1.0);
    assert_eq!(zeros.weights(), [0.0, 1.0]);
    let nothing = solve(&linear(&[vec![0.0], vec![0.0]], &[1.0], 1.0, 0.0), 1.0);
    assert_eq!((nothing.time(), nothing.fewest_pulls(0.05)), (0.0, 0.0));
}

/// kl(δ, 1 − δ) ≥ ln(1/(2.4δ)) (Kaufmann, Cappé & Garivier 2016).
#[test]
fn the_bound_is_at_least_its_common_form() {
    let instance = Instance::unstructured(vec![1.0], Threshold::Value(0.0), 0.0).unwrap();
    let allocation = Allocation::new(&instance, 1.0).unwrap();
    for delta in [1e-9, 0.001, 0.05, 0.1, 0.3, 0.49] {
        assert!(allocation.fewest_pulls(delta) >= 2.0 * (1.0_f64 / (2.4 * delta)).ln(), "{delta}");
    }
    assert_eq!((allocation.fewest_pulls(0.5), allocation.fewest_pulls(0.9)), (0.0, 0.0));
}
