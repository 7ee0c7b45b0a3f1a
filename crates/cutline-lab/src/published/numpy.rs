//! NumPy's legacy `RandomState`, bit for bit: the random stream behind the paper's published numbers.
//!
//! MT19937 (Matsumoto & Nishimura 1998) with the seeding, the doubles, the polar normals and the masked integers of
//! `numpy.random.RandomState`. Own code, because crates that have MT19937 do not have NumPy's distributions on it, and the
//! stream must match in every bit.

const N: usize = 624;
const M: usize = 397;

/// A `numpy.random.RandomState(seed)`.
#[derive(Clone, Debug)]
pub struct RandomState {
    key: [u32; N],
    position: usize,
    /// The second normal of a pair, kept for the next call.
    normal: Option<f64>,
}

impl RandomState {
    /// The generator seeded by Knuth's recurrence, as `RandomState(seed)` is.
    #[must_use]
    pub fn new(seed: u32) -> Self {
        let mut key = [seed; N];
        for p in 1..N {
            let previous = key[p - 1];
            #[expect(clippy::cast_possible_truncation, reason = "p < 624")]
            let p32 = p as u32;
            key[p] = 1_812_433_253_u32.wrapping_mul(previous ^ (previous >> 30)).wrapping_add(p32);
        }
        Self { key, position: N, normal: None }
    }

    fn refill(&mut self) {
        for i in 0..N {
            let y = (self.key[i] & 0x8000_0000) | (self.key[(i + 1) % N] & 0x7fff_ffff);
            let twist = if y & 1 == 0 { 0 } else { 0x9908_b0df };
            self.key[i] = self.key[(i + M) % N] ^ (y >> 1) ^ twist;
        }
        self.position = 0;
    }

    /// The next 32 bits.
    pub fn next_u32(&mut self) -> u32 {
        if self.position == N {
            self.refill();
        }
        let mut y = self.key[self.position];
        self.position += 1;
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c_5680;
        y ^= (y << 15) & 0xefc6_0000;
        y ^ (y >> 18)
    }

    /// A number in [0, 1) with 53 bits: `random_sample()`.
    pub fn double(&mut self) -> f64 {
        let high = f64::from(self.next_u32() >> 5);
        let low = f64::from(self.next_u32() >> 6);
        (high * 67_108_864.0 + low) / 9_007_199_254_740_992.0
    }

    /// A standard normal by the polar method: `standard_normal()`.
    pub fn normal(&mut self) -> f64 {
        if let Some(normal) = self.normal.take() {
            return normal;
        }
        loop {
            let x1 = 2.0 * self.double() - 1.0;
            let x2 = 2.0 * self.double() - 1.0;
            let r2 = x1 * x1 + x2 * x2;
            if r2 < 1.0 && r2 != 0.0 {
                let f = (-2.0 * r2.ln() / r2).sqrt();
                self.normal = Some(f * x1);
                return f * x2;
            }
        }
    }

    /// A whole number below `n` by masking and rejecting: `randint(n)`.
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn below(&mut self, n: u32) -> u32 {
        let last = n.checked_sub(1).expect("a number below 0");
        if last == 0 {
            return 0;
        }
        let mask = u32::MAX >> last.leading_zeros();
        loop {
            let value = self.next_u32() & mask;
            if value <= last {
                return value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Printed by NumPy 2.4.6: two of `random_sample()`, three of `standard_normal()`, `randint(n)` for each n, and
    /// `random_sample()` once more.
    #[test]
    fn agrees_with_numpy() {
        let mut state = RandomState::new(0);
        assert_eq!([state.double(), state.double()], [0.5488135039273248, 0.7151893663724195]);
        let normals = [state.normal(), state.normal(), state.normal()];
        assert_eq!(normals, [0.9787379841057392, 2.240893199201458, 1.8675579901499675]);
        assert_eq!([20, 178, 150, 2, 1, 5].map(|n| state.below(n)), [4, 87, 70, 0, 0, 0]);
        assert_eq!(state.double(), 0.2726562945801132);

        let mut state = RandomState::new(12345);
        assert_eq!([state.double(), state.double()], [0.9296160928171479, 0.3163755545817859]);
        let normals = [state.normal(), state.normal(), state.normal()];
        assert_eq!(normals, [-0.5194387150567381, -0.55573030434749, 1.9657805725027142]);
        assert_eq!([20, 178, 150, 2, 1, 5].map(|n| state.below(n)), [17, 59, 142, 1, 0, 3]);
        assert_eq!(state.double(), 0.6535698708517353);
    }

    /// Printed by NumPy 2.4.6 after 5,000 doubles, so that the key was renewed many times.
    #[test]
    fn agrees_with_numpy_far_out() {
        let mut state = RandomState::new(0);
        let last = (0..=5_000).map(|_| state.double()).last();
        assert_eq!(last, Some(0.3667802195520107));
    }
}
