//! LSE: intervals that only shrink, Cᵢ ← Cᵢ ∩ [μ̂ᵢ ± √βₜ σ√qᵢ]; pulls the open arm with the largest min(max Cᵢ − τ, τ − min Cᵢ)
//! (Gotovos, Casati, Hitz & Krause 2013, for level sets).
//!
//! An arm is settled as above as soon as min C + ε > τ, otherwise as below as soon as max C − ε ≤ τ. If C is empty, two intervals contradict
//! each other; the arm is then settled on the side of its mean. The t-th choice has βₜ = 2 ln(Kπ²t²/(6δ)), for which all intervals hold with
//! probability 1 − δ if the prior is right, or a constant β.

use crate::estimators::VarianceEstimator;
use crate::rules::{Choice, Rule, RuleError};
use crate::{Arm, Beliefs, Question, Range, Rng, Stop};

/// Pulls the open arm whose interval reaches furthest across the threshold, and settles arms by the interval. [`Straddle`](crate::rules::Straddle)
/// forgets earlier intervals and settles nothing. Ties go to the first arm.
///
/// It is the rule and the stop of the algorithm: both are needed, as two clones, because each keeps the intervals.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `noise` | 1 | σ, the standard deviation of a reward | 1e-100 ≤ σ ≤ 1e100, else [`RuleError`] |
/// | `beta` | 0 | β; 0 means βₜ as above | 0 ≤ β, else [`RuleError`] |
/// | `delta` | 0.05 | δ in βₜ | 1e-100 ≤ δ ≤ 0.5, else [`RuleError`] |
#[derive(Clone, Debug)]
pub struct Lse {
    /// σ².
    variance: f64,
    beta: f64,
    delta: f64,
    /// min C and max C of every arm.
    lower: Vec<f64>,
    upper: Vec<f64>,
    /// How many intervals C is the intersection of: one more than there were rewards.
    n_intervals: u64,
}

impl Lse {
    /// The values of β.
    pub(crate) const BETA: Range = Range::at_least(0.0);
    /// The values of δ.
    pub(crate) const DELTA: Range = Range::new(1e-100, 0.5);

    /// The rule and stop for rewards of standard deviation `noise`, and for an estimator before its first reward.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn new<E: VarianceEstimator>(noise: f64, beta: f64, delta: f64, estimator: &mut E) -> Result<Self, RuleError> {
        let noise = Range::NOISE_SCALE.check("noise", noise)?;
        let n_arms = estimator.n_arms();
        let mut lse = Self {
            variance: noise * noise,
            beta: Self::BETA.check("beta", beta)?,
            delta: Self::DELTA.check("delta", delta)?,
            lower: vec![f64::NEG_INFINITY; n_arms],
            upper: vec![f64::INFINITY; n_arms],
            n_intervals: 0,
        };
        lse.intersect(estimator);
        Ok(lse)
    }

    /// βₜ σ².
    fn width2(&self) -> f64 {
        let (k, t) = (self.lower.len() as f64, self.n_intervals as f64);
        let theory = || 2.0 * ((k / self.delta).ln() + 2.0 * t.ln() + (std::f64::consts::PI.powi(2) / 6.0).ln());
        self.variance * if self.beta > 0.0 { self.beta } else { theory() }
    }

    /// C ← C ∩ Q, from the rewards received.
    fn intersect<E: VarianceEstimator + ?Sized>(&mut self, estimator: &mut E) {
        self.n_intervals += 1;
        let width2 = self.width2();
        let (means, variances) = estimator.observed_moments();
        for arm in 0..means.len() {
            let half = (width2 * variances[arm].max(0.0)).sqrt();
            self.lower[arm] = self.lower[arm].max(means[arm] - half);
            self.upper[arm] = self.upper[arm].min(means[arm] + half);
        }
    }

    /// The side of an arm with this mean, if its interval decides it.
    fn side(&self, arm: Arm, question: Question, mean: f64) -> Option<bool> {
        let (lower, upper) = (self.lower[arm], self.upper[arm]);
        let (threshold, precision) = (question.threshold(), question.precision());
        if lower > upper {
            Some(question.is_above(mean))
        } else if lower + precision > threshold {
            Some(true)
        } else {
            (upper - precision <= threshold).then_some(false)
        }
    }
}

impl<E: VarianceEstimator + ?Sized> Rule<E> for Lse {
    const OPENS_WITH_EVERY_ARM: bool = false;

    /// A pending pull narrows the interval of the choice, so that several pulls at once are not all of one arm, but not C.
    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Choice {
        let (width2, threshold) = (self.width2(), beliefs.question.threshold());
        let (means, variances) = beliefs.estimator.moments();
        let mut best = (f64::NEG_INFINITY, None);
        for arm in beliefs.settled.open() {
            let half = (width2 * variances[arm].max(0.0)).sqrt();
            let lower = self.lower[arm].max(means[arm] - half);
            let upper = self.upper[arm].min(means[arm] + half);
            let ambiguity = (upper - threshold).min(threshold - lower);
            if best.1.is_none() || ambiguity > best.0 {
                best = (ambiguity, Some(arm));
            }
        }
        best.1.map_or(Choice::Done, Choice::Pull)
    }

    fn learns(&self) -> bool {
        true
    }

    fn learn(&mut self, beliefs: &mut Beliefs<'_, E>, _: Arm, _: f64) {
        self.intersect(beliefs.estimator);
    }
}

impl<E: VarianceEstimator + ?Sized> Stop<E> for Lse {
    fn settles(&self) -> bool {
        true
    }

    fn settle(&mut self, beliefs: &mut Beliefs<'_, E>, _: Arm, newly: &mut Vec<(Arm, bool)>) {
        self.intersect(beliefs.estimator);
        let question = beliefs.question;
        let means = beliefs.estimator.observed_moments().0;
        for arm in beliefs.settled.open() {
            newly.extend(self.side(arm, question, means[arm]).map(|is_above| (arm, is_above)));
        }
    }
}
