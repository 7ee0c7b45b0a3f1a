//! The verdict on an arm: its side of the threshold, and how sure that is.

use crate::estimators::{Estimator, Marginals, Model, Posterior, PriorFree};
use crate::interval::{Confidence, tail};
use crate::{Arm, Beliefs, IntervalKind, Question, Settled, SettledArm};
use statrs::distribution::{Beta, ContinuousCDF};
use statrs::function::beta::beta_reg;

/// The side of the threshold on which an arm lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// At or above the threshold.
    Above,
    /// Below the threshold.
    Below,
    /// Not known yet: the interval allows both sides.
    Undecided,
}

/// What a decided verdict rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The arm's own rewards prove the side at the stated confidence, whatever the model.
    Proved,
    /// The model makes the side likely; where the model is wrong, the verdict may be wrong more often than the confidence says.
    Likely,
}

/// The verdict on an arm.
///
/// The mean suggests a side: *above* iff μ̂ ≥ τ. That is the verdict if it would be right ([`Question::is_error`]) for every value in the
/// interval: *above* if `lower` ≥ τ − ε, *below* if `upper` < τ + ε. Otherwise the arm is undecided: the interval then contains a value
/// below τ − ε and one at or above τ + ε. An interval within ε of τ is always decided, because there both answers count as right.
/// Where the estimator has [`Marginals`], the doubt must be at most δ/2 as well.
///
/// An *anytime* interval may not contain the mean, because it is centred on an estimate without a prior
/// ([`PriorFree`](crate::estimators::PriorFree)). If it contradicts the mean, the arm is undecided.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Verdict {
    /// The estimate μ̂.
    pub mean: f64,
    /// The lower end of the interval; −∞ if nothing is known about the arm.
    pub lower: f64,
    /// The upper end of the interval; ∞ if nothing is known about the arm.
    pub upper: f64,
    /// The side.
    pub side: Side,
    /// What the side rests on; `None` if the arm is undecided.
    pub basis: Option<Basis>,
    /// The evidence of the arm's own rewards for the side of the verdict, or of the mean if the arm is undecided: an e-value. It is 1
    /// without rewards. If the arm lies on the other side, it ever reaches x with a probability of at most 1/x.
    pub evidence: f64,
    /// The number of rewards received for this arm. Pending pulls are not included, unlike in [`Beliefs::pulls`].
    pub pulls: u32,
    /// The probability that the side of the mean is an error ([`Question::is_error`]): that the arm lies beyond τ, by more than ε, on the
    /// other side. It is taken under the posterior N(μ̂, σ²q), or under Student's t distribution where σ is an estimate, and does not
    /// depend on the kind of interval.
    pub doubt: f64,
    /// The number of rewards, of all arms, after which the side was [settled](crate::Settled); `None` if it is not. Later rewards do not
    /// change a settled side, even if they contradict it.
    pub settled_after: Option<u64>,
    /// Whether the arm is [withdrawn](crate::Settled::set_withdrawn): it is not measured any more.
    pub is_withdrawn: bool,
    /// Why it says less than the rewards seem to say, if it does.
    pub limit: Option<VerdictLimit>,
    /// Whether the mean, or the proof, suggests *above*.
    is_mean_above: bool,
}

/// Why a verdict says less than the rewards, or the model, seem to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum VerdictLimit {
    /// Its evidence would prove the side if the noise were normal, and the noise may be too skewed for that: [`ProofLimit::Skew`](crate::proof::ProofLimit::Skew).
    Skew,
    /// Each arm is judged by itself, and one pass or fail is no verdict.
    FewRewards,
    /// The linear model has not been tested by the rewards yet, so it makes nothing likely.
    UntestedModel,
    /// The rewards contradict the linear model, so it makes nothing likely.
    Misfit,
}

impl VerdictLimit {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Skew, Self::FewRewards, Self::UntestedModel, Self::Misfit];

    /// The limit with this name; `None` if there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|limit| limit.name() == name)
    }

    /// Its name in files, in JSON and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Skew => "skew",
            Self::FewRewards => "few-rewards",
            Self::UntestedModel => "untested-model",
            Self::Misfit => "misfit",
        }
    }
}

impl Basis {
    /// Both of them, the stronger one first.
    pub const ALL: &[Self] = &[Self::Proved, Self::Likely];

