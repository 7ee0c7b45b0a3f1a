//! LUCB for thresholds: the arm whose interval reaches furthest across the threshold, arg maxᵢ cσ/√Tᵢ − |μ̂ᵢ − τ|
//! (Kalyanakrishnan, Tewari, Auer & Stone 2012, for best arms; with the threshold in place of another arm by Tirinzoni & Degenne 2022).
//!
//! Before pull number t, c = √(2 ln((t + 1)/δ)), the threshold of the latter, as in the stop `llr`.

use super::lingape::{LinGapE, last_arg_max};
use crate::estimators::Estimator;
use crate::rules::{Choice, Rule, RuleError};
use crate::{Beliefs, Range, Rng, StopWidth};

/// Pulls the arm in doubt itself, and knows the arms by their own rewards only. [`Clucb`](super::Clucb) pulls all undecided arms equally often;
/// [`LinGapE`] is the same idea for arms with features.
///
/// c is never below the [width](StopWidth) of the stop, where it is [known](Lucb::with_stop_width). The last of several arms with the same value
/// is pulled.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `noise` | 1 | σ, the standard deviation of a reward | 1e-100 ≤ σ ≤ 1e100, else [`RuleError`] |
/// | `delta` | 0.05 | δ, the probability of an error | 1e-100 ≤ δ ≤ 0.5, else [`RuleError`] |
#[derive(Clone, Copy, Debug)]
pub struct Lucb {
    noise: f64,
    /// ln(1/δ).
    level: f64,
    stop: Option<StopWidth>,
}

impl Lucb {
    /// The rule for rewards of standard deviation `noise` and a probability of error `delta`.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn new(noise: f64, delta: f64) -> Result<Self, RuleError> {
        let noise = Range::NOISE_SCALE.check("noise", noise)?;
        Ok(Self { noise, level: -LinGapE::DELTA.check("delta", delta)?.ln(), stop: None })
    }

    /// The same with c at least the width of a stop.
    #[must_use]
    pub fn with_stop_width(self, width: Option<StopWidth>) -> Self {
        Self { stop: width, ..self }
    }
}

impl<E: Estimator + ?Sized> Rule<E> for Lucb {
    const OPENS_WITH_EVERY_ARM: bool = true;

    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Choice {
        if let Some(arm) = beliefs.first_unpulled {
            return arm.into();
        }
        let (t, threshold) = ((beliefs.total_pulls + 1) as f64, beliefs.question.threshold());
        let (noise, stop) = (self.noise, self.stop);
        let c = (2.0 * (self.level + t.ln_1p())).sqrt();
        let score = |mean: f64, pulls: u32| {
            let c = stop.map_or(c, |stop| c.max(stop.at(t, pulls, noise)));
            c * noise / f64::from(pulls).sqrt() - (mean - threshold).abs()
        };
        last_arg_max(beliefs.settled, beliefs.estimator.means(), beliefs.pulls, score).into()
    }

    fn set_noise(&mut self, noise: f64) {
        self.noise = noise;
    }
}
