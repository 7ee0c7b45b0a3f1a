//! Which arms are sure: the widths of the criteria, and full scans only where the arm that was least sure may have become sure.

use super::{ConfidenceStop, StopNoise};
use crate::estimators::{Estimator, Model, Posterior, PriorFree};
use crate::stop::{Elimination, Stop, StopCriterion, StopReason};
use crate::{Arm, Beliefs, Question, RewardKind, Settled};

impl ConfidenceStop {
    /// The width of an arm that has evidence, in units of the square root of its variance.
    fn evidence_factor(&self, n_rewards: &[u32], model: Model) -> f64 {
        let t: u64 = n_rewards.iter().map(|&n| u64::from(n)).sum();
        if self.criterion == StopCriterion::LikelihoodRatio {
            return self.noise() * (2.0 * ((t as f64 + 1.0) / self.delta()).ln()).sqrt();
        }
        let bias = match (model, self.norm()) {
            (Model::Linear { lambda, .. }, Some(norm)) => lambda.sqrt() * norm,
            _ => 0.0,
        };
        self.noise() * (2.0 * self.evidence_level(t, n_rewards.len(), model)).sqrt() + bias
    }

    /// ln((1 + ln t)/δ), or with δ/K for K arms that are separate tests.
    fn evidence_level(&self, t: u64, n_arms: usize, model: Model) -> f64 {
        let tests = if is_linear(model) { 1.0 } else { n_arms as f64 };
        (t as f64).ln().ln_1p() + (tests / self.delta()).ln()
    }

    /// σ, where the estimator allows for this one at least.
    fn noise_of(&self, least_noise: f64) -> f64 {
        match self.noise_source {
            StopNoise::Estimated => self.noise().max(least_noise),
            StopNoise::Given | StopNoise::Bernoulli => self.noise(),
        }
    }

    /// Whether the own rewards of an arm are evidence for the side of its mean, by their mean and its variance in units of `noise`².
    fn has_own_evidence(&self, question: Question, mean: f64, (own, variance): (f64, f64), noise: f64) -> bool {
        let is_same_side = question.is_above(own) == question.is_above(mean);
        is_same_side && question.gap(own) > noise * (-2.0 * self.delta().ln() * variance).sqrt()
    }

    /// Whether all arms that are not withdrawn have evidence in their own rewards, if that is asked for.
    fn have_own_evidence(
        &self,
        question: Question,
        settled: &Settled,
        noise: f64,
        posterior: &Posterior<'_>,
        prior_free: Option<PriorFree<'_>>,
    ) -> bool {
        let is_asked_for = self.is_by_own_rewards && self.criterion != StopCriterion::Intervals;
        let Some(PriorFree::SampleMeans { means: own, n_rewards }) = prior_free else { return true };
        let has_evidence = |arm: Arm| {
            let moments = (own[arm], 1.0 / f64::from(n_rewards[arm]));
            self.has_own_evidence(question, posterior.means[arm], moments, noise)
        };
        !is_asked_for
            || posterior.model != Model::Mixed
            || (0..own.len()).all(|arm| settled.is_withdrawn(arm) || has_evidence(arm))
    }

    /// By how much an [estimate](ConfidenceStop::with_estimated_noise) of σ widens an arm that has evidence: √(ν(e^(2l/ν) − 1)/(2l)).
    /// `least_noise` is the least σ that the estimator allows for.
    fn allowance(&self, n_rewards: &[u32], model: Model, least_noise: f64) -> f64 {
        if self.noise_source != StopNoise::Estimated {
            return 1.0;
        }
        let t: u64 = n_rewards.iter().map(|&n| u64::from(n)).sum();
        let repeats = t as f64 - n_rewards.iter().filter(|&&n| n > 0).count() as f64;
        let freedom = if model == Model::Mixed { repeats + PRIOR_FREEDOM } else { repeats.max(LEAST_FREEDOM) };
        let level = match self.criterion {
            StopCriterion::LikelihoodRatio => ((t as f64 + 1.0) / self.delta()).ln(),
            _ => self.evidence_level(t, n_rewards.len(), model),
        };
        let ratio = 2.0 * level / freedom;
        (ratio.exp_m1() / ratio).sqrt() * self.noise_of(least_noise) / self.noise()
    }

