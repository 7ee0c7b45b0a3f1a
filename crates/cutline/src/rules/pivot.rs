//! Pivot: find the most doubtful arm, then pull the arm that tells most about it.
//!
//! 1. The pivot is k = arg minᵢ Δ̂ᵢ²/(σ² qᵢ) − ln qᵢ, with qᵢ = xᵢᵀV⁻¹xᵢ.
//! 2. Pull arg maxⱼ (xⱼᵀV⁻¹xₖ)²/(1 + qⱼ): the pull that takes most off qₖ.
//!
//! This rule is Cutline's own. It is unpublished and has no fixed-budget guarantee; what speaks for it is that it failed
//! less often than LinearAPT in the paper's experiments (`cutline reproduce` shows them). Where the features are orthogonal no
//! pull tells of another arm, and there is nothing to gain.

use super::{Rule, RuleError, checked_noise};
use crate::estimators::VarianceEstimator;
use crate::scan::{ROUGH, arg_min_among, quotient_less_ln, rough_quotient_less_ln};
use crate::{Arm, Beliefs, Question, Rng, arg_max};

/// Counts what every pull tells of every arm, so it needs no opening and works with fewer pulls than arms. A pull costs
/// two K×d products where [`Apt`](super::Apt) costs one.
///
/// Ties go to the first arm. An arm of zeros is never the pivot: no pull can tell anything about it.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `noise` | 1 | σ, the standard deviation of a reward | 1e-100 ≤ σ ≤ 1e100, else [`RuleError`] |
#[derive(Clone, Copy, Debug)]
pub struct Pivot {
    /// 1/σ².
    weight: f64,
    /// The last pivot: most often it is still among the most doubtful.
    last: Arm,
}

impl Pivot {
    /// The rule for rewards of standard deviation `noise`.
    ///
    /// # Errors
    /// If `noise` is not between 1e-100 and 1e100.
    pub fn new(noise: f64) -> Result<Self, RuleError> {
        let noise = checked_noise(noise)?;
        Ok(Self { weight: 1.0 / (noise * noise), last: 0 })
    }

    /// How certain the side of an arm is; the pivot is where it is least.
    #[inline(always)]
    pub(crate) fn certainty(&self, question: &Question, mean: f64, q: f64) -> f64 {
        quotient_less_ln(self.evidence(question, mean), q)
    }

    /// The same for less work, and no further off than half of what [`Pivot::near`] says.
    #[inline(always)]
    pub(crate) fn rough_certainty(&self, question: &Question, mean: f64, q: f64) -> f64 {
        rough_quotient_less_ln(self.evidence(question, mean), q)
    }

    /// Arms whose rough certainties differ by more than this differ in the same sense in their certainties, rounding included;
    /// `least` is the lesser one.
    #[inline(always)]
    pub(crate) fn near(least: f64) -> f64 {
        2.0 * ROUGH + 1e-12 * (1000.0 + least.abs())
    }

    /// Δ̂²/σ².
    #[inline(always)]
    fn evidence(&self, question: &Question, mean: f64) -> f64 {
        let gap = question.gap(mean);
        gap * gap * self.weight
    }

    /// What an arm has to get under to be less certain than one with this mean and variance.
    #[inline(always)]
    pub(crate) fn bar(&self, question: &Question, mean: f64, q: f64) -> Bar {
        let slope = 1.0 / q;
        let quotient = self.evidence(question, mean) * slope;
        Bar { base: quotient - 1.0 + 1e-12 * (1000.0 + quotient), slope }
    }

    /// Whether an arm may be less certain than `bar`, without a division or a logarithm.
    #[inline(always)]
    pub(crate) fn may_be_less_certain(&self, bar: &Bar, question: &Question, mean: f64, q: f64) -> bool {
        !(self.evidence(question, mean) >= q * q.mul_add(bar.slope, bar.base))
    }

    /// How much a pull of an arm with variance q and covariance c with the pivot takes off the pivot's variance.
    #[inline(always)]
    pub(crate) fn telling(c: f64, q: f64) -> f64 {
        c * c / (1.0 + q)
    }
}

/// What an arm has to get under to be less certain than a given one, with Δ̂₀ and q₀.
///
/// ln q ≤ ln q₀ + q/q₀ − 1 because ln is concave. So Δ̂²/(σ²q) − ln q < Δ̂₀²/(σ²q₀) − ln q₀ only if Δ̂²/σ² < q (Δ̂₀²/(σ²q₀) − 1 + q/q₀).
#[derive(Clone, Copy, Default)]
pub(crate) struct Bar {
    /// Δ̂₀²/(σ²q₀) − 1, and a little more than rounding can take off.
    base: f64,
    /// 1/q₀.
    slope: f64,
}

impl<E: VarianceEstimator + ?Sized> Rule<E> for Pivot {
    const OPENS_WITH_EVERY_ARM: bool = false;

    #[inline]
    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Arm {
        let (question, rule) = (beliefs.question, *self);
        let (means, variances) = beliefs.estimator.moments();
        let bar = rule.bar(&question, means[rule.last], variances[rule.last]);
        self.last = arg_min_among(
            means,
            variances,
            #[inline(always)]
            |mean, q| rule.may_be_less_certain(&bar, &question, mean, q),
            #[inline(always)]
            |mean, q| rule.certainty(&question, mean, q),
        );
        let (covariances, variances) = beliefs.estimator.covariances_with(self.last);
        arg_max(covariances, variances, Self::telling)
    }

    fn set_noise(&mut self, noise: f64) {
        self.weight = 1.0 / (noise * noise);
    }
}
