//! Every algorithm, decision by decision, against its definition computed by dense linear algebra.

use crate::common::{Plain, Problem, arms_of, assert_close, spec, take};
use cutline::{ALGORITHMS, AskTell, EstimatorKind, Purpose, stream};
use proptest::prelude::*;

/// Plays with several pulls pending, tells their rewards in random order, and compares every decision and every estimate with [`Plain`].
fn compare(name: &str, problem: &Problem, budget: u32, n_pending: usize, seed: u64) {
    let spec = spec(name);
    let algorithm = spec.algorithm();
    let mut learner = spec.learner(&problem.arms(), problem.question, budget, seed).unwrap();
    let mut plain = Plain::new(problem, 1.0);
    plain.budget = budget;
    let mut rng = stream(seed, Purpose::Noise, 0);
    loop {
        let mut pending = Vec::new();
        while pending.len() < n_pending {
            let Some(arm) = learner.propose() else { break };
            assert_eq!(learner.propose(), Some(arm), "asking twice changes nothing");
            check_choice(algorithm.rule, algorithm.estimator, &plain, arm);
            learner.assign(arm);
            plain.pulls[arm] += 1;
            pending.push(arm);
        }
        if pending.is_empty() {
            break;
        }
        while !pending.is_empty() {
            let arm = take(&mut pending, &mut rng);
            let reward = problem.reward(arm, &mut rng);
            learner.tell(arm, reward).unwrap();
            plain.rewards.push((arm, reward));
        }
        check_means(algorithm.estimator, &plain, learner.as_mut());
    }
    assert_eq!(learner.beliefs().pulls, plain.pulls);
    if algorithm.settles {
        let settled: Vec<usize> = learner.settled().in_order().iter().map(|settled| settled.arm).collect();
        assert_eq!(settled, plain.settled(algorithm.rule), "{name}");
        assert!(
            settled.len() == plain.pulls.len() || plain.rewards.len() == budget as usize,
            "{name} ended: {settled:?}"
        );
    } else {
        assert_eq!(plain.rewards.len(), budget as usize);
    }
}

fn means(estimator: EstimatorKind, plain: &Plain) -> Vec<f64> {
    if estimator == EstimatorKind::Ridge { plain.ridge_means() } else { plain.sample_means() }
}

/// The choice has the least index, up to rounding.
fn check_choice(rule: &str, estimator: EstimatorKind, plain: &Plain, arm: usize) {
    let Some(indices) = plain.indices(rule, &means(estimator, plain)) else { return };
    let least = indices.iter().copied().fold(f64::INFINITY, f64::min);
    let first = indices.iter().position(|&index| index == least).unwrap();
    let slack = 1e-9 * least.abs().max(1e-9);
    assert!(arm == first || indices[arm] - least <= slack, "{rule}: arm {arm}, not {first}: {indices:?}");
}

fn check_means(estimator: EstimatorKind, plain: &Plain, learner: &mut dyn AskTell) {
    assert_close(learner.beliefs().means(), &means(estimator, plain), 1e-9, "means");
}

#[test]
fn one_by_one_on_many_shapes() {
    for algorithm in ALGORITHMS {
        for (n_arms, dimension) in [(1, 1), (2, 1), (1, 3), (3, 5), (9, 2), (20, 5), (20, 20), (33, 13)] {
            let problem = Problem::uniform(n_arms, dimension, 3);
            compare(algorithm.name, &problem, 60, 1, 11);
        }
    }
}

#[test]
fn a_budget_of_exactly_k_opens_and_ends() {
    for algorithm in ALGORITHMS {
        compare(algorithm.name, &Problem::uniform(20, 3, 5), 20, 1, 0);
    }
}

#[test]
fn pivot_with_fewer_pulls_than_arms() {
    compare("pivot", &Problem::uniform(50, 4, 7), 12, 1, 0);
    compare("pivot", &Problem::uniform(50, 4, 7), 1, 1, 0);
}

#[test]
fn costs_of_errors() {
    let mut problem = Problem::uniform(9, 2, 4);
    problem.costs = Some((1..=9).map(|cost| f64::from(cost * cost) / 20.0).collect());
    for algorithm in ALGORITHMS {
        compare(algorithm.name, &problem, 60, 1, 11);
        let pulls = |problem: &Problem| {
            let mut learner = spec(algorithm.name).learner(&problem.arms(), problem.question, 60, 0).unwrap();
            arms_of(learner.as_mut(), problem, 3)
        };
        let do_costs_count = pulls(&problem) != pulls(&Problem { costs: None, ..problem.clone() });
        assert_eq!(do_costs_count, algorithm.name == "fwt", "{}", algorithm.name);
    }
}

#[test]
fn arms_of_zeros_and_repeated_arms() {
    for algorithm in ALGORITHMS {
        let mut problem = Problem::uniform(12, 3, 9);
        for arm in [0, 5] {
            problem.rows[arm].fill(0.0);
            problem.means[arm] = 0.0;
        }
        problem.rows[7] = problem.rows[6].clone();
        if algorithm.name == "pivot" {
            // The definition is 0/0 for such an arm; the rule promises never to pull it.
            let mut learner = spec("pivot").learner(&problem.arms(), problem.question, 40, 1).unwrap();
            let mut rng = stream(1, Purpose::Noise, 0);
            while let Some(arm) = learner.ask() {
                assert!(arm != 0 && arm != 5, "a pull of an arm of zeros has no information");
                learner.tell(arm, problem.reward(arm, &mut rng)).unwrap();
            }
        } else {
            compare(algorithm.name, &problem, 40, 1, 1);
        }
    }
}

#[test]
fn arms_that_are_all_zeros_use_up_the_budget() {
    for algorithm in ALGORITHMS {
        let mut problem = Problem::uniform(4, 2, 0);
        problem.rows.iter_mut().for_each(|row| row.fill(0.0));
        let mut learner = spec(algorithm.name).learner(&problem.arms(), problem.question, 9, 0).unwrap();
        let mut pulls = 0;
        while let Some(arm) = learner.ask() {
            learner.tell(arm, 1.0).unwrap();
            pulls += 1;
        }
        assert!(pulls == 9 || algorithm.settles, "{}: {pulls}", algorithm.name);
        assert!(learner.beliefs().means().iter().all(|mean| mean.is_finite()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, rng_seed: proptest::test_runner::RngSeed::Fixed(1), failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn with_pending_pulls_told_in_any_order(
        which in 0..ALGORITHMS.len(),
        n_arms in 1_u32..25,
        dimension in 1_usize..9,
        n_pending in 1_usize..12,
        seed in 0_u64..1_000,
    ) {
        let problem = Problem::uniform(n_arms as usize, dimension, seed);
        compare(ALGORITHMS[which].name, &problem, 40.max(n_arms), n_pending, seed);
    }
}