    /// Whether `arm` is certainly not sure yet. Its variance is computed in another way than in a full scan, so cases that rounding could
    /// decide are left to the full scan.
    fn is_doubtful<E: Estimator + ?Sized>(&self, beliefs: &mut Beliefs<'_, E>, arm: Arm) -> bool {
        let (mean, variance) = if self.is_prior_free {
            beliefs.estimator.prior_free_moments_of(arm)
        } else {
            beliefs.estimator.moments_of(arm)
        };
        let width = self.least_width * self.noise_of(beliefs.estimator.least_noise()) * variance.max(0.0).sqrt();
        beliefs.question.gap(mean) < (1.0 - 1e-5) * width
    }

    /// Whether the arm that was least sure at the last full scan is certainly not sure yet.
    fn is_still_doubtful<E: Estimator + ?Sized>(&self, beliefs: &mut Beliefs<'_, E>) -> bool {
        let is_withdrawn = beliefs.settled.is_withdrawn(self.doubtful);
        self.least_width > 0.0 && !is_withdrawn && self.is_doubtful(beliefs, self.doubtful)
    }

    /// Whether no open arm can be sure, by moments that are cheaper than a full scan.
    fn has_only_doubtful_arms<E: Estimator + ?Sized>(&self, beliefs: &mut Beliefs<'_, E>) -> bool {
        let settled = beliefs.settled;
        self.least_width > 0.0 && !self.is_prior_free && settled.open().all(|arm| self.is_doubtful(beliefs, arm))
    }

