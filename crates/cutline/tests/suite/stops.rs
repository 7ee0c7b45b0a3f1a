//! When and why learners end.

use crate::common;

use crate::common::{Plain, Problem, spec, with_confidence_stop};
use cutline::estimators::SampleMean;
use cutline::rules::Uniform;
use cutline::{
    Arms, AskTell, Budget, Confidence, ConfidenceStop, Either, Elimination, EstimatorKind, IntervalKind, Learner,
    Purpose, Question, Rng, Side, Spec, Stop, StopCriterion, StopReason, stream,
};

const CRITERIA: [StopCriterion; 2] = [StopCriterion::Intervals, StopCriterion::Evidence];

/// A problem that some hundreds of pulls decide.
fn clear(n_arms: usize, dimension: usize, seed: u64) -> Problem {
    Problem { question: Question::new(0.1, 0.2).unwrap(), ..Problem::uniform(n_arms, dimension, seed) }
}

/// Whether the evidence is above its threshold, by its formula and dense linear algebra, with σ = 0.3 and λ = 1: Δ̂/(σ√q) − √λ S/σ with
/// ridge and a bound S on ‖θ‖, Δ̂/(σ√v) with least squares.
fn has_evidence(plain: &Plain, estimator: EstimatorKind, norm: Option<f64>) -> bool {
    let (sigma, n) = (0.3, plain.pulls.len());
    let (means, variances, allowance): (Vec<f64>, Vec<f64>, f64) = match (estimator, norm) {
        (EstimatorKind::Ridge, Some(norm)) => {
            let c = plain.covariances();
            (plain.ridge_means(), (0..n).map(|arm| c[(arm, arm)]).collect(), norm / sigma)
        }
        (EstimatorKind::Ridge, None) => {
            let (means, variances) = plain.least_squares();
            (means, variances, 0.0)
        }
        _ => (plain.sample_means(), plain.pulls.iter().map(|&n| 1.0 / f64::from(n)).collect(), 0.0),
    };
    let (tests, sides) = match estimator {
        EstimatorKind::Ridge => (1.0, plain.ridge_means()),
        _ => (n as f64, means.clone()),
    };
    let threshold = (tests * (1.0 + (plain.rewards.len() as f64).ln()) / 0.1).ln();
    let question = plain.problem.question;
    let z = |arm: usize| {
        let deviations = question.gap(means[arm]) / (sigma * variances[arm].sqrt());
        0.5 * (deviations - allowance).max(0.0).powi(2)
    };
    // An estimate on the other side of the threshold than ridge's is no evidence for the side of ridge.
    let agrees = |arm: usize| question.is_above(means[arm]) == question.is_above(sides[arm]);
    (0..n).all(|arm| z(arm) > threshold && agrees(arm))
}

/// Plays until the budget is used up or every side is sure; compares the stop with its definition before every pull.
fn compare(name: &str, criterion: StopCriterion, norm: Option<f64>, problem: &Problem) -> StopReason {
    let mut sure = ConfidenceStop::new(criterion, 0.1, 0.3).unwrap();
    let mut intervals = Confidence::new(IntervalKind::Anytime, 0.1, 0.3).unwrap();
    if let Some(norm) = norm {
        (sure, intervals) = (sure.with_norm(norm).unwrap(), intervals.with_norm(norm).unwrap());
    }
    let spec = spec(name).with_confidence_stop(sure);
    let build = |budget| spec.learner(&problem.arms(), problem.question, budget, 0).unwrap();
    let (mut learner, mut unending) = (build(400), build(u32::MAX));
    let mut plain = Plain::new(problem, 1.0);
    let mut rng = stream(2, Purpose::Noise, 0);
    loop {
        let is_sure = match criterion {
            StopCriterion::Evidence => !plain.rewards.is_empty() && has_evidence(&plain, spec.estimator(), norm),
            _ => learner.beliefs().verdicts(&intervals).all(|verdict| verdict.is_decided()),
        };
        let budget = (plain.rewards.len() == 400).then_some(StopReason::Budget);
        let expected = if is_sure { Some(StopReason::Confidence) } else { budget };
        assert_eq!(learner.stop_reason(), expected, "{name} {criterion:?} after {} pulls", plain.rewards.len());
        let Some(arm) = learner.ask() else { return expected.unwrap() };
        assert_eq!(unending.ask(), Some(arm), "a budget changes nothing before it is used up");
        let reward = problem.means[arm] + 0.3 * common::uniform(&mut rng);
        learner.tell(arm, reward).unwrap();
        unending.tell(arm, reward).unwrap();
        plain.rewards.push((arm, reward));
        plain.pulls[arm] += 1;
    }
}

