//! Named choices of the stop `confidence`: by which criterion arms are sure, and whether sure arms are settled.

/// The criterion by which an arm is sure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopCriterion {
    /// Every arm is decided by its anytime interval. The error probability is guaranteed for a given σ.
    Intervals,
    /// Every arm has evidence above a threshold. This ends earlier and is a heuristic.
    Evidence,
    /// Every arm has a likelihood ratio above ln((t + 1)/δ). A heuristic, for comparison with published numbers.
    LikelihoodRatio,
}

/// Whether an arm is settled as soon as it is sure (Tirinzoni & Degenne 2022).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Elimination {
    /// Arms are settled, and the rule chooses as if they were not.
    Stop,
    /// Arms are settled, and the rule chooses among the open ones.
    Sampling,
}

impl Elimination {
    /// The choices by the names that files and the command line use.
    pub const ALL: &[(&str, Self)] = &[("stop", Self::Stop), ("sampling", Self::Sampling)];

    /// Its name in files, in JSON and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Sampling => "sampling",
        }
    }
}

impl StopCriterion {
    /// The choices by the names that files and the command line use.
    pub const ALL: &[(&str, Self)] =
        &[("intervals", Self::Intervals), ("evidence", Self::Evidence), ("llr", Self::LikelihoodRatio)];

    /// Its name in files, in JSON and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Intervals => "intervals",
            Self::Evidence => "evidence",
            Self::LikelihoodRatio => "llr",
        }
    }

    /// The names as a list in a sentence.
    #[must_use]
    pub fn names() -> String {
        Self::ALL.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(" or ")
    }
}
