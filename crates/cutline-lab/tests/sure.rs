//! The stop `intervals` is wrong in no more runs than it says, through the defaults of campaigns, whatever the size of the noise and its
//! kind. `make sure` measures the same in more runs, for the heuristic too.
//!
//! Seeds are fixed. A share of δ is exceeded by 4.75 standard errors in one seed of 10⁶ if the promise just holds.

use cutline::campaign::TermsError;
use cutline::{EstimatorKind, StopCriterion};
use cutline_lab::sure::{RewardKind, SureSetting, sure_and_wrong};

const RUNS: u64 = 100;
const DELTA: f64 = 0.1;

fn setting(estimator: EstimatorKind, rewards: RewardKind, noise: Option<f64>) -> SureSetting {
    SureSetting {
        estimator,
        criterion: StopCriterion::Intervals,
        delta: DELTA,
        noise,
        rewards,
        n_arms: 8,
        dimension: 2,
        gap: 0.5,
        budget: 2_000,
        seed: 5,
    }
}

const REWARDS: [RewardKind; 5] = [
    RewardKind::Gaussian(0.01),
    RewardKind::Gaussian(0.1),
    RewardKind::Gaussian(1.0),
    RewardKind::Rounded(0.05),
    RewardKind::Bernoulli(0.3),
];

#[test]
fn intervals_are_wrong_in_no_more_runs_than_they_say() {
    let runs = RUNS as f64;
    let most = runs * DELTA + 4.75 * (runs * DELTA * (1.0 - DELTA)).sqrt();
    for &estimator in EstimatorKind::ALL.iter().filter(|estimator| **estimator != EstimatorKind::Isotonic) {
        for rewards in REWARDS {
            let setting = setting(estimator, rewards, Some(rewards.sigma()));
            let count = sure_and_wrong(&setting, 0..RUNS).unwrap();
            assert!(count.sure_and_wrong as f64 <= most, "{estimator:?}, {rewards:?}: {count:?}");
            assert!(count.sure > RUNS / 2, "the stop is met: {estimator:?}, {rewards:?}: {count:?}");
        }
    }
}

/// A σ ten times too small is noticed: the check can fail.
#[test]
fn an_understated_noise_is_wrong_more_often() {
    for &estimator in EstimatorKind::ALL.iter().filter(|estimator| **estimator != EstimatorKind::Isotonic) {
        let setting = setting(estimator, RewardKind::Gaussian(1.0), Some(0.1));
        let count = sure_and_wrong(&setting, 0..RUNS).unwrap();
        assert!(count.sure_and_wrong as f64 > 1.5 * DELTA * RUNS as f64, "{estimator:?}: {count:?}");
    }
}

/// No default leads to a guarantee without a given σ.
#[test]
fn a_guarantee_without_noise_is_refused() {
    for &estimator in EstimatorKind::ALL.iter().filter(|estimator| **estimator != EstimatorKind::Isotonic) {
        let refused = sure_and_wrong(&setting(estimator, RewardKind::Gaussian(1.0), None), 0..1).unwrap_err();
        assert_eq!(refused, TermsError::GuaranteeNeedsNoise { criterion: StopCriterion::Intervals });
    }
}