    /// Its name in files, in JSON and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Proved => "proved",
            Self::Likely => "likely",
        }
    }
}

impl Side {
    /// All sides.
    pub const ALL: &[Self] = &[Self::Above, Self::Below, Self::Undecided];

    /// Its name in files, in JSON and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Above => "above",
            Self::Below => "below",
            Self::Undecided => "undecided",
        }
    }
}

impl Verdict {
    /// The verdict on an arm with this mean, an interval of `centre` ± `half_width` and a posterior standard deviation σ√q of `deviation`.
    /// Mean and interval are limited to `range`.
    fn new(
        question: Question,
        range: (f64, f64),
        mean: f64,
        (centre, half_width): (f64, f64),
        deviation: f64,
        pulls: u32,
        doubt: f64,
    ) -> Self {
        // Rewards close to the largest f64 may have overflowed; then nothing is known.
        let is_known = mean.is_finite()
            && centre.is_finite()
            && (half_width.is_finite() || (half_width > 0.0 && deviation.is_finite()));
        if !is_known {
            let (lower, upper) = range;
            return Self {
                mean,
                lower,
                upper,
                side: Side::Undecided,
                basis: None,
                evidence: 1.0,
                pulls,
                doubt: 0.5,
                settled_after: None,
                is_withdrawn: false,
                limit: None,
                is_mean_above: true,
            };
        }
        let [mean, lower, upper] = [mean, centre - half_width, centre + half_width].map(|x| x.clamp(range.0, range.1));
        let is_mean_above = question.is_above(mean);
        let (side, worst) = if is_mean_above { (Side::Above, lower) } else { (Side::Below, upper) };
        let is_decided = !question.is_error(worst, mean);
        Self {
            mean,
            lower,
            upper,
            side: if is_decided { side } else { Side::Undecided },
            basis: is_decided.then_some(Basis::Likely),
            evidence: 1.0,
            pulls,
            doubt,
            settled_after: None,
            is_withdrawn: false,
            limit: None,
            is_mean_above,
        }
    }

    /// The verdict where a side is proved with error probability `delta`: it is the side, whatever the model says.
    #[must_use]
    pub fn proved(self, is_above: bool, delta: f64) -> Self {
        let side = if is_above { Side::Above } else { Side::Below };
        // Where the model doubts the side of the mean, it does not doubt the other one.
        let doubt = if is_above == self.is_mean_above { self.doubt.min(delta) } else { delta };
        Self { side, basis: Some(Basis::Proved), doubt, limit: None, is_mean_above: is_above, ..self }
    }

    /// The verdict where this is a reason not to believe the model: undecided, unless it is proved or settled.
    #[must_use]
    pub fn without_model(self, limit: VerdictLimit) -> Self {
        if self.basis != Some(Basis::Likely) || self.settled_after.is_some() {
            return self;
        }
        Self { limit: Some(limit), ..self.undecided() }
    }

    fn undecided(self) -> Self {
        Self { side: Side::Undecided, basis: None, ..self }
    }

    /// Whether the mean suggests *above*.
    #[must_use]
    pub fn is_mean_above(&self) -> bool {
        self.is_mean_above
    }

    /// The same with the side that was settled, if it was.
    fn settled(self, settled: &Settled, arm: Arm) -> Self {
        let verdict = Self { is_withdrawn: settled.is_withdrawn(arm), ..self };
        let Some(SettledArm { is_above, after, .. }) = settled.get(arm) else { return verdict };
        let side = if is_above { Side::Above } else { Side::Below };
        let basis = verdict.basis.or(Some(Basis::Likely));
        Self { side, basis, settled_after: Some(after), limit: None, ..verdict }
    }

    /// Whether the mean is the threshold, to the last digit, and nothing speaks for either side. The side is *above* then, because that is
    /// what a mean at the threshold counts as.
    #[must_use]
    pub fn is_at_threshold(&self) -> bool {
        self.side == Side::Above && self.settled_after.is_none() && self.doubt >= 0.5
    }

