//! The terms of a campaign: its settings.

use super::early_stop::EarlyStop;
use super::{CampaignError, MAX_REWARD};
use cutline::{
    Confidence, ConfidenceStop, EstimatorKind, Guarantee, IntervalError, IntervalKind, NoiseEstimate, NoiseSource,
    Question, QuestionError, RewardKind, Spec, SpecError, StopCriterion, diagnostics, short_number,
};
use thiserror::Error;

/// The settings of a campaign, except for its arms. When they change, its state is built again: see [`Event::Changed`](super::Event::Changed).
#[derive(Clone, Debug)]
pub struct Terms {
    /// The threshold and the precision.
    pub question: Question,
    /// The algorithm. If it takes the noise scale as a parameter, the campaign sets it.
    pub spec: Spec,
    /// The largest number of rewards that may count.
    pub budget: u32,
    /// The kind of the rewards. `None` is for campaigns that an earlier version began: numbers with noise, whose σ is estimated without
    /// a least value, and whose stop takes an estimate of σ for σ itself.
    pub rewards: Option<RewardKind>,
    /// The ends of the range in which every reward lies; infinite where there is none.
    pub range: (f64, f64),
    /// The standard deviation σ of a measurement, or `None` to estimate it from the rewards. Choices, stop and verdicts use the same σ;
    /// [`CampaignState::noise`](super::CampaignState::noise) returns it.
    ///
    /// An estimate comes from replicates as soon as they have twenty degrees of freedom, before that from the residuals of least squares
    /// once these have twenty, and before that it is the root mean square of r − τ. It is a function of the journal. Fixed intervals and
    /// doubts allow for its error by Student's t distribution, and so does the stop. It is at least half the smallest difference between
    /// two rewards, because rewards in steps may be equal by chance. Guarantees at all times need a given σ.
    ///
    /// [Bernoulli](RewardKind::Bernoulli) rewards have no σ to be given: it is ½, and only the mixed model learns another, for its choices
    /// and verdicts.
    pub noise: Option<f64>,
    /// The kind of the verdicts' intervals.
    pub interval: IntervalKind,
    /// δ: the verdicts' intervals hold with probability 1 − δ.
    pub delta: f64,
    /// What δ is about in proved verdicts; `None` for the default of what uses it.
    pub guarantee: Option<Guarantee>,
    /// When to stop early; `None` to use the whole budget. Sides are sure at level 1 − δ.
    /// [`StopCriterion::Intervals`] guarantees its error probability, which it can for a given `noise` or Bernoulli rewards only: otherwise
    /// the campaign never stops early. [`Terms::check_guarantee`] refuses such terms.
    pub until_sure: Option<EarlyStop>,
    /// The seed of all random choices.
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
    /// There is no stopping criterion of that name.
    #[error("unknown stopping criterion `{0}`; use `proved`, `evidence` or `expected-errors` and a number")]
    UnknownCriterion(String),
    /// The expected number of errors is missing or not above 0.
    #[error("`{0}`: `expected-errors` needs a number above 0, as in `expected-errors 3`")]
    ExpectedErrors(String),
    /// Only the doubts of the mixed model allow for the model being wrong.
    #[error("the stop `expected-errors` needs the estimator `mixed`, not `{}`", .0.name())]
    ExpectedErrorsNeedMixed(EstimatorKind),
    /// The noise or δ is out of range.
    #[error(transparent)]
    Interval(#[from] IntervalError),
    /// The algorithm learns from the order of the rewards, so its noise scale cannot change during the campaign.
    #[error("`{0}` cannot estimate the noise during a campaign; it needs a given `noise`")]
    NeedsNoise(String),
    /// The name is not that of a kind of rewards.
    #[error("unknown kind of rewards `{0}`; use `gaussian`, `bernoulli` or `count`")]
    UnknownRewards(String),
    /// Rewards of 0 or 1 have their noise by their mean.
    #[error("bernoulli rewards take no `noise`: it follows from their being 0 or 1")]
    BernoulliNoise,
    /// Counts have their noise by their mean.
    #[error("count rewards take no `noise`: it follows from their mean")]
    CountNoise,
    /// The mean of counts is a rate.
    #[error("with count rewards the threshold is a rate, above 0, not {}", short_number(*.0))]
    CountThreshold(f64),
    /// The name is not that of a guarantee.
    #[error("unknown guarantee `{0}`; use `each`, `all` or `fdr`")]
    UnknownGuarantee(String),
    /// The ends of the range are not two numbers of which the first is smaller.
    #[error("`min` must be below `max`, and both between -1e80 and 1e80, not {} and {}", short_number(*min), short_number(*max))]
    RangeEnds {
        /// The smallest reward.
        min: f64,
        /// The largest reward.
        max: f64,
    },
    /// No mean can lie on one of the sides.
    #[error(
        "the threshold {} must lie between `min` and `max`, {} and {}", short_number(*threshold), short_number(*min), short_number(*max)
    )]
    ThresholdOutsideRange {
        /// The threshold.
        threshold: f64,
        /// The smallest reward.
        min: f64,
        /// The largest reward.
        max: f64,
    },
    /// The kind of the rewards says what range they have.
    #[error("{} rewards take no `min` and no `max`: their range follows from their kind", .0.name())]
    RangeOfKind(RewardKind),
    /// The mean of rewards of 0 or 1 is a probability.
    #[error("with bernoulli rewards the threshold is a probability, above 0 and below 1, not {}", short_number(*.0))]
    BernoulliThreshold(f64),
    /// The threshold is too large.
    #[error("the threshold must be a number between -1e80 and 1e80, not {}", short_number(*.0))]
    Threshold(f64),
    /// The precision is too large.
    #[error("the precision must be a number between 0 and 1e80, not {}", short_number(*.0))]
    Precision(f64),
    /// The stop is for campaigns that earlier versions began.
    #[error("new campaigns have no stop `intervals`: use `proved`, which needs no `noise` and fewer measurements")]
    IntervalsReplaced,
}

