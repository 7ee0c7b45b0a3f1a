//! LinGame: learn the best proportions of pulls in a game against the parameters that are hardest to exclude (Degenne, Ménard,
//! Shang & Valko 2020).
//!
//! After reward t, with θ̂, V and q from the rewards received:
//! 1. the opponent answers with the nearest parameter for which some arm would be on the other side: for the arm with the least
//!    evidence, k = arg minᵢ Δ̂ᵢ²/qᵢ, it moves θ̂ by (Δ̂ₖ/qₖ)V⁻¹xₖ, so that arm i moves by Δ̂ₖ|xᵢᵀV⁻¹xₖ|/qₖ;
//! 2. arm i gains min{½(Δ̂ₖ|xᵢᵀV⁻¹xₖ|/(σqₖ) + √(2 qᵢ ln t))², ln t}: an upper bound on how well a pull of it
//!    separates the two parameters;
//! 3. AdaHedge turns the gains so far into weights w, and the pulls track the sum of all weights: arg minᵢ Tᵢ − Σwᵢ.
//!
//! The opponent in the paper answers the weights w of the round; this one answers the design V of all rounds so far, which
//! costs one K×d product and no factorisation.

use super::hedge::AdaHedge;
use super::{Rule, RuleError};
use crate::estimators::VarianceEstimator;
use crate::{Arm, Beliefs, Range, Rng, arg_min};

/// Pulls arms in the proportions of a sequential test with the fewest pulls, as estimated so far;
/// [`Pivot`](super::Pivot) looks one pull ahead instead. It is made for a [`ConfidenceStop`](crate::ConfidenceStop) and
/// chooses in the same way without one. A reward costs two K×d products.
///
/// Ties go to the first arm. The opponent never answers with an arm whose features are all 0.
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
    /// The gains of a round in `learn`, the pulls to aim at in `choose`.
    scratch: Vec<f64>,
}

impl LinGame {
    /// The rule for `n_arms` arms and rewards of standard deviation `noise`.
    ///
    /// # Errors
    /// If `noise` is not between 1e-100 and 1e100.
    pub fn new(noise: f64, n_arms: usize) -> Result<Self, RuleError> {
        let noise = Range::NOISE_SCALE.check("noise", noise)?;
        let zeros = vec![0.0; n_arms];
        Ok(Self { noise, hedge: AdaHedge::new(n_arms), tracked: zeros.clone(), n_rewards: 0, scratch: zeros })
    }
}

impl<E: VarianceEstimator + ?Sized> Rule<E> for LinGame {
    const OPENS_WITH_EVERY_ARM: bool = false;
    const LEARNS: bool = true;

    /// Pending pulls count in Tᵢ, and the current weights are tracked once for each of them.
    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Arm {
        let rounds = (beliefs.total_pulls + 1 - self.n_rewards) as f64;
        let sums = self.tracked.iter().zip(self.hedge.weights());
        self.scratch.iter_mut().zip(sums).for_each(|(to, (sum, weight))| *to = rounds.mul_add(*weight, *sum));
        arg_min(beliefs.pulls, &self.scratch, |pulls, sum| f64::from(pulls) - sum)
    }

    fn learn(&mut self, beliefs: &mut Beliefs<'_, E>) {
        self.n_rewards += 1;
        self.tracked.iter_mut().zip(self.hedge.weights()).for_each(|(sum, weight)| *sum += weight);
        let question = beliefs.question;
        let gap = |mean: f64| question.gap(mean);
        let (means, variances) = beliefs.estimator.observed_moments();
        let nearest = arg_min(means, variances, |mean, q| gap(mean) * gap(mean) / q);
        let (distance, q) = (gap(means[nearest]), variances[nearest]);
        // Where all features are 0, no pull separates any parameters.
        let scale = if q > 0.0 { distance / (self.noise * q) } else { 0.0 };
        let width = (self.n_rewards as f64).ln();
        let bonus = |&q: &f64| (2.0 * width * q.max(0.0)).sqrt();
        self.scratch.iter_mut().zip(variances).for_each(|(to, q)| *to = bonus(q));
        for (gain, c) in self.scratch.iter_mut().zip(beliefs.estimator.observed_covariances_with(nearest)) {
            let apart = scale.mul_add(c.abs(), *gain);
            *gain = (0.5 * apart * apart).min(width);
        }
        self.hedge.gain(&self.scratch);
    }
}
