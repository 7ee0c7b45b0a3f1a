//! The arg min of an index without a look at every arm.
//!
//! Between pulls only θ̂ moves, so a mean moves by at most ‖xᵢ‖ times the way that θ̂ went. An arm whose gap is larger than it would
//! need to be for an index below some bar can be left alone until θ̂ has gone that far. Arms are watched in blocks: most
//! sleep until a given point of θ̂'s way, a few are awake and looked at for every choice. While some index lies below the bar the
//! least one is among those awake; when none does, or θ̂ has gone further than was planned for, all arms are looked at once and
//! bar and plan are made anew.
//!
//! The arm found is the one a plain scan finds: bounds are widened by more than rounding can do.

use super::Index;
use crate::estimators::LazyMeans;
use crate::vector::{LANES, vectorised};
use crate::{Arm, Question};

/// From how many arms on this is worth it; `make bench-large` shows.
pub(super) const LEAST_ARMS: usize = 30_000;

#[derive(Clone, Debug)]
pub(super) struct Lazy {
    /// Arms of blocks that are not awake have an index of at least this.
    bar: f64,
    awake: Vec<u32>,
    asleep: Sleepers,
    /// The greatest ‖xᵢ‖ of each block.
    norms: Vec<f64>,
    /// How far θ̂ may go before a block has to be looked at, as of when all were looked at, and room to sort in.
    leeways: Vec<f64>,
    room: Vec<f64>,
}

/// Blocks that sleep, by the stretch of θ̂'s way in which they wake. Who would wake behind the last stretch is not kept.
#[derive(Clone, Debug)]
struct Sleepers {
    stretches: Vec<Vec<u32>>,
    /// Where the first stretch begins, and the length of each.
    start: f64,
    length: f64,
    /// The first stretch whose blocks are still asleep.
    next: usize,
}

/// Into how many stretches θ̂'s way is planned.
const STRETCHES: usize = 1024;

impl Sleepers {
    /// Nobody sleeps, and the way is planned from `start` to `end`.
    fn plan(&mut self, start: f64, end: f64) {
        self.stretches.iter_mut().for_each(Vec::clear);
        (self.start, self.length, self.next) = (start, (end - start) / STRETCHES as f64, 0);
    }

    /// Lets a block sleep until θ̂ comes to the stretch that `wakes_at` lies in; false if it is there already.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float becomes the nearest whole number"
    )]
    fn add(&mut self, block: u32, wakes_at: f64) -> bool {
        let stretch = ((wakes_at - self.start) / self.length) as usize;
        if stretch < self.next {
            return false;
        }
        if let Some(blocks) = self.stretches.get_mut(stretch) {
            blocks.push(block);
        }
        true
    }

    /// Wakes whom θ̂ has reached; `None` if it has left the plan.
    fn wake(&mut self, travelled: f64, awake: &mut Vec<u32>) -> Option<()> {
        while !(self.start + self.length * self.next as f64 > travelled) {
            awake.append(self.stretches.get_mut(self.next)?);
            self.next += 1;
        }
        Some(())
    }
}

/// What a look at a block found.
struct Look {
    least: f64,
    arm: Arm,
    /// How far θ̂ may go before an index of the block can fall below the bar.
    leeway: f64,
}

