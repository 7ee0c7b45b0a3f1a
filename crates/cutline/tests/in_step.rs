//! Four learners in step pull what single learners pull, and believe the same to the last bit.

mod common;

use common::{Problem, spec, uniform};
use cutline::{ALGORITHMS, Arms, Purpose, Question, Spec, stream};

fn compare(name: &str, problems: &[Problem; 4], budget: u32) {
    let arms: [Arms; 4] = std::array::from_fn(|run| problems[run].arms());
    let questions = std::array::from_fn(|run| Question::new(0.1 * run as f64, 0.01).unwrap());
    let mut specs: [Spec; 4] = std::array::from_fn(|_| spec(name));
    if name == "ucbe" {
        specs[2] = specs[2].clone().with("exploration", 30.0).unwrap();
    }
    let mut together = Spec::in_step(specs.each_ref(), arms.each_ref(), questions).unwrap();
    let mut alone: [_; 4] =
        std::array::from_fn(|run| specs[run].learner(&arms[run], questions[run], budget, 0).unwrap());
    let mut rng = stream(5, Purpose::Noise, 0);
    for pull in 0..budget {
        let asked = together.ask();
        let mut rewards = [0.0; 4];
        for (run, learner) in alone.iter_mut().enumerate() {
            assert_eq!(learner.ask(), Some(asked[run]), "{name}, run {run}, pull {pull}");
            rewards[run] = problems[run].means[asked[run]] + uniform(&mut rng);
            learner.tell(asked[run], rewards[run]);
        }
        together.tell(rewards);
    }
    for (run, learner) in alone.iter_mut().enumerate() {
        let mut beliefs = learner.beliefs();
        let means: Vec<f64> = together.means().iter().map(|means| means[run]).collect();
        assert_eq!(means, beliefs.means(), "{name}, run {run}");
    }
}

#[test]
fn in_step_or_alone_it_is_the_same() {
    for name in ["linear-apt", "ucbe", "pivot"] {
        for (n_arms, dimension) in
            [(1, 1), (5, 2), (9, 3), (20, 5), (31, 6), (19, 7), (7, 8), (13, 10), (20, 20), (40, 13), (9, 32)]
        {
            compare(name, &std::array::from_fn(|run| Problem::uniform(n_arms, dimension, run as u64)), 150);
        }
    }
}

/// So many arms that most are ruled out by a cheap test. Every arm has an opposite, that tells as much, and the last ones a twin:
/// ties go to the first.
#[test]
fn many_arms_and_ties_too() {
    for (n_arms, dimension) in [(66, 3), (90, 4), (131, 13)] {
        let problem = |run: usize| {
            let mut problem = Problem::uniform(n_arms, dimension, 7 + run as u64);
            for arm in n_arms / 2..n_arms {
                let sign = if arm < n_arms - 4 { -1.0 } else { 1.0 };
                let twin = problem.rows[arm - n_arms / 2].iter().map(|x| sign * x).collect();
                problem.rows[arm] = twin;
                problem.means[arm] = sign * problem.means[arm - n_arms / 2];
            }
            problem
        };
        compare("pivot", &std::array::from_fn(problem), 250);
    }
}

/// Scales so different that designs are computed afresh on the way, in some lanes and not in others.
#[test]
fn badly_scaled_features_too() {
    let problem = |run: usize| Problem::new(25, 6, run as u64, |j| 10.0_f64.powf(j * run as f64 / 3.0));
    for name in ["linear-apt", "pivot"] {
        compare(name, &std::array::from_fn(problem), 200);
    }
}

#[test]
#[should_panic(expected = "a reward must be finite")]
fn rewards_that_are_no_numbers_are_refused() {
    let (one, arms) = (spec("linear-apt"), Problem::uniform(5, 2, 0).arms());
    let question = [Question::new(0.0, 0.1).unwrap(); 4];
    let mut together = Spec::in_step([&one; 4], [&arms; 4], question).unwrap();
    together.ask();
    together.tell([0.0, 1.0, f64::NAN, 0.0]);
}

#[test]
fn what_has_no_such_form_or_does_not_fit_is_left_to_single_learners() {
    let question = [Question::new(0.0, 0.1).unwrap(); 4];
    let (small, large) = (Problem::uniform(5, 2, 0).arms(), Problem::uniform(6, 2, 0).arms());
    for algorithm in ALGORITHMS {
        let one = spec(algorithm.name);
        let built = Spec::in_step([&one; 4], [&small; 4], question).is_some();
        assert_eq!(built, ["linear-apt", "ucbe", "pivot"].contains(&algorithm.name), "{}", algorithm.name);
        assert!(Spec::in_step([&one; 4], [&small, &small, &small, &large], question).is_none());
    }
    let (apt, ucbe, bare) = (spec("linear-apt"), spec("ucbe"), Arms::without_features(5).unwrap());
    assert!(Spec::in_step([&apt, &apt, &ucbe, &apt], [&small; 4], question).is_none());
    assert!(Spec::in_step([&apt; 4], [&bare; 4], question).is_none());
    let other = apt.clone().with("lambda", 2.0).unwrap();
    assert!(Spec::in_step([&apt, &other, &apt, &apt], [&small; 4], question).is_none());
    for parameter in ["centre", "intercept"] {
        let other = apt.clone().with(parameter, 1.0).unwrap();
        assert!(Spec::in_step([&other; 4], [&small; 4], question).is_none(), "{parameter}");
        assert!(Spec::in_step([&apt, &apt, &apt, &other], [&small; 4], question).is_none(), "{parameter}");
    }
    let missing = Spec::named("ucbe").unwrap();
    assert!(Spec::in_step([&missing; 4], [&small; 4], question).is_none());
}
