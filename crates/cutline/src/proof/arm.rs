//! The e-processes of one arm.

use super::bets::{Bets, Weights};
use super::count::GammaPrior;
use super::normal::NormalPrior;
use super::pass_fail::BetaPrior;
use super::skew::{ArmMoments, Caution};
use super::{Prediction, RewardFamily, student};
use crate::Question;

/// The rewards of one arm, and the e-processes for *above* and *below*, in this order.
#[derive(Clone, Debug)]
pub(super) struct ArmProof {
    pub(super) moments: ArmMoments,
    pub(super) prediction: Option<Prediction>,
    /// For the sides on which the range has an end.
    bets: [Option<Box<SideBets>>; 2],
    /// ln E after the last reward.
    pub(super) now: [f64; 2],
    /// The greatest ln E that counts as a proof, after any reward; 0 before the first.
    pub(super) most: [f64; 2],
}

/// The bets for one side, and the weights that the prediction gives them.
#[derive(Clone, Debug)]
struct SideBets {
    bets: Bets,
    predicted: Option<Weights>,
}

/// Bars of rates keep this distance from the ends of their range, relative to it.
const MARGIN: f64 = 1e-9;

/// What all arms have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared {
    pub(super) question: Question,
    pub(super) family: RewardFamily,
    /// The least σ that the steps of the rewards allow to be believed.
    pub(super) least_noise: f64,
}

impl Shared {
    /// The mean that has to be excluded to prove this side.
    fn bar(&self, is_above: bool) -> f64 {
        let (threshold, precision) = (self.question.threshold(), self.question.precision());
        if is_above { threshold - precision } else { threshold + precision }
    }

    /// How far a reward can lie on the wrong side of the bar.
    fn most_loss(&self, is_above: bool) -> f64 {
        let RewardFamily::Number { range: (least, greatest), .. } = self.family else { return f64::INFINITY };
        let bar = self.bar(is_above);
        let loss = if is_above { bar - least } else { greatest - bar };
        // If no mean can lie on the wrong side, any small number will do.
        loss.max(MARGIN * (greatest - least).min(1.0))
    }

    /// Whether the t decides about this side.
    pub(super) fn is_by_t(&self, is_above: bool) -> bool {
        matches!(self.family, RewardFamily::Number { noise: None, .. }) && self.most_loss(is_above).is_infinite()
    }
}

/// The position of a side.
pub(super) fn position(is_above: bool) -> usize {
    usize::from(!is_above)
}

/// ln((eᵃ + eᵇ)/2).
fn ln_average(a: f64, b: f64) -> f64 {
    let most = a.max(b);
    if most == f64::NEG_INFINITY { most } else { most + (0.5 * ((a - most).exp() + (b - most).exp())).ln() }
}

fn sign(is_above: bool) -> f64 {
    if is_above { 1.0 } else { -1.0 }
}

impl ArmProof {
    pub(super) fn new(shared: &Shared) -> Self {
        let bets = [true, false].map(|is_above| {
            let most_loss = shared.most_loss(is_above);
            most_loss.is_finite().then(|| Box::new(SideBets { bets: Bets::new(most_loss), predicted: None }))
        });
        Self { moments: ArmMoments::default(), prediction: None, bets, now: [0.0; 2], most: [0.0; 2] }
    }

    /// Fixes where to look for evidence, before the first reward.
    pub(super) fn expect(&mut self, shared: &Shared, prediction: Prediction) {
        assert!(self.moments.n == 0.0, "a prediction is made before the first reward");
        self.prediction = Some(prediction);
        for is_above in [true, false] {
            if let Some(side) = &mut self.bets[position(is_above)] {
                let (bar, loss) = (shared.bar(is_above), shared.most_loss(is_above));
                side.predicted = Some(Bets::predicted(&prediction, bar, sign(is_above), loss));
            }
        }
    }

    /// Takes a reward.
    pub(super) fn tell(&mut self, shared: &Shared, reward: f64) {
        self.moments.add(reward - shared.question.threshold());
        for is_above in [true, false] {
            if let Some(side) = &mut self.bets[position(is_above)] {
                side.bets.add(sign(is_above) * (reward - shared.bar(is_above)));
            }
            self.now[position(is_above)] = self.ln_evidence(shared, is_above, 0.0);
        }
    }

    /// The evidence that counts as a proof, as a logarithm.
    pub(super) fn counted(&self, shared: &Shared, is_above: bool, caution: Caution) -> f64 {
        if self.moments.n >= caution.least_rewards {
            self.now[position(is_above)]
        } else if self.now[position(is_above)] > 0.0 && caution.shift.is_finite() {
            self.ln_evidence(shared, is_above, caution.shift)
        } else {
            0.0
        }
    }

    /// ln E: half of the stake on the generic prior, half on that of the prediction. For the t, the bar may be moved by `shift`.
    fn ln_evidence(&self, shared: &Shared, is_above: bool, shift: f64) -> f64 {
        let generic = self.ln_evidence_by(shared, is_above, shift, None);
        let predicted = self.prediction.as_ref().map(|it| self.ln_evidence_by(shared, is_above, shift, Some(it)));
        let evidence = predicted.map_or(generic, |predicted| ln_average(generic, predicted));
        // Rewards close to the largest f64 may have overflowed; then nothing is known.
        if evidence.is_nan() { 0.0 } else { evidence }
    }

    fn ln_evidence_by(&self, shared: &Shared, is_above: bool, shift: f64, prediction: Option<&Prediction>) -> f64 {
        let ArmMoments { n, mean, squares, .. } = self.moments;
        let (bar, sign) = (shared.bar(is_above), sign(is_above));
        if let Some(side) = &self.bets[position(is_above)] {
            let weights = prediction.and(side.predicted);
            return side.bets.ln_evidence(&weights.unwrap_or_else(Bets::generic));
        }
        let total = n * (mean + shared.question.threshold());
        let gain = sign * (mean + shared.question.threshold() - bar);
        match shared.family {
            RewardFamily::PassFail => {
                let bar = bar.clamp(MARGIN, 1.0 - MARGIN);
                let prior = prediction.map_or_else(|| BetaPrior::generic(bar), BetaPrior::predicted);
                if is_above {
                    prior.ln_evidence(total, n - total, bar)
                } else {
                    prior.mirrored().ln_evidence(n - total, total, 1.0 - bar)
                }
            }
            RewardFamily::Count => {
                let bar = bar.max(MARGIN);
                let prior = prediction.map_or_else(|| GammaPrior::generic(bar), |it| GammaPrior::predicted(it, bar));
                prior.ln_evidence(total, n, bar, is_above)
            }
            RewardFamily::Number { noise: Some(noise), .. } => {
                let known = prediction.map(|prediction| Prediction { noise, ..*prediction });
                let prior = known.map_or(NormalPrior::GENERIC, |it| NormalPrior::predicted(&it, bar, sign));
                prior.ln_evidence(n * gain / noise, n)
            }
            RewardFamily::Number { noise: None, .. } => {
                let bar = sign.mul_add(shift, bar);
                let prior = prediction.map_or(NormalPrior::GENERIC, |it| NormalPrior::predicted(it, bar, sign));
                let within = squares.max((n - 1.0) * shared.least_noise.powi(2));
                student::ln_evidence(prior, gain - shift, within, n)
            }
        }
    }
}