impl Terms {
    /// The terms of a campaign with this question, algorithm and budget, and otherwise the defaults: Gaussian rewards, an estimated σ,
    /// fixed intervals with δ = 0.05, no early stop and the seed 0.
    ///
    /// ```
    /// use cutline::{Question, Spec};
    /// use cutline_campaign::Terms;
    ///
    /// let terms = Terms { noise: Some(0.1), ..Terms::new(Question::new(0.5, 0.0)?, Spec::named("apt")?, 20) };
    /// # Ok::<(), cutline_campaign::TermsError>(())
    /// ```
    #[must_use]
    pub fn new(question: Question, spec: Spec, budget: u32) -> Self {
        Self {
            question,
            spec,
            budget,
            rewards: Some(RewardKind::Gaussian),
            range: (f64::NEG_INFINITY, f64::INFINITY),
            noise: None,
            interval: IntervalKind::Fixed,
            delta: 0.05,
            guarantee: None,
            until_sure: None,
            seed: 0,
        }
    }

    /// Refuses a threshold or a precision beyond [`MAX_REWARD`], a guaranteed stop without a given noise scale, and any confidence stop with a
    /// rule that [starves arms](cutline::Algorithm::starves_arms). To be called when a campaign begins: earlier versions began such campaigns, and
    /// those still open; the former never stop early.
    ///
    /// # Errors
    /// If the question is out of range, or `until_sure` guarantees an error probability, and `noise` is not given, or the rule may never
    /// meet it.
    pub fn check_guarantee(&self) -> Result<(), TermsError> {
        let (threshold, precision) = (self.question.threshold(), self.question.precision());
        if threshold.abs() > MAX_REWARD {
            return Err(TermsError::Threshold(threshold));
        }
        if precision > MAX_REWARD {
            return Err(TermsError::Precision(precision));
        }
        self.spec.check_stop(matches!(self.until_sure, Some(EarlyStop::Sure(_))))?;
        match self.until_sure {
            Some(EarlyStop::Sure(StopCriterion::Intervals)) => Err(TermsError::IntervalsReplaced),
            _ => Ok(()),
        }
    }

    fn lacks_noise_for(&self, criterion: StopCriterion) -> bool {
        criterion == StopCriterion::Intervals && self.noise.is_none() && !self.is_bernoulli()
    }

    pub(super) fn is_bernoulli(&self) -> bool {
        self.rewards == Some(RewardKind::Bernoulli)
    }

    /// σ, where it does not depend on the rewards.
    pub(super) fn fixed_noise(&self) -> Option<f64> {
        let is_bound = self.is_bernoulli() && !self.spec.estimator().learns_noise();
        self.noise.or(is_bound.then_some(RewardKind::BERNOULLI_SIGMA))
    }

