//! What four runs were told.

use crate::Arm;

/// How often each arm was pulled and the sum of its rewards, in each run.
pub(super) struct Ledger {
    told: Vec<[Told; 4]>,
}

/// What was told of an arm in a run.
#[derive(Clone, Copy, Default)]
struct Told {
    pulls: u32,
    rewards: f64,
}

impl Ledger {
    pub(super) fn new(n_arms: usize) -> Self {
        Self { told: vec![[Told::default(); 4]; n_arms] }
    }

    pub(super) fn n_arms(&self) -> usize {
        self.told.len()
    }

    /// Counts a pull in each run; returns how many there were of that arm, this one included.
    ///
    /// # Panics
    /// If a reward is not finite.
    #[inline(always)]
    pub(super) fn count(&mut self, arms: [Arm; 4], rewards: [f64; 4]) -> [u32; 4] {
        let mut counts = [0; 4];
        for lane in 0..4 {
            assert!(rewards[lane].is_finite(), "a reward must be finite, not {}", rewards[lane]);
            let told = &mut self.told[arms[lane]][lane];
            told.rewards += rewards[lane];
            told.pulls += 1;
            counts[lane] = told.pulls;
        }
        counts
    }

    /// The pulls of every arm in one run.
    pub(super) fn pulls(&self, lane: usize) -> Vec<u32> {
        self.told.iter().map(|told| told[lane].pulls).collect()
    }

    /// The sum of the rewards of every arm in one run.
    pub(super) fn rewards(&self, lane: usize) -> Vec<f64> {
        self.told.iter().map(|told| told[lane].rewards).collect()
    }
}
