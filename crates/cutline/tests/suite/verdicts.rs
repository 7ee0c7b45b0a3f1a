//! Verdicts of every algorithm against their formulas, computed by dense linear algebra from the rewards.

use crate::common::{Plain, Problem, assert_close, spec, take, uniform};
use cutline::estimators::{DesignedRidge, Estimator, Model, Ridge, SampleMean};
use cutline::{
    ALGORITHMS, Arms, AskTell, Confidence, EstimatorKind, IntervalKind, Purpose, Question, Side, Spec, Verdict, stream,
};
use cutline_campaign::{CampaignState, Terms};

const DELTA: f64 = 0.1;
/// z₀.₉₅, from a table.
const Z: f64 = 1.6448536269514722;
const NOISE: f64 = 0.7;
const NORM: f64 = 1.5;

fn confidence(interval: IntervalKind) -> Confidence {
    Confidence::new(interval, DELTA, NOISE).unwrap().with_norm(NORM).unwrap()
}

fn verdicts(learner: &mut dyn AskTell, interval: IntervalKind) -> Vec<Verdict> {
    learner.beliefs().verdicts(&confidence(interval)).collect()
}

/// Means, variances in units of σ², and half-widths by their definitions; `plain` counts only pulls with a reward.
fn defined(estimator: EstimatorKind, plain: &Plain, interval: IntervalKind) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let k = plain.pulls.len() as f64;
    if estimator == EstimatorKind::Ridge {
        let means = plain.ridge_means();
        let variances: Vec<f64> = plain.covariances().diagonal().iter().copied().collect();
        let anytime = NOISE * (2.0 * (1.0 / DELTA).ln() + plain.log_det()).sqrt() + plain.lambda.sqrt() * NORM;
        let factor = if interval == IntervalKind::Fixed { Z * NOISE } else { anytime };
        let widths = variances.iter().map(|q| factor * q.sqrt()).collect();
        return (means, variances, widths);
    }
    let variances: Vec<f64> = plain.pulls.iter().map(|&n| 1.0 / f64::from(n)).collect();
    let width = |&n: &u32| {
        let n = f64::from(n);
        match interval {
            IntervalKind::Fixed => Z * NOISE / n.sqrt(),
            _ => NOISE / n * ((n + 1.0) * (2.0 * (k / DELTA).ln() + (1.0 + n).ln())).sqrt(),
        }
    };
    (plain.sample_means(), variances, plain.pulls.iter().map(width).collect())
}

fn check(estimator: EstimatorKind, plain: &Plain, verdicts: &[Verdict], interval: IntervalKind) {
    let (means, variances, widths) = defined(estimator, plain, interval);
    assert_eq!(verdicts.len(), means.len());
    assert_close(&verdicts.iter().map(|v| v.mean).collect::<Vec<_>>(), &means, 1e-9, "means");
    let question = plain.problem.question;
    for (arm, verdict) in verdicts.iter().enumerate() {
        assert_eq!(verdict.pulls, plain.pulls[arm], "pulls of arm {arm}");
        let half = widths[arm];
        if half.is_infinite() {
            assert_eq!((verdict.lower, verdict.upper), (f64::NEG_INFINITY, f64::INFINITY));
            assert_eq!((verdict.side, verdict.doubt), (Side::Undecided, 0.5));
            continue;
        }
        let ours = [verdict.mean - verdict.lower, verdict.upper - verdict.mean];
        assert!(ours.iter().all(|ours| (ours - half).abs() <= 1e-9 * (half + 1.0)), "arm {arm}: {ours:?}, not {half}");
        let slack = half - question.gap(verdict.mean);
        // A settled side does not follow from the interval.
        if slack.abs() > 1e-9 && verdict.settled_after.is_none() {
            let side = if verdict.mean >= question.threshold() { Side::Above } else { Side::Below };
            assert_eq!(verdict.side, if slack > 0.0 { Side::Undecided } else { side }, "arm {arm}");
        }
        let z = question.gap(verdict.mean) / (NOISE * variances[arm].sqrt());
        assert!((verdict.doubt - tail(z)).abs() < 1e-6, "arm {arm}: doubt {} against {}", verdict.doubt, tail(z));
    }
}

