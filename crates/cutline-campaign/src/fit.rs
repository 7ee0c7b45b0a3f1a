//! Whether the model of a campaign fits its rewards.

use crate::CampaignState;
use cutline::diagnostics::{Conclusion, LEVEL, MissingEvidence};
use cutline::{EstimatorKind, Verdict};
use serde::Serialize;

/// The largest K·d² for which the linear model is tested, which takes a few seconds.
pub const MAX_TEST_COST: f64 = 1e9;

/// Whether a model fits the rewards, in a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Fit {
    /// There is too little to test.
    #[default]
    Untested,
    /// The linear model was tested, and the rewards do not contradict it.
    Fits,
    /// The rewards contradict the linear model.
    Misfit,
    /// The model makes no assumption that these rewards could contradict.
    Adapts,
}

impl Fit {
    /// The word, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Untested => "untested",
            Self::Fits => "fits",
            Self::Misfit => "misfit",
            Self::Adapts => "adapts",
        }
    }
}

/// Why a model is said to fit, or not to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FitReason {
    /// There are no rewards yet.
    #[default]
    NoRewards,
    /// The arms have no features, so there is no line to test.
    NoFeatures,
    /// So many arms and features take too long to test: see [`MAX_TEST_COST`].
    TooLarge,
    /// The rewards contradict a line: those of this many arms by themselves, or those of all arms together (`None`).
    Contradicted(Option<usize>),
    /// The verdicts on this many arms contradict their own rewards, although the rewards do not contradict a line.
    VerdictsContradicted(usize),
    /// Something is missing for a test.
    Missing(MissingEvidence),
    /// There are as many features as arms, so any means lie on a line.
    AnyMeans,
    /// The means lie no further from a line than the noise explains.
    OnLine,
    /// The mixed model learns what a line does not explain.
    Learnt,
    /// Every arm is estimated from its own rewards.
    Separate,
}

/// Whether a model fits the rewards.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct ModelFit {
    /// In a word.
    pub fit: Fit,
    /// The p-value of the test of the linear model, whatever the model of the campaign; null if it could not be tested.
    #[serde(rename = "fit_p_value")]
    pub p_value: Option<f64>,
    /// What the word rests on.
    #[serde(skip)]
    pub reason: FitReason,
}

impl ModelFit {
    /// Whether the model of a campaign with this state and these verdicts fits.
    #[must_use]
    pub fn new(state: &CampaignState, verdicts: &[Verdict]) -> Self {
        let progress = state.progress();
        let has_rewards = u64::from(progress.counted) + progress.uncounted > 0;
        let untested = |reason| Self { fit: Fit::Untested, p_value: None, reason };
        let estimator = state.terms().spec.estimator();
        if state.arms().dimension().is_none() {
            let fit = if has_rewards { Fit::Adapts } else { Fit::Untested };
            return Self { fit, p_value: None, reason: FitReason::NoFeatures };
        }
        if !has_rewards {
            return untested(FitReason::NoRewards);
        }
        if !state.is_testable() {
            return untested(FitReason::TooLarge);
        }
        let diagnostics = state.diagnose();
        let p_value = diagnostics.lack_of_fit.map(|lack| lack.p_value);
        // Single arms may contradict a line that all of them together do not.
        let contradiction = match diagnostics.disagreeing().count() {
            0 => None,
            _ if p_value.is_some_and(|p| p <= LEVEL / 2.0) => None,
            n => Some(n),
        };
        let n_contradicted = if estimator == EstimatorKind::Ridge { state.n_contradicted(verdicts) } else { 0 };
        let (fit, reason) = match (estimator, diagnostics.conclusion) {
            (EstimatorKind::Ridge, Conclusion::NotBelievable) => (Fit::Misfit, FitReason::Contradicted(contradiction)),
            (EstimatorKind::Ridge, _) if n_contradicted > 0 => {
                (Fit::Misfit, FitReason::VerdictsContradicted(n_contradicted))
            }
            (EstimatorKind::Ridge, Conclusion::NotEnoughData(missing)) => (Fit::Untested, FitReason::Missing(missing)),
            (EstimatorKind::Ridge, Conclusion::AlwaysTrue) => (Fit::Untested, FitReason::AnyMeans),
            (EstimatorKind::Ridge, _) => (Fit::Fits, FitReason::OnLine),
            (EstimatorKind::Mixed, Conclusion::NotBelievable) => (Fit::Adapts, FitReason::Contradicted(contradiction)),
            (EstimatorKind::Mixed, _) => (Fit::Adapts, FitReason::Learnt),
            _ => (Fit::Adapts, FitReason::Separate),
        };
        Self { fit, p_value, reason }
    }
}
