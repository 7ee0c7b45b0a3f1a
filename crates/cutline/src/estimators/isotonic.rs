//! Isotonic means: the non-decreasing means that fit the rewards best, Σ nᵢ(μ̂ᵢ − ȳᵢ)² → min, by pooling adjacent violators (Ayer, Brunk, Ewing,
//! Reid & Silverman 1955).

use super::{Estimator, History, Posterior, PriorFree, SampleMean};
use crate::{Arm, Arms};

/// Estimates means that are known not to decrease from arm to arm, in the order in which the arms were given. Use
/// [`SampleMean`] where nothing is known about their order.
///
/// An arm without rewards has the mean of the arm before it, or of the first arm with rewards if there is none before. The variances are
/// those of the sample means, so intervals are wider than they would have to be; bounds that hold at all times are those of the sample
/// means too.
#[derive(Clone, Debug)]
pub struct Isotonic {
    sample: SampleMean,
    means: Vec<f64>,
    /// Whether rewards have arrived since the means were computed.
    is_stale: bool,
    /// A buffer for the blocks of equal means.
    blocks: Vec<Block>,
}

/// Neighbouring arms with equal means.
#[derive(Clone, Copy, Debug)]
struct Block {
    sum: f64,
    n: f64,
    /// The first arm after it.
    end: Arm,
}

impl Block {
    fn mean(self) -> f64 {
        self.sum / self.n
    }
}

impl Isotonic {
    /// The estimator before the first reward. Features are not used.
    #[must_use]
    pub fn new(arms: &Arms) -> Self {
        let n_arms = arms.n_arms();
        let blocks = Vec::with_capacity(n_arms);
        Self { sample: SampleMean::new(arms), means: vec![0.0; n_arms], is_stale: false, blocks }
    }

    fn refresh(&mut self) {
        if !self.is_stale {
            return;
        }
        let Self { sample, means, blocks, .. } = self;
        blocks.clear();
        for (arm, (&n, &sum)) in sample.counts.iter().zip(&sample.sums).enumerate() {
            if n == 0 {
                if let Some(block) = blocks.last_mut() {
                    block.end = arm + 1;
                }
                continue;
            }
            let mut block = Block { sum, n: f64::from(n), end: arm + 1 };
            while let Some(previous) = blocks.pop_if(|previous| previous.mean() >= block.mean()) {
                block = Block { sum: previous.sum + block.sum, n: previous.n + block.n, end: block.end };
            }
            blocks.push(block);
        }
        let mut start = 0;
        for block in blocks {
            means[start..block.end].fill(block.mean());
            start = block.end;
        }
        self.is_stale = false;
    }
}

impl Estimator for Isotonic {
    fn n_arms(&self) -> usize {
        self.means.len()
    }

    fn observe(&mut self, arm: Arm, reward: f64) {
        self.sample.observe(arm, reward);
        self.is_stale = true;
    }

    fn can_restore(&self) -> bool {
        true
    }

    fn restore(&mut self, history: &History<'_>) {
        self.sample.restore(history);
        self.means.fill(0.0);
        self.is_stale = true;
    }

    fn means(&mut self) -> &[f64] {
        self.refresh();
        &self.means
    }

    fn posterior(&mut self) -> Posterior<'_> {
        self.refresh();
        Posterior { means: &self.means, ..self.sample.posterior() }
    }

    fn posterior_and_prior_free(&mut self) -> (Posterior<'_>, Option<PriorFree<'_>>) {
        self.refresh();
        let (posterior, prior_free) = self.sample.posterior_and_prior_free();
        (Posterior { means: &self.means, ..posterior }, prior_free)
    }

    fn moments_of(&mut self, arm: Arm) -> (f64, f64) {
        self.refresh();
        (self.means[arm], self.sample.moments_of(arm).1)
    }

    fn prior_free_moments_of(&mut self, arm: Arm) -> (f64, f64) {
        self.sample.moments_of(arm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(rewards: &[(Arm, f64)], n_arms: usize) -> Vec<f64> {
        let mut isotonic = Isotonic::new(&Arms::without_features(n_arms).unwrap());
        for &(arm, reward) in rewards {
            isotonic.observe(arm, reward);
        }
        isotonic.means().to_vec()
    }

    #[test]
    fn violators_are_pooled_with_the_weights_of_their_rewards() {
        assert_eq!(fit(&[], 2), [0.0, 0.0]);
        assert_eq!(fit(&[(0, 1.0), (1, 2.0), (2, 4.0)], 3), [1.0, 2.0, 4.0]);
        // The mean of arm 1 is 1, that of arm 2 is 4 with two rewards, that of arm 3 is 1.
        assert_eq!(fit(&[(0, 0.0), (1, 1.0), (2, 5.0), (2, 3.0), (3, 1.0)], 4), [0.0, 1.0, 3.0, 3.0]);
        assert_eq!(fit(&[(0, 3.0), (1, 2.0), (2, 1.0)], 3), [2.0, 2.0, 2.0]);
        assert_eq!(fit(&[(1, 5.0), (3, 7.0)], 5), [5.0, 5.0, 5.0, 7.0, 7.0], "arms without rewards");
    }

    /// The definition: μ̂ᵢ = max over j ≤ i of the min over k ≥ i of the mean of all rewards of arms j to k.
    #[test]
    fn agrees_with_the_max_min_formula() {
        let rewards: Vec<(Arm, f64)> =
            (0..60).map(|t| (t * t % 7, (t * 97 % 256) as f64 - 10.0 * (t % 7) as f64)).collect();
        for n in 7..rewards.len() {
            let rewards: Vec<_> = (0..7).map(|arm| (arm, arm as f64)).chain(rewards[..n].iter().copied()).collect();
            let pooled = |j: Arm, k: Arm| {
                let of: Vec<f64> = rewards.iter().filter(|r| (j..=k).contains(&r.0)).map(|r| r.1).collect();
                of.iter().sum::<f64>() / of.len() as f64
            };
            let expected = (0..7).map(|i| {
                (0..=i)
                    .map(|j| (i..7).map(|k| pooled(j, k)).fold(f64::INFINITY, f64::min))
                    .fold(f64::NEG_INFINITY, f64::max)
            });
            for (found, expected) in fit(&rewards, 7).into_iter().zip(expected) {
                assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
            }
        }
    }
}
