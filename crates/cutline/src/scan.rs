//! Scans over all arms: arg min and arg max.

use crate::vector::{LANES, Unit, vectorised};
use pulp::f64x4;

/// The first arm with the least `index(aᵢ, bᵢ)`. NaN never wins; arm 0 if nothing else does.
///
/// Values are compared lane by lane, so a rule written with it runs on vector registers.
///
/// ```
/// let (means, pulls) = ([0.9, 0.4, 0.6], [1_u32, 4, 1]);
/// let arm = cutline::arg_min(&means, &pulls, |mean, n| f64::from(n) * (mean - 0.5_f64).abs());
/// assert_eq!(arm, 2);
/// ```
///
/// # Panics
/// If the slices differ in length.
#[inline]
pub fn arg_min<A: Copy, B: Copy>(a: &[A], b: &[B], index: impl Fn(A, B) -> f64) -> usize {
    assert_eq!(a.len(), b.len(), "one value per arm");
    vectorised!(|unit| scan(unit, a, b, index))
}

#[inline(always)]
fn scan<S: Unit, A: Copy, B: Copy>(unit: S, a: &[A], b: &[B], index: impl Fn(A, B) -> f64) -> usize {
    let block = |a: &[A; LANES], b: &[B; LANES]| std::array::from_fn(|lane| index(a[lane], b[lane]));
    let mut lanes = Lanes::new(unit);
    let mut first = 0;
    for (a, b) in a.as_chunks().0.iter().zip(b.as_chunks().0) {
        lanes.take(unit, first, block(a, b));
        first += LANES;
    }
    if first == a.len() {
        // No arm is left over.
    } else if let (Some(last_a), Some(last_b)) = (a.last_chunk(), b.last_chunk()) {
        // The last block overlaps the one before; arms that are evaluated twice change nothing.
        lanes.take(unit, a.len() - LANES, block(last_a, last_b));
    } else {
        let mut values = [f64::INFINITY; LANES];
        for ((value, &a), &b) in values.iter_mut().zip(a).zip(b) {
            *value = index(a, b);
        }
        lanes.take(unit, 0, values);
    }
    lanes.least(unit)
}

/// As [`arg_min`], where `may_win` is a cheap test that rules out most arms, and never the one with the least index.
#[inline]
pub(crate) fn arg_min_among<A: Copy, B: Copy>(
    a: &[A],
    b: &[B],
    may_win: impl Fn(A, B) -> bool,
    index: impl Fn(A, B) -> f64,
) -> usize {
    assert_eq!(a.len(), b.len(), "one value per arm");
    vectorised!(|unit| scan_among(unit, a, b, may_win, index))
}

#[inline(always)]
fn scan_among<S: Unit, A: Copy, B: Copy>(
    unit: S,
    a: &[A],
    b: &[B],
    may_win: impl Fn(A, B) -> bool,
    index: impl Fn(A, B) -> f64,
) -> usize {
    /// How many blocks are tested before those that pass are evaluated.
    const BLOCKS: usize = 64;
    let mut lanes = Lanes::new(unit);
    let mut passed = [0; BLOCKS];
    for (chunk, (a, b)) in a.chunks(BLOCKS * LANES).zip(b.chunks(BLOCKS * LANES)).enumerate() {
        let first = chunk * BLOCKS * LANES;
        let mut n_passed = 0;
        for (block, (a, b)) in a.as_chunks::<LANES>().0.iter().zip(b.as_chunks::<LANES>().0).enumerate() {
            let mut may_pass = false;
            for lane in 0..LANES {
                may_pass |= may_win(a[lane], b[lane]);
            }
            // Written unconditionally and kept by counting: a branch here would often be mispredicted.
            passed[n_passed % BLOCKS] = block * LANES;
            n_passed += usize::from(may_pass);
        }
        for &start in &passed[..n_passed] {
            let (a, b) = (&a[start..start + LANES], &b[start..start + LANES]);
            lanes.take(unit, first + start, std::array::from_fn(|lane| index(a[lane], b[lane])));
        }
        let (_, last_a) = a.as_chunks::<LANES>();
        if !last_a.is_empty() {
            let mut values = [f64::INFINITY; LANES];
            let start = a.len() - last_a.len();
            for (value, arm) in values.iter_mut().zip(start..a.len()) {
                *value = index(a[arm], b[arm]);
            }
            lanes.take(unit, first + start, values);
        }
    }
    lanes.least(unit)
}

