//! The contract of every algorithm.

use crate::common::{Plain, Problem, assert_close, is_random, spec};
use cutline::{
    ALGORITHMS, Algorithm, Arms, AskTell, EstimatorKind, LearnerError, ParameterRole, Purpose, Question, Spec,
    SpecError, TellError, stream,
};

fn question() -> Question {
    Question::new(0.0, 0.1).unwrap()
}

/// Whether an algorithm pulls every arm once first, in order, found by playing it.
fn opens(algorithm: &Algorithm) -> bool {
    let problem = Problem::uniform(8, 3, 0);
    let mut learner = spec(algorithm.name).learner(&problem.arms(), problem.question, 8, 0).unwrap();
    play(learner.as_mut(), &problem, 8) == [0, 1, 2, 3, 4, 5, 6, 7]
}

fn play(learner: &mut dyn AskTell, problem: &Problem, pulls: usize) -> Vec<usize> {
    let mut rng = stream(1, Purpose::Noise, 0);
    let mut arms = Vec::new();
    for _ in 0..pulls {
        let Some(arm) = learner.ask() else { break };
        learner.tell(arm, problem.reward(arm, &mut rng)).unwrap();
        arms.push(arm);
    }
    arms
}

#[test]
fn pending_pulls_count_against_the_budget() {
    for algorithm in ALGORITHMS {
        let problem = Problem::uniform(6, 3, 0);
        let mut learner = spec(algorithm.name).learner(&problem.arms(), problem.question, 15, 0).unwrap();
        let pending: Vec<usize> = std::iter::from_fn(|| learner.ask()).collect();
        if pending.len() < 15 {
            assert!(algorithm.needs_horizon && learner.stop_reason().is_none(), "{} waits", algorithm.name);
            continue;
        }
        assert_eq!(pending.len(), 15, "{}", algorithm.name);
        assert_eq!(learner.propose(), None);
        learner.tell(pending[0], 1.0).unwrap();
        assert_eq!(learner.propose(), None, "a reward does not free budget");
    }
}

#[test]
fn a_lost_pull_is_returned_to_the_budget_and_forgotten() {
    for algorithm in ALGORITHMS.iter().filter(|algorithm| !is_random(algorithm)) {
        let problem = Problem::uniform(6, 3, 0);
        let build = || spec(algorithm.name).learner(&problem.arms(), problem.question, 30, 4).unwrap();
        let (mut with_loss, mut without) = (build(), build());
        for learner in [&mut with_loss, &mut without] {
            play(learner.as_mut(), &problem, 10);
        }
        let lost: Vec<usize> = (0..4).filter_map(|_| with_loss.ask()).collect();
        for &arm in lost.iter().rev() {
            with_loss.forget(arm);
        }
        assert_eq!(with_loss.beliefs().pulls, without.beliefs().pulls, "{}", algorithm.name);
        let rest = play(with_loss.as_mut(), &problem, 30);
        assert_eq!(rest, play(without.as_mut(), &problem, 30), "{}", algorithm.name);
        assert!(rest.len() == 20 || algorithm.settles, "{}", algorithm.name);
    }
}

/// A rule that draws at random draws another number after a lost pull; otherwise both asks below would always give the same arm.
#[test]
fn the_choice_after_a_lost_pull_has_new_random_numbers() {
    let problem = Problem::uniform(50, 3, 0);
    let mut learner = spec("random").learner(&problem.arms(), problem.question, 1_000, 4).unwrap();
    play(learner.as_mut(), &problem, 50);
    let mut repeats = 0;
    for _ in 0..200 {
        let (first, second) = (learner.ask().unwrap(), learner.ask().unwrap());
        learner.forget(first);
        repeats += usize::from(learner.ask() == Some(second));
        learner.tell(second, 0.0).unwrap();
    }
    // Binomial(200, 1/50): more than 20 repeats have a probability below 1e-8.
    assert!(repeats <= 20, "{repeats} of 200");
}

