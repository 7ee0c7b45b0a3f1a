//! Ridge with a centre and an intercept against an equivalent problem with rewards and threshold shifted.

use crate::common::{Plain, Problem, assert_close, spec, uniform};
use cutline::estimators::{CentreError, Centred, Estimator, Ridge, SampleMean};
use cutline::{
    ALGORITHMS, Arms, AskTell, Confidence, EstimatorKind, IntervalKind, Purpose, Question, SpecError, stream,
};

const THRESHOLD: f64 = 50.0;
const INTERCEPT: f64 = 2.0;

/// The problem with one more feature, τ at `threshold` and rewards higher by `threshold`.
fn raised(problem: &Problem, threshold: f64) -> Problem {
    let rows = problem.rows.iter().map(|row| row.iter().copied().chain([INTERCEPT]).collect()).collect();
    let means = problem.means.iter().map(|mean| mean + threshold).collect();
    Problem { rows, means, question: Question::new(threshold, 0.01).unwrap(), costs: None }
}

/// Every choice, mean and interval agrees with the problem shifted to τ = 0, and with a dense solve.
#[test]
fn centred_at_the_threshold_is_the_problem_shifted_to_zero() {
    for algorithm in ALGORITHMS.iter().filter(|algorithm| algorithm.estimator == EstimatorKind::Ridge) {
        for share in [1.0, 0.5] {
            let bare = Problem::uniform(14, 3, 5);
            let (far, near) = (raised(&bare, THRESHOLD), raised(&bare, THRESHOLD * (1.0 - share)));
            let centred = spec(algorithm.name).with("centre", share).unwrap().with("intercept", INTERCEPT).unwrap();
            let mut centred = centred.learner(&bare.arms(), far.question, 90, 3).unwrap();
            let mut moved = spec(algorithm.name).learner(&near.arms(), near.question, 90, 3).unwrap();
            let mut plain = Plain::new(&near, 1.0);
            let mut rng = stream(3, Purpose::Noise, 0);
            while let Some(arm) = centred.ask() {
                assert_eq!(moved.ask(), Some(arm), "{}", algorithm.name);
                let noise = uniform(&mut rng);
                centred.tell(arm, far.means[arm] + noise).unwrap();
                moved.tell(arm, near.means[arm] + noise).unwrap();
                plain.rewards.push((arm, near.means[arm] + noise));
            }
            let centre = share * THRESHOLD;
            let dense: Vec<f64> = plain.ridge_means().iter().map(|mean| mean + centre).collect();
            assert_close(centred.beliefs().means(), &dense, 1e-10, algorithm.name);
            compare_verdicts(centred.as_mut(), moved.as_mut(), centre);
        }
    }
}

fn compare_verdicts(centred: &mut dyn AskTell, moved: &mut dyn AskTell, centre: f64) {
    for &interval in IntervalKind::ALL {
        let confidence = Confidence::new(interval, 0.1, 1.0).unwrap();
        let (mut ours, mut theirs) = (centred.beliefs(), moved.beliefs());
        for (ours, theirs) in ours.verdicts(&confidence).zip(theirs.verdicts(&confidence)) {
            assert_eq!((ours.side, ours.pulls), (theirs.side, theirs.pulls));
            let ours = [ours.mean - centre, ours.lower - centre, ours.upper - centre, ours.doubt];
            assert_close(&ours, &[theirs.mean, theirs.lower, theirs.upper, theirs.doubt], 1e-9, "verdict");
        }
    }
}

/// Pending pulls, rewards in another order and lost pulls are passed on to the inner estimator.
#[test]
fn pending_and_lost_pulls_are_passed_on() {
    for name in ["linear-apt", "pivot"] {
        let problem = Problem::uniform(9, 3, 1);
        let (at, zero) = (Question::new(5.0, 0.1).unwrap(), Question::new(0.0, 0.1).unwrap());
        let centred = spec(name).with("centre", 1.0).unwrap();
        let mut centred = centred.learner(&problem.arms(), at, 60, 0).unwrap();
        let mut moved = spec(name).learner(&problem.arms(), zero, 60, 0).unwrap();
        let mut lost = 0;
        loop {
            let out: Vec<usize> = (0..5).filter_map(|_| centred.ask()).collect();
            assert_eq!(out, (0..5).filter_map(|_| moved.ask()).collect::<Vec<_>>(), "{name}");
            for (place, &arm) in out.iter().enumerate().rev() {
                if place == 2 && lost < 4 {
                    centred.forget(arm);
                    moved.forget(arm);
                    lost += 1;
                } else {
                    centred.tell(arm, 5.0 + problem.means[arm]).unwrap();
                    moved.tell(arm, problem.means[arm]).unwrap();
                }
            }
            if out.is_empty() {
                break;
            }
        }
        assert_eq!(lost, 4);
    }
}

#[test]
fn an_invalid_centre_or_intercept_is_refused() {
    let arms = Problem::uniform(3, 2, 0).arms();
    for bad in [f64::NAN, f64::INFINITY, -1e151] {
        let refused = Centred::new(Ridge::new(&arms, 1.0).unwrap(), bad).unwrap_err();
        assert!(matches!(refused, CentreError(_)), "{bad}");
    }
    let huge = spec("pivot").with("intercept", 1e200).unwrap();
    let refused = huge.learner(&arms, Question::new(0.0, 0.0).unwrap(), 9, 0).err();
    assert!(matches!(refused, Some(SpecError::Ridge(_))), "{refused:?}");
    let bare = spec("linear-apt").with("intercept", 1.0).unwrap();
    let refused = bare.learner(&Arms::without_features(2).unwrap(), Question::new(0.0, 0.0).unwrap(), 9, 0).err();
    assert_eq!(refused, Some(SpecError::NeedsFeatures { algorithm: "linear-apt" }));
}

/// A centre works with any estimator: an arm without rewards has the centre as its mean.
#[test]
fn a_centred_sample_mean_is_the_sample_mean_where_there_is_one() {
    let mut mean = Centred::new(SampleMean::new(&Arms::without_features(2).unwrap()), 0.5).unwrap();
    mean.observe(0, 3.0);
    assert_eq!(mean.means(), [3.0, 0.5]);
    assert_eq!(mean.posterior().means, [3.0, 0.5]);
}