    /// Refuses a noise, a range and a threshold that do not go with each other or with the kind of the rewards.
    pub(super) fn check_rewards(&self) -> Result<(), TermsError> {
        let (threshold, has_noise) = (self.question.threshold(), self.noise.is_some());
        match self.rewards {
            Some(kind @ (RewardKind::Bernoulli | RewardKind::Count)) if self.has_range() => {
                Err(TermsError::RangeOfKind(kind))
            }
            Some(RewardKind::Bernoulli) if has_noise => Err(TermsError::BernoulliNoise),
            Some(RewardKind::Bernoulli) if !(threshold > 0.0 && threshold < 1.0) => {
                Err(TermsError::BernoulliThreshold(threshold))
            }
            Some(RewardKind::Count) if has_noise => Err(TermsError::CountNoise),
            Some(RewardKind::Count) if !(threshold > 0.0) => Err(TermsError::CountThreshold(threshold)),
            _ => self.check_range(),
        }
    }

    /// Refuses a reward that is not of the kind of the rewards, or outside their range.
    ///
    /// # Errors
    /// If the reward is refused.
    pub fn check_reward(&self, reward: f64) -> Result<(), CampaignError> {
        check_reward((self.rewards, self.range), reward)
    }

    fn has_range(&self) -> bool {
        self.range != (f64::NEG_INFINITY, f64::INFINITY)
    }

    fn check_range(&self) -> Result<(), TermsError> {
        let ((min, max), threshold) = (self.range, self.question.threshold());
        let is_end = |end: f64, none: f64| end == none || end.abs() <= MAX_REWARD;
        if !(min < max && is_end(min, f64::NEG_INFINITY) && is_end(max, f64::INFINITY)) {
            Err(TermsError::RangeEnds { min, max })
        } else if min < threshold && threshold < max {
            Ok(())
        } else {
            Err(TermsError::ThresholdOutsideRange { threshold, min, max })
        }
    }

    /// The algorithm for this noise scale.
    pub(super) fn spec(&self, sigma: f64) -> Result<Spec, TermsError> {
        let mut spec = self.spec.clone().with_noise_scale(sigma)?;
        if let Some(noise) = self.noise {
            spec = spec.with_known_noise(noise)?;
        }
        if let Some(EarlyStop::Sure(criterion)) = self.until_sure
            && !self.lacks_noise_for(criterion)
        {
            let mut stop = ConfidenceStop::new(criterion, self.delta, sigma)?;
            if self.rewards.is_some() {
                stop = stop.with_own_rewards();
            }
            spec = spec.with_confidence_stop(match self.rewards {
                Some(RewardKind::Bernoulli) => stop.with_bernoulli_rewards(),
                Some(RewardKind::Gaussian) if self.noise.is_none() => stop.with_estimated_noise(),
                _ => stop,
            });
        }
        Ok(spec)
    }

    /// The intervals of the verdicts for this noise.
    pub(super) fn confidence(&self, noise: NoiseEstimate) -> Result<Confidence, IntervalError> {
        // While the noise is unknown it is taken to be so large that no arm is decided.
        let sigma = if noise.source == NoiseSource::Nothing { 1e100 } else { noise.sigma };
        let mut confidence = Confidence::new(self.interval, self.delta, sigma)?;
        confidence = match self.rewards {
            Some(RewardKind::Bernoulli) => confidence.with_bernoulli_rewards(),
            Some(RewardKind::Count) => confidence.with_range((0.0, f64::INFINITY)),
            _ => confidence.with_range(self.range),
        };
        confidence.with_degrees_of_freedom(noise.degrees_of_freedom.unwrap_or(f64::INFINITY))
    }
}

/// Refuses a reward that a campaign with this kind of rewards and this range does not take. Journals may have rewards beyond
/// [`MAX_REWARD`](super::MAX_REWARD).
pub(super) fn check_reward((kind, range): (Option<RewardKind>, (f64, f64)), reward: f64) -> Result<(), CampaignError> {
    let (min, max) = range;
    match kind {
        _ if !(reward.abs() <= diagnostics::MAX_REWARD) => Err(CampaignError::NotAReward { reward }),
        Some(RewardKind::Bernoulli) if !RewardKind::is_pass_or_fail(reward) => {
            Err(CampaignError::NotPassOrFail { reward })
        }
        Some(RewardKind::Count) if !RewardKind::is_count(reward) => Err(CampaignError::NotACount { reward }),
        _ if reward < min => Err(CampaignError::BelowMin { reward, min }),
        _ if reward > max => Err(CampaignError::AboveMax { reward, max }),
        _ => Ok(()),
    }
}