#[test]
fn the_stop_agrees_with_its_definition_for_every_algorithm() {
    // Where arms are settled, the run may end for another reason.
    for algorithm in with_confidence_stop().filter(|algorithm| !algorithm.settles) {
        let mut endings = Vec::new();
        for criterion in CRITERIA {
            for (seed, norm) in [(3, None), (4, Some(0.0)), (5, Some(2.0))] {
                endings.push(compare(algorithm.name, criterion, norm, &Problem::uniform(7, 3, seed)));
            }
            endings.push(compare(algorithm.name, criterion, None, &Problem::uniform(1, 1, 0)));
            endings.push(compare(algorithm.name, criterion, None, &Problem::uniform(3, 5, 8)));
        }
        assert!(endings.contains(&StopReason::Confidence), "{}: {endings:?}", algorithm.name);
    }
}

/// A stop that is checked before every pull uses its cache; one that is checked only now and then agrees with it.
#[test]
fn the_cache_of_a_stop_changes_nothing() {
    for criterion in CRITERIA {
        let problem = clear(9, 4, 3);
        let sure = ConfidenceStop::new(criterion, 0.05, 0.3).unwrap();
        let build =
            || spec("pivot").with_confidence_stop(sure).learner(&problem.arms(), problem.question, 5_000, 0).unwrap();
        let (mut often, mut seldom) = (build(), build());
        let mut rng = stream(1, Purpose::Noise, 0);
        let mut pulls = 0;
        while let Some(arm) = often.ask() {
            let reward = problem.means[arm] + 0.3 * common::uniform(&mut rng);
            often.tell(arm, reward).unwrap();
            seldom.tell(arm, reward).unwrap();
            pulls += 1;
            if pulls % 50 == 0 {
                assert_eq!(seldom.stop_reason(), often.stop_reason());
            }
        }
        assert_eq!(
            (often.stop_reason(), seldom.stop_reason()),
            (Some(StopReason::Confidence), Some(StopReason::Confidence)),
            "{criterion:?}"
        );
    }
}

/// Pulls without a reward do not make an arm sure, and forgetting a pull restores the state before it.
#[test]
fn only_rewards_make_a_side_sure() {
    for algorithm in with_confidence_stop().filter(|algorithm| !algorithm.settles) {
        for criterion in CRITERIA {
            let problem = Problem::uniform(6, 2, 1);
            let sure = ConfidenceStop::new(criterion, 0.3, 1e-3).unwrap().with_norm(0.0).unwrap();
            let mut learner = spec(algorithm.name)
                .with_confidence_stop(sure)
                .learner(&problem.arms(), problem.question, 90, 0)
                .unwrap();
            assert_eq!(learner.stop_reason(), None, "there is no reward yet");
            let out: Vec<usize> = std::iter::from_fn(|| learner.ask()).collect();
            assert_eq!((out.len(), learner.stop_reason()), (90, Some(StopReason::Budget)), "{}", algorithm.name);
            for &arm in &out[10..] {
                learner.forget(arm);
            }
            assert_eq!(learner.stop_reason(), None, "{}", algorithm.name);
        }
    }
}

