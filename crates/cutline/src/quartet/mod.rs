//! Four runs of one algorithm in step, one to a lane of the vector unit.
//!
//! A simulation plays many runs that are alike. Here every operation works on four of them at once, so that what a
//! single run spends on bookkeeping is spent once for four. Each lane does the arithmetic of the estimator and of the
//! rule, operation by operation in their order: a run gives the same bits alone and in company.

mod design;
mod index;
mod pivot;

pub(crate) use index::in_step as index_in_step;
pub(crate) use pivot::in_step as pivot_in_step;

use crate::Arm;
use crate::arms::Features;
use crate::vector::Unit;
use pulp::f64x4;
use std::sync::Arc;

/// Four runs in step: each asks for one arm, then each is told its reward, and so on.
pub trait InStep: Send {
    /// The next arm of each run.
    fn ask(&mut self) -> [Arm; 4];

    /// The reward of the arm that each run asked for. Every ask is followed by one tell.
    ///
    /// # Panics
    /// If a reward is not finite.
    fn tell(&mut self, rewards: [f64; 4]);

    /// The estimates of all means: an entry an arm, with the four runs in it.
    fn means(&mut self) -> &[[f64; 4]];
}

/// The most features a run may have to be worth it: four times as many have to fit the nearest cache.
const MOST_FEATURES: usize = 4096;

/// `by_width!(d, |D| work)` does `work` with the constant `D`, the number of features that d is filled up to with zeros;
/// `None` if d is too large. With a constant, loops over features unroll and sums stay in registers.
macro_rules! by_width {
    ($d:expr, |$D:ident| $work:expr) => {{
        macro_rules! width {
            ($width:literal) => {{
                const $D: usize = $width;
                $work
            }};
        }
        match $d {
            1 => width!(1),
            2 => width!(2),
            3 => width!(3),
            4 => width!(4),
            5 => width!(5),
            6 => width!(6),
            7 => width!(7),
            8 => width!(8),
            9..=10 => width!(10),
            11..=12 => width!(12),
            13 => width!(13),
            14..=16 => width!(16),
            17..=20 => width!(20),
            21..=24 => width!(24),
            25..=32 => width!(32),
            _ => None,
        }
    }};
}
use by_width;

/// Whether runs with these features can play in step: small enough, and alike in the number of arms and features.
fn is_alike(alone: [&Arc<Features>; 4]) -> bool {
    let shape = |features: &Features| (features.n_arms, features.dimension);
    let (n_arms, dimension) = shape(alone[0]);
    n_arms * dimension <= MOST_FEATURES && alone.iter().all(|features| shape(features) == (n_arms, dimension))
}

/// The least value of each run so far, and the arm it belongs to.
struct Best {
    least: f64x4,
    found: f64x4,
}

impl Best {
    #[inline(always)]
    fn new<S: Unit>(unit: S) -> Self {
        Self { least: unit.splat_f64s(f64::INFINITY), found: unit.splat_f64s(0.0) }
    }

    /// The values of an arm.
    #[inline(always)]
    fn take<S: Unit>(&mut self, unit: S, arm: f64, value: f64x4) {
        let is_less = unit.less_than_f64s(value, self.least);
        self.least = unit.min_f64s(value, self.least);
        self.found = unit.select_f64s(is_less, unit.splat_f64s(arm), self.found);
    }

    /// The arms found: beside 2⁵² a float's last bits are the whole number that was added.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "a few bits")]
    fn arms<S: Unit>(&self, unit: S) -> [Arm; 4] {
        let found = unit.add_f64s(self.found, unit.splat_f64s(4_503_599_627_370_496.0));
        let bits: [u64; 4] = pulp::cast(found);
        [bits[0] as u32 as usize, bits[1] as u32 as usize, bits[2] as u32 as usize, bits[3] as u32 as usize]
    }
}
