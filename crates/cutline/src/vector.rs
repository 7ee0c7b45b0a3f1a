//! Loops compiled for the vector unit at hand.

use pulp::Arch;
use std::sync::LazyLock;

/// What this machine has: AVX2 with FMA, or the instruction set the program was compiled for.
static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);

/// How many arms a vector loop takes at a time.
pub(crate) const LANES: usize = 8;

/// How many values the vectors of length d are filled up to a multiple of.
pub(crate) const WIDTH: usize = 4;

/// Runs `work`, compiled for the widest vector unit the machine has.
///
/// The result does not depend on which: loops here name their lanes and their order of additions, every multiply-add
/// is fused ([`f64::mul_add`]), and the compiler never reorders floating-point arithmetic. What `work` calls has to be
/// `#[inline(always)]`, or it is compiled for the plain instruction set: right, but slow.
#[inline(always)]
#[expect(clippy::inline_always, reason = "the work must be inlined where the vector features are switched on")]
pub(crate) fn vectorised<R>(work: impl FnOnce() -> R) -> R {
    ARCH.dispatch(work)
}

/// The inner product of two padded vectors, in a fixed order of additions.
#[inline(always)]
#[expect(clippy::inline_always, reason = "see `vectorised`")]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sum = [0.0; WIDTH];
    for (a, b) in a.as_chunks::<WIDTH>().0.iter().zip(b.as_chunks::<WIDTH>().0) {
        for lane in 0..WIDTH {
            sum[lane] = a[lane].mul_add(b[lane], sum[lane]);
        }
    }
    (sum[0] + sum[2]) + (sum[1] + sum[3])
}

/// y += a·x.
#[inline(always)]
#[expect(clippy::inline_always, reason = "see `vectorised`")]
pub(crate) fn add_scaled(y: &mut [f64], a: f64, x: &[f64]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = x.mul_add(a, *y);
    }
}
