//! The stop `confidence`: end when every arm's side is sure at level 1 − δ, by the rewards received.
//!
//! The criteria by which an arm is sure, by name:
//!
//! - `intervals`: the side that its mean suggests is right for every value in its *anytime* interval ([`IntervalKind::Anytime`]), so that
//!   all arms have a [`Verdict`](crate::Verdict). The answer at the stop is wrong with probability at most δ, whatever the rule, if
//!   rewards are σ-sub-Gaussian for the given σ and, with ridge, the means are linear in the features.
//! - `evidence`: its gap Δ̂ₖ = |μ̂ₖ − τ| + ε exceeds σ√(2qₖ ln(K(1 + ln t)/δ)) after t rewards. With ridge the K arms are one test: its gap
//!   by least squares exceeds σ√(2vₖ ln((1 + ln t)/δ)), with vₖ as in [`PriorFree`](crate::estimators::PriorFree), or, for a given bound S on
//!   ‖θ‖, its gap by ridge exceeds √qₖ (σ√(2 ln((1 + ln t)/δ)) + √λ S). With S = 0 that is Z = minₖ Δ̂ₖ²/(2σ²qₖ) > ln((1 + ln t)/δ), the
//!   likelihood-ratio test with the threshold that Garivier & Kaufmann (2016, §6) recommend in practice. It ends earlier, and no theorem
//!   bounds its probability of an error by δ. The S term bounds the bias of ridge towards 0, which would otherwise look like evidence where
//!   the threshold is far from 0; least squares has no such bias.
//! - `llr`: its gap exceeds σ√(2qₖ ln((t + 1)/δ)) after t rewards, the likelihood-ratio test with the threshold of Tirinzoni & Degenne
//!   (2022), which has published numbers to compare with. It is a heuristic too.
//!
//! For an [estimated](ConfidenceStop::with_estimated_noise) σ of ν degrees of freedom, the √(2l) of the last two becomes √(ν(e^(2l/ν) − 1)): the
//! likelihood ratio where σ is unknown too, (ν/2) ln(1 + t²/ν) > l. For [Bernoulli rewards](ConfidenceStop::with_bernoulli_rewards) σ is ½,
//! and with sample means `evidence` asks for nₖ kl(μ̂ₖ, τ ∓ ε) > ln(K(1 + ln t)/δ), kl(p, q) = p ln(p/q) + (1 − p) ln((1 − p)/(1 − q)).
//!
//! With the mixed model, `evidence` and `llr` may [also ask](ConfidenceStop::with_own_rewards) for evidence in the own rewards of every arm, that the
//! gap of their mean exceeds σ√(2 ln(1/δ)/nₖ): the model may be wrong about an arm that is unlike all others, however sure it is. When nothing
//! else is lacking, the stop [requests](Stop::request) pulls of such arms, because a rule that trusts the model has no reason to choose them.
//!
//! With [elimination](Elimination) an arm is settled as soon as it is sure, and the learner ends when all are; without it all have to be sure
//! at the same time.

mod checking;

use super::{Elimination, StopCriterion};
use crate::{Arm, Confidence, IntervalError, IntervalKind};

/// Ends when every arm's side is sure. It may never do so, so combine it with a [`Budget`](super::Budget) by
/// [`Either`](super::Either), as [`Spec::with_confidence_stop`](crate::Spec::with_confidence_stop) does.
///
/// It is never met before the first reward, and pulls without a reward do not count. A check costs O(d²) while the arm that was least
/// sure at the last full scan is not sure yet, which holds at most pulls, and O(Kd² + d³) otherwise; O(K) with the sample mean. With
/// [elimination](Elimination) every reward costs as much as a full scan, except for `llr`, and `evidence` with a norm: O(K) where the rule
/// keeps variances and no pull is pending, while no arm is about to be settled.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `criterion` | none | one of [`StopCriterion`] | |
/// | `delta` | none | δ, the probability of an error | 0 < δ < 1, else [`IntervalError`] |
/// | `noise` | none | σ: rewards are σ-sub-Gaussian. An estimator that learns σ replaces it for `evidence` only | 1e-100 ≤ σ ≤ 1e100, else [`IntervalError`] |
/// | `norm` | none | S, a bound on ‖θ‖; only used with ridge | 0 ≤ S ≤ 1e150, else [`IntervalError`] |
/// | `elimination` | none | whether arms are settled one by one, see [`Elimination`] | |
///
/// ```
/// use cutline::{Arms, StopCriterion, StopReason, Question, Spec, ConfidenceStop};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let stop = ConfidenceStop::new(StopCriterion::Intervals, 0.05, 1.0)?;
/// let spec = Spec::named("apt")?.with_confidence_stop(stop);
/// let mut learner = spec.learner(&Arms::without_features(2)?, Question::new(0.0, 0.1)?, 1_000, 0)?;
/// while let Some(arm) = learner.ask() {
///     learner.tell(arm, [1.0, -2.0][arm])?;
/// }
/// assert_eq!(learner.stop_reason(), Some(StopReason::Confidence));
/// assert_eq!(learner.beliefs().pulls, [9, 3]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfidenceStop {
    criterion: StopCriterion,
    confidence: Confidence,
    elimination: Option<Elimination>,
    noise_source: StopNoise,
    /// Whether, with the mixed model, the own rewards of an arm have to be evidence too.
    is_by_own_rewards: bool,
    /// Whether nothing but that was lacking at the last check.
    lacks_own_rewards: bool,
    /// The arm that was least sure at the last full scan.
    doubtful: Arm,
    /// A lower bound on the width of that arm at any later time, in units of σ√q; 0 if unknown. While the gap is smaller, the arm is not
    /// sure.
    least_width: f64,
    /// Whether that width belongs to the estimate without a prior.
    is_prior_free: bool,
}