    /// The centre and half the width of every arm's interval: an arm is sure if the side of its mean is right for all values in it.
    fn intervals<'a>(
        &self,
        question: Question,
        least_noise: f64,
        posterior: &Posterior<'a>,
        prior_free: Option<PriorFree<'a>>,
    ) -> impl Fn(Arm) -> (f64, f64) + use<'a> {
        let &Posterior { means, variances, n_rewards, model, .. } = posterior;
        let intervals = self.confidence.intervals(posterior, prior_free);
        let factor = self.evidence_factor(n_rewards, model) * self.allowance(n_rewards, model, least_noise);
        let is_by_divergence = self.is_by_divergence(model);
        let has_norm = self.norm().is_some() && is_linear(model);
        let criterion = self.criterion;
        move |arm: Arm| match (criterion, prior_free) {
            (StopCriterion::Intervals, _) => intervals(arm),
            (StopCriterion::Evidence, Some(PriorFree::LeastSquares { means, variances, .. })) if !has_norm => {
                (means[arm], factor * variances[arm].sqrt())
            }
            // What an arm's features do not explain shows only in its own rewards.
            _ if is_by_divergence => {
                let deviation = bernoulli_deviation(question, means[arm]) / RewardKind::BERNOULLI_SIGMA;
                (means[arm], factor * deviation * variances[arm].sqrt())
            }
            _ if model == Model::Mixed && n_rewards[arm] == 0 => (means[arm], f64::INFINITY),
            _ => (means[arm], factor * variances[arm].sqrt()),
        }
    }

    /// Checks all arms that are not withdrawn; returns whether all are sure.
    fn scan(
        &mut self,
        question: Question,
        settled: &Settled,
        least_noise: f64,
        posterior: &Posterior<'_>,
        prior_free: Option<PriorFree<'_>>,
    ) -> bool {
        let &Posterior { means, variances, .. } = posterior;
        let available = || (0..means.len()).filter(|&arm| !settled.is_withdrawn(arm));
        let interval = self.intervals(question, least_noise, posterior, prior_free);
        let certainty = |arm: Arm| {
            let (centre, width) = interval(arm);
            question.gap(centre) / width
        };
        let least = available().min_by(|&a, &b| certainty(a).total_cmp(&certainty(b)));
        let doubtful = least.unwrap_or(0);
        let width = interval(doubtful).1 / variances[doubtful].sqrt();
        let is_sure = available().all(|arm| is_sure(question, means[arm], interval(arm)));
        drop(interval);
        let noise = self.noise_of(least_noise);
        self.lacks_own_rewards = is_sure && !self.have_own_evidence(question, settled, noise, posterior, prior_free);
        let is_sure = is_sure && !self.lacks_own_rewards;
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
            StopCriterion::Evidence if self.is_by_divergence(model) => 0.0,
            StopCriterion::Evidence | StopCriterion::LikelihoodRatio => {
                self.evidence_factor(n_rewards, model) / self.noise()
            }
            StopCriterion::Intervals if has_norm => width / self.noise(),
            StopCriterion::Intervals => self.least_prior_free_width(prior_free),
        };
        self.least_width = if least_width.is_finite() { least_width } else { 0.0 };
    }

    /// Whether the evidence about an arm is a divergence of Bernoulli distributions.
    fn is_by_divergence(&self, model: Model) -> bool {
        let is_evidence = self.criterion == StopCriterion::Evidence;
        is_evidence && model == Model::Unrelated && self.noise_source == StopNoise::Bernoulli
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

/// The degrees of freedom that the prior on σ of the mixed model is worth.
const PRIOR_FREEDOM: f64 = 3.0;

/// The least degrees of freedom of an estimate of σ in a campaign: see [`NoiseEstimate`](crate::NoiseEstimate). With fewer repeats it
/// comes from the residuals of least squares, or is as large as the distance of the rewards from τ.
const LEAST_FREEDOM: f64 = 20.0;

/// √(Δ̂²/(2 kl(μ̂, τ ∓ ε))): the standard deviation with which Gaussian rewards would be the same evidence as 0/1 rewards of mean μ̂. At most ½.
fn bernoulli_deviation(question: Question, mean: f64) -> f64 {
    let precision = question.precision();
    let other = question.threshold() + if question.is_above(mean) { -precision } else { precision };
    let term = |p: f64, q: f64| if p > 0.0 { p * (p / q.max(0.0)).ln() } else { 0.0 };
    let divergence = term(mean, other) + term(1.0 - mean, 1.0 - other);
    let deviation = question.gap(mean) / (2.0 * divergence).sqrt();
    // The divergence is 0 only where the gap is.
    if deviation.is_finite() { deviation.min(RewardKind::BERNOULLI_SIGMA) } else { RewardKind::BERNOULLI_SIGMA }
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
        self.lacks_own_rewards = false;
        // With elimination the learner ends when no arm is open.
        if self.elimination.is_some() || self.is_still_doubtful(beliefs) {
            return None;
        }
        let (question, settled) = (beliefs.question, beliefs.settled);
        let least_noise = beliefs.estimator.least_noise();
        let (posterior, prior_free) = beliefs.estimator.posterior_and_prior_free();
        let has_rewards = posterior.n_rewards.iter().any(|&n| n > 0);
        let is_sure = has_rewards && self.scan(question, settled, least_noise, &posterior, prior_free);
        is_sure.then_some(StopReason::Confidence)
    }

    /// Of the arms whose own rewards are no evidence, the one with the fewest pulls.
    fn request(&mut self, beliefs: &mut Beliefs<'_, E>) -> Option<Arm> {
        if !self.lacks_own_rewards {
            return None;
        }
        let (question, noise) = (beliefs.question, self.noise_of(beliefs.estimator.least_noise()));
        let lacking = (0..beliefs.pulls.len()).filter(|&arm| {
            let mean = beliefs.estimator.means()[arm];
            let own = beliefs.estimator.prior_free_moments_of(arm);
            !beliefs.settled.is_withdrawn(arm) && !self.has_own_evidence(question, mean, own, noise)
        });
        lacking.min_by_key(|&arm| beliefs.pulls[arm])
    }

    fn settles(&self) -> bool {
        self.elimination.is_some()
    }

    fn settle(&mut self, beliefs: &mut Beliefs<'_, E>, _: Arm, newly: &mut Vec<(Arm, bool)>) {
        if self.elimination.is_none() || self.has_only_doubtful_arms(beliefs) {
            return;
        }
        let (question, settled) = (beliefs.question, beliefs.settled);
        let least_noise = beliefs.estimator.least_noise();
        let (posterior, prior_free) = beliefs.estimator.posterior_and_prior_free();
        let interval = self.intervals(question, least_noise, &posterior, prior_free);
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
        if self.noise_source == StopNoise::Bernoulli {
            return;
        }
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
