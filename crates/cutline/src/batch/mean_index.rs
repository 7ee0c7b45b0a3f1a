//! Four runs of an [`Index`] with sample means. A pull changes only the index of the arm pulled, so the others are kept.

use super::{ArgMin, RunGroup};
use crate::rules::Index;
use crate::vector::{Unit, Vectors, vectorised, zeros};
use crate::{Arm, Question};
use pulp::f64x4;

/// Four runs before their first pull.
pub(crate) fn mean_index_group<I: Index + Send + 'static>(
    index: [I; 4],
    questions: [Question; 4],
    n_arms: usize,
) -> Box<dyn RunGroup> {
    Box::new(MeanIndexGroup {
        index,
        questions,
        arms: vec![[SampleMean::default(); 4]; n_arms],
        indices: zeros(4 * n_arms),
        n_rewards: 0,
        asked: [0; 4],
        means: vec![[0.0; 4]; n_arms],
    })
}

struct MeanIndexGroup<I> {
    index: [I; 4],
    questions: [Question; 4],
    arms: Vec<[SampleMean; 4]>,
    /// The index of every arm in each run.
    indices: Vectors,
    /// The number of rewards of each run.
    n_rewards: usize,
    asked: [Arm; 4],
    /// A buffer for [`RunGroup::means`].
    means: Vec<[f64; 4]>,
}

/// The rewards of one arm in one run.
#[derive(Clone, Copy, Default)]
struct SampleMean {
    sum: f64,
    pulls: u32,
}

impl SampleMean {
    #[inline(always)]
    fn mean(self) -> f64 {
        self.sum / f64::from(self.pulls)
    }
}

impl<I: Index + Send> RunGroup for MeanIndexGroup<I> {
    fn ask(&mut self) -> [Arm; 4] {
        let opening = self.n_rewards;
        self.asked =
            if opening < self.arms.len() { [opening; 4] } else { vectorised!(|unit| scan(unit, &self.indices)) };
        self.asked
    }

    fn tell(&mut self, rewards: [f64; 4]) {
        self.n_rewards += 1;
        vectorised!(|_unit| self.update(rewards));
    }

    fn means(&mut self) -> &[[f64; 4]] {
        for (means, runs) in self.means.iter_mut().zip(&self.arms) {
            *means = runs.map(|arm| if arm.pulls == 0 { 0.0 } else { arm.mean() });
        }
        &self.means
    }
}

impl<I: Index> MeanIndexGroup<I> {
    /// Counts the pulls of the arms asked for and computes their indices.
    #[inline(always)]
    fn update(&mut self, rewards: [f64; 4]) {
        let mut indices = [0.0; 4];
        for lane in 0..4 {
            assert!(rewards[lane].is_finite(), "a reward must be finite, not {}", rewards[lane]);
            let arm = &mut self.arms[self.asked[lane]][lane];
            arm.sum += rewards[lane];
            arm.pulls += 1;
            let weight = self.index[lane].weight(self.asked[lane], arm.pulls);
            indices[lane] = self.index[lane].index(&self.questions[lane], arm.mean(), weight);
        }
        for lane in 0..4 {
            // A whole vector is written at a time, for the reason given at `diagonal`.
            let runs = &mut self.indices[self.asked[lane]];
            let mut lanes: [f64; 4] = pulp::cast(*runs);
            lanes[lane] = indices[lane];
            *runs = pulp::cast(lanes);
        }
    }
}

/// The first arm with the least index, in each run.
#[inline(always)]
fn scan<S: Unit>(unit: S, indices: &[f64x4]) -> [Arm; 4] {
    let n = indices.len() / 4;
    // Four scans side by side, each of a quarter of the arms, so that none waits for the comparisons of the others.
    let mut best = [ArgMin::new(unit), ArgMin::new(unit), ArgMin::new(unit), ArgMin::new(unit)];
    let quarters: [&[f64x4]; 4] = std::array::from_fn(|quarter| &indices[quarter * n..(quarter + 1) * n]);
    let mut arm = unit.splat_f64s(0.0);
    for i in 0..n {
        for quarter in 0..4 {
            best[quarter].take(unit, arm, quarters[quarter][i]);
        }
        arm = unit.add_f64s(arm, unit.splat_f64s(1.0));
    }
    let [mut least, rest @ ..] = best;
    for (quarter, best) in (1..).zip(rest) {
        let arms = unit.add_f64s(best.found, unit.splat_f64s((quarter * n) as f64));
        least.take(unit, arms, best.least);
    }
    for (arm, &indices) in indices.iter().enumerate().skip(4 * n) {
        least.take(unit, unit.splat_f64s(arm as f64), indices);
    }
    least.arms(unit)
}
