//! The stop `intervals` is wrong in no more runs than it says, through the defaults of campaigns, whatever the size of the noise and its
//! kind. `make study WHAT=sure` measures the same in more runs, for the heuristic too.
//!
//! Seeds are fixed. A share of δ is exceeded by 4.75 standard errors in one seed of 10⁶ if the promise just holds.

use cutline::{EstimatorKind, RewardKind, StopCriterion};
use cutline_studies::sure::{RewardLaw, SureSetting, sure_and_wrong};

const RUNS: u64 = 100;
const DELTA: f64 = 0.1;

fn setting(estimator: EstimatorKind, rewards: RewardLaw, noise: Option<f64>) -> SureSetting {
    SureSetting {
        estimator,
        criterion: StopCriterion::Intervals,
        delta: DELTA,
        kind: RewardKind::Gaussian,
        noise,
        rewards,
        n_arms: 8,
        dimension: 2,
        gap: 0.5,
        budget: 2_000,
        seed: 5,
    }
}

const REWARDS: [RewardLaw; 5] = [
    RewardLaw::Gaussian(0.01),
    RewardLaw::Gaussian(0.1),
    RewardLaw::Gaussian(1.0),
    RewardLaw::Rounded(0.05),
    RewardLaw::Bernoulli(0.3),
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
        let setting = setting(estimator, RewardLaw::Gaussian(1.0), Some(0.1));
        let count = sure_and_wrong(&setting, 0..RUNS).unwrap();
        assert!(count.sure_and_wrong as f64 > 1.5 * DELTA * RUNS as f64, "{estimator:?}: {count:?}");
    }
}

/// `evidence` is a heuristic and may use a σ that is estimated from the same rewards, of which the first ones may all be equal. It is
/// wrong in no more runs than it says either, declared as pass or fail or not.
#[test]
fn evidence_with_estimated_noise_is_wrong_in_no_more_runs_than_it_says() {
    let runs = RUNS as f64;
    let most = runs * DELTA + 4.75 * (runs * DELTA * (1.0 - DELTA)).sqrt();
    let (gaussian, bernoulli) = (RewardKind::Gaussian, RewardKind::Bernoulli);
    for &estimator in EstimatorKind::ALL.iter().filter(|estimator| **estimator != EstimatorKind::Isotonic) {
        for (rewards, kind) in [
            (RewardLaw::Gaussian(0.3), gaussian),
            (RewardLaw::Rounded(0.05), gaussian),
            (RewardLaw::Skewed(0.3), gaussian),
            (RewardLaw::Bernoulli(0.3), gaussian),
            (RewardLaw::Bernoulli(0.3), bernoulli),
            (RewardLaw::RarePass, gaussian),
            (RewardLaw::RarePass, bernoulli),
        ] {
            let n_arms = if rewards == RewardLaw::RarePass { 20 } else { 8 };
            let criterion = StopCriterion::Evidence;
            let setting = SureSetting { kind, criterion, n_arms, ..setting(estimator, rewards, None) };
            let count = sure_and_wrong(&setting, 0..RUNS).unwrap();
            assert!(count.sure_and_wrong as f64 <= most, "{estimator:?}, {rewards:?}, {kind:?}: {count:?}");
            assert!(count.sure > RUNS / 2, "the stop is met: {estimator:?}, {rewards:?}, {kind:?}: {count:?}");
        }
    }
}

/// Rewards of 0 or 1 are ½-sub-Gaussian, so for them the guarantee needs no given σ.
#[test]
fn bernoulli_rewards_have_the_guarantee_without_noise() {
    let runs = RUNS as f64;
    let most = runs * DELTA + 4.75 * (runs * DELTA * (1.0 - DELTA)).sqrt();
    for &estimator in EstimatorKind::ALL.iter().filter(|estimator| **estimator != EstimatorKind::Isotonic) {
        for rewards in [RewardLaw::Bernoulli(0.3), RewardLaw::RarePass] {
            let setting = SureSetting { kind: RewardKind::Bernoulli, ..setting(estimator, rewards, None) };
            let count = sure_and_wrong(&setting, 0..RUNS).unwrap();
            assert!(count.sure_and_wrong as f64 <= most, "{estimator:?}, {rewards:?}: {count:?}");
            assert!(count.sure > RUNS / 2, "the stop is met: {estimator:?}, {rewards:?}: {count:?}");
        }
    }
}
