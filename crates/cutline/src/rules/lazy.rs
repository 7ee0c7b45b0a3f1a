//! The arg min of an index without evaluating every arm.
//!
//! Between choices only θ̂ and the pulls of the arm just chosen change. When θ̂ travels a distance r, the mean of arm i, and with it the
//! gap Δ̂ᵢ, changes by at most ‖xᵢ‖r. So for any bound on the index, an arm whose index lies above the bound cannot fall below it until θ̂
//! has travelled (Δ̂ᵢ − Δ)/‖xᵢ‖, where Δ is the gap at which its index equals the bound.
//!
//! Arms are handled in blocks. A block none of whose arms can be below the bound yet is *asleep*, and is scheduled to wake once θ̂ has
//! travelled far enough; the other blocks are *awake* and evaluated at every choice. As long as some index lies below the bound, the
//! least index is in a block that is awake. If none does, or if θ̂ has travelled beyond the end of the schedule, a full scan evaluates
//! all arms and sets a new bound and a new schedule.
//!
//! The arm found is the one that a full scan finds: all margins are wider than any rounding error.

use super::Index;
use crate::estimators::LazyMeans;
use crate::vector::{LANES, vectorised};
use crate::{Arm, Question};

/// The number of arms from which a lazy scan is faster; `make bench WHAT=large` measures it.
pub(super) const MIN_ARMS: usize = 30_000;

/// The state of a lazy scan; see the module documentation.
#[derive(Clone, Debug)]
pub(super) struct LazyScan {
    /// Every arm of a block that is asleep has at least this index; −∞ if the next scan has to be a full one.
    bound: f64,
    awake: Vec<u32>,
    asleep: Schedule,
    /// The greatest ‖xᵢ‖ of each block.
    norms: Vec<f64>,
    /// For each block, how far θ̂ could travel, as of the last full scan, before the block has to be evaluated.
    distances: Vec<f64>,
    /// A buffer for finding quantiles.
    scratch: Vec<f64>,
}

/// The blocks that are asleep, grouped by the distance travelled at which they wake, in intervals of equal length. A block that would
/// wake after the last interval is not stored: a full scan comes before that.
#[derive(Clone, Debug)]
struct Schedule {
    intervals: Vec<Vec<u32>>,
    /// Where the first interval begins, and the length of each.
    start: f64,
    length: f64,
    /// The first interval whose blocks are still asleep.
    next: usize,
}

/// The number of intervals in a schedule.
const INTERVALS: usize = 1024;

impl Schedule {
    /// Removes all blocks, and schedules for distances from `start` to `end`.
    fn reset(&mut self, start: f64, end: f64) {
        self.intervals.iter_mut().for_each(Vec::clear);
        (self.start, self.length, self.next) = (start, (end - start) / INTERVALS as f64, 0);
    }

    /// Puts a block to sleep until the interval that contains `wakes_at` begins. Returns false, and does nothing, if it has begun already.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the cast rounds down, and saturates outside of the range of `usize`"
    )]
    fn add(&mut self, block: u32, wakes_at: f64) -> bool {
        let interval = ((wakes_at - self.start) / self.length) as usize;
        if interval < self.next {
            return false;
        }
        if let Some(blocks) = self.intervals.get_mut(interval) {
            blocks.push(block);
        }
        true
    }

    /// Moves the blocks of all intervals up to the distance `travelled` to `awake`; `None` if it is beyond the last interval.
    fn wake(&mut self, travelled: f64, awake: &mut Vec<u32>) -> Option<()> {
        while !(self.start + self.length * self.next as f64 > travelled) {
            awake.append(self.intervals.get_mut(self.next)?);
            self.next += 1;
        }
        Some(())
    }
}

/// The result of evaluating a block.
struct BlockResult {
    least: f64,
    arm: Arm,
    /// How far θ̂ may travel before an index of the block can fall below the bound.
    distance: f64,
}

impl LazyScan {
    /// A scan of `n_arms` arms; `None` if the index has no [`gap_for`](Index::gap_for).
    pub(super) fn new(index: &impl Index, n_arms: usize) -> Option<Self> {
        index.gap_for(1.0, index.weight(0, 1))?;
        let n_blocks = n_arms.div_ceil(LANES);
        Some(Self {
            bound: f64::NEG_INFINITY,
            awake: Vec::with_capacity(n_blocks),
            asleep: Schedule { intervals: vec![Vec::new(); INTERVALS], start: 0.0, length: 0.0, next: 0 },
            norms: Vec::with_capacity(n_blocks),
            distances: Vec::with_capacity(n_blocks),
            scratch: Vec::with_capacity(n_blocks),
        })
    }

    /// Makes the next scan a full one. To be called when more has changed than θ̂ and the pulls of the arm chosen last.
    pub(super) fn reset(&mut self) {
        self.bound = f64::NEG_INFINITY;
    }

