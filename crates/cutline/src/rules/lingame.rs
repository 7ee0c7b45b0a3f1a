//! LinGame: learn the best mixture of arms by playing against whoever would fool the estimate (Degenne, Ménard, Shang & Valko
//! 2020).
//!
//! After reward t, with θ̂, V and q of the rewards told:
//! 1. the opponent answers with the nearest parameter for which some arm would be called wrongly: for the arm of least evidence,
//!    k = arg minᵢ Δ̂ᵢ²/qᵢ, it moves θ̂ by (Δ̂ₖ/qₖ)V⁻¹xₖ, so that arm i moves by Δ̂ₖ|xᵢᵀV⁻¹xₖ|/qₖ;
//! 2. arm i gains min{½(Δ̂ₖ|xᵢᵀV⁻¹xₖ|/(σqₖ) + √(2 qᵢ ln t))², ln t}: what a pull of it would tell the two apart, at best;
//! 3. AdaHedge turns the gains so far into weights w, and the pulls track the sum of all weights: arg minᵢ Tᵢ − Σwᵢ.
//!
//! The paper's opponent answers the weights w of the round; this one answers the design V that came of all of them, which costs
//! one K×d product and no factorisation.

use super::hedge::AdaHedge;
use super::{Rule, RuleError, checked_noise};
use crate::estimators::VarianceEstimator;
use crate::{Arm, Beliefs, Rng, arg_min};

/// Pulls arms in the proportions that a sequential test with the fewest pulls would have, as far as is known by then;
/// [`Pivot`](super::Pivot) looks one pull ahead instead. It is made for a stop that ends when it is [sure](crate::ConfidenceStop) and
/// chooses on in the same way without one. A reward costs two K×d products.
///
/// Ties go to the first arm. An arm of zeros is never what the opponent makes of it.
///
/// | parameter | default | meaning | range |
/// |---|---|---|---|
/// | `noise` | 1 | σ, the standard deviation of a reward | 1e-100 ≤ σ ≤ 1e100, else [`RuleError`] |
#[derive(Clone, Debug)]
pub struct LinGame {
    noise: f64,
    hedge: AdaHedge,
    /// Σw over the rewards told.
    tracked: Vec<f64>,
    told: u64,
    /// The gains of a round, or what the pulls are to track.
    room: Vec<f64>,
}

impl LinGame {
    /// The rule for `n_arms` arms and rewards of standard deviation `noise`.
    ///
    /// # Errors
    /// If `noise` is not between 1e-100 and 1e100.
    pub fn new(noise: f64, n_arms: usize) -> Result<Self, RuleError> {
        let noise = checked_noise(noise)?;
        let zeros = vec![0.0; n_arms];
        Ok(Self { noise, hedge: AdaHedge::new(n_arms), tracked: zeros.clone(), told: 0, room: zeros })
    }
}

impl<E: VarianceEstimator + ?Sized> Rule<E> for LinGame {
    const OPENS_WITH_EVERY_ARM: bool = false;
    const LEARNS: bool = true;

    /// Pulls that are out count in Tᵢ, and the weights of now are tracked once for each of them.
    fn choose(&mut self, beliefs: &mut Beliefs<'_, E>, _: &mut Rng) -> Arm {
        let rounds = (beliefs.total_pulls + 1 - self.told) as f64;
        let sums = self.tracked.iter().zip(self.hedge.weights());
        self.room.iter_mut().zip(sums).for_each(|(to, (sum, weight))| *to = rounds.mul_add(*weight, *sum));
        arg_min(beliefs.pulls, &self.room, |pulls, sum| f64::from(pulls) - sum)
    }

    fn learn(&mut self, beliefs: &mut Beliefs<'_, E>) {
        self.told += 1;
        self.tracked.iter_mut().zip(self.hedge.weights()).for_each(|(sum, weight)| *sum += weight);
        let question = beliefs.question;
        let gap = |mean: f64| question.gap(mean);
        let (means, variances) = beliefs.estimator.told_moments();
        let nearest = arg_min(means, variances, |mean, q| gap(mean) * gap(mean) / q);
        let (distance, q) = (gap(means[nearest]), variances[nearest]);
        // Where all features are 0 nothing can be told apart.
        let scale = if q > 0.0 { distance / (self.noise * q) } else { 0.0 };
        let width = (self.told as f64).ln();
        let bonus = |&q: &f64| (2.0 * width * q.max(0.0)).sqrt();
        self.room.iter_mut().zip(variances).for_each(|(to, q)| *to = bonus(q));
        for (gain, c) in self.room.iter_mut().zip(beliefs.estimator.told_covariances_with(nearest)) {
            let apart = scale.mul_add(c.abs(), *gain);
            *gain = (0.5 * apart * apart).min(width);
        }
        self.hedge.gain(&self.room);
    }
}
