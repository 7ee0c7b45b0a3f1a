//! A checksum, with which damage and changes made outside of Cutline are detected on reading.

/// A 64-bit checksum of everything added to it, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Checksum(u64);

impl Checksum {
    pub(crate) fn new() -> Self {
        Self(0x6a09_e667_f3bc_c908)
    }

    /// From the stored number.
    pub(crate) fn from_stored(stored: i64) -> Self {
        Self(stored.cast_unsigned())
    }

    /// The number to store.
    pub(crate) fn to_stored(self) -> i64 {
        self.0.cast_signed()
    }

    pub(crate) fn add(self, word: u64) -> Self {
        let mixed = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self(mixed ^ (mixed >> 29))
    }

    /// Adds bytes and their number.
    pub(crate) fn add_bytes(self, bytes: &[u8]) -> Self {
        let (words, rest) = bytes.as_chunks::<8>();
        let sum = words.iter().fold(self, |sum, word| sum.add(u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        sum.add(u64::from_le_bytes(last)).add(bytes.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_detected() {
        let sum = |bytes: &[u8]| Checksum::new().add_bytes(bytes);
        let text = b"twelve bytes";
        for position in 0..text.len() {
            for bit in 0..8 {
                let mut changed = *text;
                changed[position] ^= 1 << bit;
                assert_ne!(sum(text), sum(&changed));
            }
        }
        assert_ne!(sum(b""), sum(b"\0"));
        assert_ne!(sum(b"ab").add_bytes(b"c"), sum(b"a").add_bytes(b"bc"));
        assert_eq!(Checksum::from_stored(sum(text).to_stored()), sum(text));
    }
}