    /// The side in words for people: its name, or `at the threshold`.
    #[must_use]
    pub fn side_in_words(&self) -> &'static str {
        if self.is_at_threshold() { "at the threshold" } else { self.side.name() }
    }

    /// The probability that calling the arm *above* is right, by the model: the counterpart of [`doubt`](Verdict::doubt). With a
    /// precision of 0 it is the probability that the arm lies above the threshold.
    #[must_use]
    pub fn probability_above(&self) -> f64 {
        if self.is_mean_above { 1.0 - self.doubt } else { self.doubt }
    }

    /// Whether the arm's own rewards prove its side.
    #[must_use]
    pub fn is_proved(&self) -> bool {
        self.basis == Some(Basis::Proved)
    }

    /// Whether the arm is known to be above or below.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.side != Side::Undecided
    }
}

impl<E: Estimator + ?Sized> Beliefs<'_, E> {
    /// The verdict on every arm, from the rewards received. Costs O(Kd² + d³) with ridge.
    ///
    /// An estimator that [learns σ](Estimator::noise_scale) replaces the σ of `confidence`, except for the ends of *anytime* intervals, whose
    /// level holds for a given σ only.
    ///
    /// ```
    /// use cutline::{Arms, Confidence, IntervalKind, Question, Side, Spec};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let arms = Arms::without_features(2)?;
    /// let mut learner = Spec::named("apt")?.learner(&arms, Question::new(0.0, 0.1)?, 100, 0)?;
    /// for _ in 0..16 {
    ///     learner.tell(0, 1.0)?;
    /// }
    /// let confidence = Confidence::new(IntervalKind::Fixed, 0.05, 1.0)?;
    /// let verdicts: Vec<_> = learner.beliefs().verdicts(&confidence).collect();
    /// assert_eq!((verdicts[0].side, verdicts[1].side), (Side::Above, Side::Undecided));
    /// assert!((verdicts[0].lower - (1.0 - 1.96 / 4.0)).abs() < 1e-4);
    /// assert!(verdicts[0].doubt < 1e-4 && verdicts[1].doubt == 0.5);
    /// # Ok(())
    /// # }
    /// ```
    pub fn verdicts(&mut self, confidence: &Confidence) -> impl ExactSizeIterator<Item = Verdict> {
        let (question, mut confidence, settled) = (self.question, *confidence, self.settled);
        let noise = self.estimator.noise_scale().unwrap_or(confidence.noise());
        if confidence.interval() == IntervalKind::Fixed {
            confidence.set_noise(noise);
        }
        let range = confidence.range();
        let marginals = self.estimator.marginals(question);
        let (posterior, prior_free) = match confidence.interval() {
            IntervalKind::Fixed if !confidence.is_bernoulli() => (self.estimator.posterior(), None),
            _ => self.estimator.posterior_and_prior_free(),
        };
        let interval = confidence.intervals(&posterior, prior_free);
        let Posterior { means, variances, n_rewards, model } = posterior;
        let is_beta = confidence.is_bernoulli() && model == Model::Unrelated;
        let is_jeffreys = is_beta && confidence.interval() == IntervalKind::Fixed;
        let least = PassFailLimits::new(&confidence, prior_free);
        (0..means.len()).map(move |arm| {
            let Some(marginals) = &marginals else {
                let (mean, deviation) = (means[arm], noise * variances[arm].sqrt());
                let beta = is_beta.then(|| Jeffreys::new(mean, n_rewards[arm])).flatten();
                let doubt = match &beta {
                    Some(beta) => beta.doubt(question, mean),
                    None => doubt(question, mean, deviation, confidence.degrees_of_freedom()),
                };
                let (centre, half_width) = match beta.filter(|_| is_jeffreys) {
                    Some(beta) => beta.interval(confidence.delta(), mean),
                    None => interval(arm),
                };
                let verdict =
                    Verdict::new(question, range, mean, (centre, half_width), deviation, n_rewards[arm], doubt);
                let is_enough = !is_jeffreys || has_enough_passes(question, mean, n_rewards[arm], confidence.delta());
                let verdict = if is_enough { verdict } else { verdict.without_model(VerdictLimit::FewRewards) };
                return verdict.settled(settled, arm);
            };
            let Marginals { means, deviations, doubts, .. } = marginals;
            let interval = if confidence.interval() == IntervalKind::Fixed {
                let (lower, upper) = marginals.interval(arm, confidence.delta());
                (f64::midpoint(lower, upper), 0.5 * (upper - lower))
            } else {
                interval(arm)
            };
            let (interval, doubt) = match &least {
                Some(least) => (least.widened(interval), doubts[arm].max(least.doubt(question, means[arm]))),
                None => (interval, doubts[arm]),
            };
            let verdict = Verdict::new(question, range, means[arm], interval, deviations[arm], n_rewards[arm], doubt);
            // The tails of a mixture are heavier than its interval says.
            let is_certain = doubt <= 0.5 * confidence.delta();
            let verdict = if is_certain { verdict } else { verdict.undecided() };
            verdict.settled(settled, arm)
        })
    }
}