impl Lazy {
    /// For that many arms, if the index can be inverted.
    pub(super) fn new(index: &impl Index, n_arms: usize) -> Option<Self> {
        index.gap_for(1.0, 1.0)?;
        let n_blocks = n_arms.div_ceil(LANES);
        Some(Self {
            bar: f64::NEG_INFINITY,
            awake: Vec::with_capacity(n_blocks),
            asleep: Sleepers { stretches: vec![Vec::new(); STRETCHES], start: 0.0, length: 0.0, next: 0 },
            norms: Vec::with_capacity(n_blocks),
            leeways: Vec::with_capacity(n_blocks),
            room: Vec::with_capacity(n_blocks),
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
        mut moving: LazyMeans<'_>,
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
        moving: &LazyMeans<'_>,
        weights: &[f64],
    ) -> Option<Arm> {
        if self.bar == f64::NEG_INFINITY {
            return None;
        }
        self.asleep.wake(moving.travelled, &mut self.awake)?;
        let (mut least, mut found) = (f64::INFINITY, 0);
        let mut position = 0;
        while position < self.awake.len() {
            let block = self.awake[position];
            let look = vectorised!(|unit| {
                let means = moving.features.times_block(unit, block as usize, moving.theta);
                self.look(block as usize, &means, index, question, moving, weights)
            });
            if look.least < least || (look.least == least && look.arm < found) {
                (least, found) = (look.least, look.arm);
            }
            if look.leeway > 0.0 && self.asleep.add(block, moving.travelled + look.leeway) {
                self.awake.swap_remove(position);
            } else {
                position += 1;
            }
        }
        (least < self.bar).then_some(found)
    }

    /// The least index of all; a new bar, such that some √(number of blocks) are awake, and a new plan, for one block in eight.
    fn look_at_all(
        &mut self,
        index: &impl Index,
        question: &Question,
        moving: &mut LazyMeans<'_>,
        weights: &[f64],
    ) -> Arm {
        if self.norms.is_empty() {
            self.norms.extend(moving.features.max_norms2().map(f64::sqrt));
        }
        let n_blocks = self.norms.len();
        self.room.clear();
        let (mut least, mut found) = (f64::INFINITY, 0);
        for (block, (means, weights)) in moving.all().iter().zip(weights.chunks(LANES)).enumerate() {
            let (value, lane) = least_index(index, question, means, weights);
            if value < least {
                (least, found) = (value, block * LANES + lane);
            }
            self.room.push(value);
        }
        let bar = *self.room.select_nth_unstable_by(n_blocks.isqrt().min(n_blocks - 1), f64::total_cmp).1;
        self.bar = if bar > least { bar } else { f64::INFINITY };
        self.room.clear();
        for block in 0..n_blocks {
            let means = moving.all()[block];
            let look = vectorised!(|_unit| self.look(block, &means, index, question, moving, weights));
            self.room.push(look.leeway);
        }
        let (start, room) = (moving.travelled, &mut self.room);
        self.leeways.clone_from(room);
        let leeway = *room.select_nth_unstable_by(n_blocks / 8, f64::total_cmp).1;
        self.asleep.plan(start, if leeway.is_finite() { start + leeway } else { 2.0 * start + 1.0 });
        self.awake.clear();
        for (block, leeway) in (0..).zip(&self.leeways) {
            if *leeway == 0.0 || !self.asleep.add(block, start + leeway) {
                self.awake.push(block);
            }
        }
        found
    }

    /// The least index of a block and how long it may be left alone.
    #[inline(always)]
    fn look(
        &self,
        block: usize,
        means: &[f64; LANES],
        index: &impl Index,
        question: &Question,
        moving: &LazyMeans<'_>,
        weights: &[f64],
    ) -> Look {
        let first = block * LANES;
        let weights = &weights[first..weights.len().min(first + LANES)];
        let norm = self.norms[block];
        // What rounding may do to a mean, with θ̂ no longer than its way.
        let rounding = 1e-14 * ((moving.theta.len() + 2) as f64 * norm * moving.travelled + question.threshold().abs());
        let (least, lane) = least_index(index, question, means, weights);
        let arm = first + lane;
        if least < self.bar {
            return Look { least, arm, leeway: 0.0 };
        }
        let mut leeway = f64::INFINITY;
        for (&mean, &weight) in means.iter().zip(weights) {
            let gap = question.gap(mean);
            let needed = index.gap_for(self.bar, weight).unwrap_or(f64::INFINITY);
            let spare = gap - needed - 1e-12 * (gap + needed.abs()) - rounding;
            leeway = leeway.min(if spare > 0.0 { spare / norm } else { 0.0 });
        }
        Look { least, arm, leeway }
    }
}

/// The least index of a block, and the first lane that has it.
#[inline(always)]
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
