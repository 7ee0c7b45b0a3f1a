//! Proofs are as quick as they are said to be, and wrong in no more cases. `make study WHAT=proved` measures the same in more settings.

use cutline::EstimatorKind;
use cutline::proof::{Prediction, RewardFamily};
use cutline_studies::proved::{Noise, ProofSetting, RewardLaw, count_proofs, numbers};
use cutline_studies::proved_stop::{Prover, StopSetting, measure};

fn setting(law: RewardLaw, family: RewardFamily, threshold: f64) -> ProofSetting {
    ProofSetting { law, family, threshold, prediction: None, n_arms: 1, delta: 0.05, most_rewards: 2_000 }
}

/// A rate of 0.95 against a bar of 0.8: 38 rewards with the uniform prior on the rates above the bar, by an independent simulation; the standard
/// deviation of one is 22, so that the mean of 400 is above 43 in 1 of 10⁵ cases.
#[test]
fn a_rate_is_proved_with_few_rewards() {
    let count = count_proofs(&setting(RewardLaw::PassFail(0.95), RewardFamily::PassFail, 0.8), 400, 3);
    assert!(count.mean_rewards() < 43.0, "{count:?}");
    assert!(count.above >= 395, "{count:?}");
}

/// A right prediction saves rewards, and one that is wrong about the side costs some: the same rewards are drawn.
#[test]
fn predictions_help_if_they_are_right() {
    let generic = setting(RewardLaw::Noise(1.0, Noise::Normal), numbers(Some(1.0)), 0.0);
    let mean = |prediction| count_proofs(&ProofSetting { prediction, ..generic }, 400, 4).mean_rewards();
    let (none, right, wrong) =
        (mean(None), mean(Prediction::new(1.0, 0.3, 1.0)), mean(Prediction::new(-1.0, 0.3, 1.0)));
    assert!(right < none && none < wrong && wrong < 1.3 * none, "{right}, {none}, {wrong}");
}

/// With the mean at the bar, minus exponential noise makes an unprotected t say *above* in 18 % of the arms. 5 % of 600 arms are 30; 55 or more are a
/// false alarm in 1 of 10⁵ cases.
#[test]
fn skewed_noise_proves_little() {
    let law = RewardLaw::Noise(0.0, Noise::MinusExponential);
    let setting = ProofSetting { n_arms: 10, most_rewards: 400, ..setting(law, numbers(None), 0.0) };
    let count = count_proofs(&setting, 60, 5);
    assert!(count.above < 55 && count.below < 55, "{count:?}");
}

/// Campaigns that end once everything is proved need no more measurements than elimination with a known σ, give or take 15 %, four standard errors,
/// without knowing σ; and of 60 at most 8 are wrong, which has a probability of 1 in 5,000 at δ = 5 %.
#[test]
fn the_stop_needs_no_more_than_elimination() {
    let setting =
        StopSetting { n_arms: 10, dimension: 3, linear: 0.7, gap: 0.25, rates: None, delta: 0.05, budget: 50_000 };
    let elimination = measure(&setting, Prover::Elimination, 60, 6).unwrap();
    let proved = measure(&setting, Prover::Campaign(EstimatorKind::Mixed, "easiest", None), 60, 6).unwrap();
    assert_eq!(proved.stopped, 60);
    assert!(proved.wrong <= 8 && proved.pulls as f64 <= 1.15 * elimination.pulls as f64, "{proved:?}, {elimination:?}");
}