/// A run that is sure at its last pull ends for that reason, not because of the budget.
#[test]
fn confidence_comes_before_budget_and_either_has_the_smaller_budget() {
    let arms = Arms::without_features(1).unwrap();
    let build = |budget| {
        let spec = spec("apt").with_confidence_stop(ConfidenceStop::new(StopCriterion::Evidence, 0.05, 1.0).unwrap());
        spec.learner(&arms, Question::new(0.0, 0.0).unwrap(), budget, 0).unwrap()
    };
    // n·2²/2 > ln((1 + ln n)/0.05) first holds at n = 2: 4 > 3.52.
    for (budget, ending) in [(1, StopReason::Budget), (2, StopReason::Confidence), (3, StopReason::Confidence)] {
        let mut learner = build(budget);
        while let Some(arm) = learner.ask() {
            learner.tell(arm, 2.0).unwrap();
        }
        assert_eq!((learner.stop_reason(), learner.beliefs().total_pulls), (Some(ending), u64::from(budget.min(2))));
    }
    let both = Either(
        Either(Budget::new(7).unwrap(), Budget::new(5).unwrap()),
        ConfidenceStop::new(StopCriterion::Evidence, 0.1, 1.0).unwrap(),
    );
    assert_eq!(Stop::<SampleMean>::budget(&both), Some(5));
    let question = Question::new(0.0, 0.0).unwrap();
    let mut learner = Learner::new(Uniform, SampleMean::new(&arms), both, question, 0).unwrap();
    assert_eq!(std::iter::from_fn(|| learner.ask()).count(), 5);
}

/// An arm whose features are all 0 has mean 0 and variance 0: it is sure. If all arms are so, the first reward ends the run.
#[test]
fn arms_of_zeros_are_sure() {
    for criterion in CRITERIA {
        let spec = spec("pivot").with_confidence_stop(ConfidenceStop::new(criterion, 0.05, 1.0).unwrap());
        let arms = Arms::from_rows(&[[0.0], [1.0]]).unwrap();
        let mut learner = spec.learner(&arms, Question::new(0.5, 0.0).unwrap(), 10_000, 0).unwrap();
        while let Some(arm) = learner.ask() {
            learner.tell(arm, 2.0).unwrap();
        }
        assert_eq!(learner.stop_reason(), Some(StopReason::Confidence), "{criterion:?}");
        let mut zeros =
            spec.learner(&Arms::from_rows(&[[0.0]]).unwrap(), Question::new(0.0, 0.0).unwrap(), 9, 0).unwrap();
        zeros.tell(0, 1.0).unwrap();
        assert_eq!(zeros.stop_reason(), Some(StopReason::Confidence), "{criterion:?}");
    }
}

/// Rewards so large that the means overflow make nothing sure.
#[test]
fn means_that_overflow_are_never_sure() {
    for criterion in CRITERIA {
        let spec = spec("apt").with_confidence_stop(ConfidenceStop::new(criterion, 0.05, 1.0).unwrap());
        let mut learner =
            spec.learner(&Arms::without_features(1).unwrap(), Question::new(0.0, 0.0).unwrap(), 9, 0).unwrap();
        for _ in 0..9 {
            learner.tell(0, f64::MAX).unwrap();
        }
        assert_eq!(learner.stop_reason(), Some(StopReason::Budget), "{criterion:?}");
    }
}

fn play(spec: &Spec, problem: &Problem, rng: &mut Rng) -> (u64, StopReason) {
    let mut learner = spec.learner(&problem.arms(), problem.question, 100_000, 0).unwrap();
    while let Some(arm) = learner.ask() {
        learner.tell(arm, problem.means[arm] + 0.3 * common::uniform(rng)).unwrap();
    }
    (learner.beliefs().total_pulls, learner.stop_reason().unwrap())
}

