//! The stop `confidence`: end when every arm's side is sure at level 1 − δ, by the rewards told.
//!
//! Arm k is sure once its gap exceeds a width, Δ̂ₖ > wₖ, with Δ̂ₖ = |μ̂ₖ − τ| + ε. The widths, by name:
//!
//! - `intervals`: half the *anytime* interval ([`IntervalKind::Anytime`]), so that all arms have a [`Verdict`](crate::Verdict). The
//!   answer at the stop errs with probability at most δ, whatever the rule, as far as what the intervals assume holds.
//! - `evidence`: √qₖ (σ√(2 ln((1 + ln t)/δ)) + √λ S) after t rewards with ridge. With S = 0 this is
//!   Z = minₖ Δ̂ₖ²/(2σ²qₖ) > ln((1 + ln t)/δ), the likelihood-ratio test with the threshold that Garivier & Kaufmann (2016, §6)
//!   recommend in practice. It ends earlier, and no theorem says that it errs with probability at most δ. The S term is what
//!   ridge's pull towards 0 can do to a mean; without it, a threshold far from 0 looks like evidence. With the sample mean there
//!   is no such term, and δ/K stands for δ: K arms on their own are K tests.

use super::{Stop, StopReason};
use crate::estimators::{Estimator, Model, Posterior};
use crate::{Arm, Beliefs, Confidence, IntervalError, IntervalKind, Question};

/// How a side is made sure, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopCriterion {
    /// Every arm is decided by its anytime interval: guaranteed.
    Intervals,
    /// Every arm has evidence above the threshold: earlier, and a heuristic.
    Evidence,
}

impl StopCriterion {
    /// All of them, with their names.
    pub const ALL: &[(&str, Self)] = &[("intervals", Self::Intervals), ("evidence", Self::Evidence)];

    /// What it is called everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Intervals => "intervals",
            Self::Evidence => "evidence",
        }
    }
}

/// Ends when every arm's side is sure. It may never do so, so combine it with a [`Budget`](super::Budget) by
/// [`Either`](super::Either), as [`Spec::until_sure`](crate::Spec::until_sure) does.
///
/// Pulls that are out do not count, nor before the first reward. Looking costs O(d²) while the arm that was least sure when all
/// were looked at last is not sure yet, which is so at most pulls, and O(Kd² + d³) otherwise; O(K) with the sample mean.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `by` | none | [`StopCriterion::Intervals`] or [`StopCriterion::Evidence`] | |
/// | `delta` | none | δ, the probability of an error | 0 < δ < 1, else [`IntervalError`] |
/// | `noise` | none | σ: rewards are σ-sub-Gaussian | 1e-100 ≤ σ ≤ 1e100, else [`IntervalError`] |
/// | `norm` | σ√(d/λ) | S, a bound on ‖θ‖; only used with ridge | 0 ≤ S ≤ 1e150, else [`IntervalError`] |
///
/// ```
/// use cutline::{Arms, StopCriterion, StopReason, Question, Spec, ConfidenceStop};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let sure = ConfidenceStop::new(StopCriterion::Intervals, 0.05, 1.0)?;
/// let spec = Spec::named("apt")?.with_confidence_stop(sure);
/// let mut learner = spec.learner(&Arms::without_features(2)?, Question::new(0.0, 0.1)?, 1_000, 0)?;
/// while let Some(arm) = learner.ask() {
///     learner.tell(arm, [1.0, -2.0][arm]);
/// }
/// assert_eq!(learner.stop_reason(), Some(StopReason::Confidence));
/// assert_eq!(learner.beliefs().pulls, [9, 3]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfidenceStop {
    by: StopCriterion,
    confidence: Confidence,
    /// The arm that was least sure when all were looked at last.
    doubtful: Arm,
    /// What its width in units of √q will never fall below, so that an arm whose gap is below that is not sure; 0 if not known.
    factor: f64,
}

impl ConfidenceStop {
    /// Ends when all sides are sure at level 1 − `delta`, for rewards of scale `noise`.
    ///
    /// # Errors
    /// If `delta` or `noise` is out of range.
    pub fn new(by: StopCriterion, delta: f64, noise: f64) -> Result<Self, IntervalError> {
        let confidence = Confidence::new(IntervalKind::Anytime, delta, noise)?;
        Ok(Self { by, confidence, doubtful: 0, factor: 0.0 })
    }

