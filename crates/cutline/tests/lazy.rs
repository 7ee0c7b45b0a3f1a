//! A rule that leaves most arms alone chooses what a rule chooses that looks at all of them, pull for pull.

mod common;

use common::{Problem, uniform};
use cutline::estimators::Ridge;
use cutline::rules::{Apt, Index, Indexed, UcbE};
use cutline::{AskTell, Budget, Learner, Purpose, stream};

/// Plays both side by side; every so often pulls come in batches, are lost, or come unasked.
fn compare(index: impl Index + Clone + Send + 'static, problem: &Problem, budget: u32, is_orderly: bool) {
    let arms = problem.arms();
    let n_arms = arms.n_arms();
    let learner = |rule| {
        let ridge = Ridge::new(&arms, 1.0).unwrap();
        Learner::new(rule, ridge, Budget::new(budget).unwrap(), problem.question, 0).unwrap()
    };
    let mut lazy = learner(Indexed::new(index.clone(), n_arms).with_lazy_scan(true));
    let mut plain = learner(Indexed::new(index, n_arms).with_lazy_scan(false));
    let mut rng = stream(2, Purpose::Noise, 0);
    for pull in 0.. {
        let (arm, plain_arm) = (lazy.ask(), plain.ask());
        assert_eq!(arm, plain_arm, "pull {pull}");
        let Some(arm) = arm else { break };
        if !is_orderly && pull % 97 == 5 {
            lazy.forget(arm);
            plain.forget(arm);
            continue;
        }
        if !is_orderly && pull % 61 == 3 {
            let unasked = pull % n_arms;
            lazy.tell(unasked, 0.3);
            plain.tell(unasked, 0.3);
        }
        if !is_orderly && pull % 7 < 3 {
            let second = lazy.ask();
            assert_eq!(second, plain.ask(), "second of pull {pull}");
            if let Some(second) = second {
                let reward = problem.means[second] + uniform(&mut rng);
                lazy.tell(second, reward);
                plain.tell(second, reward);
            }
        }
        let reward = problem.means[arm] + uniform(&mut rng);
        lazy.tell(arm, reward);
        plain.tell(arm, reward);
    }
}

#[test]
fn it_chooses_as_if_it_had_looked_at_all_arms() {
    for (n_arms, dimension, budget) in [(1, 1, 50), (20, 2, 400), (1024, 1, 4000), (3001, 4, 9000), (2000, 16, 5000)] {
        let problem = Problem::uniform(n_arms, dimension, dimension as u64);
        compare(Apt, &problem, budget, true);
        compare(UcbE::new(40.0).unwrap(), &problem, budget, true);
    }
}

#[test]
fn batches_lost_pulls_and_unasked_rewards_make_no_difference() {
    let problem = Problem::uniform(1500, 6, 3);
    compare(Apt, &problem, 4500, false);
    compare(UcbE::new(40.0).unwrap(), &problem, 4500, false);
}

/// Scales so different that designs are computed afresh and θ̂ jumps; arms that are zero or all alike.
#[test]
fn odd_features_make_no_difference() {
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
