//! LinGame learns the oracle's allocation without knowing the means.

use cutline::{Arms, Purpose, Spec, stream};
use cutline_lab::{Allocation, Instance, Noise, NoiseKind, Threshold, Truth};
use nalgebra::DMatrix;
use rand::RngExt;

/// T* of a share of pulls: 2σ² maxₖ ‖xₖ‖²_{A(w)⁻¹}/Δₖ², by dense linear algebra.
fn time(instance: &Instance, shares: &[f64], sigma: f64) -> f64 {
    let rows: Vec<Vec<f64>> = (0..shares.len()).map(|arm| instance.arms().row(arm).unwrap()).collect();
    let x = DMatrix::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j]);
    let weighted = DMatrix::from_fn(rows.len(), rows[0].len(), |i, j| rows[i][j] * shares[i]);
    let g = &x * (x.transpose() * weighted).cholesky().unwrap().solve(&x.transpose());
    let of = |k: usize| g[(k, k)] / instance.question().gap(instance.means()[k]).powi(2);
    2.0 * sigma * sigma * (0..rows.len()).map(of).fold(0.0, f64::max)
}

/// T* of the pulls of an algorithm after each of `looks`, over the best there is.
fn ratios(name: &str, instance: &Instance, sigma: f64, looks: &[u32]) -> Vec<f64> {
    let spec = Spec::named(name).unwrap();
    let spec = if spec.parameters().any(|p| p.name == "noise") { spec.with("noise", sigma).unwrap() } else { spec };
    let mut learner = spec.learner(instance.arms(), instance.question(), u32::MAX, 0).unwrap();
    let noise = Noise::new(NoiseKind::Gaussian, sigma).unwrap();
    let mut variates = vec![0.0; looks[looks.len() - 1] as usize];
    noise.draw(&mut stream(1, Purpose::Noise, 0), &mut variates);
    let best = Allocation::new(instance, sigma).unwrap().time();
    let (mut ratios, mut pulled) = (Vec::new(), 0);
    for &look in looks {
        for &variate in &variates[pulled..look as usize] {
            let arm = learner.ask().unwrap();
            learner.tell(arm, instance.means()[arm] + variate).unwrap();
        }
        pulled = look as usize;
        let shares: Vec<f64> = learner.beliefs().pulls.iter().map(|&n| f64::from(n) / f64::from(look)).collect();
        ratios.push(time(instance, &shares, sigma) / best);
    }
    ratios
}

fn uniform(n_arms: usize, dimension: usize, seed: u64) -> Instance {
    let mut rng = stream(seed, Purpose::Instance, 0);
    let mut numbers = |n| -> Vec<f64> { (0..n).map(|_| 2.0 * rng.random::<f64>() - 1.0).collect() };
    let (theta, rows) = (numbers(dimension), numbers(n_arms * dimension));
    Instance::linear(Arms::from_slice(&rows, dimension).unwrap(), theta, Threshold::Value(0.1), 0.05).unwrap()
}

/// After 100,000 pulls LinGame is within 10 % of the best allocation on five instances, Pivot within 15 %, and rules that do not aim
/// at it are further off. Seeds are fixed; what is compared are shares of pulls, not rates.
#[test]
fn pulls_approach_the_optimal_allocation() {
    let Truth::Linear(arms, theta) = Truth::soare(6, 0.01) else { unreachable!() };
    let soare = Instance::linear(arms, theta, Threshold::Value(1.8), 0.0).unwrap();
    let after = |name, instance: &Instance| ratios(name, instance, 0.2, &[1_000, 100_000]);
    for instance in [soare, uniform(12, 4, 0), uniform(12, 4, 1), uniform(12, 4, 2), uniform(20, 3, 3)] {
        let [early, late] = after("lingame", &instance)[..] else { unreachable!() };
        assert!((1.0 - 1e-6..1.1).contains(&late) && late < early, "{early}, then {late}");
        assert!(after("pivot", &instance)[1] < 1.15);
        assert!(after("linear-apt", &instance)[1] > late && after("random", &instance)[1] > 1.5);
    }
}
