//! LinGapE for thresholds: find the arm whose interval reaches furthest across the threshold, then pull the arm that is most informative about
//! it (Xu, Honda & Sugiyama 2018, for best arms; with xₖ for the difference of two arms by Tirinzoni & Degenne 2022).
//!
//! Before pull number t, with qᵢ = xᵢᵀV⁻¹xᵢ and c = √(2(ln(1/δ) + 2 ln(t + 1))):
//! 1. the doubtful arm is k = arg maxᵢ cσ√qᵢ − |μ̂ᵢ − τ|;
//! 2. pull arg maxⱼ (xⱼᵀV⁻¹xₖ)²/(1 + qⱼ): the pull that reduces qₖ most.
//!
//! The m-LinGapE and LinGIFA of Réda, Kaufmann & Delahaye-Duriez (2021) become this rule too, because with one question per arm there is no pair
//! of arms to choose.

use crate::estimators::{Model, PriorFree, VarianceEstimator};
use crate::rules::{Choice, Pivot, Rule, RuleError};
use crate::{Arm, Beliefs, Range, Rng, Settled, StopWidth, arg_max};

/// Aims at the arm that a test at level δ would still have in doubt. [`Pivot`] needs no δ, and fewer pulls on the published instance.
///
/// c is never below the [width](StopWidth) of the stop, where it is [known](LinGapE::with_stop_width): otherwise an arm could stay unsure for
/// ever. A stop without a prior has other means and another q. Where no interval of the rule reaches the threshold and such a stop goes on,
/// the doubtful arm is the one of which the stop is least sure; if it uses sample means, that arm itself is pulled. The doubtful arm is an open one, and the last of several with the same value; the arm pulled may be a settled one, and is the first of
/// several.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `noise` | 1 | σ, the standard deviation of a reward | 1e-100 ≤ σ ≤ 1e100, else [`RuleError`] |
/// | `delta` | 0.05 | δ, the probability of an error | 1e-100 ≤ δ ≤ 0.5, else [`RuleError`] |
#[derive(Clone, Copy, Debug)]
pub struct LinGapE {
    noise: f64,
    /// ln(1/δ).
    level: f64,
    stop: Option<StopWidth>,
}

impl LinGapE {
    /// The values of δ.
    pub(crate) const DELTA: Range = Range::new(1e-100, 0.5);

    /// The rule for rewards of standard deviation `noise` and a probability of error `delta`.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn new(noise: f64, delta: f64) -> Result<Self, RuleError> {
        let noise = Range::NOISE_SCALE.check("noise", noise)?;
        Ok(Self { noise, level: -Self::DELTA.check("delta", delta)?.ln(), stop: None })
    }

    /// The same with c at least the width of a stop.
    #[must_use]
    pub fn with_stop_width(self, width: Option<StopWidth>) -> Self {
        Self { stop: width, ..self }
    }

    /// cσ before pull number `t`.
    fn width(&self, t: f64) -> f64 {
        let c = (2.0 * (self.level + 2.0 * t.ln_1p())).sqrt();
        self.noise * self.stop.map_or(c, |stop| c.max(stop.at(t, 1, self.noise)))
    }
}

/// The last open arm with the greatest score.
pub(super) fn last_arg_max<B: Copy>(settled: &Settled, a: &[f64], b: &[B], score: impl Fn(f64, B) -> f64) -> Arm {
    let first = settled.arg_max_open(a, b, &score);
    let most = score(a[first], b[first]);
    let later = (first + 1..a.len()).rev().find(|&arm| score(a[arm], b[arm]) == most && settled.is_open(arm));
    later.unwrap_or(first)
}

/// The open arm with the smallest Δ̂²/q of the estimate without a prior, and the model; `None` where there is no such estimate yet.
fn least_sure<E: VarianceEstimator + ?Sized>(beliefs: &mut Beliefs<'_, E>) -> Option<(Arm, Model)> {
    let (question, settled) = (beliefs.question, beliefs.settled);
    let (posterior, prior_free) = beliefs.estimator.posterior_and_prior_free();
    let moments = |arm: Arm| match prior_free {
        Some(PriorFree::LeastSquares { means, variances, .. }) => (means[arm], variances[arm]),
        Some(PriorFree::SampleMeans { means, n_rewards }) => (means[arm], 1.0 / f64::from(n_rewards[arm])),
        None => (f64::NAN, f64::NAN),
    };
    let certainty = |arm: Arm| {
        let (mean, q) = moments(arm);
        question.gap(mean).powi(2) / q
    };
    let certainties = settled.open().map(|arm| (arm, certainty(arm))).filter(|(_, certainty)| !certainty.is_nan());
    let least = certainties.min_by(|a, b| a.1.total_cmp(&b.1));
    least.map(|(arm, _)| (arm, posterior.model))
}

impl<E: VarianceEstimator + ?Sized> Rule<E> for LinGapE {
    const OPENS_WITH_EVERY_ARM: bool = true;

    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Choice {
        if let Some(arm) = beliefs.first_unpulled {
            return arm.into();
        }
        let (threshold, width) = (beliefs.question.threshold(), self.width((beliefs.total_pulls + 1) as f64));
        let (means, variances) = beliefs.estimator.moments();
        let score = |mean: f64, q: f64| width * q.sqrt() - (mean - threshold).abs();
        let mut doubtful = last_arg_max(beliefs.settled, means, variances, score);
        if self.stop.is_some_and(|stop| stop.is_prior_free()) && score(means[doubtful], variances[doubtful]) <= 0.0 {
            match least_sure(beliefs) {
                Some((arm, Model::Linear { .. })) => doubtful = arm,
                Some((arm, _)) => return arm.into(),
                None => {}
            }
        }
        let (covariances, variances) = beliefs.estimator.covariances_with(doubtful);
        arg_max(covariances, variances, Pivot::information).into()
    }

    fn set_noise(&mut self, noise: f64) {
        self.noise = noise;
    }
}
