//! Greedy G-allocation: the pull after which the largest variance of any arm's mean is least,
//! arg minᵢ maxₖ qₖ − (xᵢᵀV⁻¹xₖ)²/(1 + qᵢ) (Soare, Lazaric & Munos 2014).
//!
//! For thresholds the directions that matter are the arms themselves, so their XY-allocation is this one too.

use crate::estimators::VarianceEstimator;
use crate::rules::{Choice, Rule};
use crate::{Arm, Beliefs, Rng, Settled, arg_min};

/// Makes all means equally well known, whatever the rewards are. [`Pivot`](crate::rules::Pivot) looks at the rewards, and knows which arms need it.
///
/// The largest variance is that of an open arm; the arm pulled may be a settled one. Where several pulls leave the
/// largest variance the same, as with orthogonal features, the one that reduces the variance of the first such arm most is chosen; further ties
/// go to the first arm. A pull costs O(d² + Kd) for every
/// arm that may be the best by a bound from the arm with the largest variance, which are few arms, and O(Kd² + K²d) if all may be. No parameters.
#[derive(Clone, Debug)]
pub struct GAllocation {
    /// For every arm a lower bound on the largest variance after its pull; ∞ once that is computed.
    bounds: Vec<f64>,
}

impl GAllocation {
    /// The rule for `n_arms` arms.
    #[must_use]
    pub fn new(n_arms: usize) -> Self {
        Self { bounds: vec![0.0; n_arms] }
    }

    /// The arm to pull.
    pub(super) fn greedy<E: VarianceEstimator + ?Sized>(&mut self, settled: &Settled, estimator: &mut E) -> Arm {
        let (_, variances) = estimator.moments();
        let widest = settled.arg_max_open(variances, variances, |q, _| q);
        let most = variances[widest];
        let (covariances, variances) = estimator.covariances_with(widest);
        for ((bound, c), q) in self.bounds.iter_mut().zip(covariances).zip(variances) {
            // Less a margin for rounding.
            *bound = most * (1.0 - 1e-12) - c * c / (1.0 + q);
        }
        // The largest variance after the pull, that of the widest arm, and the arm.
        let mut best = (f64::INFINITY, f64::INFINITY, 0);
        loop {
            let arm = arg_min(&self.bounds, &self.bounds, |bound, _| bound);
            if !(self.bounds[arm] <= best.0 && self.bounds[arm] < f64::INFINITY) {
                return best.2;
            }
            let widest_after = std::mem::replace(&mut self.bounds[arm], f64::INFINITY);
            let (covariances, variances) = estimator.covariances_with(arm);
            let s = 1.0 + variances[arm];
            let after = |y: Arm| variances[y] - covariances[y] * covariances[y] / s;
            let largest = settled.open().map(after).fold(f64::NEG_INFINITY, f64::max);
            if (largest, widest_after, arm) < best {
                best = (largest, widest_after, arm);
            }
        }
    }
}

impl<E: VarianceEstimator + ?Sized> Rule<E> for GAllocation {
    const OPENS_WITH_EVERY_ARM: bool = false;

    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Choice {
        self.greedy(beliefs.settled, beliefs.estimator).into()
    }
}
