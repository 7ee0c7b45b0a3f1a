//! Loops over vectors of four numbers, compiled for AVX2 with FMA and for any other machine.
//!
//! Both give the same bits: both have four lanes, every multiply-add is fused, and the order of
//! additions is explicit, never left to the compiler.

use aligned_vec::{AVec, ConstAlign, avec};
use pulp::{Simd, bytemuck, f64x4};
use std::sync::LazyLock;

/// The number of arms that a loop over arms handles at a time: two vectors.
pub(crate) const LANES: usize = 8;

/// The AVX2 unit, if this machine has one.
#[cfg(target_arch = "x86_64")]
pub(crate) static AVX2: LazyLock<Option<pulp::x86::V3>> = LazyLock::new(pulp::x86::V3::try_new);

/// Other architectures have none.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) static AVX2: LazyLock<Option<pulp::Scalar256b>> = LazyLock::new(|| None);

/// A unit that works on four numbers at a time.
pub(crate) trait Unit: Simd<f64s = f64x4> {
    /// Whether loops are compiled for many lengths, which takes the compiler long. Not for processors of another age.
    const IS_COMMON: bool;
}

#[cfg(target_arch = "x86_64")]
impl Unit for pulp::x86::V3 {
    const IS_COMMON: bool = true;
}

impl Unit for pulp::Scalar256b {
    const IS_COMMON: bool = cfg!(not(target_arch = "x86_64"));
}

/// The unit of batches: the only one that they are compiled for.
#[cfg(target_arch = "x86_64")]
pub(crate) type BatchUnit = pulp::x86::V3;

/// The unit of batches: the only one that they are compiled for.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) type BatchUnit = pulp::Scalar256b;

/// The unit of batches, if this machine has it. If it does not, runs are played one by one, with the same bits.
#[cfg(target_arch = "x86_64")]
pub(crate) fn batch_unit() -> Option<BatchUnit> {
    *AVX2
}

/// The unit of batches, which every machine has.
#[cfg(not(target_arch = "x86_64"))]
#[expect(clippy::unnecessary_wraps, reason = "other machines may lack it")]
pub(crate) fn batch_unit() -> Option<BatchUnit> {
    Some(pulp::Scalar256b)
}

/// `vectorised!(|unit| work)` runs `work` with the best [`Unit`] of this machine. Functions that `work` calls have to be
/// `#[inline(always)]`: only then are they compiled for the unit.
macro_rules! vectorised {
    (|$unit:ident| $work:expr) => {
        if let Some($unit) = *$crate::vector::AVX2 {
            $crate::vector::on_unit!($unit, || $work)
        } else {
            let $unit = pulp::Scalar256b;
            $work
        }
    };
}
pub(crate) use vectorised;

/// `on_unit!(unit, || work)` runs `work` with this unit; functions that it calls have to be `#[inline(always)]`, as in [`vectorised`].
macro_rules! on_unit {
    ($unit:expr, || $work:expr) => {{
        let once = $crate::vector::Once;
        pulp::Simd::vectorize(
            $unit,
            #[inline(always)]
            || {
                let _taken = once;
                $work
            },
        )
    }};
}
pub(crate) use on_unit;

/// A closure that takes this can be called only once (`FnOnce`). Any other closure is called through a wrapper that the compiler may
/// not inline, and then all of it is compiled for the basic instruction set.
pub(crate) struct Once;

/// The numbers of a slice of vectors.
#[inline(always)]
pub(crate) fn numbers(vectors: &[f64x4]) -> &[f64] {
    bytemuck::cast_slice(vectors)
}

/// The numbers of a slice of vectors, mutable.
#[inline(always)]
pub(crate) fn numbers_mut(vectors: &mut [f64x4]) -> &mut [f64] {
    bytemuck::cast_slice_mut(vectors)
}

/// Vectors aligned to 64 bytes, so that none of them crosses a cache line.
pub(crate) type Vectors = AVec<f64x4, ConstAlign<64>>;

