//! Four runs of one algorithm in step, one to a lane of the vector unit.
//!
//! A simulation plays many runs that are alike. Here every operation works on four of them at once, so that what a
//! single run spends on bookkeeping is spent once for four. Each lane does the arithmetic of the estimator and of the
//! rule, operation by operation in their order: a run gives the same bits alone and in company.

mod design;
mod gram;
mod index;
mod ledger;
mod pivot;

pub(crate) use index::in_step as index_in_step;
pub(crate) use pivot::in_step as pivot_in_step;

use crate::estimators::inverse::Inverse;
use crate::features::Features;
use crate::vector::Unit;
use crate::{Arm, Question};
use ledger::Ledger;
use pulp::f64x4;
use std::sync::Arc;

/// Four runs in step: each asks for one arm, then each is told its reward, and so on.
pub trait BatchLearner: Send {
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

/// The designs of four runs, one to a lane, in the coordinates that ridge works in. All that is alike for an arm in each run.
trait Plane: Send {
    /// A vector of coordinates as loops like to have it: a copy that stays in registers, or a look at it.
    type Local<'a>;

    fn local(vector: &[f64x4]) -> Self::Local<'_>;

    /// All arms as loops like to have them: what is behind `self` is looked up again after every number written.
    type Arms<'a>: Copy
    where
        Self: 'a;

    fn arms(&self) -> Self::Arms<'_>;

    /// How many coordinates there are.
    fn width(&self) -> usize;

    /// Picks an arm of each run: sets u to V⁻¹x.
    fn pick<S: Unit>(&mut self, unit: S, arms: [Arm; 4]);

    /// V⁻¹x of the arms picked.
    fn u(&self) -> &[f64x4];

    /// q = xᵀu of the arms picked.
    fn q<S: Unit>(&self, unit: S) -> f64x4;

    /// s = 1 + q of the arms picked.
    #[inline(always)]
    fn s<S: Unit>(&self, unit: S) -> f64x4 {
        unit.add_f64s(unit.splat_f64s(1.0), self.q(unit))
    }

    /// xᵀv of the arms picked.
    fn at_pick<S: Unit>(&self, unit: S, v: &[f64x4]) -> f64x4;

    /// xᵀv of the `N` arms from `first` on.
    fn products<S: Unit, const N: usize>(unit: S, arms: Self::Arms<'_>, first: Arm, v: &Self::Local<'_>) -> [f64x4; N];

    /// V⁻¹ −= u uᵀ/s. Overwrites u.
    fn shrink<S: Unit>(&mut self, unit: S, s: f64x4);

    /// Computes V⁻¹ of one run afresh; returns it and θ̂.
    fn refresh(&mut self, lane: usize, ledger: &Ledger) -> (Inverse, Vec<f64>);

    /// V⁻¹ of one run, on its own.
    fn inverse_of(&self, lane: usize) -> Inverse;

    /// The coordinates of the arms of one run.
    fn features_of(&self, lane: usize) -> &Features;
}

/// The most features a run may have to be worth it: four times as many have to fit the nearest cache.
const MOST_FEATURES: usize = 4096;

/// `in_plane!(alike, |plane| work)` does `work` with the [`Plane`] that fits; `None` if there are too many features.
///
/// With no more arms than features it is a [`Gram`](gram::Gram), else a [`Design`](design::Design) of constant width, the number of
/// features filled up with zeros: with a constant, loops over features unroll and sums stay in registers.
macro_rules! in_plane {
    ($alike:expr, |$plane:ident| $work:expr) => {{
        let (features, lambda) = ($alike.features, $alike.lambda);
        macro_rules! width {
            ($width:literal) => {{
                let $plane = $crate::quartet::design::Design::<$width>::new(features, lambda);
                $work
            }};
        }
        match features[0].dimension {
            dimension if features[0].n_arms <= dimension => {
                let $plane = $crate::quartet::gram::Gram::new(features, lambda);
                $work
            }
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
use in_plane;

/// Four runs that can play in step: small enough, and alike in the number of arms and features.
pub(crate) struct Alike<'a> {
    features: [&'a Arc<Features>; 4],
    question: [Question; 4],
    lambda: f64,
}

impl<'a> Alike<'a> {
    pub(crate) fn new(features: [&'a Arc<Features>; 4], question: [Question; 4], lambda: f64) -> Option<Self> {
        let shape = |features: &Features| (features.n_arms, features.dimension);
        let (n_arms, dimension) = shape(features[0]);
        let is_alike = features.iter().all(|features| shape(features) == (n_arms, dimension));
        (is_alike && n_arms * dimension <= MOST_FEATURES).then_some(Self { features, question, lambda })
    }
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

    /// The values of arms that come after all before.
    #[inline(always)]
    fn take<S: Unit>(&mut self, unit: S, arms: f64x4, value: f64x4) {
        let is_less = unit.less_than_f64s(value, self.least);
        self.least = unit.min_f64s(value, self.least);
        self.found = unit.select_f64s(is_less, arms, self.found);
    }

    /// Which arms [`Best::take`] will leave behind, and their values.
    #[inline(always)]
    fn displaced<S: Unit>(&self, unit: S, arms: f64x4, value: f64x4) -> (f64x4, f64x4) {
        let is_less = unit.less_than_f64s(value, self.least);
        (unit.select_f64s(is_less, self.found, arms), unit.select_f64s(is_less, self.least, value))
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