/// Every parameter of the stop moves the end in the right direction.
#[test]
fn every_parameter_of_the_stop_matters() {
    let problem = clear(7, 3, 3);
    let run = |criterion, delta, noise, norm| {
        let sure = ConfidenceStop::new(criterion, delta, noise).unwrap().with_norm(norm).unwrap();
        let (pulls, ending) =
            play(&spec("pivot").with_confidence_stop(sure), &problem, &mut stream(1, Purpose::Noise, 0));
        assert_eq!(ending, StopReason::Confidence);
        pulls
    };
    for criterion in CRITERIA {
        let base = run(criterion, 0.05, 0.3, 1.0);
        assert!(
            run(criterion, 0.0005, 0.3, 1.0) > base
                && run(criterion, 0.05, 0.6, 1.0) > base
                && run(criterion, 0.05, 0.3, 3.0) > base
        );
    }
    assert!(run(StopCriterion::Evidence, 0.05, 0.3, 1.0) < run(StopCriterion::Intervals, 0.05, 0.3, 1.0));
    assert!(
        ConfidenceStop::new(StopCriterion::Evidence, 0.0, 1.0).is_err()
            && ConfidenceStop::new(StopCriterion::Evidence, 0.1, f64::NAN).is_err()
    );
}

/// A learner whose noise is changed behaves like one built with this noise, whatever rule and stop have cached.
#[test]
fn changing_the_noise_equals_building_with_it() {
    let mut endings = 0;
    for algorithm in with_confidence_stop().filter(|algorithm| !algorithm.needs_fixed_noise && !algorithm.settles) {
        for criterion in CRITERIA {
            for norm in [None, Some(0.5)] {
                let problem = clear(7, 3, 3);
                let build = |noise: f64| {
                    let mut stop = ConfidenceStop::new(criterion, 0.1, noise).unwrap();
                    if let Some(norm) = norm {
                        stop = stop.with_norm(norm).unwrap();
                    }
                    let spec = spec(algorithm.name).with_noise_scale(noise).unwrap().with_confidence_stop(stop);
                    spec.learner(&problem.arms(), problem.question, 10_000, 0).unwrap()
                };
                let mut changed = build(1.0);
                let mut rng = stream(4, Purpose::Noise, 0);
                let mut rewards = Vec::new();
                for pull in 0..120 {
                    let noise = [0.3, 2.0, 0.01, 0.05][pull % 4] / f64::from(u8::try_from(pull).unwrap() / 8 + 1);
                    changed.set_noise(noise);
                    let mut fresh = build(noise);
                    for &(arm, reward) in &rewards {
                        fresh.tell(arm, reward).unwrap();
                    }
                    let context = format!("{} {criterion:?} {norm:?} after {pull} pulls", algorithm.name);
                    assert_eq!(changed.stop_reason(), fresh.stop_reason(), "{context}");
                    assert_eq!(changed.propose(), fresh.propose(), "{context}");
                    endings += u32::from(changed.stop_reason().is_some());
                    let arm = pull * pull % 7;
                    let reward = problem.means[arm] + 0.3 * common::uniform(&mut rng);
                    changed.tell(arm, reward).unwrap();
                    rewards.push((arm, reward));
                }
            }
        }
    }
    assert!((500..2_500).contains(&endings), "both ways: {endings} of 3,360");
}

#[test]
#[should_panic(expected = "the state of this rule was computed with another noise")]
fn a_rule_that_learns_from_the_order_of_rewards_keeps_its_noise() {
    let problem = Problem::uniform(4, 2, 0);
    spec("lingame").learner(&problem.arms(), problem.question, 9, 0).unwrap().set_noise(0.5);
}

#[test]
#[should_panic(expected = "the noise must be between 1e-100 and 1e100, not NaN")]
fn a_noise_out_of_range_is_a_mistake() {
    let problem = Problem::uniform(4, 2, 0);
    spec("pivot").learner(&problem.arms(), problem.question, 9, 0).unwrap().set_noise(f64::NAN);
}

/// The runs of a batch end together, so a batch cannot have a stop that each run may meet at another time.
#[test]
fn batches_have_no_confidence_stop() {
    let (plain, arms) = (spec("linear-apt"), Problem::uniform(5, 2, 0).arms());
    let stopping = plain.clone().with_confidence_stop(ConfidenceStop::new(StopCriterion::Evidence, 0.1, 1.0).unwrap());
    let question = [Question::new(0.0, 0.1).unwrap(); 4];
    assert!(Spec::batch(&[&plain; 4], &[&arms; 4], &question).is_some());
    assert!(Spec::batch(&[&plain, &plain, &stopping, &plain], &[&arms; 4], &question).is_none());
    assert_eq!((plain.stop(), stopping.stop()), ("budget".into(), "confidence or budget".into()));
    let other_estimator = stopping.with_estimator("sample-mean").unwrap();
    assert!(other_estimator.confidence_stop().is_some(), "another estimator keeps the stop");
}

