//! Shared by the test suites: problems, and a plain implementation of everything to compare with.

#![allow(dead_code, unused_imports, reason = "each suite uses a part of it")]

mod plain;
mod replay;

use cutline::{ALGORITHMS, Algorithm, Arms, AskTell, Purpose, Question, Rng, Spec, below, stream};
use rand_core::Rng as _;

pub use plain::Plain;
pub use replay::assert_replayed;

/// A problem: features row by row, and the means of the arms.
#[derive(Clone, Debug)]
pub struct Problem {
    pub rows: Vec<Vec<f64>>,
    pub means: Vec<f64>,
    pub question: Question,
    /// What an error on each arm costs; 1 where there are none.
    pub costs: Option<Vec<f64>>,
}

impl Problem {
    /// Arms and θ uniform on [−1, 1], with column j scaled by `scale(j)`.
    pub fn new(n_arms: usize, dimension: usize, seed: u64, scale: impl Fn(f64) -> f64) -> Self {
        let mut rng = stream(seed, Purpose::Instance, 0);
        let theta: Vec<f64> = (0..dimension).map(|j| uniform(&mut rng) / scale(j as f64)).collect();
        let row = |rng: &mut Rng| (0..dimension).map(|j| uniform(rng) * scale(j as f64)).collect::<Vec<f64>>();
        let rows: Vec<Vec<f64>> = (0..n_arms).map(|_| row(&mut rng)).collect();
        let means = rows.iter().map(|row| row.iter().zip(&theta).map(|(x, t)| x * t).sum()).collect();
        Self { rows, means, question: Question::new(0.1, 0.01).unwrap(), costs: None }
    }

    pub fn uniform(n_arms: usize, dimension: usize, seed: u64) -> Self {
        Self::new(n_arms, dimension, seed, |_| 1.0)
    }

    pub fn arms(&self) -> Arms {
        let arms = Arms::from_rows(&self.rows).unwrap();
        match &self.costs {
            Some(costs) => arms.with_costs(costs).unwrap(),
            None => arms,
        }
    }

    /// The reward of a pull: the mean and noise uniform on [−1, 1].
    pub fn reward(&self, arm: usize, rng: &mut Rng) -> f64 {
        self.means[arm] + uniform(rng)
    }
}

pub fn uniform(rng: &mut Rng) -> f64 {
    f64::from(rng.next_u32()) / f64::from(u32::MAX) * 2.0 - 1.0
}

/// Plays to the end with the noise of a seed; returns the arms pulled.
pub fn arms_of(learner: &mut dyn AskTell, problem: &Problem, seed: u64) -> Vec<usize> {
    let mut rng = stream(seed, Purpose::Noise, 0);
    let mut arms = Vec::new();
    while let Some(arm) = learner.ask() {
        learner.tell(arm, problem.reward(arm, &mut rng)).unwrap();
        arms.push(arm);
    }
    arms
}

const SMALL_NOISE: [(&str, f64); 6] =
    [("clucb", 0.1), ("hdoc", 0.1), ("lucb-g", 0.1), ("apt-g", 0.1), ("lil-hdoc", 0.1), ("lse", 0.5)];

/// The algorithm with all parameters set. Those that look for arms whose side is known get a small noise scale, so that there are some after
/// few pulls.
pub fn spec(name: &str) -> Spec {
    let mut spec = Spec::named(name).unwrap();
    if let Some((_, noise)) = SMALL_NOISE.into_iter().find(|(other, _)| *other == name) {
        spec = spec.with("noise", noise).unwrap();
    }
    // The plain ridge is not centred.
    if spec.algorithm().is_centred {
        spec = spec.with_centre(0.0).unwrap();
    }
    for parameter in spec.parameters() {
        if parameter.default.is_none() {
            spec = spec.with(parameter.name, 2.0).unwrap();
        }
    }
    spec
}

/// Whether the choices of its rule are drawn at random.
pub fn is_random(algorithm: &Algorithm) -> bool {
    ["uniform", "random-straddle"].contains(&algorithm.rule)
}

/// Every algorithm that takes a confidence stop.
pub fn with_confidence_stop() -> impl Iterator<Item = &'static Algorithm> {
    ALGORITHMS.iter().filter(|algorithm| !algorithm.starves_arms)
}

/// Removes and returns a random element.
pub fn take<T>(items: &mut Vec<T>, rng: &mut Rng) -> T {
    let position = below(rng, items.len());
    items.swap_remove(position)
}

/// Asserts that two lists of numbers agree to `tolerance` times the largest finite one of them, or times 0.001 if that is more.
pub fn assert_close(found: &[f64], expected: &[f64], tolerance: f64, name: &str) {
    let scale = expected.iter().filter(|x| x.is_finite()).fold(1e-3_f64, |most, x| most.max(x.abs()));
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!(a == b || (a - b).abs() <= tolerance * scale, "{name}: arm {i}: {a} instead of {b} (scale {scale})");
    }
}