/// The least value of each lane and the arm it belongs to; arms are floats, so that all registers have one type.
struct Lanes {
    least: [f64x4; 2],
    arms: [f64x4; 2],
}

impl Lanes {
    #[inline(always)]
    fn new<S: Unit>(unit: S) -> Self {
        let none = [unit.splat_f64s(f64::INFINITY); 2];
        Self { least: none, arms: none }
    }

    /// Takes the values of the arms from `first` on.
    #[inline(always)]
    fn take<S: Unit>(&mut self, unit: S, first: usize, values: [f64; LANES]) {
        let values: [f64x4; 2] = pulp::cast(values);
        let first = unit.splat_f64s(first as f64);
        let numbers = [f64x4(0.0, 1.0, 2.0, 3.0), f64x4(4.0, 5.0, 6.0, 7.0)];
        for half in 0..2 {
            let is_less = unit.less_than_f64s(values[half], self.least[half]);
            let arms = unit.add_f64s(first, numbers[half]);
            self.least[half] = unit.select_f64s(is_less, values[half], self.least[half]);
            self.arms[half] = unit.select_f64s(is_less, arms, self.arms[half]);
        }
    }

    /// The first arm with the least value of all, without a branch that could be mispredicted; 0 if there is none.
    #[inline(always)]
    fn least<S: Unit>(&self, unit: S) -> usize {
        let least = unit.splat_f64s(unit.reduce_min_f64s(unit.min_f64s(self.least[0], self.least[1])));
        let none = unit.splat_f64s(f64::INFINITY);
        let mut arms = [none; 2];
        for half in 0..2 {
            let is_least = unit.equal_f64s(self.least[half], least);
            arms[half] = unit.select_f64s(is_least, self.arms[half], none);
        }
        let arm = unit.reduce_min_f64s(unit.min_f64s(arms[0], arms[1]));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the number of an arm, or ∞")]
        let arm = if arm < f64::INFINITY { arm as usize } else { 0 };
        arm
    }
}

/// The first arm with the greatest `score(aᵢ, bᵢ)`; otherwise as [`arg_min`].
///
/// # Panics
/// If the slices differ in length.
#[inline]
pub fn arg_max<A: Copy, B: Copy>(a: &[A], b: &[B], score: impl Fn(A, B) -> f64) -> usize {
    arg_min(a, b, |a, b| -score(a, b))
}

/// a/x − ln x for x > 0, within a few units in the last place of its two terms, with one division. For x = 0 it is not finite, or NaN.
///
/// With x = 2ᵏm, √½ ≤ m < √2, and s = (m − 1)/(m + 1): ln x = k ln 2 + 2 artanh s. One reciprocal, of x(m + 1), gives both 1/x and s.
#[inline(always)]
pub(crate) fn quotient_minus_ln(a: f64, x: f64) -> f64 {
    let (k, m) = split(x);
    let reciprocal = 1.0 / (x * (m + 1.0));
    a * ((m + 1.0) * reciprocal) - ln_of(k, (m - 1.0) * (x * reciprocal))
}

/// ln x for x > 0, within a few units in the last place, and the same bits on every machine. For x = 0 and x = ∞ it is finite.
#[inline(always)]
pub(crate) fn ln(x: f64) -> f64 {
    let (k, m) = split(x);
    ln_of(k, (m - 1.0) / (m + 1.0))
}

/// The largest error of [`rough_quotient_minus_ln`], apart from rounding.
pub(crate) const ROUGH: f64 = 5e-4;

/// As [`quotient_minus_ln`] with an error of at most [`ROUGH`], and cheaper: ln m is the cubic in m − 1 with the least maximal error.
#[inline(always)]
pub(crate) fn rough_quotient_minus_ln(a: f64, x: f64) -> f64 {
    let (k, m) = split(x);
    let y = m - 1.0;
    let ln_m = y.mul_add(y.mul_add(y.mul_add(0.310249, -0.527461), 1.002044), 0.000404);
    a / x - k.mul_add(std::f64::consts::LN_2, ln_m)
}