/// Straddle with a confidence stop did not end in 25 of 25 runs of 300,000 pulls; campaigns that began with one still open.
#[test]
fn rules_that_starve_arms_take_no_confidence_stop() {
    let problem = Problem::uniform(5, 2, 0);
    for name in ["straddle", "random-straddle"] {
        for criterion in CRITERIA {
            let stop = ConfidenceStop::new(criterion, 0.05, 1.0).unwrap();
            let refused = spec(name).with_confidence_stop(stop).learner(&problem.arms(), problem.question, 10, 0);
            let expected = format!(
                "`{name}` may pull a few arms near the threshold for ever and never decide the others, so it takes no confidence stop"
            );
            assert_eq!(refused.err().unwrap().to_string(), expected);
        }
        assert!(spec(name).learner(&problem.arms(), problem.question, 10, 0).is_ok());
    }
}

/// The test of Tirinzoni & Degenne by its definition, at every reward: Δ̂ₖ²/(2σ²qₖ) > ln((t + 1)/δ).
#[test]
fn elimination_settles_an_arm_when_it_is_sure_for_the_first_time() {
    let problem = Problem::uniform(12, 3, 4);
    let (delta, noise) = (0.1, 0.6);
    for elimination in [Elimination::Stop, Elimination::Sampling] {
        let stop = ConfidenceStop::new(StopCriterion::LikelihoodRatio, delta, noise).unwrap();
        let spec = spec("pivot").with_noise_scale(noise).unwrap();
        let eliminating = spec.clone().with_confidence_stop(stop.with_elimination(elimination));
        let mut learner = eliminating.learner(&problem.arms(), problem.question, 4_000, 0).unwrap();
        let mut unrestricted = spec.learner(&problem.arms(), problem.question, 4_000, 0).unwrap();
        let mut plain = Plain::new(&problem, 1.0);
        let mut rng = stream(2, Purpose::Noise, 0);
        let (mut expected, mut differs) = (Vec::<(usize, bool, u64)>::new(), false);
        while let Some(arm) = learner.ask() {
            let without = unrestricted.propose().unwrap();
            differs |= arm != without;
            assert!(elimination == Elimination::Sampling || arm == without, "the rule does not see what is settled");
            let reward = problem.reward(arm, &mut rng);
            learner.tell(arm, reward).unwrap();
            unrestricted.tell(arm, reward).unwrap();
            plain.rewards.push((arm, reward));
            plain.pulls[arm] += 1;
            let (means, c, t) = (plain.ridge_means(), plain.covariances(), plain.rewards.len());
            let level = ((t as f64 + 1.0) / delta).ln();
            for arm in 0..means.len() {
                let gap = problem.question.gap(means[arm]);
                let is_known = expected.iter().any(|&(known, ..)| known == arm);
                if !is_known && gap * gap / (2.0 * noise * noise * c[(arm, arm)]) > level {
                    expected.push((arm, problem.question.is_above(means[arm]), t as u64));
                }
            }
        }
        let settled = learner.settled().in_order().iter();
        assert_eq!(settled.map(|arm| (arm.arm, arm.is_above, arm.after)).collect::<Vec<_>>(), expected);
        assert_eq!((learner.stop_reason(), expected.len()), (Some(StopReason::Settled), 12));
        assert_eq!(differs, elimination == Elimination::Sampling);
        let confidence = Confidence::new(IntervalKind::Fixed, delta, noise).unwrap();
        let verdicts: Vec<_> = learner.beliefs().verdicts(&confidence).collect();
        for &(arm, is_above, after) in &expected {
            assert_eq!((verdicts[arm].side == Side::Above, verdicts[arm].settled_after), (is_above, Some(after)));
        }
    }
}
