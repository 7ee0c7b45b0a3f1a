//! A batch of runs pulls the arms that individual learners pull, and has the same estimates to the last bit.

use crate::common::{Problem, spec, uniform};
use cutline::{ALGORITHMS, Arms, Purpose, Question, Spec, stream};

/// The algorithms that can be played in batches.
const BATCHED: [&str; 7] = ["linear-apt", "apt", "ucbe", "pivot", "lsa", "fwt", "fwt-gaps"];

/// Plays all problems in one batch and each of them individually.
fn compare(name: &str, problems: &[Problem], budget: u32) {
    compare_with(&spec(name), problems, budget);
}

/// The same for a spec.
fn compare_with(spec: &Spec, problems: &[Problem], budget: u32) {
    let (name, n_runs) = (spec.name(), problems.len());
    let arms: Vec<Arms> = problems.iter().map(Problem::arms).collect();
    let questions: Vec<Question> = (0..n_runs).map(|run| Question::new(0.1 * run as f64, 0.01).unwrap()).collect();
    let mut specs: Vec<Spec> = vec![spec.clone(); n_runs];
    if name == "ucbe" {
        // Parameters of the rule may differ from run to run.
        specs[n_runs / 2] = specs[n_runs / 2].clone().with("exploration", 30.0).unwrap();
    }
    let spec_refs: Vec<&Spec> = specs.iter().collect();
    let arms_refs: Vec<&Arms> = arms.iter().collect();
    let mut batch = Spec::batch(&spec_refs, &arms_refs, &questions).unwrap();
    let mut pulled = Spec::batch(&spec_refs, &arms_refs, &questions).unwrap();
    assert_eq!(batch.n_runs(), n_runs);
    let mut learners: Vec<_> =
        (0..n_runs).map(|run| specs[run].learner(&arms[run], questions[run], budget, 0).unwrap()).collect();
    let mut rng = stream(5, Purpose::Noise, 0);
    let (mut asked, mut rewards) = (vec![0; n_runs], vec![0.0; n_runs]);
    for pull in 0..budget {
        batch.ask(&mut asked);
        for (run, learner) in learners.iter_mut().enumerate() {
            assert_eq!(learner.ask(), Some(asked[run]), "{name}, run {run} of {n_runs}, pull {pull}");
            rewards[run] = problems[run].means[asked[run]] + uniform(&mut rng);
            learner.tell(asked[run], rewards[run]).unwrap();
        }
        batch.tell(&rewards);
        pulled.pull(|run, arm| {
            assert_eq!(arm, asked[run], "{name}, run {run} of {n_runs}, pull {pull}");
            rewards[run]
        });
    }
    for (run, learner) in learners.iter_mut().enumerate() {
        let mut beliefs = learner.beliefs();
        let means: Vec<f64> = batch.means(run).collect();
        assert_eq!(means, beliefs.means(), "{name}, run {run} of {n_runs}");
        assert_eq!(pulled.means(run).collect::<Vec<f64>>(), means, "{name}, run {run} of {n_runs}");
    }
}

fn uniform_problems(n_runs: u64, n_arms: usize, dimension: usize) -> Vec<Problem> {
    (0..n_runs).map(|run| Problem::uniform(n_arms, dimension, run)).collect()
}

#[test]
fn a_batch_agrees_with_individual_learners() {
    for name in BATCHED {
        for (n_arms, dimension) in
            [(1, 1), (5, 2), (9, 3), (20, 5), (31, 6), (19, 7), (7, 8), (13, 10), (20, 20), (40, 13), (9, 32)]
        {
            compare(name, &uniform_problems(4, n_arms, dimension), 150);
        }
    }
}

/// An index that has a batch form with ridge has one with sample means too; costs of errors may differ from run to run.
#[test]
fn sample_means_and_costs() {
    let ucbe = spec("ucbe").with_estimator("sample-mean").unwrap();
    for n_arms in [1, 2, 3, 4, 7, 9, 33, 130] {
        let mut problems = uniform_problems(5, n_arms, 2);
        compare_with(&ucbe, &problems, 200);
        for (run, problem) in problems.iter_mut().enumerate() {
            problem.costs = Some((1..=n_arms).map(|arm| (arm + run) as f64).collect());
        }
        compare("fwt", &problems, 200);
    }
}

/// Sizes below, at and between multiples of the group size.
#[test]
fn batches_may_have_any_size() {
    for name in BATCHED {
        for n_runs in [1, 2, 3, 4, 5, 7, 8, 11] {
            compare(name, &uniform_problems(n_runs, 20, 5), 60);
            compare(name, &uniform_problems(n_runs, 6, 8), 30);
        }
    }
}

