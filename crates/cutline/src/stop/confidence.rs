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
//! With [elimination](Elimination) an arm is settled as soon as it is sure, and the learner ends when all are; without it all have to be sure
//! at the same time.

use super::{Stop, StopReason};
use crate::estimators::{Estimator, Model, Posterior, PriorFree};
use crate::{Arm, Beliefs, Confidence, IntervalError, IntervalKind, Question};

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
    /// All of them, with their names.
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
    /// All of them, with their names.
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
    pub(crate) fn names() -> String {
        Self::ALL.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(" or ")
    }
}

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
///     learner.tell(arm, [1.0, -2.0][arm]);
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
    /// The arm that was least sure at the last full scan.
    doubtful: Arm,
    /// A lower bound on the width of that arm at any later time, in units of σ√q; 0 if unknown. While the gap is smaller, the arm is not
    /// sure.
    least_width: f64,
    /// Whether that width belongs to the estimate without a prior.
    is_prior_free: bool,
}

impl ConfidenceStop {
    /// Ends when all sides are sure at level 1 − `delta`, for rewards of scale `noise`.
    ///
    /// # Errors
    /// If `delta` or `noise` is out of range.
    pub fn new(criterion: StopCriterion, delta: f64, noise: f64) -> Result<Self, IntervalError> {
        let confidence = Confidence::new(IntervalKind::Anytime, delta, noise)?;
        Ok(Self { criterion, confidence, elimination: None, doubtful: 0, least_width: 0.0, is_prior_free: false })
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

    /// Whether it uses an estimate without a prior, for linear means or for others.
    pub(super) fn is_prior_free(&self, is_linear: bool) -> bool {
        let has_norm = self.norm().is_some() && is_linear;
        match self.criterion {
            StopCriterion::Intervals => !has_norm,
            StopCriterion::Evidence => !has_norm && is_linear,
            StopCriterion::LikelihoodRatio => false,
        }
    }

    /// The width of an arm that has evidence, in units of the square root of its variance.
    fn evidence_factor(&self, n_rewards: &[u32], model: Model) -> f64 {
        let t: u64 = n_rewards.iter().map(|&n| u64::from(n)).sum();
        if self.criterion == StopCriterion::LikelihoodRatio {
            return self.noise() * (2.0 * ((t as f64 + 1.0) / self.delta()).ln()).sqrt();
        }
        let (tests, bias) = match (model, self.norm()) {
            (Model::Unrelated | Model::Mixed, _) => (n_rewards.len() as f64, 0.0),
            (Model::Linear { .. }, None) => (1.0, 0.0),
            (Model::Linear { lambda, .. }, Some(norm)) => (1.0, lambda.sqrt() * norm),
        };
        let level = 2.0 * ((t as f64).ln().ln_1p() + (tests / self.delta()).ln());
        self.noise() * level.sqrt() + bias
    }

    /// Whether `arm` is certainly not sure yet. Its variance is computed in another way than in a full scan, so cases that rounding could
    /// decide are left to the full scan.
    fn is_doubtful<E: Estimator + ?Sized>(&self, beliefs: &mut Beliefs<'_, E>, arm: Arm) -> bool {
        let (mean, variance) = if self.is_prior_free {
            beliefs.estimator.prior_free_moments_of(arm)
        } else {
            beliefs.estimator.moments_of(arm)
        };
        let width = self.least_width * self.noise() * variance.max(0.0).sqrt();
        beliefs.question.gap(mean) < (1.0 - 1e-5) * width
    }

    /// Whether the arm that was least sure at the last full scan is certainly not sure yet.
    fn is_still_doubtful<E: Estimator + ?Sized>(&self, beliefs: &mut Beliefs<'_, E>) -> bool {
        self.least_width > 0.0 && self.is_doubtful(beliefs, self.doubtful)
    }

    /// Whether no open arm can be sure, by moments that are cheaper than a full scan.
    fn has_only_doubtful_arms<E: Estimator + ?Sized>(&self, beliefs: &mut Beliefs<'_, E>) -> bool {
        let settled = beliefs.settled;
        self.least_width > 0.0 && !self.is_prior_free && settled.open().all(|arm| self.is_doubtful(beliefs, arm))
    }

    /// The centre and half the width of every arm's interval: an arm is sure if the side of its mean is right for all values in it.
    fn intervals<'a>(
        &self,
        posterior: &Posterior<'a>,
        prior_free: Option<PriorFree<'a>>,
    ) -> impl Fn(Arm) -> (f64, f64) + use<'a> {
        let &Posterior { means, variances, n_rewards, model, .. } = posterior;
        let intervals = self.confidence.intervals(posterior, prior_free);
        let factor = self.evidence_factor(n_rewards, model);
        let has_norm = self.norm().is_some() && is_linear(model);
        let criterion = self.criterion;
        move |arm: Arm| match (criterion, prior_free) {
            (StopCriterion::Intervals, _) => intervals(arm),
            (StopCriterion::Evidence, Some(PriorFree::LeastSquares { means, variances, .. })) if !has_norm => {
                (means[arm], factor * variances[arm].sqrt())
            }
            // What an arm's features do not explain shows only in its own rewards.
            _ if model == Model::Mixed && n_rewards[arm] == 0 => (means[arm], f64::INFINITY),
            _ => (means[arm], factor * variances[arm].sqrt()),
        }
    }

    /// Checks all arms; returns whether all are sure.
    fn scan(&mut self, question: Question, posterior: &Posterior<'_>, prior_free: Option<PriorFree<'_>>) -> bool {
        let &Posterior { means, variances, .. } = posterior;
        let interval = self.intervals(posterior, prior_free);
        let certainty = |arm: Arm| {
            let (centre, width) = interval(arm);
            question.gap(centre) / width
        };
        let least = (0..means.len()).min_by(|&a, &b| certainty(a).total_cmp(&certainty(b)));
        let doubtful = least.unwrap_or(0);
        let width = interval(doubtful).1 / variances[doubtful].sqrt();
        let is_sure = (0..means.len()).all(|arm| is_sure(question, means[arm], interval(arm)));
        drop(interval);
        self.doubtful = doubtful;
        self.remember_width(posterior, prior_free, width);
        is_sure
    }

    /// Keeps a lower bound on the widths at any later time; `width` is that of an arm now, in units of √q.
    fn remember_width(&mut self, posterior: &Posterior<'_>, prior_free: Option<PriorFree<'_>>, width: f64) {
        let &Posterior { n_rewards, model, .. } = posterior;
        let has_norm = self.norm().is_some() && is_linear(model);
        self.is_prior_free = self.is_prior_free(is_linear(model));
        let least_width = match self.criterion {
            StopCriterion::Evidence | StopCriterion::LikelihoodRatio => {
                self.evidence_factor(n_rewards, model) / self.noise()
            }
            StopCriterion::Intervals if has_norm => width / self.noise(),
            StopCriterion::Intervals => self.least_prior_free_width(prior_free),
        };
        self.least_width = if least_width.is_finite() { least_width } else { 0.0 };
    }

    /// A lower bound on the width of any arm at any later time, in units of σ√q. The mixture's width falls at first, but never below it.
    fn least_prior_free_width(&self, prior_free: Option<PriorFree<'_>>) -> f64 {
        let (tests, log_det) = match prior_free {
            Some(PriorFree::SampleMeans { n_rewards, .. }) => (n_rewards.len() as f64, 0.0),
            Some(PriorFree::LeastSquares { log_det, .. }) => (1.0, log_det),
            None => return 0.0,
        };
        (2.0 * (tests / self.delta()).ln() + log_det).sqrt()
    }
}

