//! The kind of rewards: numbers with noise, pass and fail, or counts.

/// The kind of rewards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RewardKind {
    /// Numbers with noise of about the same size for all arms.
    Gaussian,
    /// 1 or 0, pass or fail. Other rewards are refused. Means and intervals lie in [0, 1], and the noise is known well enough without any
    /// estimate: numbers in [0, 1] are σ-sub-Gaussian with [σ = ½](RewardKind::BERNOULLI_SIGMA), whatever their mean.
    Bernoulli,
    /// 0, 1, 2, …: how often something was seen, with a variance that is about the mean. Other rewards are refused.
    Count,
}

impl RewardKind {
    /// All kinds, the default first.
    pub const ALL: &[Self] = &[Self::Gaussian, Self::Bernoulli, Self::Count];

    /// The σ of rewards that are 0 or 1.
    pub const BERNOULLI_SIGMA: f64 = 0.5;

    /// Its name in files, in JSON and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Gaussian => "gaussian",
            Self::Bernoulli => "bernoulli",
            Self::Count => "count",
        }
    }

    /// The kind with this name; `None` if there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// Whether this is a reward of pass or fail.
    #[must_use]
    pub fn is_pass_or_fail(reward: f64) -> bool {
        reward == 0.0 || reward == 1.0
    }

    /// Whether this is a count.
    #[must_use]
    pub fn is_count(reward: f64) -> bool {
        reward >= 0.0 && reward.fract() == 0.0
    }
}
