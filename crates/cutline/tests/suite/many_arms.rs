//! An executor for products over many arms changes no result.

use crate::common::Problem;
use cutline::{Arms, Executor, Purpose, Spec, stream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Does the second half of the work first, then the first, and counts the calls.
#[derive(Debug, Default)]
struct Counting(AtomicUsize);

impl Executor for Counting {
    fn both(&self, one: &mut (dyn FnMut() + Send), other: &mut (dyn FnMut() + Send)) {
        self.0.fetch_add(1, Ordering::Relaxed);
        other();
        one();
    }
}

#[test]
fn work_is_shared_and_the_bits_are_the_same() {
    for (n_arms, dimension) in [(40_001, 9), (131_073, 3)] {
        let problem = Problem::uniform(n_arms, dimension, 1);
        let serial = problem.arms();
        let executor = Arc::new(Counting::default());
        let shared = serial.clone().with_executor(Arc::clone(&executor) as Arc<dyn Executor>);
        let v: Vec<f64> = (0..dimension).map(|j| 0.3 + j as f64).collect();
        assert_eq!(serial.times(&v), shared.times(&v));
        assert!(executor.0.load(Ordering::Relaxed) > 0, "{n_arms} × {dimension} is large enough to be shared");
        for name in ["linear-apt", "pivot"] {
            let learner =
                |arms: &Arms| Spec::named(name).unwrap().learner(arms, problem.question, u32::MAX, 0).unwrap();
            let (mut one, mut other) = (learner(&serial), learner(&shared));
            let mut rng = stream(3, Purpose::Noise, 0);
            for _ in 0..40 {
                let arm = one.ask().unwrap();
                assert_eq!(other.ask(), Some(arm));
                let reward = problem.reward(arm, &mut rng);
                one.tell(arm, reward).unwrap();
                other.tell(arm, reward).unwrap();
            }
            assert_eq!(one.beliefs().means(), other.beliefs().means());
        }
    }
}

#[test]
fn few_arms_are_not_worth_it() {
    let executor = Arc::new(Counting::default());
    let arms = Problem::uniform(1000, 10, 1).arms().with_executor(Arc::clone(&executor) as Arc<dyn Executor>);
    arms.times(&[1.0; 10]).unwrap();
    assert_eq!(executor.0.load(Ordering::Relaxed), 0);
}
