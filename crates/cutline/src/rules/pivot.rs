//! Pivot: find the most doubtful arm, then pull the arm that tells most about it.
//!
//! 1. The pivot is k = arg minᵢ Δ̂ᵢ²/(σ² qᵢ) − ln qᵢ, with qᵢ = xᵢᵀV⁻¹xᵢ.
//! 2. Pull arg maxⱼ (xⱼᵀV⁻¹xₖ)²/(1 + qⱼ): the pull that takes most off qₖ.
//!
//! This rule is Cutline's own. It is unpublished and has no fixed-budget guarantee; what speaks for it is that it failed
//! less often than LinearAPT in the paper's experiments (`cutline reproduce` shows them). Where the features are orthogonal no
//! pull tells of another arm, and there is nothing to gain.

use super::{Beliefs, Rule, RuleError};
use crate::estimators::Spread;
use crate::scan::ln;
use crate::{Arm, Rng, arg_max, arg_min};

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
}

impl Pivot {
    /// The rule for rewards of standard deviation `noise`.
    ///
    /// # Errors
    /// If `noise` is not between 1e-100 and 1e100.
    pub fn new(noise: f64) -> Result<Self, RuleError> {
        if !(1e-100..=1e100).contains(&noise) {
            return Err(RuleError { parameter: "noise", allowed: "a number between 1e-100 and 1e100", value: noise });
        }
        Ok(Self { weight: 1.0 / (noise * noise) })
    }
}

impl<E: Spread + ?Sized> Rule<E> for Pivot {
    const OPENS_WITH_EVERY_ARM: bool = false;

    #[inline]
    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Arm {
        let (question, weight) = (beliefs.question, self.weight);
        let (means, variances) = beliefs.estimator.moments();
        let pivot = arg_min(means, variances, |mean, q| {
            let gap = question.gap(mean);
            gap * gap * weight / q - ln(q)
        });
        let (covariances, variances) = beliefs.estimator.covariances_with(pivot);
        arg_max(covariances, variances, |c, q| c * c / (1.0 + q))
    }
}
