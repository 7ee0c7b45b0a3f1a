//! The parameters of algorithms, and the estimators by name.

use super::{Range, SpecError};
use crate::estimators::Mixed;

/// The estimators by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EstimatorKind {
    /// The [sample mean](crate::estimators::SampleMean) of each arm.
    SampleMean,
    /// [Isotonic](crate::estimators::Isotonic) means, for means that do not decrease from arm to arm.
    Isotonic,
    /// [Ridge](crate::estimators::Ridge) regression on the features.
    Ridge,
    /// The [mixed model](crate::estimators::Mixed): linear, smooth and own parts, with variances and σ learnt from the rewards.
    Mixed,
    /// A [custom estimator](crate::estimators::NamedEstimator). It is not in [`ALL`](EstimatorKind::ALL).
    Custom {
        /// Whether it is a [`VarianceEstimator`](crate::estimators::VarianceEstimator).
        has_variances: bool,
        /// Whether it learns σ from the rewards.
        learns_noise: bool,
    },
}

/// A number that an algorithm takes.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Parameter {
    /// Its name in files, in JSON and on the command line.
    pub name: &'static str,
    /// Its value if none is set; `None` if it has to be set.
    pub default: Option<f64>,
    /// What it means, in one line.
    pub about: &'static str,
    /// The values it takes.
    pub range: Range,
    /// Its role, by which callers can set it without knowing its name.
    pub role: ParameterRole,
}

/// The role of a [`Parameter`].
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
    /// λ of ridge, which is the γ of GrAPL: set by [`Spec::with_regularisation`](super::Spec::with_regularisation).
    Regularisation,
    /// The level towards which ridge shrinks the means: set by [`Spec::with_centre`](super::Spec::with_centre).
    Centre,
    /// The value of one more feature, the same for every arm.
    Intercept,
    /// σ for an estimator that learns it otherwise: set by [`Spec::with_known_noise`](super::Spec::with_known_noise).
    KnownNoise,
}

/// The noise scale of rules.
pub(super) const NOISE: Parameter = Parameter {
    name: "noise",
    default: Some(1.0),
    about: "σ, the standard deviation of a reward",
    range: Range::NOISE_SCALE,
    role: ParameterRole::NoiseScale,
};

/// The parameters of ridge.
const RIDGE: &[Parameter] = &ridge(0.0);

/// The parameters of ridge for algorithms that measure the rewards from τ.
pub(super) const CENTRED_RIDGE: &[Parameter] = &ridge(1.0);

/// The parameters of ridge with this centre as the default.
const fn ridge(centre: f64) -> [Parameter; 3] {
    [
        Parameter {
            name: "lambda",
            default: Some(1.0),
            about: "λ, the regularisation of ridge",
            range: Range::at_least(1e-12),
            role: ParameterRole::Regularisation,
        },
        Parameter {
            name: "centre",
            default: Some(centre),
            about: "means are shrunk towards this multiple of τ: 1 fits the model to r − τ, 0 fits it to r",
            range: Range::new(0.0, 1.0),
            role: ParameterRole::Centre,
        },
        Parameter {
            name: "intercept",
            default: Some(0.0),
            about: "an additional feature has this value for every arm; 0 adds none",
            range: Range::at_least(0.0),
            role: ParameterRole::Intercept,
        },
    ]
}

/// The parameters of the mixed model.
const MIXED: &[Parameter] = &[
    Parameter {
        name: "landmarks",
        default: Some(40.0),
        about: "D, the number of landmarks of the smooth part, rounded to a whole number; 0 leaves the smooth part out",
        range: Range::new(0.0, 10_000.0),
        role: ParameterRole::Setting,
    },
    Parameter {
        name: "length",
        default: Some(1.0),
        about: "ℓ/√d, the length scale of the smooth part for standardised features",
        range: Mixed::LENGTH,
        role: ParameterRole::Setting,
    },
    Parameter {
        name: "additive",
        default: Some(0.5),
        about: "the share of the smooth part's variance that is for sums of functions of one feature each; the rest is for functions of all features together",
        range: Range::new(0.0, 1.0),
        role: ParameterRole::Setting,
    },
    switch("linear", "1 includes the linear part, 0 leaves it out; a level is always there"),
    switch("smooth", "1 includes the smooth part, 0 leaves it out"),
    switch("own", "1 includes the own part of every arm, 0 leaves it out"),
    Parameter {
        name: "known_noise",
        default: Some(0.0),
        about: "σ, if it is known; 0 learns it from the rewards",
        range: Range::new(0.0, Range::NOISE_SCALE.most),
        role: ParameterRole::KnownNoise,
    },
    switch(
        "explore",
        "1 makes pulls 1, 2, 5, 10, 17, … explore: they are of arms never pulled before, whatever the rule says; 0 leaves all pulls to the rule",
    ),
];

/// A parameter that is 1 by default, and 0 to switch something off.
const fn switch(name: &'static str, about: &'static str) -> Parameter {
    Parameter { name, default: Some(1.0), about, range: Range::new(0.0, 1.0), role: ParameterRole::Setting }
}

impl EstimatorKind {
    /// The built-in estimators.
    pub const ALL: &[Self] = &[Self::SampleMean, Self::Isotonic, Self::Ridge, Self::Mixed];

    /// Its name in files, in JSON and on the command line; `custom` for a custom one, whose own name is
    /// [`Spec::estimator_name`](super::Spec::estimator_name).
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SampleMean => "sample-mean",
            Self::Isotonic => "isotonic",
            Self::Ridge => "ridge",
            Self::Mixed => "mixed",
            Self::Custom { .. } => "custom",
        }
    }

    /// The estimator of that name.
    ///
    /// # Errors
    /// If there is none.
    pub fn named(name: &str) -> Result<Self, SpecError> {
        let found = Self::ALL.iter().copied().find(|kind| kind.name() == name);
        found.ok_or_else(|| SpecError::UnknownEstimator(name.into()))
    }

    /// Whether it provides variances and covariances that count pending pulls:
    /// [`VarianceEstimator`](crate::estimators::VarianceEstimator).
    #[must_use]
    pub fn has_variances(self) -> bool {
        match self {
            Self::SampleMean | Self::Isotonic => false,
            Self::Ridge | Self::Mixed => true,
            Self::Custom { has_variances, .. } => has_variances,
        }
    }

    /// Whether it learns σ from the rewards, so that rules cannot rely on a σ that stays the same.
    #[must_use]
    pub fn learns_noise(self) -> bool {
        match self {
            Self::SampleMean | Self::Isotonic | Self::Ridge => false,
            Self::Mixed => true,
            Self::Custom { learns_noise, .. } => learns_noise,
        }
    }

    /// The numbers that can be set for it; none for a custom one.
    #[must_use]
    pub fn parameters(self) -> &'static [Parameter] {
        match self {
            Self::SampleMean | Self::Isotonic | Self::Custom { .. } => &[],
            Self::Ridge => RIDGE,
            Self::Mixed => MIXED,
        }
    }
}
