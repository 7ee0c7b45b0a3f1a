//! One ask and tell after the opening, and building the arms, over a grid of K and d.

use cutline::{Arms, AskTell, Purpose, Question, Spec, stream};
use divan::{Bencher, black_box};
use rand_core::Rng as _;

const GRID: [(usize, usize); 6] = [(20, 5), (20, 20), (150, 4), (178, 13), (10_000, 16), (100_000, 64)];

fn main() {
    divan::main();
}

fn values(n_arms: usize, dimension: usize) -> Vec<f64> {
    let mut rng = stream(0, Purpose::Instance, 0);
    (0..n_arms * dimension).map(|_| f64::from(rng.next_u32()) / f64::from(u32::MAX) - 0.5).collect()
}

fn learner(name: &str, n_arms: usize, dimension: usize) -> Box<dyn AskTell> {
    let arms = Arms::from_slice(&values(n_arms, dimension), dimension).expect("finite features");
    let question = Question::new(0.0, 0.01).expect("a threshold of 0");
    let spec = Spec::named(name).expect("a known algorithm");
    let mut learner = spec.learner(&arms, question, u32::MAX, 0).expect("features and a budget");
    if name != "pivot" {
        for arm in 0..n_arms {
            learner.tell(arm, 0.1).unwrap();
        }
    }
    learner
}

#[divan::bench(args = GRID)]
fn linear_apt(bencher: Bencher<'_, '_>, (n_arms, dimension): (usize, usize)) {
    ask_tell(bencher, learner("linear-apt", n_arms, dimension));
}

#[divan::bench(args = GRID)]
fn pivot(bencher: Bencher<'_, '_>, (n_arms, dimension): (usize, usize)) {
    ask_tell(bencher, learner("pivot", n_arms, dimension));
}

fn ask_tell(bencher: Bencher<'_, '_>, mut learner: Box<dyn AskTell>) {
    let mut rng = stream(1, Purpose::Noise, 0);
    bencher.bench_local(|| {
        let arm = black_box(learner.ask()).expect("the budget is not used up");
        learner.tell(arm, f64::from(rng.next_u32()) / f64::from(u32::MAX) - 0.5).unwrap();
    });
}

#[divan::bench(args = GRID)]
fn load(bencher: Bencher<'_, '_>, (n_arms, dimension): (usize, usize)) {
    let values = values(n_arms, dimension);
    bencher.bench_local(|| Arms::from_slice(black_box(&values), dimension));
}
