//! The pulls and rewards of four runs.

use crate::Arm;

/// How often each arm was pulled and the sum of its rewards, in each run.
pub(super) struct RewardSums {
    arms: Vec<[ArmSum; 4]>,
}

/// The rewards of one arm in one run.
#[derive(Clone, Copy, Default)]
struct ArmSum {
    pulls: u32,
    sum: f64,
}

impl RewardSums {
    pub(super) fn new(n_arms: usize) -> Self {
        Self { arms: vec![[ArmSum::default(); 4]; n_arms] }
    }

    pub(super) fn n_arms(&self) -> usize {
        self.arms.len()
    }

    /// Counts a pull in each run; returns how often that arm has been pulled, this pull included.
    ///
    /// # Panics
    /// If a reward is not finite.
    #[inline(always)]
    pub(super) fn count(&mut self, arms: [Arm; 4], rewards: [f64; 4]) -> [u32; 4] {
        let mut pulls = [0; 4];
        for lane in 0..4 {
            assert!(rewards[lane].is_finite(), "a reward must be finite, not {}", rewards[lane]);
            let arm = &mut self.arms[arms[lane]][lane];
            arm.sum += rewards[lane];
            arm.pulls += 1;
            pulls[lane] = arm.pulls;
        }
        pulls
    }

    /// The pulls of every arm in one run.
    pub(super) fn pulls(&self, lane: usize) -> Vec<u32> {
        self.arms.iter().map(|runs| runs[lane].pulls).collect()
    }

    /// The sum of the rewards of every arm in one run.
    pub(super) fn sums(&self, lane: usize) -> Vec<f64> {
        self.arms.iter().map(|runs| runs[lane].sum).collect()
    }
}
