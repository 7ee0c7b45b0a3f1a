//! Randomness as a function of (seed, purpose, index), so that nothing random is ever saved.
//!
//! The three are hashed into the 256-bit state of a xoshiro256++ generator. Hashing matters: neighbouring seeds or
//! indices must not give streams that overlap.

use rand_core::{Rng as _, SeedableRng};

/// The generator behind every random choice. Its type is public because results for a seed depend on its values.
pub type Rng = rand_xoshiro::Xoshiro256PlusPlus;

/// What a random stream is used for; streams of different purposes never overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Purpose {
    /// A rule's choice; the index is the number of pulls handed out and lost before it, so that the choice after a lost pull has
    /// new random numbers.
    Rule = 1,
    /// The seed of a learner; the index is the run.
    Learner = 2,
    /// A problem instance; the index is the run.
    Instance = 3,
    /// The noise of a run; the index is the run.
    Noise = 4,
    /// The landmarks of the [mixed model](crate::estimators::Mixed); the index is 0.
    Landmarks = 5,
    /// The order in which [`Exploring`](crate::rules::Exploring) pulls arms; the index is 0.
    Exploration = 6,
    /// The σ of every arm, where arms differ; the index is the run that draws the instance.
    NoiseScales = 7,
    /// The draws of a [joint decision](crate::Beliefs::joint_sides); the index is 0.
    Decision = 8,
}

/// The stream that belongs to `(seed, purpose, index)`.
///
/// ```
/// use cutline::{Purpose, stream};
///
/// assert_eq!(stream(7, Purpose::Rule, 3), stream(7, Purpose::Rule, 3));
/// assert_ne!(stream(7, Purpose::Rule, 3), stream(7, Purpose::Noise, 3));
/// ```
#[inline]
#[must_use]
pub fn stream(seed: u64, purpose: Purpose, index: u64) -> Rng {
    let key = mix(mix(seed ^ 0x6a09_e667_f3bc_c908) ^ (purpose as u64));
    let mut state = [0; 32];
    for (word, bytes) in (1_u64..).zip(state.chunks_exact_mut(8)) {
        let hashed = mix(mix(index.wrapping_add(key)) ^ key.rotate_left(17).wrapping_mul(2 * word + 1));
        bytes.copy_from_slice(&hashed.to_le_bytes());
    }
    Rng::from_seed(state)
}

/// A whole number below `n`, each equally likely (Lemire 2019, multiply and reject).
///
/// # Panics
/// If `n` is 0.
#[inline]
pub fn below(rng: &mut Rng, n: usize) -> usize {
    let n = n as u64;
    let reject = n.wrapping_neg() % n;
    loop {
        let wide = u128::from(rng.next_u64()) * u128::from(n);
        #[expect(clippy::cast_possible_truncation, reason = "the low half is what is wanted")]
        let low = wide as u64;
        if low >= reject {
            #[expect(clippy::cast_possible_truncation, reason = "the high half is below n, a usize")]
            return (wide >> 64) as usize;
        }
    }
}

/// The first `n` of the numbers below `n_numbers` in a random order; all of them if there are fewer.
#[must_use]
pub fn draw(rng: &mut Rng, n_numbers: usize, n: usize) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..n_numbers).collect();
    for place in 0..n.min(n_numbers) {
        let other = place + below(rng, n_numbers - place);
        numbers.swap(place, other);
    }
    numbers.truncate(n);
    numbers
}

/// A bijection of 64 bits in which every input bit affects every output bit (the finaliser of SplitMix64).
#[inline]
fn mix(z: u64) -> u64 {
    let z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn values_are_pinned() {
        let mut rng = stream(0, Purpose::Rule, 0);
        let first: Vec<u64> = (0..3).map(|_| rng.next_u64()).collect();
        assert_eq!(first, [12_623_140_466_474_525_304, 17_143_609_676_699_202_994, 6_349_376_572_412_120_807]);
    }

    /// 4 seeds × 5 purposes × 4,000 indices, 8 values each: no value occurs twice. For truly random streams, the
    /// probability of any coincidence is (640,000)² / 2⁶⁵ < 2e-8.
    #[test]
    fn neighbouring_streams_do_not_overlap() {
        let mut seen = HashSet::new();
        for seed in [0, 1, 2, u64::MAX] {
            for purpose in [
                Purpose::Rule,
                Purpose::Learner,
                Purpose::Instance,
                Purpose::Noise,
                Purpose::Landmarks,
                Purpose::Exploration,
            ] {
                for index in 0..4_000 {
                    let mut rng = stream(seed, purpose, index);
                    for _ in 0..8 {
                        assert!(seen.insert(rng.next_u64()), "{seed} {purpose:?} {index}");
                    }
                }
            }
        }
    }

    /// χ² of first draws over consecutive indices, 9 degrees of freedom, false-alarm rate 1e-6 (bound 45.1).
    #[test]
    fn first_draws_of_consecutive_indices_are_uniform() {
        let mut counts = [0_u32; 10];
        for index in 0..100_000 {
            counts[below(&mut stream(5, Purpose::Rule, index), 10)] += 1;
        }
        let chi2: f64 = counts.iter().map(|&c| (f64::from(c) - 1e4).powi(2) / 1e4).sum();
        assert!(chi2 < 45.1, "χ² = {chi2}, counts {counts:?}");
    }
}