    /// The same with ‖θ‖ ≤ `norm`.
    ///
    /// # Errors
    /// If `norm` is out of range.
    pub fn with_norm(self, norm: f64) -> Result<Self, IntervalError> {
        Ok(Self { confidence: self.confidence.with_norm(norm)?, ..self })
    }

    /// How sides are made sure.
    #[must_use]
    pub fn by(&self) -> StopCriterion {
        self.by
    }

    /// δ.
    #[must_use]
    pub fn delta(&self) -> f64 {
        self.confidence.delta()
    }

    /// σ.
    #[must_use]
    pub fn noise(&self) -> f64 {
        self.confidence.noise()
    }

    /// S, if it is not the default.
    #[must_use]
    pub fn norm(&self) -> Option<f64> {
        self.confidence.norm()
    }

    /// σ√(2 ln((1 + ln t)/δ)) + √λ S for ridge, σ√(2 ln(K(1 + ln t)/δ)) for the sample mean.
    fn evidence_factor(&self, told: &[u32], model: Model) -> f64 {
        let t: u64 = told.iter().map(|&n| u64::from(n)).sum();
        let (tests, shrunk) = match (model, self.norm()) {
            (Model::Unrelated, _) => (told.len() as f64, 0.0),
            (Model::Linear { dimension, .. }, None) => (1.0, self.noise() * (dimension as f64).sqrt()),
            (Model::Linear { lambda, .. }, Some(norm)) => (1.0, lambda.sqrt() * norm),
        };
        let level = 2.0 * ((t as f64).ln().ln_1p() + (tests / self.delta()).ln());
        self.noise() * level.sqrt() + shrunk
    }

    /// Whether the arm that was least sure is still not sure, for certain. The variance of one arm comes another way than that of
    /// all, so what rounding could change is left to who looks at all.
    fn is_still_doubtful<E: Estimator + ?Sized>(&self, beliefs: &mut Beliefs<'_, E>) -> bool {
        if self.factor == 0.0 {
            return false;
        }
        let (mean, variance) = beliefs.estimator.moments_of(self.doubtful);
        beliefs.question.gap(mean) < (1.0 - 1e-6) * self.factor * variance.max(0.0).sqrt()
    }

    /// Looks at all arms. Whether they are sure.
    fn look(&mut self, question: Question, posterior: &Posterior<'_>) -> bool {
        let &Posterior { means, variances, n_rewards: told, model, .. } = posterior;
        let half_width = self.confidence.half_widths(posterior);
        let factor = self.evidence_factor(told, model);
        let width = |arm: Arm| match self.by {
            StopCriterion::Intervals => half_width(arm),
            StopCriterion::Evidence => factor * variances[arm].sqrt(),
        };
        let is_sure = |arm: Arm| is_sure(question, means[arm], width(arm));
        let room = |arm: Arm| question.gap(means[arm]) / width(arm);
        let least = (0..means.len()).min_by(|&a, &b| room(a).total_cmp(&room(b)));
        self.doubtful = least.unwrap_or(0);
        let factor = match (self.by, model) {
            (StopCriterion::Evidence, _) => factor,
            (StopCriterion::Intervals, Model::Linear { .. }) => width(self.doubtful) / variances[self.doubtful].sqrt(),
            // The mixture's width in units of √q falls at first; this it never falls below.
            (StopCriterion::Intervals, Model::Unrelated) => {
                self.noise() * (2.0 * (means.len() as f64 / self.delta()).ln()).sqrt()
            }
        };
        self.factor = if factor.is_finite() { factor } else { 0.0 };
        (0..means.len()).all(is_sure)
    }
}

/// Whether calling an arm by its mean is no error for any value within `width` of it.
fn is_sure(question: Question, mean: f64, width: f64) -> bool {
    let worst = if question.is_above(mean) { mean - width } else { mean + width };
    mean.is_finite() && width.is_finite() && !question.is_error(worst, mean)
}

impl<E: Estimator + ?Sized> Stop<E> for ConfidenceStop {
    fn stop_reason(&mut self, beliefs: &mut Beliefs<'_, E>) -> Option<StopReason> {
        if self.is_still_doubtful(beliefs) {
            return None;
        }
        let question = beliefs.question;
        let posterior = beliefs.estimator.posterior();
        let is_told = posterior.n_rewards.iter().any(|&n| n > 0);
        (is_told && self.look(question, &posterior)).then_some(StopReason::Confidence)
    }

    fn budget(&self) -> Option<u32> {
        None
    }
}