    /// The first arm with the least index.
    pub(super) fn arg_min<I: Index>(
        &mut self,
        index: &I,
        question: &Question,
        mut means: LazyMeans<'_>,
        weights: &[I::Weight],
    ) -> Arm {
        if let Some(arm) = self.scan_awake(index, question, &means, weights) {
            return arm;
        }
        self.scan_all(index, question, &mut means, weights)
    }

    /// The first arm with the least index, searched in the blocks that are awake; `None` if a full scan is needed.
    fn scan_awake<I: Index>(
        &mut self,
        index: &I,
        question: &Question,
        means: &LazyMeans<'_>,
        weights: &[I::Weight],
    ) -> Option<Arm> {
        if self.bound == f64::NEG_INFINITY {
            return None;
        }
        self.asleep.wake(means.travelled, &mut self.awake)?;
        let (mut least, mut found) = (f64::INFINITY, 0);
        let mut position = 0;
        while position < self.awake.len() {
            let block = self.awake[position];
            let result = vectorised!(|unit| {
                let block_means = means.features.times_block(unit, block as usize, means.theta);
                self.evaluate(block as usize, &block_means, index, question, means, weights)
            });
            if result.least < least || (result.least == least && result.arm < found) {
                (least, found) = (result.least, result.arm);
            }
            if result.distance > 0.0 && self.asleep.add(block, means.travelled + result.distance) {
                self.awake.swap_remove(position);
            } else {
                position += 1;
            }
        }
        (least < self.bound).then_some(found)
    }

    /// The first arm with the least index, by a full scan. Sets a new bound, such that about √(number of blocks) are awake, and a new
    /// schedule, which ends where one block in eight would be awake.
    fn scan_all<I: Index>(
        &mut self,
        index: &I,
        question: &Question,
        means: &mut LazyMeans<'_>,
        weights: &[I::Weight],
    ) -> Arm {
        if self.norms.is_empty() {
            self.norms.extend(means.features.max_norms2().map(f64::sqrt));
        }
        let n_blocks = self.norms.len();
        self.scratch.clear();
        let (mut least, mut found) = (f64::INFINITY, 0);
        for (block, (means, weights)) in means.all().iter().zip(weights.chunks(LANES)).enumerate() {
            let (value, lane) = least_index(index, question, means, weights);
            if value < least {
                (least, found) = (value, block * LANES + lane);
            }
            self.scratch.push(value);
        }
        let bound = *self.scratch.select_nth_unstable_by(n_blocks.isqrt().min(n_blocks - 1), f64::total_cmp).1;
        self.bound = if bound > least { bound } else { f64::INFINITY };
        self.scratch.clear();
        for block in 0..n_blocks {
            let block_means = means.all()[block];
            let result = vectorised!(|_unit| self.evaluate(block, &block_means, index, question, means, weights));
            self.scratch.push(result.distance);
        }
        let (start, scratch) = (means.travelled, &mut self.scratch);
        self.distances.clone_from(scratch);
        let distance = *scratch.select_nth_unstable_by(n_blocks / 8, f64::total_cmp).1;
        self.asleep.reset(start, if distance.is_finite() { start + distance } else { 2.0 * start + 1.0 });
        self.awake.clear();
        for (block, distance) in (0..).zip(&self.distances) {
            if *distance == 0.0 || !self.asleep.add(block, start + distance) {
                self.awake.push(block);
            }
        }
        found
    }

    /// The least index of a block, the arm that has it, and how far θ̂ may travel while the block sleeps.
    #[inline(always)]
    fn evaluate<I: Index>(
        &self,
        block: usize,
        block_means: &[f64; LANES],
        index: &I,
        question: &Question,
        means: &LazyMeans<'_>,
        weights: &[I::Weight],
    ) -> BlockResult {
        let first = block * LANES;
        let weights = &weights[first..weights.len().min(first + LANES)];
        let norm = self.norms[block];
        // The rounding error of a mean; ‖θ̂‖ is at most the distance travelled.
        let rounding = 1e-14 * ((means.theta.len() + 2) as f64 * norm * means.travelled + question.threshold().abs());
        let (least, lane) = least_index(index, question, block_means, weights);
        let arm = first + lane;
        if least < self.bound {
            return BlockResult { least, arm, distance: 0.0 };
        }
        let mut distance = f64::INFINITY;
        for (&mean, &weight) in block_means.iter().zip(weights) {
            let gap = question.gap(mean);
            let needed = index.gap_for(self.bound, weight).unwrap_or(f64::INFINITY);
            let spare = gap - needed - 1e-12 * (gap + needed.abs()) - rounding;
            distance = distance.min(if spare > 0.0 { spare / norm } else { 0.0 });
        }
        BlockResult { least, arm, distance }
    }
}

/// The least index of a block, and the first lane with it.
#[inline(always)]
fn least_index<I: Index>(index: &I, question: &Question, means: &[f64; LANES], weights: &[I::Weight]) -> (f64, usize) {
    let (mut least, mut found) = (f64::INFINITY, 0);
    for (lane, (&mean, &weight)) in means.iter().zip(weights).enumerate() {
        let value = index.index(question, mean, weight);
        if value < least {
            (least, found) = (value, lane);
        }
    }
    (least, found)
}