/// `n` zeros, padded to whole vectors.
pub(crate) fn zeros(n: usize) -> Vectors {
    avec![[64]| f64x4(0.0, 0.0, 0.0, 0.0); n.div_ceil(4)]
}

/// The first lane of the first vector, the second of the second, and so on. It works on whole vectors, because reading a vector
/// whose lanes were just written one by one stalls the processor.
#[inline(always)]
pub(crate) fn diagonal<S: Unit>(unit: S, vectors: [f64x4; 4]) -> f64x4 {
    let lanes = f64x4(0.0, 1.0, 2.0, 3.0);
    let upper = unit.select_f64s(unit.less_than_f64s(lanes, unit.splat_f64s(2.5)), vectors[2], vectors[3]);
    let lower = unit.select_f64s(unit.less_than_f64s(lanes, unit.splat_f64s(0.5)), vectors[0], vectors[1]);
    unit.select_f64s(unit.less_than_f64s(lanes, unit.splat_f64s(1.5)), lower, upper)
}

/// y += a·x.
#[inline(always)]
pub(crate) fn add_scaled<S: Unit>(unit: S, y: &mut [f64x4], a: f64, x: &[f64x4]) {
    let a = unit.splat_f64s(a);
    for (y, &x) in y.iter_mut().zip(x) {
        *y = unit.mul_add_f64s(x, a, *y);
    }
}

/// ‖x‖.
#[inline(always)]
pub(crate) fn norm<S: Unit>(unit: S, x: &[f64x4]) -> f64 {
    let mut sum = unit.splat_f64s(0.0);
    for &x in x {
        sum = unit.mul_add_f64s(x, x, sum);
    }
    unit.reduce_sum_f64s(sum).sqrt()
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::estimators::inverse::{Inverse, Step};
    use crate::{Arms, Purpose, stream};
    use pulp::Scalar256b;
    use rand_core::Rng as _;

    /// The same bits with AVX2 and without, for narrow, odd and wide rows.
    #[test]
    fn units_agree_to_the_last_bit() {
        let Some(avx2) = *AVX2 else { return };
        let mut rng = stream(3, Purpose::Instance, 0);
        for (n_arms, dimension) in [(1, 1), (20, 5), (33, 13), (70, 20), (9, 31), (12, 45)] {
            let random = |_| f64::from(rng.next_u32()) / f64::from(u32::MAX) - 0.5;
            let values: Vec<f64> = (0..n_arms * dimension).map(random).collect();
            let arms = Arms::from_slice(&values, dimension).unwrap();
            let features = arms.features().unwrap();
            let (mut with_avx2, mut without) = (Inverse::new(dimension, 0.3), Inverse::new(dimension, 0.3));
            let (mut step, mut plain_step) = (Step::new(dimension), Step::new(dimension));
            let (mut products, mut plain_products) = (features.zeros(), features.zeros());
            for arm in (0..n_arms).chain(0..n_arms) {
                let x = features.row(arm);
                let (mut next, mut plain_next) = (with_avx2.clone(), without.clone());
                avx2.vectorize(|| {
                    with_avx2.solve(avx2, x, &mut step);
                    with_avx2.advance_solved(avx2, 1.0, &mut step, &mut next);
                });
                without.solve(Scalar256b, x, &mut plain_step);
                without.advance_solved(Scalar256b, 1.0, &mut plain_step, &mut plain_next);
                (with_avx2, without) = (next, plain_next);
                features.times(numbers(&step.u), &mut products);
                features.times_on(Scalar256b, numbers(&plain_step.u), &mut plain_products);
                assert_eq!(numbers(&step.u), numbers(&plain_step.u), "u, d = {dimension}");
                assert_eq!(step.s.to_bits(), plain_step.s.to_bits());
                assert_eq!(numbers(&products), numbers(&plain_products), "Xu, d = {dimension}");
            }
        }
    }
}
