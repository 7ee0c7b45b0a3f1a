//! LinGame: learn the best proportions of pulls in a game against the parameters that are hardest to exclude (Degenne, Ménard,
//! Shang & Valko 2020).
//!
//! With the weights w of the round and θ̂ from the t rewards received:
//! 1. the opponent answers with the nearest parameter for which some arm would be on the other side, where distances are those of a design
//!    in the proportions w, A = λI + t Σ wᵢxᵢxᵢᵀ: for the arm with the least evidence, k = arg minᵢ Δ̂ᵢ²/(xᵢᵀA⁻¹xᵢ), it moves θ̂ by
//!    (Δ̂ₖ/xₖᵀA⁻¹xₖ)A⁻¹xₖ, so that arm i moves by Δ̂ₖ xᵢᵀA⁻¹xₖ/xₖᵀA⁻¹xₖ;
//! 2. arm i gains ½(Δ̂ₖ xᵢᵀA⁻¹xₖ/(σ xₖᵀA⁻¹xₖ))²: how well a pull of it separates the two parameters;
//! 3. AdaHedge turns the gains so far into weights w, and the pulls track the sum of all weights: arg minᵢ Tᵢ − Σwᵢ.
//!
//! In the paper a gain is an upper confidence bound, clipped at ln t. In practice that explores far too long, and the implementation
//! of Tirinzoni & Degenne (2022), which has published numbers to compare with, leaves it out as this one does. AdaHedge begins with the Δ
//! of that implementation, 0.01.

use super::hedge::AdaHedge;
use crate::estimators::DesignEstimator;
use crate::rules::{Choice, Rule, RuleError};
use crate::{Arm, Beliefs, Range, Rng, arg_min};

/// Pulls arms in the proportions of a sequential test with the fewest pulls, as estimated so far;
/// [`Pivot`](crate::rules::Pivot) looks one pull ahead instead. It is made for a [`ConfidenceStop`](crate::ConfidenceStop) and
/// chooses in the same way without one. A reward costs O(Kd² + d³).
///
/// Ties go to the first arm. The opponent answers with an open arm, and never with one whose features are all 0.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `noise` | 1 | σ, the standard deviation of a reward | 1e-100 ≤ σ ≤ 1e100, else [`RuleError`] |
#[derive(Clone, Debug)]
pub struct LinGame {
    noise: f64,
    hedge: AdaHedge,
    /// Σw over the rewards received.
    tracked: Vec<f64>,
    n_rewards: u64,
    /// The weights of the design and the gains of a round in `learn`, the pulls to aim at in `choose`.
    scratch: Vec<f64>,
    /// Δ̂ of every arm.
    gaps: Vec<f64>,
}

/// Δ of AdaHedge before the first reward, in the units of the gains.
const FIRST_GAP: f64 = 0.01;

impl LinGame {
    /// The rule for `n_arms` arms and rewards of standard deviation `noise`.
    ///
    /// # Errors
    /// If `noise` is not between 1e-100 and 1e100.
    pub fn new(noise: f64, n_arms: usize) -> Result<Self, RuleError> {
        let noise = Range::NOISE_SCALE.check("noise", noise)?;
        let zeros = vec![0.0; n_arms];
        Ok(Self {
            noise,
            hedge: AdaHedge::new(n_arms, FIRST_GAP),
            tracked: zeros.clone(),
            n_rewards: 0,
            scratch: zeros.clone(),
            gaps: zeros,
        })
    }
}

impl<E: DesignEstimator + ?Sized> Rule<E> for LinGame {
    const OPENS_WITH_EVERY_ARM: bool = false;

    /// Pending pulls count in Tᵢ, and the current weights are tracked once for each of them.
    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Choice {
        let rounds = (beliefs.total_pulls + 1 - self.n_rewards) as f64;
        let sums = self.tracked.iter().zip(self.hedge.weights());
        self.scratch.iter_mut().zip(sums).for_each(|(to, (sum, weight))| *to = rounds.mul_add(*weight, *sum));
        arg_min(beliefs.pulls, &self.scratch, |pulls, sum| f64::from(pulls) - sum).into()
    }

    fn learns(&self) -> bool {
        true
    }

    fn learn(&mut self, beliefs: &mut Beliefs<'_, E>, _: Arm, _: f64) {
        self.n_rewards += 1;
        self.tracked.iter_mut().zip(self.hedge.weights()).for_each(|(sum, weight)| *sum += weight);
        let rewards = self.n_rewards as f64;
        self.scratch.iter_mut().zip(self.hedge.weights()).for_each(|(to, weight)| *to = rewards * weight);
        let question = beliefs.question;
        self.gaps.iter_mut().zip(beliefs.estimator.means()).for_each(|(gap, &mean)| *gap = question.gap(mean));
        let variances = beliefs.estimator.design_variances(&self.scratch);
        let nearest = beliefs.settled.arg_min_open(&self.gaps, variances, |gap, q| gap * gap / q);
        let q = variances[nearest];
        // Where all features are 0, no pull separates any parameters.
        let scale = if q > 0.0 { self.gaps[nearest] / (self.noise * q) } else { 0.0 };
        for (gain, c) in self.scratch.iter_mut().zip(beliefs.estimator.design_covariances_with(nearest)) {
            let apart = scale * c;
            *gain = 0.5 * apart * apart;
        }
        self.hedge.gain(&self.scratch);
    }
}