/// Where the σ of the stop comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StopNoise {
    Given,
    /// It is estimated from the same rewards.
    Estimated,
    /// Rewards are 0 or 1.
    Bernoulli,
}

impl ConfidenceStop {
    /// Ends when all sides are sure at level 1 − `delta`, for rewards of scale `noise`.
    ///
    /// # Errors
    /// If `delta` or `noise` is out of range.
    pub fn new(criterion: StopCriterion, delta: f64, noise: f64) -> Result<Self, IntervalError> {
        let confidence = Confidence::new(IntervalKind::Anytime, delta, noise)?;
        let noise_source = StopNoise::Given;
        Ok(Self {
            criterion,
            confidence,
            elimination: None,
            noise_source,
            is_by_own_rewards: false,
            lacks_own_rewards: false,
            doubtful: 0,
            least_width: 0.0,
            is_prior_free: false,
        })
    }

    /// The same where, with the mixed model, `evidence` and `llr` also ask for evidence in the own rewards of every arm.
    #[must_use]
    pub fn with_own_rewards(self) -> Self {
        Self { is_by_own_rewards: true, ..self }
    }

    /// The same where σ is an estimate from the same rewards, so that `evidence` and `llr` allow for its error. It is assumed to come from
    /// the rewards of arms measured more than once, as in a campaign, or to be learnt by the estimator.
    #[must_use]
    pub fn with_estimated_noise(self) -> Self {
        Self { noise_source: StopNoise::Estimated, ..self }
    }

    /// The same for rewards that are 0 or 1, whose σ is ½ whatever a campaign or an estimator says.
    #[must_use]
    pub fn with_bernoulli_rewards(self) -> Self {
        Self { confidence: self.confidence.with_bernoulli_rewards(), noise_source: StopNoise::Bernoulli, ..self }
    }

    /// The same with ‖θ‖ ≤ `norm`.
    ///
    /// # Errors
    /// If `norm` is out of range.
    pub fn with_norm(self, norm: f64) -> Result<Self, IntervalError> {
        Ok(Self { confidence: self.confidence.with_norm(norm)?, ..self })
    }

    /// The same where an arm is settled as soon as it is sure.
    #[must_use]
    pub fn with_elimination(self, elimination: Elimination) -> Self {
        Self { elimination: Some(elimination), ..self }
    }

    /// Whether an arm is settled as soon as it is sure.
    #[must_use]
    pub fn elimination(&self) -> Option<Elimination> {
        self.elimination
    }

    /// The criterion by which an arm is sure.
    #[must_use]
    pub fn criterion(&self) -> StopCriterion {
        self.criterion
    }

    /// δ, the probability of an error that the stop allows.
    #[must_use]
    pub fn delta(&self) -> f64 {
        self.confidence.delta()
    }

    /// σ, the standard deviation of a reward: as given, or the last estimate.
    #[must_use]
    pub fn noise(&self) -> f64 {
        self.confidence.noise()
    }

    /// S, if it is not the default.
    #[must_use]
    pub fn norm(&self) -> Option<f64> {
        self.confidence.norm()
    }

    /// Whether it uses an estimate without a prior, for linear means or for others.
    pub(super) fn is_prior_free(&self, is_linear: bool) -> bool {
        let has_norm = self.norm().is_some() && is_linear;
        match self.criterion {
            StopCriterion::Intervals => !has_norm,
            StopCriterion::Evidence => !has_norm && is_linear,
            StopCriterion::LikelihoodRatio => false,
        }
    }
}
