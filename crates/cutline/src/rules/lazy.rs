//! The arg min of an index without a look at every arm.
//!
//! Between pulls only θ̂ moves, so a mean moves by at most ‖xᵢ‖ times the way that θ̂ went. An arm whose gap is larger than it would
//! need to be for an index below some bar can be left alone until θ̂ has gone that far. Arms are watched in blocks: most
//! sleep until a given point of θ̂'s way, a few are awake and looked at for every choice. While some index lies below the bar the
//! least one is among those awake; when none does, all arms are looked at once and the bar is set anew.
//!
//! The arm found is the one a plain scan finds: bounds are widened by more than rounding can do.

use super::Index;
use crate::arms::Features;
use crate::vector::{LANES, Vectors, numbers, vectorised};
use crate::{Arm, Question};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Means that move with θ̂: what an [`Estimator`](crate::estimators::Estimator) of that kind shows.
#[derive(Debug)]
pub struct Moving<'a> {
    pub(crate) features: &'a Features,
    pub(crate) theta: &'a [f64],
    /// The length of θ̂'s way so far, rounded up.
    pub(crate) travelled: f64,
    /// All means, as they were when somebody last looked, and whether θ̂ has moved since.
    pub(crate) means: &'a mut Vectors,
    pub(crate) is_stale: &'a mut bool,
}

impl Moving<'_> {
    /// All means, brought up to date, block by block.
    fn all(&mut self) -> &[[f64; LANES]] {
        if *self.is_stale {
            self.features.times(self.theta, self.means);
            *self.is_stale = false;
        }
        numbers(self.means).as_chunks().0
    }
}

/// From how many arms on this is worth it.
const LEAST_ARMS: usize = 1024;

#[derive(Clone, Debug)]
pub(super) struct Lazy {
    /// Arms of blocks that sleep have an index of at least this.
    bar: f64,
    awake: Vec<u32>,
    asleep: BinaryHeap<Sleeper>,
    /// The greatest ‖xᵢ‖ of each block.
    norms: Vec<f64>,
    /// Room to find the bar in: the least index of each block.
    least: Vec<f64>,
}

/// A block that sleeps until θ̂ has gone so far.
#[derive(Clone, Copy, Debug)]
struct Sleeper {
    wakes_at: f64,
    block: u32,
}

/// What a look at a block found.
struct Look {
    least: f64,
    arm: Arm,
    /// How far θ̂ may go before an index of the block can fall below the bar.
    leeway: f64,
}

impl Lazy {
    /// For that many arms, if they are enough and the index can be inverted.
    pub(super) fn new(index: &impl Index, n_arms: usize) -> Option<Self> {
        if n_arms < LEAST_ARMS || index.gap_for(1.0, 1.0).is_none() {
            return None;
        }
        let n_blocks = n_arms.div_ceil(LANES);
        Some(Self {
            bar: f64::NEG_INFINITY,
            awake: Vec::with_capacity(n_blocks),
            asleep: BinaryHeap::with_capacity(n_blocks),
            norms: Vec::with_capacity(n_blocks),
            least: Vec::with_capacity(n_blocks),
        })
    }

    /// Forgets what was seen, because something but θ̂ and the pulls of the arm chosen last has changed.
    pub(super) fn forget(&mut self) {
        self.bar = f64::NEG_INFINITY;
    }

    /// The first arm with the least index.
    pub(super) fn arg_min(
        &mut self,
        index: &impl Index,
        question: &Question,
        mut moving: Moving<'_>,
        weights: &[f64],
    ) -> Arm {
        if let Some(arm) = self.among_awake(index, question, &moving, weights) {
            return arm;
        }
        self.look_at_all(index, question, &mut moving, weights)
    }