/// k and m with x = 2ᵏm and √½ ≤ m < √2.
#[inline(always)]
fn split(x: f64) -> (f64, f64) {
    /// The bits of √½, so that subtracting them leaves k in the exponent field.
    const ROOT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    let shifted = x.to_bits().wrapping_sub(ROOT_HALF);
    // The exponent field holds k plus an offset, so it is small and positive. Adding 2⁵² turns it into a float without a
    // 64-bit integer conversion, which has no vector form before AVX-512.
    let exponent = (shifted >> 52) ^ 0x800;
    let k = f64::from_bits(0x4330_0000_0000_0000 | exponent) - (4_503_599_627_370_496.0 + 2048.0);
    (k, f64::from_bits((shifted & 0x000f_ffff_ffff_ffff) + ROOT_HALF))
}

/// k ln 2 + 2 artanh s for |s| ≤ 3 − 2√2: 2s + s (z 2/3 + z² 2/5 + …), z = s², with seven coefficients that approximate
/// the series to 2⁻⁵⁸ (Sun's fdlibm, `e_log.c`). Evaluated in pairs, so that multiplications need not wait for each other (Estrin 1960).
#[inline(always)]
fn ln_of(k: f64, s: f64) -> f64 {
    const C: [f64; 7] = [
        0.6666666666666735,
        0.3999999999940942,
        0.2857142874366239,
        0.22222198432149784,
        0.1818357216161805,
        0.15313837699209373,
        0.14798198605116586,
    ];
    let z = s * s;
    let z2 = z * z;
    let low = z2.mul_add(z.mul_add(C[3], C[2]), z.mul_add(C[1], C[0]));
    let high = z2.mul_add(C[6], z.mul_add(C[5], C[4]));
    let series = (z2 * z2).mul_add(high, low);
    k.mul_add(std::f64::consts::LN_2, 2.0f64.mul_add(s, s * z * series))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ties_go_to_the_first_arm_and_nan_never_wins() {
        for n in 1..40 {
            let mut values = vec![1.0; n];
            let zeros = vec![0.0; n];
            let pick = |values: &[f64]| arg_min(values, &zeros, |a, _| a);
            assert_eq!(pick(&values), 0);
            values[0] = f64::NAN;
            assert_eq!(pick(&values), usize::from(n > 1));
            values[n / 2] = -1.0;
            values[n - 1] = -1.0;
            assert_eq!(pick(&values), n / 2);
            assert_eq!(pick(&vec![f64::NAN; n]), 0);
            assert_eq!(pick(&vec![f64::INFINITY; n]), 0);
        }
    }

    #[test]
    fn ln_agrees_with_the_standard_library() {
        for i in -3000..3000 {
            let x = (f64::from(i) * 0.2345).exp() * (1.0 + f64::from(i) * 1e-5);
            if !(x > 1e-300 && x < 1e300) {
                continue;
            }
            let expected_ln = x.ln();
            assert!((ln(x) - expected_ln).abs() <= 1e-15 * expected_ln.abs().max(1.0), "ln {x}");
            for a in [0.0, 1e-3, 1.7, 1e6] {
                let (found, expected) = (quotient_minus_ln(a, x), a / x - expected_ln);
                let rounding = 1e-15 * (a / x + x.ln().abs().max(1.0));
                assert!((found - expected).abs() <= rounding, "{a}/x − ln x, x = {x}");
                let rough = rough_quotient_minus_ln(a, x);
                assert!((rough - expected).abs() <= ROUGH + rounding, "{a}/x − ln x roughly, x = {x}");
            }
        }
        assert_eq!((ln(1.0), quotient_minus_ln(3.0, 1.0)), (0.0, 3.0));
        for of_zero in [quotient_minus_ln, rough_quotient_minus_ln] {
            assert!([0.0, 3.0].iter().all(|&a| !of_zero(a, 0.0).is_finite()));
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_plain_loop(values in prop::collection::vec(prop_oneof![(-5_i8..5).prop_map(f64::from), Just(f64::NAN)], 1..70)) {
            let mut plain = (f64::INFINITY, 0);
            for (i, &v) in values.iter().enumerate() {
                if v < plain.0 {
                    plain = (v, i);
                }
            }
            prop_assert_eq!(arg_min(&values, &values, |a, _| a), plain.1);
            let negated: Vec<f64> = values.iter().map(|v| -v).collect();
            prop_assert_eq!(arg_max(&negated, &negated, |a, _| a), plain.1);
        }
    }
}