/// Whether passes and fails alone, without a prior, are enough for the side of their mean: at least two rewards, of which so many, or more, on that side
/// have a probability of at most δ/2 at the bar. Where an arm with a surprising first reward is not measured again, Jeffreys would often be wrong.
fn has_enough_passes(question: Question, mean: f64, n: u32, delta: f64) -> bool {
    let (threshold, precision) = (question.threshold(), question.precision());
    let is_above = question.is_above(mean);
    let bar = if is_above { threshold - precision } else { 1.0 - threshold - precision };
    let agreeing = f64::from(n) * if is_above { mean } else { 1.0 - mean };
    // P(X ≥ x) of a binomial distribution is I_bar(x, n − x + 1).
    let tail = if agreeing > 0.0 && bar > 0.0 {
        beta_reg(agreeing, f64::from(n) - agreeing + 1.0, bar.min(1.0))
    } else {
        f64::from(u8::from(bar > 0.0))
    };
    n >= 2 && tail <= delta / 2.0
}

/// The posterior Beta(x + ½, n − x + ½) of the probability of a 1 after x of n, by the prior of Jeffreys. Its quantiles are an interval that holds
/// about as often as it says, for small n too (Brown and others 2001).
struct Jeffreys(Beta);

impl Jeffreys {
    /// The posterior after `n` rewards of this mean; `None` without rewards.
    fn new(mean: f64, n: u32) -> Option<Self> {
        let ones = mean * f64::from(n);
        (n > 0).then(|| Self::of(ones, f64::from(n) - ones)).flatten()
    }

    fn of(ones: f64, zeros: f64) -> Option<Self> {
        Beta::new(ones + 0.5, zeros + 0.5).ok().map(Self)
    }

    /// The centre and half the width of the interval of level 1 − `delta`. It ends at 0 if there is no 1 and at 1 if there is no 0, and it
    /// contains the mean.
    fn interval(&self, delta: f64, mean: f64) -> (f64, f64) {
        let lower = if mean <= 0.0 { 0.0 } else { self.0.inverse_cdf(delta / 2.0).min(mean) };
        let upper = if mean >= 1.0 { 1.0 } else { self.0.inverse_cdf(1.0 - delta / 2.0).max(mean) };
        (f64::midpoint(lower, upper), 0.5 * (upper - lower))
    }

    /// The probability that the side of the mean is an error.
    fn doubt(&self, question: Question, mean: f64) -> f64 {
        let (threshold, precision) = (question.threshold(), question.precision());
        if question.is_above(mean) {
            self.0.cdf((threshold - precision).clamp(0.0, 1.0))
        } else {
            self.0.sf((threshold + precision).clamp(0.0, 1.0))
        }
    }
}

/// What rewards of pass or fail say at most, whatever the arms have in common: no arm is known better than if all passes of the campaign, or
/// all fails, were its own. A model that learns the noise from rewards that are all the same would be certain after a few of them.
struct PassFailLimits {
    passes: Jeffreys,
    fails: Jeffreys,
    lower: f64,
    upper: f64,
}

impl PassFailLimits {
    /// `None` if rewards are not pass or fail, or are not known.
    fn new(confidence: &Confidence, prior_free: Option<PriorFree<'_>>) -> Option<Self> {
        let Some(PriorFree::SampleMeans { means, n_rewards }) = prior_free.filter(|_| confidence.is_bernoulli()) else {
            return None;
        };
        let measured = || means.iter().zip(n_rewards).filter(|&(_, &n)| n > 0);
        let n_passes: f64 = measured().map(|(mean, &n)| mean * f64::from(n)).sum();
        let n_fails = measured().map(|(_, &n)| f64::from(n)).sum::<f64>() - n_passes;
        let (passes, fails) = (Jeffreys::of(n_passes, 0.0)?, Jeffreys::of(0.0, n_fails)?);
        let half = confidence.delta() / 2.0;
        let (lower, upper) = (passes.0.inverse_cdf(half), fails.0.inverse_cdf(1.0 - half));
        Some(Self { passes, fails, lower, upper })
    }

