//! AdaHedge: weights whose gain is close to that of the best arm in hindsight (de Rooij, van Erven, Grünwald & Koolen 2014).
//!
//! w ∝ exp(ηG) with the gains G so far and η = ln K/Δ. A round with gains g adds its mixability gap to Δ:
//! η⁻¹ ln Σ wᵢ exp(ηgᵢ) − Σ wᵢgᵢ. While Δ = 0, η is infinite and the arms with the largest G share the weight.

/// AdaHedge over K arms. No parameters: η follows from the gains.
#[derive(Clone, Debug)]
pub(super) struct AdaHedge {
    /// G.
    gains: Vec<f64>,
    /// Δ.
    gap: f64,
    weights: Vec<f64>,
}

impl AdaHedge {
    /// Equal weights, and Δ = `gap` to begin with; 0 in the paper.
    pub(super) fn new(n_arms: usize, gap: f64) -> Self {
        Self { gains: vec![0.0; n_arms], gap, weights: vec![1.0 / n_arms as f64; n_arms] }
    }

    /// The weights of the next round; their sum is 1.
    pub(super) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Ends a round in which arm i gained `gains[i]`.
    pub(super) fn gain(&mut self, gains: &[f64]) {
        self.gap += self.mixability_gap(gains).max(0.0);
        self.gains.iter_mut().zip(gains).for_each(|(sum, gain)| *sum += gain);
        let (rate, most) = (self.rate(), maximum(&self.gains));
        let weight = |&sum: &f64| if sum == most { 1.0 } else { (rate * (sum - most)).exp() };
        self.weights.iter_mut().zip(&self.gains).for_each(|(to, sum)| *to = weight(sum));
        let total: f64 = self.weights.iter().sum();
        self.weights.iter_mut().for_each(|weight| *weight /= total);
    }

    /// η.
    fn rate(&self) -> f64 {
        if self.gap > 0.0 { (self.weights.len() as f64).ln() / self.gap } else { f64::INFINITY }
    }

    fn mixability_gap(&self, gains: &[f64]) -> f64 {
        let rate = self.rate();
        let weighted = || self.weights.iter().zip(gains).filter(|(weight, _)| **weight > 0.0);
        let mean: f64 = weighted().map(|(weight, gain)| weight * gain).sum();
        let most = weighted().map(|(_, &gain)| gain).fold(f64::NEG_INFINITY, f64::max);
        if rate == f64::INFINITY {
            return most - mean;
        }
        let mixed: f64 = weighted().map(|(weight, gain)| weight * (rate * (gain - most)).exp()).sum();
        most + mixed.ln() / rate - mean
    }
}

fn maximum(numbers: &[f64]) -> f64 {
    numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Purpose, below, stream};

    /// Two arms, gains (1, 0) and then (0, 1). Round 1 has η = ∞, so Δ = 1 − ½. Round 2 has η = ln 2/½ = ln 4 and weights
    /// (4, 1)/5: the mixed gain is log₄((4 + 4)/5), and Δ grows by that less 1/5.
    #[test]
    fn two_rounds_by_hand() {
        let mut hedge = AdaHedge::new(2, 0.0);
        assert_eq!(hedge.weights(), [0.5, 0.5]);
        hedge.gain(&[1.0, 0.0]);
        assert!((hedge.weights()[0] - 0.8).abs() < 1e-15 && (hedge.weights()[1] - 0.2).abs() < 1e-15);
        hedge.gain(&[0.0, 1.0]);
        let gap = 0.5 + (8.0_f64 / 5.0).ln() / 4.0_f64.ln() - 0.2;
        assert!((hedge.gap - gap).abs() < 1e-15, "{}", hedge.gap);
        assert_eq!(hedge.weights(), [0.5, 0.5], "both have gained 1");
    }

    /// For gains in [0, 1] the regret is at most 2Δ (Lemma 3), and at most √(T ln K) + (4/3) ln K + 2 (Corollary 9).
    #[test]
    fn regret_stays_below_the_bounds_of_the_paper() {
        for (n_arms, better) in [(2, 0.0), (7, 0.1), (30, 0.5)] {
            let (mut hedge, mut earned, rounds) = (AdaHedge::new(n_arms, 0.0), 0.0, 3_000_u32);
            let mut rng = stream(3, Purpose::Rule, n_arms as u64);
            for round in 0..rounds {
                // Every round a random arm is good; arm 1 is better on average.
                let turn = below(&mut rng, n_arms);
                let gain =
                    |arm| if arm == turn { 1.0 } else { f64::from(round % 2) * better * f64::from(u8::from(arm == 1)) };
                let gains: Vec<f64> = (0..n_arms).map(gain).collect();
                earned += hedge.weights().iter().zip(&gains).map(|(weight, gain)| weight * gain).sum::<f64>();
                hedge.gain(&gains);
                assert!((hedge.weights().iter().sum::<f64>() - 1.0).abs() < 1e-12);
            }
            let (log, regret) = ((n_arms as f64).ln(), maximum(&hedge.gains) - earned);
            assert!(regret <= 2.0 * hedge.gap + 1e-9, "{regret} against twice {}", hedge.gap);
            assert!(regret <= (f64::from(rounds) * log).sqrt() + 4.0 / 3.0 * log + 2.0, "{n_arms} arms: {regret}");
        }
    }

    #[test]
    fn one_arm_and_equal_gains_change_nothing() {
        let mut one = AdaHedge::new(1, 0.0);
        one.gain(&[3.0]);
        assert_eq!(one.weights(), [1.0]);
        let mut equal = AdaHedge::new(3, 0.0);
        for _ in 0..5 {
            equal.gain(&[0.7; 3]);
        }
        assert!(equal.weights().iter().all(|weight| (weight - 1.0 / 3.0).abs() < 1e-15));
    }
}