/// So many arms that most are ruled out by a cheap test. Every arm has an opposite, which is equally informative, and the last
/// ones a twin: ties go to the first.
#[test]
fn many_arms_and_ties() {
    for (n_arms, dimension) in [(66, 3), (90, 4), (131, 13)] {
        let problem = |run: u64| {
            let mut problem = Problem::uniform(n_arms, dimension, 7 + run);
            for arm in n_arms / 2..n_arms {
                let sign = if arm < n_arms - 4 { -1.0 } else { 1.0 };
                let twin = problem.rows[arm - n_arms / 2].iter().map(|x| sign * x).collect();
                problem.rows[arm] = twin;
                problem.means[arm] = sign * problem.means[arm - n_arms / 2];
            }
            problem
        };
        compare("pivot", &(0..4).map(problem).collect::<Vec<_>>(), 250);
    }
}

/// Scales so different that V⁻¹ is recomputed on the way, in some runs and not in others.
#[test]
fn badly_scaled_features() {
    let problem = |run: u64| Problem::new(25, 6, run, |j| 10.0_f64.powf(j * run as f64 / 3.0));
    for name in ["linear-apt", "pivot"] {
        compare(name, &(0..4).map(problem).collect::<Vec<_>>(), 200);
    }
}

/// Tells `rewards` to a batch of as many runs.
fn tell(rewards: &[f64]) {
    let (linear_apt, arms) = (spec("linear-apt"), Problem::uniform(5, 2, 0).arms());
    let question = Question::new(0.0, 0.1).unwrap();
    let n_runs = rewards.len();
    let mut batch = Spec::batch(&vec![&linear_apt; n_runs], &vec![&arms; n_runs], &vec![question; n_runs]).unwrap();
    batch.ask(&mut vec![0; n_runs]);
    batch.tell(rewards);
}

#[test]
#[should_panic(expected = "a reward must be finite")]
fn rewards_that_are_not_finite_are_refused() {
    tell(&[0.0, 1.0, f64::NAN, 0.0]);
}

#[test]
#[should_panic(expected = "a reward must be finite")]
fn rewards_of_the_last_group_too() {
    tell(&[0.0, 1.0, 0.0, 0.0, f64::INFINITY]);
}

#[test]
#[should_panic(expected = "one arm per run")]
fn every_run_needs_a_place_for_its_arm() {
    let (linear_apt, arms) = (spec("linear-apt"), Problem::uniform(5, 2, 0).arms());
    let question = Question::new(0.0, 0.1).unwrap();
    Spec::batch(&[&linear_apt; 5], &[&arms; 5], &[question; 5]).unwrap().ask(&mut [0; 4]);
}

#[test]
fn other_algorithms_and_mixed_runs_need_individual_learners() {
    let question = [Question::new(0.0, 0.1).unwrap(); 5];
    let (small, large) = (Problem::uniform(5, 2, 0).arms(), Problem::uniform(6, 2, 0).arms());
    for algorithm in ALGORITHMS {
        let one = spec(algorithm.name);
        let built = Spec::batch(&[&one; 5], &[&small; 5], &question).is_some();
        assert_eq!(built, BATCHED.contains(&algorithm.name), "{}", algorithm.name);
        assert!(Spec::batch(&[&one; 5], &[&small, &small, &small, &small, &large], &question).is_none());
        assert!(Spec::batch(&[], &[], &[]).is_none());
    }
    let (apt, ucbe, bare) = (spec("linear-apt"), spec("ucbe"), Arms::without_features(5).unwrap());
    let with_one = |other: &Spec| Spec::batch(&[&apt, &apt, &apt, &apt, other], &[&small; 5], &question);
    assert!(with_one(&ucbe).is_none());
    assert!(Spec::batch(&[&apt; 5], &[&bare; 5], &question).is_none());
    assert!(with_one(&apt.clone().with("lambda", 2.0).unwrap()).is_none());
    for parameter in ["centre", "intercept"] {
        let other = apt.clone().with(parameter, 1.0).unwrap();
        assert!(Spec::batch(&[&other; 5], &[&small; 5], &question).is_none(), "{parameter}");
        assert!(with_one(&other).is_none(), "{parameter}");
    }
    let missing = Spec::named("ucbe").unwrap();
    assert!(Spec::batch(&[&missing; 5], &[&small; 5], &question).is_none());
}
