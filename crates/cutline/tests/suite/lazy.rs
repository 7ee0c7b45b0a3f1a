//! A lazy scan chooses the arms that a full scan chooses, pull for pull, and evaluates far fewer arms.

use crate::common::{Problem, uniform};
use cutline::estimators::Ridge;
use cutline::rules::{Apt, Index, Indexed, UcbE};
use cutline::{Arm, AskTell, Budget, Learner, Purpose, Question, stream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An index that counts how often it is evaluated.
#[derive(Clone)]
struct Counting<I> {
    index: I,
    evaluations: Arc<AtomicU64>,
}

impl<I> Counting<I> {
    fn new(index: I) -> Self {
        Self { index, evaluations: Arc::default() }
    }
}

impl<I: Index> Index for Counting<I> {
    type Weight = I::Weight;

    fn weight(&self, arm: Arm, pulls: u32) -> I::Weight {
        self.index.weight(arm, pulls)
    }

    fn index(&self, question: &Question, mean: f64, weight: I::Weight) -> f64 {
        self.evaluations.fetch_add(1, Ordering::Relaxed);
        self.index.index(question, mean, weight)
    }

    fn gap_for(&self, value: f64, weight: I::Weight) -> Option<f64> {
        self.index.gap_for(value, weight)
    }
}

/// Plays both side by side; if not `is_orderly`, pulls sometimes come in pairs, are lost, or are told without being asked. Returns how
/// many evaluations of the lazy scan there were per evaluation of the full scan.
fn compare(index: impl Index + Clone + Send + 'static, problem: &Problem, budget: u32, is_orderly: bool) -> f64 {
    let arms = problem.arms();
    let n_arms = arms.n_arms();
    let (lazy_index, full_index) = (Counting::new(index.clone()), Counting::new(index));
    let evaluations = [&lazy_index, &full_index].map(|index| Arc::clone(&index.evaluations));
    let learner = |index, is_lazy| {
        let rule = Indexed::new(index, n_arms).with_lazy_scan(is_lazy);
        let ridge = Ridge::new(&arms, 1.0).unwrap();
        Learner::new(rule, ridge, Budget::new(budget).unwrap(), problem.question, 0).unwrap()
    };
    let (mut lazy, mut full) = (learner(lazy_index, true), learner(full_index, false));
    let mut rng = stream(2, Purpose::Noise, 0);
    for pull in 0.. {
        let (arm, full_arm) = (lazy.ask(), full.ask());
        assert_eq!(arm, full_arm, "pull {pull}");
        let Some(arm) = arm else { break };
        if !is_orderly && pull % 97 == 5 {
            lazy.forget(arm);
            full.forget(arm);
            continue;
        }
        if !is_orderly && pull % 61 == 3 {
            let unasked = pull % n_arms;
            lazy.tell(unasked, 0.3).unwrap();
            full.tell(unasked, 0.3).unwrap();
        }
        if !is_orderly && pull % 7 < 3 {
            let second = lazy.ask();
            assert_eq!(second, full.ask(), "second of pull {pull}");
            if let Some(second) = second {
                let reward = problem.means[second] + uniform(&mut rng);
                lazy.tell(second, reward).unwrap();
                full.tell(second, reward).unwrap();
            }
        }
        let reward = problem.means[arm] + uniform(&mut rng);
        lazy.tell(arm, reward).unwrap();
        full.tell(arm, reward).unwrap();
    }
    let [lazy, full] = evaluations.map(|evaluations| evaluations.load(Ordering::Relaxed) as f64);
    lazy / full
}

#[test]
fn it_chooses_as_a_full_scan_does() {
    for (n_arms, dimension, budget) in [(1, 1, 50), (20, 2, 400), (1024, 1, 4000), (3001, 4, 9000), (2000, 16, 5000)] {
        let problem = Problem::uniform(n_arms, dimension, dimension as u64);
        compare(Apt, &problem, budget, true);
        compare(UcbE::new(40.0).unwrap(), &problem, budget, true);
    }
}

/// With few arms θ̂ moves too far between pulls for blocks to sleep; with many arms most of them do.
#[test]
fn it_evaluates_few_of_many_arms() {
    let problem = Problem::uniform(30_000, 4, 4);
    for is_orderly in [true, false] {
        let ucb_e = UcbE::new(40.0).unwrap();
        let ratios = [compare(Apt, &problem, 32_000, is_orderly), compare(ucb_e, &problem, 32_000, is_orderly)];
        assert!(ratios.iter().all(|&ratio| ratio < 0.2), "{ratios:?}, orderly: {is_orderly}");
    }
}

#[test]
fn pairs_lost_pulls_and_unasked_rewards_make_no_difference() {
    let problem = Problem::uniform(1500, 6, 3);
    compare(Apt, &problem, 4500, false);
    compare(UcbE::new(40.0).unwrap(), &problem, 4500, false);
}

/// Scales so different that V⁻¹ is recomputed and θ̂ jumps; arms that are zero or all alike.
#[test]
fn unusual_features_make_no_difference() {
    compare(Apt, &Problem::new(1100, 6, 1, |j| 10.0_f64.powf(1.5 * j)), 3000, true);
    let mut twins = Problem::uniform(1200, 3, 4);
    for arm in 0..1200 {
        let twin = arm / 300 * 300;
        twins.rows[arm] = if arm % 50 == 7 { vec![0.0; 3] } else { twins.rows[twin].clone() };
        twins.means[arm] = if arm % 50 == 7 { 0.0 } else { twins.means[twin] };
    }
    compare(Apt, &twins, 4000, true);
    compare(UcbE::new(10.0).unwrap(), &twins, 4000, true);
}
