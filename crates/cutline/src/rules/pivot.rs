//! Pivot: find the arm whose side is least certain, then pull the arm that is most informative about it.
//!
//! 1. The pivot is k = arg minᵢ Δ̂ᵢ²/(σ² qᵢ) − ln qᵢ, with qᵢ = xᵢᵀV⁻¹xᵢ.
//! 2. Pull arg maxⱼ (xⱼᵀV⁻¹xₖ)²/(1 + qⱼ): the pull that reduces qₖ most.
//!
//! Where measurements cost different amounts cᵢ, both weigh by cost: k = arg minᵢ Δ̂ᵢ²/(σ²qᵢ) − ln(qᵢ/cᵢ), and the pull is the one with the most
//! information per cost, arg maxⱼ (xⱼᵀV⁻¹xₖ)²/((1 + qⱼ) cⱼ). Without the weight in the first, an expensive pivot takes the budget of many cheap ones.
//!
//! This rule was made for Cutline. It is unpublished and has no fixed-budget guarantee; the evidence for it is that it failed
//! less often than LinearAPT in the paper's experiments (`cutline reproduce` shows them). Where the features are orthogonal a
//! pull has no information about other arms, and the rule has no advantage.

use super::{Choice, Rule, RuleError};
use crate::estimators::VarianceEstimator;
use crate::scan::{ROUGH, arg_min_among, ln, quotient_minus_ln, rough_quotient_minus_ln};
use crate::{Arm, Beliefs, MeasurementCosts, Question, Range, Rng, Settled, arg_max};

/// The rule of the module documentation. A pull is informative about other arms too, so the rule does not have to pull every arm once
/// and works with budgets below K. A pull costs two K×d products where [`Apt`](super::Apt) needs one.
///
/// The pivot is an open arm; the arm pulled may be a settled one. Ties go to the first arm. An arm whose features are all 0 is never the pivot: its mean is known to be 0.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `noise` | 1 | σ, the standard deviation of a reward | 1e-100 ≤ σ ≤ 1e100, else [`RuleError`] |
#[derive(Clone, Copy, Debug)]
pub struct Pivot {
    /// 1/σ².
    inverse_variance: f64,
    /// The last pivot: most often it is still among the least certain arms.
    last: Arm,
}

impl Pivot {
    /// The rule for rewards of standard deviation `noise`.
    ///
    /// # Errors
    /// If `noise` is not between 1e-100 and 1e100.
    pub fn new(noise: f64) -> Result<Self, RuleError> {
        let noise = Range::NOISE_SCALE.check("noise", noise)?;
        Ok(Self { inverse_variance: 1.0 / (noise * noise), last: 0 })
    }

    /// Δ̂²/(σ²q) − ln q: how certain the side of an arm is. The pivot is the arm with the least.
    #[inline(always)]
    pub(crate) fn certainty(&self, question: &Question, mean: f64, q: f64) -> f64 {
        quotient_minus_ln(self.evidence(question, mean), q)
    }

    /// A cheaper approximation of [`Pivot::certainty`]; its error is at most half of [`Pivot::rough_margin`].
    #[inline(always)]
    pub(crate) fn rough_certainty(&self, question: &Question, mean: f64, q: f64) -> f64 {
        rough_quotient_minus_ln(self.evidence(question, mean), q)
    }

    /// If two rough certainties differ by more than this, the exact ones are ordered in the same way, rounding included; `least`
    /// is the lesser one.
    #[inline(always)]
    pub(crate) fn rough_margin(least: f64) -> f64 {
        2.0 * ROUGH + 1e-12 * (1000.0 + least.abs())
    }

    /// Δ̂²/σ².
    #[inline(always)]
    fn evidence(&self, question: &Question, mean: f64) -> f64 {
        let gap = question.gap(mean);
        gap * gap * self.inverse_variance
    }

    /// A condition that every arm less certain than one with this mean and variance meets.
    #[inline(always)]
    pub(crate) fn bound(&self, question: &Question, mean: f64, q: f64) -> CertaintyBound {
        let slope = 1.0 / q;
        let quotient = self.evidence(question, mean) * slope;
        CertaintyBound { base: quotient - 1.0 + 1e-12 * (1000.0 + quotient), slope }
    }