    /// The least index of the blocks that are awake, if it lies below the bar.
    fn among_awake(
        &mut self,
        index: &impl Index,
        question: &Question,
        moving: &Moving<'_>,
        weights: &[f64],
    ) -> Option<Arm> {
        if self.bar == f64::NEG_INFINITY {
            return None;
        }
        while let Some(&Sleeper { wakes_at, block }) = self.asleep.peek()
            && !(wakes_at > moving.travelled)
        {
            self.asleep.pop();
            self.awake.push(block);
        }
        let (mut least, mut found) = (f64::INFINITY, 0);
        let mut position = 0;
        while position < self.awake.len() {
            let block = self.awake[position];
            let means = vectorised!(|unit| moving.features.times_block(unit, block as usize, moving.theta));
            let look = self.look(block, &means, index, question, moving, weights);
            if look.least < least || (look.least == least && look.arm < found) {
                (least, found) = (look.least, look.arm);
            }
            if look.leeway > 0.0 {
                self.awake.swap_remove(position);
                self.asleep.push(Sleeper { wakes_at: moving.travelled + look.leeway, block });
            } else {
                position += 1;
            }
        }
        (least < self.bar).then_some(found)
    }

    /// The least index of all, and a new bar: such that some √(number of blocks) are awake.
    fn look_at_all(
        &mut self,
        index: &impl Index,
        question: &Question,
        moving: &mut Moving<'_>,
        weights: &[f64],
    ) -> Arm {
        if self.norms.is_empty() {
            self.norms.extend(moving.features.max_norms2().map(f64::sqrt));
        }
        self.least.clear();
        let (mut least, mut found) = (f64::INFINITY, 0);
        for (block, (means, weights)) in moving.all().iter().zip(weights.chunks(LANES)).enumerate() {
            let (value, lane) = least_index(index, question, means, weights);
            if value < least {
                (least, found) = (value, block * LANES + lane);
            }
            self.least.push(value);
        }
        let middle = self.least.len().isqrt();
        let (_, &mut bar, _) = self.least.select_nth_unstable_by(middle, f64::total_cmp);
        self.bar = if bar > least { bar } else { f64::INFINITY };
        self.awake.clear();
        self.asleep.clear();
        for block in 0..u32::try_from(self.norms.len()).expect("fewer than 2³² blocks") {
            let means = moving.all()[block as usize];
            let Look { leeway, .. } = self.look(block, &means, index, question, moving, weights);
            if leeway > 0.0 {
                self.asleep.push(Sleeper { wakes_at: moving.travelled + leeway, block });
            } else {
                self.awake.push(block);
            }
        }
        found
    }

    /// The least index of a block and how long it may be left alone.
    fn look(
        &self,
        block: u32,
        means: &[f64; LANES],
        index: &impl Index,
        question: &Question,
        moving: &Moving<'_>,
        weights: &[f64],
    ) -> Look {
        let first = block as usize * LANES;
        let weights = &weights[first..weights.len().min(first + LANES)];
        let norm = self.norms[block as usize];
        // What rounding may do to a mean, with θ̂ no longer than its way.
        let rounding = 1e-14 * ((moving.theta.len() + 2) as f64 * norm * moving.travelled + question.threshold().abs());
        let mut leeway = f64::INFINITY;
        for (&mean, &weight) in means.iter().zip(weights) {
            let gap = question.gap(mean);
            let needed = index.gap_for(self.bar, weight).unwrap_or(f64::INFINITY);
            let spare = gap - needed - 1e-12 * (gap + needed.abs()) - rounding;
            leeway = leeway.min(if spare > 0.0 { spare / norm } else { 0.0 });
        }
        let (least, lane) = least_index(index, question, means, weights);
        Look { least, arm: first + lane, leeway }
    }
}

/// The least index of a block, and the first lane that has it.
fn least_index(index: &impl Index, question: &Question, means: &[f64; LANES], weights: &[f64]) -> (f64, usize) {
    let (mut least, mut found) = (f64::INFINITY, 0);
    for (lane, (&mean, &weight)) in means.iter().zip(weights).enumerate() {
        let value = index.index(question, mean, weight);
        if value < least {
            (least, found) = (value, lane);
        }
    }
    (least, found)
}

/// The one that wakes first is the greatest, because a heap gives the greatest.
impl Ord for Sleeper {
    fn cmp(&self, other: &Self) -> Ordering {
        other.wakes_at.total_cmp(&self.wakes_at).then(other.block.cmp(&self.block))
    }
}

impl PartialOrd for Sleeper {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Sleeper {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Sleeper {}
