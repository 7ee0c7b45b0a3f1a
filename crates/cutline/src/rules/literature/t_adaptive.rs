//! T-adaptive: phases of greedy G-allocation for the open arms, each of which ends with a test of their sides by its own rewards.
//!
//! It is XY-adaptive (Soare, Lazaric & Munos 2014) with the arms themselves as directions. In phase j, with V = λI + Σ xxᵀ over its n pulls,
//! qₖ = xₖᵀV⁻¹xₖ and θ̂ from its rewards:
//! 1. pull arg minᵢ maxₖ qₖ − (xᵢᵀV⁻¹xₖ)²/(1 + qᵢ), k over the open arms, until ρ/(d + n) < α ρ′/(d + n′), where ρ = maxₖ qₖ, α = 0.1, and ρ′ and
//!    n′ are those of the phase before; d + n′ = d(d + 1) + 1 and ρ′ = 1 before the first;
//! 2. settle the arms with |xₖᵀθ̂ − τ| + ε ≥ σ√(2qₖ ln(π²Kj²/(3δ))).
//!
//! Which arms are pulled in a phase does not depend on its rewards, so each test is one at a fixed design, and δ is divided among the arms and
//! the phases. Rewards of earlier phases are not used in it: they have influenced the design. Ridge is biased towards 0 (or towards the centre)
//! by less than λ; like the published programs of XY-adaptive, the test ignores that.

use crate::estimators::{PhasedEstimator, VarianceEstimator};
use crate::rules::{Choice, GAllocation, LinGapE, Rule, RuleError};
use crate::{Arm, Beliefs, Range, Rng, Stop};
use std::f64::consts::PI;

/// Pulls by the design of its phase, and waits for the rewards of a phase that are out. [`LinGapE`](super::LinGapE) looks at the rewards at every
/// pull, and needs far fewer.
///
/// It is the rule and, because phases end by settling arms, the stop of the algorithm: both are needed. Ties go to the first arm.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `noise` | 1 | σ: rewards are σ-sub-Gaussian | 1e-100 ≤ σ ≤ 1e100, else [`RuleError`] |
/// | `delta` | 0.05 | δ, the probability of an error | 1e-100 ≤ δ ≤ 0.5, else [`RuleError`] |
#[derive(Clone, Debug)]
pub struct TAdaptive {
    design: GAllocation,
    dimension: f64,
    noise: f64,
    /// ln(π²K/(3δ)).
    level: f64,
}

/// α.
const SHRINKAGE: f64 = 0.1;

impl TAdaptive {
    /// The rule and stop for `n_arms` arms with `dimension` features, rewards of standard deviation `noise` and a probability of error `delta`.
    ///
    /// # Errors
    /// If `noise` or `delta` is out of range.
    pub fn new(n_arms: usize, dimension: usize, noise: f64, delta: f64) -> Result<Self, RuleError> {
        let noise = Range::NOISE_SCALE.check("noise", noise)?;
        let delta = LinGapE::DELTA.check("delta", delta)?;
        let level = (PI * PI * n_arms as f64 / (3.0 * delta)).ln();
        Ok(Self { design: GAllocation::new(n_arms), dimension: dimension as f64, noise, level })
    }

    /// ρ/(d + n) of the pulls handed out in this phase, and the value below which it ends.
    fn progress<E: PhasedEstimator + ?Sized>(&self, beliefs: &mut Beliefs<'_, E>) -> (f64, f64) {
        let (d, settled) = (self.dimension, beliefs.settled);
        let (pulls, (_, end)) = (beliefs.estimator.phase_pulls().0, beliefs.estimator.phase_number());
        let (_, variances) = beliefs.estimator.phase().moments();
        let widest = settled.arg_max_open(variances, variances, |q, _| q);
        (variances[widest] / (d + pulls as f64), end.unwrap_or(SHRINKAGE / (d * (d + 1.0) + 1.0)))
    }
}

impl<E: PhasedEstimator + ?Sized> Rule<E> for TAdaptive {
    const OPENS_WITH_EVERY_ARM: bool = false;

    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Choice {
        let (progress, end) = self.progress(beliefs);
        let (planned, observed) = beliefs.estimator.phase_pulls();
        let settled = beliefs.settled;
        // A phase may also be over because a pull was lost or an arm withdrawn. If no reward is out then, one more pull ends it.
        if planned > observed && progress < end {
            Choice::Wait
        } else {
            self.design.greedy(settled, beliefs.estimator.phase()).into()
        }
    }

    fn set_noise(&mut self, noise: f64) {
        self.noise = noise;
    }
}

impl<E: PhasedEstimator + ?Sized> Stop<E> for TAdaptive {
    fn settles(&self) -> bool {
        true
    }

    fn settle(&mut self, beliefs: &mut Beliefs<'_, E>, _: Arm, newly: &mut Vec<(Arm, bool)>) {
        let (planned, observed) = beliefs.estimator.phase_pulls();
        let (progress, end) = self.progress(beliefs);
        if planned > observed || progress >= end {
            return;
        }
        let (question, settled) = (beliefs.question, beliefs.settled);
        let (phase, centre) = (f64::from(beliefs.estimator.phase_number().0), beliefs.estimator.phase_centre());
        let width = self.noise * (2.0 * (self.level + 2.0 * phase.ln())).sqrt();
        let (means, variances) = beliefs.estimator.phase().moments();
        for arm in settled.open() {
            let mean = means[arm] + centre;
            if question.gap(mean) >= width * variances[arm].sqrt() {
                newly.push((arm, question.is_above(mean)));
            }
        }
        beliefs.estimator.begin_phase(SHRINKAGE * progress);
    }

    fn set_noise(&mut self, noise: f64) {
        self.noise = noise;
    }
}