    /// Whether an arm meets the condition. Needs neither a division nor a logarithm.
    #[inline(always)]
    pub(crate) fn may_be_less_certain(&self, bound: &CertaintyBound, question: &Question, mean: f64, q: f64) -> bool {
        !(self.evidence(question, mean) >= q * q.mul_add(bound.slope, bound.base))
    }

    /// By how much a pull of an arm with variance q and covariance c with the pivot reduces the pivot's variance.
    #[inline(always)]
    pub(crate) fn information(c: f64, q: f64) -> f64 {
        c * c / (1.0 + q)
    }
}

/// The first open arm with the least certainty plus ln c.
fn least_certain_per_cost(settled: &Settled, costs: &MeasurementCosts, certainty: impl Fn(Arm) -> f64) -> Arm {
    let mut least = (f64::INFINITY, settled.open().next().unwrap_or(0));
    for arm in settled.open() {
        let value = certainty(arm) + ln(costs.of(arm).weight());
        if value < least.0 {
            least = (value, arm);
        }
    }
    least.1
}

/// The first arm that is not withdrawn and has the most information, per cost if measurements have costs; a settled arm may have it.
fn most_informative_available(
    settled: &Settled,
    costs: Option<&MeasurementCosts>,
    covariances: &[f64],
    variances: &[f64],
) -> Arm {
    let mut best = (f64::NEG_INFINITY, settled.open().next().unwrap_or(0));
    for (arm, (&c, &q)) in covariances.iter().zip(variances).enumerate() {
        let information = Pivot::information(c, q);
        let information = costs.map_or(information, |costs| information / costs.of(arm).weight());
        if information > best.0 && !settled.is_withdrawn(arm) {
            best = (information, arm);
        }
    }
    best.1
}

/// A necessary condition for being less certain than a given arm, with Δ̂₀ and q₀.
///
/// ln q ≤ ln q₀ + q/q₀ − 1 because ln is concave. So Δ̂²/(σ²q) − ln q < Δ̂₀²/(σ²q₀) − ln q₀ only if Δ̂²/σ² < q (Δ̂₀²/(σ²q₀) − 1 + q/q₀).
#[derive(Clone, Copy, Default)]
pub(crate) struct CertaintyBound {
    /// Δ̂₀²/(σ²q₀) − 1, plus a margin larger than any rounding error.
    base: f64,
    /// 1/q₀.
    slope: f64,
}

impl<E: VarianceEstimator + ?Sized> Rule<E> for Pivot {
    const OPENS_WITH_EVERY_ARM: bool = false;

    #[inline]
    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Choice {
        let (question, rule) = (beliefs.question, *self);
        let (means, variances) = beliefs.estimator.moments();
        self.last = if let Some(costs) = beliefs.costs {
            let certainty = |arm: Arm| rule.certainty(&question, means[arm], variances[arm]);
            least_certain_per_cost(beliefs.settled, costs, certainty)
        } else if beliefs.settled.is_empty() {
            let bound = rule.bound(&question, means[rule.last], variances[rule.last]);
            arg_min_among(
                means,
                variances,
                #[inline(always)]
                |mean, q| rule.may_be_less_certain(&bound, &question, mean, q),
                #[inline(always)]
                |mean, q| rule.certainty(&question, mean, q),
            )
        } else {
            beliefs.settled.arg_min_open(means, variances, |mean, q| rule.certainty(&question, mean, q))
        };
        let (covariances, variances) = beliefs.estimator.covariances_with(self.last);
        if beliefs.settled.has_withdrawn() || beliefs.costs.is_some() {
            return most_informative_available(beliefs.settled, beliefs.costs, covariances, variances).into();
        }
        arg_max(covariances, variances, Self::information).into()
    }

    fn set_noise(&mut self, noise: f64) {
        self.inverse_variance = 1.0 / (noise * noise);
    }
}
