//! The sample mean: μ̂ᵢ = (sum of the rewards of arm i) / (their number).

use super::{Estimator, History, Model, Posterior, PriorFree};
use crate::{Arm, Arms};

/// The sample mean of each arm; use [`Ridge`](super::Ridge) where the means are related through features.
#[derive(Clone, Debug)]
pub struct SampleMean {
    pub(super) counts: Vec<u32>,
    pub(super) sums: Vec<f64>,
    means: Vec<f64>,
    /// 1/counts, computed on demand.
    variances: Vec<f64>,
}

impl SampleMean {
    /// The estimator before the first reward. Features are not used.
    #[must_use]
    pub fn new(arms: &Arms) -> Self {
        let n_arms = arms.n_arms();
        Self { counts: vec![0; n_arms], sums: vec![0.0; n_arms], means: vec![0.0; n_arms], variances: Vec::new() }
    }
}

impl Estimator for SampleMean {
    fn n_arms(&self) -> usize {
        self.means.len()
    }

    #[inline]
    fn observe(&mut self, arm: Arm, reward: f64) {
        self.counts[arm] += 1;
        self.sums[arm] += reward;
        self.means[arm] = self.sums[arm] / f64::from(self.counts[arm]);
    }

    fn can_restore(&self) -> bool {
        true
    }

    fn restore(&mut self, history: &History<'_>) {
        self.counts.copy_from_slice(history.n_rewards);
        history.sums(&mut self.sums);
        for ((mean, &sum), &count) in self.means.iter_mut().zip(&self.sums).zip(&self.counts) {
            *mean = if count == 0 { 0.0 } else { sum / f64::from(count) };
        }
    }

    #[inline]
    fn means(&mut self) -> &[f64] {
        &self.means
    }

    fn posterior(&mut self) -> Posterior<'_> {
        let Self { counts, means, variances, .. } = self;
        variances.clear();
        variances.extend(counts.iter().map(|&n| 1.0 / f64::from(n)));
        Posterior { means, variances, n_rewards: counts, model: Model::Unrelated }
    }

    fn posterior_and_prior_free(&mut self) -> (Posterior<'_>, Option<PriorFree<'_>>) {
        let posterior = self.posterior();
        let Posterior { means, n_rewards, .. } = posterior;
        (posterior, Some(PriorFree::SampleMeans { means, n_rewards }))
    }

    fn moments_of(&mut self, arm: Arm) -> (f64, f64) {
        (self.means[arm], 1.0 / f64::from(self.counts[arm]))
    }

    fn prior_free_moments_of(&mut self, arm: Arm) -> (f64, f64) {
        self.moments_of(arm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_the_rewards_of_each_arm() {
        let mut mean = SampleMean::new(&Arms::without_features(3).unwrap());
        for (arm, reward) in [(0, 1.0), (2, -1.0), (0, 4.0), (0, 1.0)] {
            mean.observe(arm, reward);
        }
        assert_eq!(mean.means(), [2.0, 0.0, -1.0]);
    }
}
