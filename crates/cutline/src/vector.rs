//! Loops written for vectors of four numbers, compiled for AVX2 with FMA and for any machine.
//!
//! Results do not depend on which of the two runs: both take four lanes, every multiply-add is fused, and the order of
//! additions is written down here, never left to the compiler.

use pulp::{Simd, bytemuck, f64x4};
use std::sync::LazyLock;

/// How many arms a loop over arms takes at a time: two vectors.
pub(crate) const LANES: usize = 8;

/// The AVX2 unit, if this machine has one.
#[cfg(target_arch = "x86_64")]
pub(crate) static AVX2: LazyLock<Option<pulp::x86::V3>> = LazyLock::new(pulp::x86::V3::try_new);

/// As above, on machines that cannot have one.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) static AVX2: LazyLock<Option<pulp::Scalar256b>> = LazyLock::new(|| None);

/// A unit that works on four numbers at a time.
pub(crate) trait Unit: Simd<f64s = f64x4> {}

impl<S: Simd<f64s = f64x4>> Unit for S {}

/// `vectorised!(|unit| work)` runs `work` with the best [`Unit`] there is. Functions that `work` calls have to be
/// `#[inline(always)]`: only then are they compiled for the unit.
macro_rules! vectorised {
    (|$unit:ident| $work:expr) => {
        if let Some($unit) = *$crate::vector::AVX2 {
            pulp::Simd::vectorize(
                $unit,
                #[inline(always)]
                || $work,
            )
        } else {
            let $unit = pulp::Scalar256b;
            $work
        }
    };
}
pub(crate) use vectorised;

/// The numbers of a slice of vectors.
#[inline(always)]
pub(crate) fn numbers(vectors: &[f64x4]) -> &[f64] {
    bytemuck::cast_slice(vectors)
}

/// The numbers of a slice of vectors, to be changed.
#[inline(always)]
pub(crate) fn numbers_mut(vectors: &mut [f64x4]) -> &mut [f64] {
    bytemuck::cast_slice_mut(vectors)
}

/// `n` numbers, all 0, filled up to whole vectors.
pub(crate) fn zeros(n: usize) -> Vec<f64x4> {
    vec![f64x4(0.0, 0.0, 0.0, 0.0); n.div_ceil(4)]
}

/// aᵀb, in four sums that are then added crosswise.
#[inline(always)]
pub(crate) fn dot<S: Unit>(unit: S, a: &[f64x4], b: &[f64x4]) -> f64 {
    let zero = unit.splat_f64s(0.0);
    let sum = a.iter().zip(b).fold(zero, |sum, (&a, &b)| unit.mul_add_f64s(a, b, sum));
    (sum.0 + sum.2) + (sum.1 + sum.3)
}

/// y += a·x.
#[inline(always)]
pub(crate) fn add_scaled<S: Unit>(unit: S, y: &mut [f64x4], a: f64, x: &[f64x4]) {
    let a = unit.splat_f64s(a);
    for (y, &x) in y.iter_mut().zip(x) {
        *y = unit.mul_add_f64s(x, a, *y);
    }
}