/// One pull more and one less leave the sum unchanged; the caches of a rule must notice all the same.
#[test]
fn pulls_that_change_without_their_sum_are_noticed() {
    for algorithm in ALGORITHMS.iter().filter(|algorithm| !is_random(algorithm)) {
        let problem = Problem::uniform(6, 3, 0);
        let build = || spec(algorithm.name).learner(&problem.arms(), problem.question, 200, 4).unwrap();
        let mut learner = build();
        play(learner.as_mut(), &problem, 12);
        let mut pulled = Vec::new();
        learner.assign(0);
        for pending in 1..6 {
            let Some(chosen) = learner.propose() else {
                assert!(algorithm.settles, "{}", algorithm.name);
                break;
            };
            learner.assign(chosen);
            learner.assign(pending);
            learner.forget(pending - 1);
            learner.tell(chosen, 0.3).unwrap();
            pulled.push(chosen);
            // The same pulls in a learner without caches of earlier ones.
            let mut fresh = build();
            play(fresh.as_mut(), &problem, 12);
            for &arm in &pulled {
                fresh.tell(arm, 0.3).unwrap();
            }
            fresh.assign(pending);
            assert_eq!(learner.beliefs().pulls, fresh.beliefs().pulls);
            assert_eq!(learner.propose(), fresh.propose(), "{}", algorithm.name);
        }
    }
}

#[test]
fn an_arm_whose_first_pull_is_lost_is_pulled_again() {
    for algorithm in ALGORITHMS.iter().filter(|algorithm| opens(algorithm)) {
        let problem = Problem::uniform(4, 2, 0);
        let mut learner = spec(algorithm.name).learner(&problem.arms(), problem.question, 9, 0).unwrap();
        let opening: Vec<usize> = (0..4).filter_map(|_| learner.ask()).collect();
        assert_eq!(opening, [0, 1, 2, 3]);
        learner.forget(1);
        assert_eq!(learner.ask(), Some(1), "{}", algorithm.name);
    }
}

#[test]
fn rewards_that_were_not_asked_for_count_as_pulls() {
    for algorithm in ALGORITHMS {
        let problem = Problem::uniform(5, 2, 0);
        let mut learner = spec(algorithm.name).learner(&problem.arms(), problem.question, 12, 0).unwrap();
        let mut plain = Plain::new(&problem, 1.0);
        let asked = learner.ask().unwrap();
        for (arm, reward) in [(1, 0.3), (1, -0.2), (4, 0.9)] {
            learner.tell(arm, reward).unwrap();
            plain.rewards.push((arm, reward));
        }
        learner.tell(asked, 0.5).unwrap();
        plain.rewards.push((asked, 0.5));
        let pulls = if asked == 1 { 3 } else { 4 };
        assert_eq!(learner.beliefs().total_pulls, pulls, "{}", algorithm.name);
        let means =
            if algorithm.estimator == EstimatorKind::Ridge { plain.ridge_means() } else { plain.sample_means() };
        assert_close(learner.beliefs().means(), &means, 1e-12, algorithm.name);
    }
}

#[test]
fn the_same_seed_gives_the_same_pulls_and_another_does_not() {
    let problem = Problem::uniform(9, 3, 0);
    for algorithm in ALGORITHMS {
        let run = |seed| {
            let mut learner = spec(algorithm.name).learner(&problem.arms(), problem.question, 60, seed).unwrap();
            play(learner.as_mut(), &problem, 60)
        };
        assert_eq!(run(5), run(5));
        assert_eq!(run(5) != run(6), is_random(algorithm), "{}", algorithm.name);
    }
}

#[test]
fn a_budget_below_the_number_of_arms_is_refused_where_a_rule_opens_with_every_arm() {
    let problem = Problem::uniform(8, 3, 0);
    for algorithm in ALGORITHMS {
        let refused = spec(algorithm.name).learner(&problem.arms(), problem.question, 7, 0).err();
        let expected = SpecError::Learner(LearnerError::BudgetBelowArms { budget: 7, n_arms: 8 });
        assert_eq!(refused, opens(algorithm).then_some(expected), "{}", algorithm.name);
        assert!(spec(algorithm.name).learner(&problem.arms(), problem.question, 0, 0).is_err());
    }
}

#[test]
fn arms_without_features_are_refused_by_ridge() {
    let arms = Arms::without_features(3).unwrap();
    for algorithm in ALGORITHMS {
        let refused = spec(algorithm.name).learner(&arms, question(), 9, 0).err();
        let expected = SpecError::NeedsFeatures { algorithm: algorithm.name };
        assert_eq!(refused, (algorithm.estimator == EstimatorKind::Ridge).then_some(expected));
    }
}

