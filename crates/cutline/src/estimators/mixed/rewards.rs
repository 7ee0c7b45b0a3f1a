//! The rewards as the mixed model keeps them, and as they were when it learnt its variances last.

use super::conjugate::Discrete;
use super::evidence::Rewards;
use crate::Arm;
use crate::resolution::Resolution;

/// Up to this many rewards the variances are learnt after each.
const EVERY_REWARD: u64 = 20;

/// How many repeats the noise of a Poisson variable is worth.
const COUNT_REPEATS: f64 = 10.0;

/// The number of rewards at which the variances are learnt next: a function of the number of rewards alone, whatever it was when they
/// were learnt last.
pub(super) fn next_fit(n_rewards: u64) -> u64 {
    let mut at = n_rewards.min(EVERY_REWARD);
    while at <= n_rewards {
        at += if at < EVERY_REWARD { 1 } else { (3 * at).div_ceil(20) };
    }
    at
}

/// Number, mean and squared deviations of y = r − τ, per arm.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ArmRewards {
    threshold: f64,
    pub(super) counts: Vec<u32>,
    /// ȳ; 0 without a reward.
    pub(super) averages: Vec<f64>,
    /// Σ (y − ȳ)².
    pub(super) squares: Vec<f64>,
    /// N.
    pub(super) total: u64,
    /// How many rewards are neither 0 nor 1, how many are no whole number of at least 0, and how many are 0.
    others: u64,
    not_counts: u64,
    zeros: u64,
}

impl ArmRewards {
    fn new(n_arms: usize, threshold: f64) -> Self {
        let zeros = vec![0.0; n_arms];
        Self {
            threshold,
            counts: vec![0; n_arms],
            averages: zeros.clone(),
            squares: zeros,
            total: 0,
            others: 0,
            not_counts: 0,
            zeros: 0,
        }
    }

    /// Adds a reward (Welford 1962).
    fn add(&mut self, arm: Arm, reward: f64) {
        let y = reward - self.threshold;
        let deviation = y - self.averages[arm];
        self.counts[arm] += 1;
        self.averages[arm] += deviation / f64::from(self.counts[arm]);
        self.squares[arm] += deviation * (y - self.averages[arm]);
        self.total += 1;
        self.others += u64::from(reward != 0.0 && reward != 1.0);
        self.zeros += u64::from(reward == 0.0);
        self.not_counts += u64::from(!(reward >= 0.0 && reward.fract() == 0.0));
    }

    /// What kind of rates the rewards have, if they look like passes and fails or like small counts, whole numbers with zeros among them. Two
    /// passes and two fails more, or half a count: otherwise a few equal rewards would mean that there is no noise.
    pub(super) fn discrete(&self) -> Option<Discrete> {
        let n = self.total as f64;
        if self.total == 0 || self.not_counts > 0 {
            None
        } else if self.others == 0 {
            Some(Discrete::PassFail((self.sum() + 2.0) / (n + 4.0)))
        } else {
            (self.zeros > 0).then(|| Discrete::Counts((self.sum() + 0.5) / (n + 1.0)))
        }
    }

    /// σ² where it follows from the rewards: p(1 − p) if they are 0 or 1.
    pub(super) fn known_noise(&self) -> Option<f64> {
        match self.discrete() {
            Some(Discrete::PassFail(rate)) => Some(rate * (1.0 - rate)),
            _ => None,
        }
    }

    /// The least σ² that is believed: for counts that of a Poisson variable with their mean, corrected by the repeats.
    fn least_noise(&self, within: f64) -> f64 {
        let Some(Discrete::Counts(mean)) = self.discrete() else { return 0.0 };
        let n_measured = self.counts.iter().filter(|&&n| n > 0).count();
        let repeats = self.total as f64 - n_measured as f64;
        (COUNT_REPEATS * mean + within) / (COUNT_REPEATS + repeats)
    }

    /// The sum of all rewards.
    fn sum(&self) -> f64 {
        self.counts.iter().zip(&self.averages).map(|(&n, y)| f64::from(n) * (y + self.threshold)).sum()
    }

    /// The same rewards as another; both are of the same arms.
    fn copy_from(&mut self, other: &Self) {
        self.counts.copy_from_slice(&other.counts);
        self.averages.copy_from_slice(&other.averages);
        self.squares.copy_from_slice(&other.squares);
        self.total = other.total;
        self.others = other.others;
        self.not_counts = other.not_counts;
        self.zeros = other.zeros;
    }

    pub(super) fn statistics(&self) -> Rewards<'_> {
        let within = self.squares.iter().sum();
        Rewards { counts: &self.counts, means: &self.averages, within, least_noise: self.least_noise(within) }
    }
}

/// The rewards of a [`History`](crate::estimators::History) for the [mixed model](crate::estimators::Mixed): as they are, and as they were
/// when the model learnt its variances last. With it, a restored model has the variances and σ of one that received every reward by
/// itself, to the last bit.
#[derive(Clone, Debug)]
pub struct FitHistory {
    pub(super) now: ArmRewards,
    pub(super) at_last_fit: ArmRewards,
    resolution: Resolution,
    pub(super) next_fit: u64,
}

impl FitHistory {
    /// No rewards yet; `threshold` is τ.
    #[must_use]
    pub fn new(n_arms: usize, threshold: f64) -> Self {
        let now = ArmRewards::new(n_arms, threshold);
        Self { at_last_fit: now.clone(), now, resolution: Resolution::new(), next_fit: next_fit(0) }
    }

    /// The number of rewards.
    #[must_use]
    pub fn n_rewards(&self) -> u64 {
        self.now.total
    }

    /// The number of rewards of every arm.
    #[must_use]
    pub fn counts(&self) -> &[u32] {
        &self.now.counts
    }

    /// Takes the next reward.
    ///
    /// # Panics
    /// If there is no such arm.
    pub fn add(&mut self, arm: Arm, reward: f64) {
        self.now.add(arm, reward);
        self.resolution.add(reward);
        if self.now.total == self.next_fit {
            self.at_last_fit.copy_from(&self.now);
            self.next_fit = next_fit(self.now.total);
        }
    }

    /// The least σ that the rewards allow to be believed.
    pub(super) fn least_noise(&self) -> f64 {
        self.resolution.least_noise()
    }

    /// Whether the variances are to be learnt after the last reward.
    pub(super) fn is_fit_due(&self) -> bool {
        self.now.total == self.at_last_fit.total
    }

    /// The same rewards as another; both are of the same arms.
    pub(super) fn copy_from(&mut self, other: &Self) {
        self.now.copy_from(&other.now);
        self.at_last_fit.copy_from(&other.at_last_fit);
        self.resolution.copy_from(&other.resolution);
        self.next_fit = other.next_fit;
    }
}