    /// The centre and half the width of an interval that is long enough.
    fn widened(&self, (centre, half_width): (f64, f64)) -> (f64, f64) {
        let (lower, upper) = ((centre - half_width).min(self.lower), (centre + half_width).max(self.upper));
        (f64::midpoint(lower, upper), 0.5 * (upper - lower))
    }

    /// The least doubt about the side of a mean.
    fn doubt(&self, question: Question, mean: f64) -> f64 {
        if question.is_above(mean) { self.passes.doubt(question, mean) } else { self.fails.doubt(question, mean) }
    }
}

/// The probability that the side of the mean is an error, under a t distribution.
pub(crate) fn doubt(question: Question, mean: f64, deviation: f64, degrees_of_freedom: f64) -> f64 {
    if deviation > 0.0 { tail(question.gap(mean) / deviation, degrees_of_freedom) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> Question {
        Question::new(1.0, 0.25).unwrap()
    }

    fn verdict(mean: f64, half: f64, deviation: f64) -> Verdict {
        let doubt = doubt(question(), mean, deviation, f64::INFINITY);
        Verdict::new(question(), (f64::NEG_INFINITY, f64::INFINITY), mean, (mean, half), deviation, 1, doubt)
    }

    fn side(mean: f64, half: f64) -> Side {
        verdict(mean, half, 1.0).side
    }

    /// τ = 1 and ε = ¼: decided iff the half-width is at most the gap |μ̂ − τ| + ε, for below strictly.
    #[test]
    fn decided_where_no_value_of_the_interval_makes_it_an_error() {
        assert_eq!(side(1.5, 0.75), Side::Above, "the lower end is τ − ε exactly, which may be called above");
        assert_eq!(side(1.5, 0.76), Side::Undecided);
        assert_eq!(side(0.5, 0.74), Side::Below);
        assert_eq!(side(0.5, 0.75), Side::Undecided, "the upper end is τ + ε exactly, which may not be called below");
        assert_eq!(side(1.0, 0.25), Side::Above, "at τ, and within ε");
        assert_eq!(side(0.99, 0.2), Side::Below, "both answers are right; the mean says which");
        assert_eq!(side(1.0, 0.0), Side::Above);
    }

    /// By the definition of an error, value by value over the interval.
    #[test]
    fn no_value_of_a_decided_interval_makes_the_side_an_error() {
        let (mut decided, mut undecided) = (0, 0);
        for mean in (0..200).map(|i| f64::from(i) / 64.0) {
            for half in (0..64).map(|i| f64::from(i) / 64.0) {
                let values = || (-64..=64).map(|i| mean + half * f64::from(i) / 64.0);
                let is_wrong = |estimate: f64| values().any(|value| question().is_error(value, estimate));
                let verdict = verdict(mean, half, 1.0);
                if verdict.is_decided() {
                    assert!(!is_wrong(mean), "{verdict:?}");
                    assert_eq!(verdict.side == Side::Above, mean >= 1.0);
                    decided += 1;
                } else {
                    assert!(is_wrong(0.0) && is_wrong(2.0), "either answer may be wrong: {verdict:?}");
                    undecided += 1;
                }
            }
        }
        assert!(decided > 1_000 && undecided > 1_000, "{decided} {undecided}");
    }

    #[test]
    fn nothing_known_or_nothing_to_doubt() {
        for (mean, half) in [(0.0, f64::INFINITY), (f64::NAN, 1.0), (f64::INFINITY, 1.0), (2.0, f64::NAN)] {
            let verdict = verdict(mean, half, f64::INFINITY);
            assert_eq!((verdict.side, verdict.doubt), (Side::Undecided, 0.5), "{mean} ± {half}");
            assert_eq!((verdict.lower, verdict.upper), (f64::NEG_INFINITY, f64::INFINITY));
        }
        for mean in [0.5, 1.0, 2.0] {
            assert_eq!(verdict(mean, 0.0, 0.0).doubt, 0.0, "an arm of zeros is known exactly");
        }
        let doubt = verdict(0.5, 9.0, 0.5).doubt;
        assert!((doubt - 0.06680720126885807).abs() < 1e-10, "P(Z > 1.5), undecided or not: {doubt}");
    }
}
