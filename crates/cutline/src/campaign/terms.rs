//! What a campaign is about, fixed when it begins.

use crate::diagnostics::RewardStats;
use crate::{
    Confidence, ConfidenceStop, IntervalError, IntervalKind, Question, QuestionError, Spec, SpecError, StopCriterion,
};
use thiserror::Error;

/// What a campaign is about, but for its arms. It does not change while the campaign lasts.
#[derive(Clone, Debug)]
pub struct Terms {
    /// The threshold and the precision.
    pub question: Question,
    /// The algorithm. If it takes a `noise`, [`Terms::noise`] sets it.
    pub spec: Spec,
    /// The most rewards that may be counted.
    pub budget: u32,
    /// The standard deviation of a measurement, or `None` to estimate it from the rewards told.
    pub noise: Option<f64>,
    /// The kind of the verdicts' intervals.
    pub interval: IntervalKind,
    /// δ: the verdicts' intervals hold with probability 1 − δ.
    pub delta: f64,
    /// Whether to end before the budget is used up once every side is sure at level 1 − δ, and how.
    pub until_sure: Option<StopCriterion>,
    /// The seed of everything random.
    pub seed: u64,
}

/// Why a campaign was refused.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum TermsError {
    /// The algorithm cannot work on these arms with this budget.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The threshold or the precision is out of range.
    #[error(transparent)]
    Question(#[from] QuestionError),
    /// There is no such way to be sure.
    #[error("there is no way to be sure `{0}`; there are `intervals`, `evidence`")]
    UnknownCriterion(String),
    /// The noise or δ is out of range.
    #[error(transparent)]
    Interval(#[from] IntervalError),
    /// The algorithm learns from the order of the rewards, so its noise cannot change under way.
    #[error("`{0}` cannot estimate the noise during a campaign; it needs a given `noise`")]
    NeedsNoise(&'static str),
}

/// The noise of a campaign, and where it is known from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseEstimate {
    /// σ, the standard deviation of a measurement.
    pub sigma: f64,
    /// Where it is known from.
    pub source: NoiseSource,
}

/// Where a noise is known from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoiseSource {
    /// It was given.
    Given,
    /// The rewards of arms that were measured more than once.
    Replicates,
    /// What least squares leaves of the rewards.
    Residuals,
    /// How far the rewards lie from the threshold: no less than the noise, by and large.
    Rewards,
    /// Nothing; it is taken for 1 to choose arms, and for too large to decide any.
    Nothing,
}

impl NoiseSource {
    /// What it is called everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Replicates => "replicates",
            Self::Residuals => "residuals",
            Self::Rewards => "rewards",
            Self::Nothing => "nothing",
        }
    }
}

/// The degrees of freedom from which an estimate of σ is taken: it is then off by a factor of more than 2 in one of 2,000 cases.
const FREEDOM: u64 = 10;

impl Terms {
    /// The noise, given or by what was told.
    ///
    /// An estimate comes from the replicates as soon as they have ten degrees of freedom, before that from the residuals of least
    /// squares if those have, and before that it is the root mean square of r − τ. It is a function of the rewards of each arm.
    #[must_use]
    pub fn noise(&self, told: &RewardStats) -> NoiseEstimate {
        if let Some(sigma) = self.noise {
            return NoiseEstimate { sigma, source: NoiseSource::Given };
        }
        let enough = |scale: &crate::diagnostics::Scale| scale.freedom >= FREEDOM;
        let Some(from_threshold) = told.root_mean_square_from(self.question.threshold()) else {
            return NoiseEstimate { sigma: 1.0, source: NoiseSource::Nothing };
        };
        let (sigma, source) = if let Some(scale) = told.replicates().filter(enough) {
            (scale.sigma, NoiseSource::Replicates)
        } else if let Some(scale) = told.residuals().filter(enough) {
            (scale.sigma, NoiseSource::Residuals)
        } else {
            (from_threshold, NoiseSource::Rewards)
        };
        // Measurements without noise are possible; divisions by it have to be so too.
        NoiseEstimate { sigma: sigma.max(1e-9 * from_threshold).clamp(1e-90, 1e90), source }
    }

    /// The algorithm for this noise.
    pub(super) fn spec(&self, noise: NoiseEstimate) -> Result<Spec, TermsError> {
        let mut spec = self.spec.clone();
        if spec.parameters().any(|parameter| parameter.name == "noise") {
            spec = spec.with("noise", noise.sigma)?;
        }
        if let Some(by) = self.until_sure {
            spec = spec.until_sure(ConfidenceStop::new(by, self.delta, decisive(noise))?);
        }
        Ok(spec)
    }

    /// How verdicts are made for this noise.
    pub(super) fn confidence(&self, noise: NoiseEstimate) -> Result<Confidence, IntervalError> {
        Confidence::new(self.interval, self.delta, decisive(noise))
    }
}

/// What to decide with: nothing is decided by a noise that nothing is known of.
fn decisive(noise: NoiseEstimate) -> f64 {
    if noise.source == NoiseSource::Nothing { 1e100 } else { noise.sigma }
}