/// P(Z > z) by Simpson's rule.
fn tail(z: f64) -> f64 {
    let (n, end) = (2_000, 12.0_f64.max(z));
    let step = (end - z) / f64::from(n);
    let density = |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let weight = |i: i32| if i == 0 || i == n { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
    (0..=n).map(|i| weight(i) * density(z + f64::from(i) * step)).sum::<f64>() * step / 3.0
}

/// In batches whose rewards come in any order, with pulls still waiting for their reward when verdicts are computed.
#[test]
fn every_algorithm_with_pulls_that_wait_for_their_reward() {
    for algorithm in ALGORITHMS {
        for (n_arms, dimension) in [(1, 1), (5, 2), (4, 6), (20, 5)] {
            let problem = Problem::uniform(n_arms, dimension, 8);
            let mut learner = spec(algorithm.name).learner(&problem.arms(), problem.question, 120, 2).unwrap();
            let mut plain = Plain::new(&problem, 1.0);
            let mut rng = stream(6, Purpose::Noise, 0);
            let mut out = Vec::new();
            for _ in 0..12 {
                out.extend((0..9).filter_map(|_| learner.ask()));
                while out.len() > 3 {
                    let arm = take(&mut out, &mut rng);
                    let reward = problem.means[arm] + NOISE * uniform(&mut rng);
                    learner.tell(arm, reward).unwrap();
                    plain.rewards.push((arm, reward));
                }
                for &interval in IntervalKind::ALL {
                    let plain = plain.without_pending_pulls();
                    check(algorithm.estimator, &plain, &verdicts(learner.as_mut(), interval), interval);
                }
            }
        }
    }
}

/// The pulls are the same with and without verdicts computed in between. The features are so large that designs are recomputed
/// between asking and telling.
#[test]
fn computing_verdicts_does_not_change_the_pulls() {
    for algorithm in ALGORITHMS {
        let problem = Problem::new(12, 4, 3, |j| 10.0_f64.powf(2.0 * j));
        let build = || spec(algorithm.name).learner(&problem.arms(), problem.question, 80, 0).unwrap();
        let (mut looking, mut blind) = (build(), build());
        let mut rng = stream(2, Purpose::Noise, 0);
        while let Some(arm) = blind.ask() {
            verdicts(looking.as_mut(), IntervalKind::Anytime);
            assert_eq!(looking.ask(), Some(arm), "{}", algorithm.name);
            verdicts(looking.as_mut(), IntervalKind::Fixed);
            let reward = problem.reward(arm, &mut rng);
            looking.tell(arm, reward).unwrap();
            blind.tell(arm, reward).unwrap();
        }
        assert_eq!(looking.beliefs().means(), blind.beliefs().means(), "{}", algorithm.name);
    }
}

/// Every setting moves the interval.
#[test]
fn every_setting_changes_the_interval() {
    let problem = Problem::uniform(6, 3, 1);
    let spec = spec("linear-apt").with("lambda", 0.25).unwrap();
    let mut learner = spec.learner(&problem.arms(), problem.question, 40, 0).unwrap();
    while let Some(arm) = learner.ask() {
        learner.tell(arm, problem.means[arm]).unwrap();
    }
    let mut upper = |confidence: Confidence| learner.beliefs().verdicts(&confidence).next().unwrap().upper;
    for &interval in IntervalKind::ALL {
        let upper_at = |delta, noise| Confidence::new(interval, delta, noise).unwrap();
        assert!(upper(upper_at(0.05, 1.0)) > upper(upper_at(0.1, 1.0)));
        assert!(upper(upper_at(0.05, 2.0)) > upper(upper_at(0.05, 1.0)));
    }
    let default = Confidence::new(IntervalKind::Anytime, 0.05, 2.0).unwrap();
    assert!(upper(default.with_norm(1.0).unwrap()) < upper(default.with_norm(2.0).unwrap()));
    let fixed = Confidence::new(IntervalKind::Fixed, 0.05, 2.0).unwrap();
    assert!(upper(default) > upper(fixed));
    assert!(upper(fixed.with_degrees_of_freedom(5.0).unwrap()) > upper(fixed));
    assert!(fixed.with_degrees_of_freedom(0.0).is_err() && fixed.with_degrees_of_freedom(f64::NAN).is_err());
}

/// Student's t instead of the normal distribution: `scipy.stats.t.isf(0.05, 10)` and `scipy.stats.t.sf(2, 10)`, version 1.17.
#[test]
fn an_estimated_noise_has_the_intervals_and_doubts_of_t() {
    let arms = Arms::without_features(1).unwrap();
    let mut learner = spec("apt").learner(&arms, Question::new(1.0, 0.0).unwrap(), 9, 0).unwrap();
    learner.tell(0, 3.0).unwrap();
    let normal = Confidence::new(IntervalKind::Fixed, 0.1, 1.0).unwrap();
    let mut of = |confidence: Confidence| learner.beliefs().verdicts(&confidence).next().unwrap();
    let verdict = of(normal.with_degrees_of_freedom(10.0).unwrap());
    assert!((verdict.upper - 3.0 - 1.8124611228107335).abs() < 1e-9, "{verdict:?}");
    assert!((verdict.doubt - 0.036694017385370196).abs() < 1e-12, "{verdict:?}");
    assert!((of(normal).upper - 3.0 - Z).abs() < 1e-12);
    // Many degrees of freedom are as good as a given σ.
    let many = of(normal.with_degrees_of_freedom(9e5).unwrap());
    assert!((many.upper - of(normal).upper).abs() < 1e-5 && (many.doubt - of(normal).doubt).abs() < 1e-6);
}

/// Compares with the interval of least squares by its definition; returns the number of arms whose mean the rewards determine.
fn check_least_squares(plain: &Plain, verdicts: &[Verdict], context: &str) -> usize {
    let (centres, variances) = plain.least_squares();
    let level = 2.0 * (1.0 / DELTA).ln() + plain.log_det();
    let is_full = variances.iter().all(|variance| variance.is_finite());
    for (arm, verdict) in verdicts.iter().enumerate() {
        if variances[arm].is_infinite() {
            assert_eq!((verdict.lower, verdict.upper), (f64::NEG_INFINITY, f64::INFINITY), "{context}, arm {arm}");
            assert_eq!(verdict.side, Side::Undecided);
            continue;
        }
        // Any z with Vz = x gives a valid interval; the pseudo-inverse gives the shortest.
        let shortest = NOISE * (variances[arm] * level).sqrt();
        let half = (verdict.upper - verdict.lower) / 2.0;
        let (centre, size) = (centres[arm], shortest + centres[arm].abs());
        assert!((verdict.upper - half - centre).abs() < 1e-6 * size, "{context}, arm {arm}: {verdict:?} {centre}");
        assert!(half > shortest * (1.0 - 1e-6), "{context}, arm {arm}: {half} against {shortest}");
        let is_unique = is_full && plain.problem.rows[0].len() <= 4 && !context.contains("kind 2");
        assert!(!is_unique || half < shortest * (1.0 + 1e-6), "{context}, arm {arm}: {half} against {shortest}");
    }
    variances.iter().filter(|variance| variance.is_finite()).count()
}

/// Without a bound on ‖θ‖: more arms than features and fewer, columns that depend on each other and of different units, with both forms of
/// ridge, while few arms and while all are measured.
#[test]
fn without_a_bound_on_theta_the_intervals_are_those_of_least_squares() {
    let mut determined = Vec::new();
    for (kind, (n_arms, dimension)) in [(9, 4), (3, 5), (9, 4), (8, 3)].into_iter().enumerate() {
        let unit = if kind == 3 { 100.0_f64 } else { 1.0 };
        let mut problem = Problem::new(n_arms, dimension, 3 + kind as u64, |j| unit.powf(j));
        if kind == 2 {
            for row in &mut problem.rows {
                row[3] = 2.0 * row[0] - row[1];
            }
        }
        for name in ["linear-apt", "pivot"] {
            let lambda = 0.5;
            let spec = spec(name).with("lambda", lambda).unwrap();
            let mut learner = spec.learner(&problem.arms(), problem.question, 40, 0).unwrap();
            let mut plain = Plain::new(&problem, lambda);
            let mut rng = stream(5, Purpose::Noise, 0);
            let confidence = Confidence::new(IntervalKind::Anytime, DELTA, NOISE).unwrap();
            while let Some(arm) = learner.ask() {
                let reward = problem.reward(arm, &mut rng);
                learner.tell(arm, reward).unwrap();
                plain.rewards.push((arm, reward));
                plain.pulls[arm] += 1;
                let verdicts: Vec<Verdict> = learner.beliefs().verdicts(&confidence).collect();
                let context = format!("{name}, kind {kind}, {} rewards", plain.rewards.len());
                determined.push(check_least_squares(&plain, &verdicts, &context) == n_arms);
            }
        }
    }
    let all = determined.iter().filter(|all| **all).count();
    assert!(all > 150 && determined.len() - all > 10, "{all} of {}", determined.len());
}

/// Variances and determinants with badly scaled features and a small λ; the last column is nearly a multiple of another.
#[test]
fn the_posterior_of_badly_scaled_features() {
    for lambda in [1.0, 1e-6] {
        let mut problem = Problem::new(30, 5, 4, |j| 10.0_f64.powf(j - 2.0));
        for row in &mut problem.rows {
            row[4] = 10.0 * row[3] + 1e-3 * row[4];
        }
        let arms = problem.arms();
        let (mut ridge, mut designed) =
            (Ridge::new(&arms, lambda).unwrap(), DesignedRidge::new(&arms, lambda).unwrap());
        let mut plain = Plain::new(&problem, lambda);
        for arm in (0..30).chain(0..7) {
            ridge.observe(arm, 0.5);
            designed.observe(arm, 0.5);
            plain.pulls[arm] += 1;
        }
        designed.expect(3);
        let variances: Vec<f64> = plain.covariances().diagonal().iter().copied().collect();
        for posterior in [ridge.posterior(), designed.posterior()] {
            assert_close(posterior.variances, &variances, 1e-9, "variances");
            assert_eq!(posterior.n_rewards, plain.pulls);
            let Model::Linear { dimension, lambda: own, log_det } = posterior.model else { panic!("ridge is linear") };
            assert_eq!((dimension, own), (5, lambda));
            assert!((log_det / plain.log_det() - 1.0).abs() < 1e-9, "{log_det} against {}", plain.log_det());
        }
    }
}

/// K = 1, no pull at all, an arm of zeros, and rewards that overflow.
#[test]
fn at_the_edges() {
    let mut problem = Problem::uniform(3, 2, 0);
    problem.rows[1].fill(0.0);
    let mut ridge = Ridge::new(&problem.arms(), 4.0).unwrap();
    let first: Vec<f64> = problem.rows.iter().map(|x| x.iter().map(|x| x * x).sum::<f64>() / 4.0).collect();
    assert_close(ridge.posterior().variances, &first, 1e-15, "the prior");
    assert!(matches!(ridge.posterior().model, Model::Linear { log_det: 0.0, .. }));
    assert_eq!(ridge.posterior().variances[1], 0.0);

    let mut mean = SampleMean::new(&problem.arms());
    assert_eq!(mean.posterior().variances, [f64::INFINITY; 3]);
    mean.observe(2, 1.0);
    mean.observe(2, 2.0);
    assert_eq!(mean.posterior().variances, [f64::INFINITY, f64::INFINITY, 0.5]);

    for name in ["apt", "linear-apt", "pivot"] {
        let mut learner = spec(name).learner(&problem.arms(), problem.question, 9, 0).unwrap();
        for arm in [0, 0, 2, 2] {
            learner.tell(arm, f64::MAX).unwrap();
        }
        for verdict in verdicts(learner.as_mut(), IntervalKind::Anytime) {
            assert!(!verdict.lower.is_nan() && !verdict.upper.is_nan() && !verdict.doubt.is_nan(), "{verdict:?}");
        }
    }
}

/// Means that are the threshold to the last digit count as above, and are said to be at it; with other rewards nothing is.
#[test]
fn a_mean_at_the_threshold_is_said_to_be_there() {
    for estimator in ["sample-mean", "ridge", "mixed"] {
        for (reward, is_at) in [(0.5, true), (0.5 + 1e-9, false), (0.5 - 1e-9, false)] {
            let mut campaign = CampaignState::new(
                Arms::from_rows(&[[1.0], [2.0]]).unwrap(),
                Terms {
                    // Without a given one, rewards that all equal the threshold decide nothing: `noise.rs`.
                    noise: (estimator == "sample-mean").then_some(1e-30),
                    ..Terms::new(
                        Question::new(0.5, 0.0).unwrap(),
                        Spec::named("apt").unwrap().with_estimator(estimator).unwrap(),
                        100,
                    )
                },
            )
            .unwrap();
            for _ in 0..15 {
                (0..2).for_each(|arm| drop(campaign.observe(arm, reward, true, 0).unwrap()));
            }
            for verdict in campaign.verdicts() {
                // The other models shrink the means, or know too little without any noise.
                let expected = is_at && estimator == "sample-mean";
                assert_eq!(verdict.is_at_threshold(), expected, "{estimator} {reward}: {verdict:?}");
                let words = if verdict.is_at_threshold() { "at the threshold" } else { verdict.side.name() };
                assert_eq!(verdict.side_in_words(), words);
                assert!(verdict.side != Side::Above || verdict.mean >= 0.5);
            }
        }
    }
}
