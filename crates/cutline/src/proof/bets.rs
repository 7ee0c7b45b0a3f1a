//! Numbers with an end of their range: H: the mean is at most the bar, for every distribution with rewards of at least `bar` − ℓ.
//!
//! E = Σⱼ wⱼ Π(1 + θⱼ(r − τ)/ℓ) for fixed shares 0 < θⱼ < 1 of what a reward may lose: under H every factor has a mean of at most 1
//! (Waudby-Smith & Ramdas 2024). As θ is fixed, E does not depend on the order of the rewards. For pass and fail every share is a rate, and E a
//! mixture of likelihood ratios.

use super::Prediction;
use super::normal::ln_normal;

/// The number of shares.
pub(super) const SHARES: usize = 20;

/// θⱼ: from nearly everything down by a constant factor.
fn share(position: usize) -> f64 {
    const MOST: f64 = 0.995;
    const FACTOR: f64 = 0.74;
    #[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "a small number")]
    let power = position as i32;
    MOST * FACTOR.powi(power)
}

/// ln Π(1 + θⱼ(r − τ)/ℓ) for every share.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bets {
    /// ℓ.
    most_loss: f64,
    ln_products: [f64; SHARES],
}

/// The weights wⱼ.
pub(super) type Weights = [f64; SHARES];

impl Bets {
    /// For rewards that lie at most `most_loss` on the wrong side of the bar.
    pub(super) fn new(most_loss: f64) -> Self {
        Self { most_loss, ln_products: [0.0; SHARES] }
    }

    /// Takes a reward that lies `gain` on the right side of the bar.
    pub(super) fn add(&mut self, gain: f64) {
        let gain = gain / self.most_loss;
        for (position, product) in self.ln_products.iter_mut().enumerate() {
            *product += (share(position) * gain).ln_1p();
        }
    }

    /// ln E.
    pub(super) fn ln_evidence(&self, weights: &Weights) -> f64 {
        let most = self.ln_products.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let terms = self.ln_products.iter().zip(weights).map(|(product, weight)| weight * (product - most).exp());
        most + terms.sum::<f64>().ln()
    }

    /// Weights in proportion to the shares, as if all shares up to the largest were equally likely. In the study `proved` this needs fewer rewards
    /// than equal weights and than the adaptive bets of Waudby-Smith & Ramdas (aGRAPA).
    pub(super) fn generic() -> Weights {
        let shares: Weights = std::array::from_fn(share);
        let sum: f64 = shares.iter().sum();
        shares.map(|share| share / sum)
    }

    /// The share that grows fastest is about xℓ/(σ² + x²) for a mean x on the right side of the bar, x ~ N(m, d²) truncated to (0, ∞): each share
    /// has the probability of the x nearest to it.
    pub(super) fn predicted(prediction: &Prediction, bar: f64, sign: f64, most_loss: f64) -> Weights {
        const QUANTILES: u32 = 32;
        let Prediction { mean, deviation, noise } = *prediction;
        let gap = sign * (mean - bar);
        let mut weights = [0.0; SHARES];
        let below = ln_normal(-gap / deviation).exp();
        for i in 0..QUANTILES {
            let level = below + (1.0 - below) * (f64::from(i) + 0.5) / f64::from(QUANTILES);
            let x = deviation.mul_add(normal_quantile(level), gap).max(0.0);
            let best = x * most_loss / (noise * noise + x * x);
            let distance = |j: &usize| (share(*j) / best.max(1e-9)).ln().abs();
            let nearest = (0..SHARES).min_by(|i, j| distance(i).total_cmp(&distance(j))).unwrap_or(0);
            weights[nearest] += 1.0 / f64::from(QUANTILES);
        }
        weights
    }
}

fn normal_quantile(level: f64) -> f64 {
    -std::f64::consts::SQRT_2 * statrs::function::erf::erfc_inv(2.0 * level.clamp(1e-12, 1.0 - 1e-12))
}
