//! The numbers that algorithms take, and the estimators, by name.

/// The estimators, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EstimatorKind {
    /// Each arm's own [sample mean](crate::estimators::SampleMean).
    SampleMean,
    /// [Ridge](crate::estimators::Ridge) regression on the features.
    Ridge,
}

/// A number that an algorithm takes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Parameter {
    /// What it is called everywhere.
    pub name: &'static str,
    /// Its value if none is given; without one it has to be given.
    pub default: Option<f64>,
    /// What it means, in one line.
    pub about: &'static str,
    /// What values it takes.
    pub range: Range,
    /// What it stands for, so that callers which know the value can set it without knowing the name.
    pub role: ParameterRole,
}

/// What a [`Parameter`] stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ParameterRole {
    /// A setting of the algorithm that only its user can choose.
    Setting,
    /// σ, the standard deviation of a reward: set by [`Spec::with_noise_scale`](super::Spec::with_noise_scale).
    NoiseScale,
    /// δ, the probability of an error: set by [`Spec::with_delta`](super::Spec::with_delta).
    Confidence,
    /// UCB-E's a, which is computed from the true means: set by [`Spec::with_oracle_exploration`](super::Spec::with_oracle_exploration).
    OracleExploration,
    /// The level towards which ridge draws the means: set by [`Spec::with_centre`](super::Spec::with_centre).
    Centre,
    /// The value of one more feature, the same for every arm.
    Intercept,
}

/// Finite numbers from `least` to `most`, both included.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Range {
    /// The least value allowed.
    pub least: f64,
    /// The greatest value allowed.
    pub most: f64,
}

/// What rules are told of the noise.
pub(super) const NOISE: Parameter = Parameter {
    name: "noise",
    default: Some(1.0),
    about: "σ, the standard deviation of a reward",
    range: Range { least: 1e-100, most: 1e100 },
    role: ParameterRole::NoiseScale,
};

impl EstimatorKind {
    /// All of them.
    pub const ALL: &[Self] = &[Self::SampleMean, Self::Ridge];

    /// What it is called everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SampleMean => "sample-mean",
            Self::Ridge => "ridge",
        }
    }

    /// What it takes.
    #[must_use]
    pub fn parameters(self) -> &'static [Parameter] {
        match self {
            Self::SampleMean => &[],
            Self::Ridge => &[
                Parameter {
                    name: "lambda",
                    default: Some(1.0),
                    about: "λ, the regularisation of ridge",
                    range: Range { least: 1e-12, most: f64::MAX },
                    role: ParameterRole::Setting,
                },
                Parameter {
                    name: "centre",
                    default: Some(0.0),
                    about: "means are drawn towards this times τ: 1 regresses r − τ on the features, 0 regresses r",
                    range: Range { least: 0.0, most: 1.0 },
                    role: ParameterRole::Centre,
                },
                Parameter {
                    name: "intercept",
                    default: Some(0.0),
                    about: "the value of one feature more, the same for every arm; 0 adds none",
                    range: Range { least: 0.0, most: f64::MAX },
                    role: ParameterRole::Intercept,
                },
            ],
        }
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.most == f64::MAX {
            write!(f, "of at least {:?}", self.least)
        } else {
            write!(f, "between {:?} and {:?}", self.least, self.most)
        }
    }
}
