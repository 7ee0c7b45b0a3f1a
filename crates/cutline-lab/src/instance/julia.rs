//! Julia's `MersenneTwister`, which drew a published instance: dSFMT-19937 (Saito & Matsumoto 2009), seeded by an array.

/// The number of 128-bit words of the state, without the last one, `lung`.
const N: usize = 191;
const POS1: usize = 117;
const SL1: u32 = 19;
const SR: u32 = 12;
const MASKS: [u64; 2] = [0x000f_faff_ffff_fb3f, 0x000f_fdff_fc90_fffd];
const FIX: [u64; 2] = [0x9001_4964_b32f_4329, 0x3b8d_12ac_548a_7c7a];
const PCV: [u64; 2] = [0x3d84_e1ac_0dc8_2880, 1];

/// The bits of a double in [1, 2): its exponent, and the mask of its fraction.
const EXPONENT: u64 = 0x3ff0_0000_0000_0000;
const FRACTION: u64 = 0x000f_ffff_ffff_ffff;

/// The generator.
pub(crate) struct MersenneTwister {
    state: [[u64; 2]; N],
    lung: [u64; 2],
    /// How many doubles of the state are used up.
    position: usize,
}

impl MersenneTwister {
    /// The generator seeded as `MersenneTwister(seed)` is: by the array [seed].
    pub(crate) fn new(seed: u32) -> Self {
        let words = seeded(seed);
        let word = |i: usize| u64::from(words[2 * i]) | (u64::from(words[2 * i + 1]) << 32);
        let pair = |i: usize| [word(2 * i), word(2 * i + 1)];
        let state = std::array::from_fn(|i| pair(i).map(|word| word & FRACTION | EXPONENT));
        let mut lung = pair(N);
        // A state off the longest cycle is moved onto it.
        let parity = ((lung[0] ^ FIX[0]) & PCV[0]) ^ ((lung[1] ^ FIX[1]) & PCV[1]);
        if parity.count_ones().is_multiple_of(2) {
            lung[1] ^= 1;
        }
        Self { state, lung, position: 2 * N }
    }

    /// The next number in [0, 1): `rand()`.
    pub(crate) fn double(&mut self) -> f64 {
        if self.position == 2 * N {
            self.refill();
        }
        let bits = self.state[self.position / 2][self.position % 2];
        self.position += 1;
        f64::from_bits(bits) - 1.0
    }

    fn refill(&mut self) {
        for i in 0..N {
            let (here, far, lung) = (self.state[i], self.state[(i + POS1) % N], self.lung);
            let swapped = |word: u64| word.rotate_left(32);
            self.lung = [0, 1].map(|half| (here[half] << SL1) ^ swapped(lung[1 - half]) ^ far[half]);
            self.state[i] = [0, 1].map(|half| (self.lung[half] >> SR) ^ (self.lung[half] & MASKS[half]) ^ here[half]);
        }
        self.position = 0;
    }
}

/// The 32-bit words of the state and of `lung`: `dsfmt_chk_init_by_array` with the array [seed].
fn seeded(seed: u32) -> [u32; 4 * (N + 1)] {
    const SIZE: usize = 4 * (N + 1);
    const LAG: usize = 11;
    const MID: usize = (SIZE - LAG) / 2;
    let mut words = [0x8b8b_8b8b_u32; SIZE];
    let first = |x: u32| (x ^ (x >> 27)).wrapping_mul(1_664_525);
    let second = |x: u32| (x ^ (x >> 27)).wrapping_mul(1_566_083_941);
    // The length of the array, its one element, and then nothing, is mixed in.
    for step in 0..SIZE {
        let i = u32::try_from(step).expect("below 768");
        let key = match step {
            0 => 1,
            1 => seed.wrapping_add(i),
            _ => i,
        };
        let around = words[step] ^ words[(step + MID) % SIZE] ^ words[(step + SIZE - 1) % SIZE];
        let mixed = first(around);
        words[(step + MID) % SIZE] = words[(step + MID) % SIZE].wrapping_add(mixed);
        let mixed = mixed.wrapping_add(key);
        words[(step + MID + LAG) % SIZE] = words[(step + MID + LAG) % SIZE].wrapping_add(mixed);
        words[step] = mixed;
    }
    for step in 0..SIZE {
        let i = u32::try_from(step).expect("below 768");
        let around = words[step].wrapping_add(words[(step + MID) % SIZE]).wrapping_add(words[(step + SIZE - 1) % SIZE]);
        let mixed = second(around);
        words[(step + MID) % SIZE] ^= mixed;
        let mixed = mixed.wrapping_sub(i);
        words[(step + MID + LAG) % SIZE] ^= mixed;
        words[step] = mixed;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by Julia: `rand(MersenneTwister(123), 3)`.
    #[test]
    fn agrees_with_julia() {
        let mut twister = MersenneTwister::new(123);
        let doubles = [twister.double(), twister.double(), twister.double()];
        assert_eq!(doubles, [0.7684476751965699, 0.940515000715187, 0.6739586945680673]);
    }
}
