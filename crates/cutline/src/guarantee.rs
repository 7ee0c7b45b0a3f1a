//! What the confidence of proved verdicts is about: each arm, all of them together, or the share of false ones.

/// What holds with probability 1 − δ of the verdicts that are [proved](crate::Basis::Proved), at all times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Guarantee {
    /// Each proved verdict is right with probability 1 − δ: an e-value of 1/δ.
    Each,
    /// All proved verdicts are right together with probability 1 − δ: an e-value of K/δ.
    All,
    /// Of the arms that are proved to be above, at most a share δ is expected to be below, and the other way round: the e-values are
    /// compared by e-BH (Wang and Ramdas 2022).
    Fdr,
}

impl Guarantee {
    /// All of them, the default of verdicts first.
    pub const ALL: &[Self] = &[Self::Each, Self::All, Self::Fdr];

    /// Its name in files, in JSON and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Each => "each",
            Self::All => "all",
            Self::Fdr => "fdr",
        }
    }

    /// The guarantee with this name; `None` if there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|guarantee| guarantee.name() == name)
    }
}
