//! Asking and telling allocate nothing once a learner is built.

#![allow(unsafe_code, reason = "an allocator is unsafe by its nature; this one counts and forwards")]

mod common;

use common::{Problem, spec};
use cutline::{ALGORITHMS, Confidence, ConfidenceStop, IntervalKind, Purpose, Spec, StopCriterion, stream};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is forwarded to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn asking_and_telling_allocate_nothing() {
    for algorithm in ALGORITHMS {
        check(&spec(algorithm.name));
        if let Ok(centred) = spec(algorithm.name).with("centre", 1.0) {
            check(&centred.with("intercept", 1.0).unwrap());
        }
    }
    assert!(ALLOCATIONS.get() > 0, "the allocator counts");
}

/// The confidence stop evaluates all arms.
#[test]
fn confidence_stops_allocate_nothing() {
    for algorithm in common::with_confidence_stop() {
        for (_, criterion) in StopCriterion::ALL {
            let stop = ConfidenceStop::new(*criterion, 0.05, 1.0).unwrap();
            check(&spec(algorithm.name).with_confidence_stop(stop));
        }
    }
}

/// The mixed model allocates only when it learns its variances: after each of the first 20 rewards, then at every 15 % more.
#[test]
fn the_mixed_model_allocates_only_when_it_learns() {
    let problem = Problem::new(30, 6, 1, |j| 10.0_f64.powf(j));
    let spec = spec("pivot").with_estimator("mixed").unwrap();
    let mut learner = spec.learner(&problem.arms(), problem.question, 400, 0).unwrap();
    let mut rng = stream(0, Purpose::Noise, 0);
    let mut allocating = Vec::new();
    for pull in 1..=400 {
        let before = ALLOCATIONS.get();
        let arm = learner.ask().unwrap();
        learner.tell(arm, problem.reward(arm, &mut rng)).unwrap();
        if ALLOCATIONS.get() > before {
            allocating.push(pull);
        }
    }
    let expected = [23, 27, 32, 37, 43, 50, 58, 67, 78, 90, 104, 120, 138, 159, 183, 211, 243, 280, 322, 371];
    assert_eq!(allocating, (1..=20).chain(expected).collect::<Vec<_>>());
}

fn check(spec: &Spec) {
    // Columns of very different scales, so that V⁻¹ is also recomputed on the way.
    let problem = Problem::new(30, 6, 1, |j| 10.0_f64.powf(j));
    let mut learner = spec.learner(&problem.arms(), problem.question, 400, 0).unwrap();
    let mut rng = stream(0, Purpose::Noise, 0);
    let confidence = Confidence::new(IntervalKind::Anytime, 0.1, 1.0).unwrap();
    assert_eq!(learner.beliefs().verdicts(&confidence).count(), 30);
    let before = ALLOCATIONS.get();
    while let Some(arm) = learner.ask() {
        let second = learner.ask();
        learner.tell(arm, problem.reward(arm, &mut rng)).unwrap();
        if let Some(arm) = second {
            learner.tell(arm, problem.reward(arm, &mut rng)).unwrap();
        }
        if learner.beliefs().total_pulls.is_multiple_of(50)
            && let Some(arm) = learner.ask()
        {
            learner.forget(arm);
            assert!(learner.beliefs().verdicts(&confidence).any(|verdict| verdict.pulls > 0));
        }
    }
    assert!(learner.beliefs().means().iter().all(|mean| mean.is_finite()));
    assert_eq!(ALLOCATIONS.get() - before, 0, "{}", spec.algorithm().name);
}