fn is_linear(model: Model) -> bool {
    matches!(model, Model::Linear { .. })
}

/// Whether the side of `mean` is right for every value within `width` of `centre`.
fn is_sure(question: Question, mean: f64, (centre, width): (f64, f64)) -> bool {
    let worst = if question.is_above(mean) { centre - width } else { centre + width };
    mean.is_finite() && worst.is_finite() && !question.is_error(worst, mean)
}

impl<E: Estimator + ?Sized> Stop<E> for ConfidenceStop {
    fn stop_reason(&mut self, beliefs: &mut Beliefs<'_, E>) -> Option<StopReason> {
        // With elimination the learner ends when no arm is open.
        if self.elimination.is_some() || self.is_still_doubtful(beliefs) {
            return None;
        }
        let question = beliefs.question;
        let (posterior, prior_free) = beliefs.estimator.posterior_and_prior_free();
        let has_rewards = posterior.n_rewards.iter().any(|&n| n > 0);
        (has_rewards && self.scan(question, &posterior, prior_free)).then_some(StopReason::Confidence)
    }

    fn settles(&self) -> bool {
        self.elimination.is_some()
    }

    fn settle(&mut self, beliefs: &mut Beliefs<'_, E>, _: Arm, newly: &mut Vec<(Arm, bool)>) {
        if self.elimination.is_none() || self.has_only_doubtful_arms(beliefs) {
            return;
        }
        let (question, settled) = (beliefs.question, beliefs.settled);
        let (posterior, prior_free) = beliefs.estimator.posterior_and_prior_free();
        let interval = self.intervals(&posterior, prior_free);
        let sure = settled.open().filter(|&arm| is_sure(question, posterior.means[arm], interval(arm)));
        newly.extend(sure.map(|arm| (arm, question.is_above(posterior.means[arm]))));
        let Some(first) = settled.open().next() else { return };
        let width = interval(first).1 / posterior.variances[first].sqrt();
        drop(interval);
        self.remember_width(&posterior, prior_free, width);
    }

    fn restricts_rules(&self) -> bool {
        self.elimination != Some(Elimination::Stop)
    }

    fn set_noise(&mut self, noise: f64) {
        self.confidence.set_noise(noise);
        // With a given bound on ‖θ‖ the widths are not proportional to σ.
        if self.norm().is_some() {
            self.least_width = 0.0;
        }
    }

    fn set_learnt_noise(&mut self, noise: f64) {
        // The guarantee is for a given σ.
        if self.criterion != StopCriterion::Intervals {
            <Self as Stop<E>>::set_noise(self, noise);
        }
    }
}