#[test]
fn every_parameter_changes_something() {
    let problem = Problem::uniform(12, 4, 3);
    for algorithm in ALGORITHMS {
        for parameter in spec(algorithm.name).parameters() {
            let run = |value: f64| {
                let value = value.clamp(parameter.range.least, parameter.range.most);
                let spec = spec(algorithm.name).with(parameter.name, value).unwrap();
                // Rules that settle arms change their choices once an arm is settled.
                let budget = if algorithm.settles { 5_000 } else { 200 };
                let mut learner = spec.learner(&problem.arms(), problem.question, budget, 0).unwrap();
                let arms = play(learner.as_mut(), &problem, budget as usize);
                (arms, learner.beliefs().means().to_vec(), learner.settled().clone())
            };
            let most = parameter.range.most.min(5.0);
            // Widths depend on ln(1/δ) only.
            let least = if parameter.role == ParameterRole::Confidence { 1e-9 } else { 0.2 };
            assert_ne!(run(least), run(most), "{} {}", algorithm.name, parameter.name);
        }
    }
}

#[test]
fn errors_state_the_problem() {
    let assert_message = |error: SpecError, text: &str| assert_eq!(error.to_string(), text);
    let unknown = Spec::named("linapt").unwrap_err().to_string();
    assert!(unknown.starts_with("unknown algorithm `linapt`; known: `linear-apt`, `apt`,"), "{unknown}");
    assert!(ALGORITHMS.iter().all(|algorithm| unknown.contains(&format!("`{}`", algorithm.name))));
    assert_message(
        Spec::named("apt").unwrap().with("lambda", 1.0).unwrap_err(),
        "`apt` takes no parameter `lambda`; it takes none",
    );
    assert_message(
        Spec::named("pivot").unwrap().with("noise", f64::NAN).unwrap_err(),
        "`noise` must be a finite number between 1e-100 and 1e100, not NaN",
    );
    assert_message(
        Spec::named("linear-apt").unwrap().with("lambda", 0.0).unwrap_err(),
        "`lambda` must be a finite number of at least 1e-12, not 0",
    );
    assert_message(
        Spec::named("linear-apt").unwrap().with("centre", 1.5).unwrap_err(),
        "`centre` must be a finite number between 0 and 1, not 1.5",
    );
    assert_message(
        Spec::named("pivot").unwrap().with_estimator("sample-mean").unwrap_err(),
        "the rule `pivot` needs variances, which the estimator `sample-mean` does not have",
    );
    let arms = Problem::uniform(2, 1, 0).arms();
    assert_message(
        Spec::named("ucbe").unwrap().learner(&arms, question(), 5, 0).err().unwrap(),
        "`ucbe` needs the parameter `exploration` (a in Δ̂ᵢ − √(a/Tᵢ))",
    );
}

#[test]
fn the_estimator_can_be_replaced() {
    let problem = Problem::uniform(7, 2, 1);
    let run = |spec: &Spec| {
        let mut learner = spec.learner(&problem.arms(), problem.question, 50, 0).unwrap();
        play(learner.as_mut(), &problem, 50)
    };
    let swapped = spec("linear-apt").with_estimator("sample-mean").unwrap();
    assert_eq!(run(&swapped), run(&spec("apt")));
    assert_ne!(run(&swapped), run(&spec("linear-apt")));
    let explored = spec("ucbe").with("exploration", 3.0).unwrap().with_estimator("sample-mean").unwrap();
    assert_eq!(explored.values().collect::<Vec<_>>(), [("exploration", 3.0)], "the rule keeps its parameters");
}

#[test]
fn rewards_that_do_not_fit_are_refused_and_change_nothing() {
    let mut learner = spec("apt").learner(&Arms::without_features(2).unwrap(), question(), 3, 0).unwrap();
    learner.tell(1, 0.5).unwrap();
    for reward in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let refused = learner.tell(0, reward);
        assert!(matches!(refused, Err(TellError::NotFinite { arm: 0, .. })), "{refused:?}");
    }
    assert_eq!(learner.tell(2, 0.5), Err(TellError::NoArm { arm: 2, n_arms: 2 }));
    let messages = [learner.tell(0, f64::NAN), learner.tell(2, 0.5)].map(|refused| refused.unwrap_err().to_string());
    assert_eq!(
        messages,
        ["the reward of arm 0 must be a finite number, not NaN", "there is no arm 2: the arms are 0 to 1"]
    );
    assert_eq!(learner.beliefs().pulls, [0, 1]);
}

/// Every algorithm has a row in the table for users.
#[test]
fn every_algorithm_is_documented() {
    let page = include_str!("../../../../docs/algorithms.md");
    let has_row = |page: &str, text: &str| page.lines().any(|line| line.starts_with('|') && line.contains(text));
    for algorithm in ALGORITHMS {
        let name = format!("`{}`", algorithm.name);
        assert!(has_row(page, &name), "docs/algorithms.md has no row for {name}");
    }
}
